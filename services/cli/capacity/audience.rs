//! Watchers, and what they are told: counted, and otherwise not looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prost::Message;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tonic::Status;

use crate::cli::client::again;
use crate::cli::load::calls::Calls;
use crate::pb::v1::table_event::Event;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{TableMessage, WatchTableRequest};

/// So many streams are opened at a time.
const AT_ONCE: usize = 32;
/// A stream that is turned away is asked for again, for so long.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(200);
/// What HTTP/2 and gRPC put before each message: a frame's head, and the length of the message.
const ENVELOPE: u64 = 9 + 5;

/// What watchers have heard.
#[derive(Default)]
pub struct Heard {
    /// Commits.
    pub updates: AtomicU64,
    /// Hands that were paid.
    pub hands: AtomicU64,
    /// Bytes of the commits' messages.
    pub bytes: AtomicU64,
    /// Streams that broke.
    pub broken: AtomicU64,
}

/// Watchers of tables, for as long as they are kept.
#[derive(Default)]
pub struct Audience {
    /// What they have heard.
    pub heard: Arc<Heard>,
    streams: JoinSet<()>,
}

impl Audience {
    /// Adds so many spectators at each of these tables.
    ///
    /// # Errors
    /// A refusal, or that nobody answers.
    pub async fn join(&mut self, calls: &Calls, tables: &[String], each: u32) -> Result<(), Status> {
        let mut opening = JoinSet::new();
        for table_id in tables {
            for _ in 0..each {
                if opening.len() >= AT_ONCE {
                    self.keep(opening.join_next().await)?;
                }
                let request =
                    WatchTableRequest { table_id: table_id.clone(), ..WatchTableRequest::default() };
                opening.spawn(open(calls.clone(), request));
            }
        }
        while let Some(opened) = opening.join_next().await {
            self.keep(Some(opened))?;
        }
        Ok(())
    }

    fn keep(&mut self, opened: Option<Opened>) -> Result<(), Status> {
        let Some(opened) = opened else {
            return Ok(());
        };
        let mut stream = opened.map_err(|died| Status::internal(died.to_string()))??;
        let heard = Arc::clone(&self.heard);
        self.streams.spawn(async move {
            loop {
                match stream.message().await {
                    Ok(Some(told)) => told.message.iter().for_each(|message| heard.note(message)),
                    // Nobody has closed the tables yet, and nobody is slow.
                    _ => {
                        heard.broken.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                }
            }
        });
        Ok(())
    }
}

/// Opens a stream. A server that has much to do turns new ones away for a while.
async fn open(calls: Calls, request: WatchTableRequest) -> Result<tonic::Streaming<Told>, Status> {
    let begun = Instant::now();
    loop {
        match calls.connections.next().tables.watch_table(request.clone()).await {
            Err(status) if again(&status) && begun.elapsed() < PATIENCE => sleep(PAUSE).await,
            opened => return opened.map(tonic::Response::into_inner),
        }
    }
}

type Opened = Result<Result<tonic::Streaming<Told>, Status>, tokio::task::JoinError>;
type Told = crate::pb::v1::WatchTableResponse;

impl Heard {
    fn note(&self, message: &TableMessage) {
        let Some(Content::Update(update)) = &message.content else {
            return;
        };
        let ended = |event: &&Event| matches!(event, Event::HandSettled(_) | Event::HandVoided(_));
        let hands = update.events.iter().filter_map(|told| told.event.as_ref()).filter(ended).count();
        self.updates.fetch_add(1, Ordering::Relaxed);
        self.hands.fetch_add(hands as u64, Ordering::Relaxed);
        self.bytes.fetch_add(message.encoded_len() as u64 + ENVELOPE, Ordering::Relaxed);
    }
}
