//! Consumes settlement records: each is in the books before it is acknowledged, and only once, however often it comes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use prost::Message;
use tonic::{Code, Request, Status};
use uuid::Uuid;

use super::writer::Writer;
use crate::cli::client::{Client, timed};
use crate::pb::v1::stream_settlements_response::Content;
use crate::pb::v1::{AckSettlementsRequest, StreamSettlementsRequest, StreamSettlementsResponse};

/// So many records are booked and acknowledged together, if so many have come.
const TOGETHER: usize = 256;
/// The pauses before a stream is opened again: after an end, and after a refusal that will last.
const SOON: Duration = Duration::from_millis(500);
const LATER: Duration = Duration::from_secs(5);

/// A consumer.
pub struct Consumer {
    /// The service.
    pub client: Client,
    /// The consumer's name there.
    pub name: String,
    /// The books.
    pub writer: Arc<Writer>,
}

/// What has come, in order.
#[derive(Default)]
struct Parcel {
    /// Ids and records.
    records: Vec<(Uuid, Vec<u8>)>,
    /// How often the service said that records were missing.
    gaps: u64,
    /// The last position: what is up to it can be acknowledged once it is booked.
    position: String,
}

impl Consumer {
    /// Consumes, for ever: streams that end are opened again, where the acknowledgements have come to.
    pub async fn run(self) -> Infallible {
        loop {
            let pause = match self.consume().await {
                Ok(()) => SOON,
                Err(status) => {
                    tracing::warn!(code = ?status.code(), why = status.message(), "settlements do not come");
                    let passes = matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal);
                    if passes { SOON } else { LATER }
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// One stream.
    async fn consume(&self) -> Result<(), Status> {
        let request = StreamSettlementsRequest { consumer: self.name.clone(), ..Default::default() };
        let mut client = self.client.clone();
        let stream = client.settlements.stream_settlements(Request::new(request)).await?.into_inner();
        let mut stream = stream.ready_chunks(TOGETHER);
        while let Some(messages) = stream.next().await {
            let mut parcel = Parcel::default();
            // What came before the stream broke is good.
            let broke = messages.into_iter().try_for_each(|message| parcel.add(message?));
            self.book(parcel).await?;
            broke?;
        }
        Ok(())
    }

    /// Books first, acknowledges then: who dies in between gets the same again, and knows it.
    async fn book(&self, parcel: Parcel) -> Result<(), Status> {
        let Parcel { records, gaps, position } = parcel;
        if !records.is_empty() || gaps > 0 {
            let booked = self.writer.settle(records, gaps).await;
            booked.map_err(|broken| Status::data_loss(broken.0))?;
        }
        if position.is_empty() {
            return Ok(());
        }
        let request = AckSettlementsRequest { consumer: self.name.clone(), position };
        let mut client = self.client.clone();
        client.settlements.ack_settlements(timed(request)).await.map(|_| ())
    }
}

impl Parcel {
    fn add(&mut self, message: StreamSettlementsResponse) -> Result<(), Status> {
        match message.content {
            Some(Content::Settlement(delivered)) => {
                let record = delivered.settlement.unwrap_or_default();
                let id = Uuid::try_parse(&record.settlement_id);
                let id = id.map_err(|_| Status::data_loss("a record without an id"))?;
                self.records.push((id, record.encode_to_vec()));
                self.position = delivered.position;
            }
            Some(Content::Gap(gap)) => {
                tracing::warn!(after = gap.after_position, until = gap.until_position, "records are missing");
                self.gaps += 1;
            }
            // A quiet stream's position is acknowledged too.
            Some(Content::Heartbeat(heartbeat)) if !heartbeat.position.is_empty() => {
                self.position = heartbeat.position;
            }
            _ => {}
        }
        Ok(())
    }
}
