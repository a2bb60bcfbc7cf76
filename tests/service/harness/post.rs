//! A consumer of settlement records: one stream, with every record that it has brought so far.

use std::time::Duration;

use fulcrum::pb::v1;
use fulcrum::pb::v1::stream_settlements_response::Content;
use tonic::{Status, Streaming};

use super::in_time;

/// Longer than a server takes to find a new record.
const A_WHILE: Duration = Duration::from_millis(900);

/// One stream.
pub struct Post {
    stream: Streaming<v1::StreamSettlementsResponse>,
    /// Every record so far.
    pub records: Vec<v1::DeliveredSettlement>,
}

impl Post {
    /// What reads this stream.
    pub fn new(stream: Streaming<v1::StreamSettlementsResponse>) -> Post {
        Post { stream, records: Vec::new() }
    }

    /// The next message; `None` at the end of the stream.
    pub async fn next(&mut self) -> Result<Option<Content>, Status> {
        let message = in_time(self.stream.message()).await?;
        let content = message.map(|message| message.content.expect("something"));
        if let Some(Content::Settlement(record)) = &content {
            self.records.push(record.clone());
        }
        Ok(content)
    }

    /// The next message, which is a record.
    pub async fn record(&mut self) -> v1::DeliveredSettlement {
        match self.next().await {
            Ok(Some(Content::Settlement(record))) => record,
            other => panic!("no record: {other:?}"),
        }
    }

    /// So many records.
    pub async fn take(&mut self, count: usize) -> Vec<v1::DeliveredSettlement> {
        let mut records = Vec::new();
        while records.len() < count {
            records.push(self.record().await);
        }
        records
    }

    /// Whether nothing comes for a while.
    pub async fn is_quiet(&mut self) -> bool {
        tokio::time::timeout(A_WHILE, self.stream.message()).await.is_err()
    }

    /// The status with which the stream ends, after whatever comes before.
    pub async fn end(&mut self) -> Status {
        loop {
            match self.next().await {
                Ok(Some(_)) => {}
                Ok(None) => return Status::ok("the end"),
                Err(status) => return status,
            }
        }
    }
}
