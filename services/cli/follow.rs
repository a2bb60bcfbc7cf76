//! A table's stream, watched until the table is closed: lost connections are made again, and the stream goes on where
//! it broke off.

use tokio::time::Instant;
use tonic::{Status, Streaming};

use super::client::{Client, PATIENCE, Pauses, again};
use crate::pb::v1::table_event::Event;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{Table, TableMessage, TableState, Update, Viewer, WatchTableRequest, WatchTableResponse};

/// What a stream tells.
pub enum News {
    /// The whole table: the first news, and again where the stream could not be resumed.
    Snapshot(Box<Table>),
    /// One commit.
    Update(Update),
    /// The stream was opened again where it had ended; nothing is missing.
    Resumed,
}

/// A watched table.
pub struct Follow {
    client: Client,
    table_id: String,
    viewer: Option<Viewer>,
    stream: Option<Streaming<WatchTableResponse>>,
    /// The last sequence seen, and the token with which it goes on after it.
    last: Option<u64>,
    resume: Vec<u8>,
    closed: bool,
    heard: Instant,
    pauses: Pauses,
}

impl Follow {
    /// Watches a table for these eyes; `None` for a spectator's. The stream is opened with the first [`Follow::next`].
    #[must_use]
    pub fn new(client: Client, table_id: &str, viewer: Option<Viewer>) -> Follow {
        Follow {
            client,
            table_id: table_id.to_owned(),
            viewer,
            stream: None,
            last: None,
            resume: Vec::new(),
            closed: false,
            heard: Instant::now(),
            pauses: Pauses::default(),
        }
    }

    /// The next news; `None` when the table is closed and everything was told. May be dropped and called again.
    ///
    /// # Errors
    /// A refusal, or that nobody has answered for [`PATIENCE`].
    pub async fn next(&mut self) -> Result<Option<News>, Status> {
        loop {
            if self.closed {
                return Ok(None);
            }
            let step = match &mut self.stream {
                None => self.open().await.map(|()| self.last.map(|_| News::Resumed)),
                Some(stream) => match stream.message().await {
                    Ok(Some(WatchTableResponse { message: Some(message) })) => Ok(self.take(message)),
                    Ok(Some(_)) => Ok(None),
                    Ok(None) => Err(Status::unavailable("the stream ended")),
                    Err(status) => Err(status),
                },
            };
            match step {
                Ok(Some(news)) => return Ok(Some(news)),
                Ok(None) => {}
                Err(status) => self.bear(status).await?,
            }
        }
    }

    async fn open(&mut self) -> Result<(), Status> {
        let request = WatchTableRequest {
            table_id: self.table_id.clone(),
            after_sequence: self.last.filter(|_| self.resume.is_empty()),
            viewer: self.viewer.clone(),
            resume_token: self.resume.clone(),
        };
        self.stream = Some(self.client.tables.watch_table(request).await?.into_inner());
        Ok(())
    }

    fn take(&mut self, message: TableMessage) -> Option<News> {
        self.heard = Instant::now();
        self.pauses = Pauses::default();
        match message.content? {
            Content::Snapshot(table) => {
                self.reach(message.sequence, message.resume_token);
                self.closed = table.state() == TableState::Closed;
                Some(News::Snapshot(table))
            }
            Content::Update(update) => {
                if self.last.is_some_and(|last| message.sequence != last + 1 && !is_loss(&update, last)) {
                    // Something was lost on the way: ask for it again.
                    self.stream = None;
                    return None;
                }
                self.reach(message.sequence, message.resume_token);
                self.closed |=
                    update.events.iter().any(|event| matches!(event.event, Some(Event::TableClosed(_))));
                Some(News::Update(update))
            }
            // After a go-away the stream ends by itself; after a compaction a snapshot comes.
            Content::Heartbeat(_) | Content::Compacted(_) | Content::GoAway(_) => None,
        }
    }

    fn reach(&mut self, sequence: u64, token: Vec<u8>) {
        (self.last, self.resume) = (Some(sequence), token);
    }

    /// Waits a moment after a failure, unless it is for good.
    async fn bear(&mut self, status: Status) -> Result<(), Status> {
        self.stream = None;
        if !again(&status) || self.heard.elapsed() > PATIENCE {
            return Err(status);
        }
        self.pauses.next(&status).await;
        Ok(())
    }
}

/// Whether the service tells that it has lost everything after this sequence: then the sequence jumps.
fn is_loss(update: &Update, last: u64) -> bool {
    let lost = |event: &Event| matches!(event, Event::HistoryLost(lost) if lost.last_sequence == last);
    update.events.iter().filter_map(|event| event.event.as_ref()).any(lost)
}
