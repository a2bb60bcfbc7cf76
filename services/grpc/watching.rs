//! Watching: one stream a caller, made of what each of its tables tells. Nothing is prepared while the reader does not
//! read: a message is rendered when the connection has room for it, and a reader who stays away is ended by the feed.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, SelectAll, Stream, StreamExt};
use rules::view::Viewer;
use tables::{Message, TableId, Tables, Watcher};
use tokio::sync::watch;
use tonic::Status;

use super::parse::tables::Watch;
use super::render::{event, table, timestamp};
use super::status;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{Compacted, GoAway, GoAwayReason, Heartbeat, TableMessage};

/// The messages of a stream.
pub type Messages<R> = Pin<Box<dyn Stream<Item = Result<R, Status>> + Send>>;

/// What all streams of a server share.
#[derive(Clone)]
pub struct Watching {
    /// True when all streams are to end.
    pub drain: watch::Receiver<bool>,
    /// How long a stream is quiet before a heartbeat.
    pub heartbeat: Duration,
}

impl Watching {
    /// Begins a stream.
    ///
    /// # Errors
    /// NOT_FOUND if one of the tables is not the operator's; RESOURCE_EXHAUSTED with too many watchers.
    pub async fn start<R: Send + 'static>(
        &self,
        tables: &Tables,
        watch: Watch,
        wrap: fn(TableMessage) -> R,
    ) -> Result<Messages<R>, Status> {
        let viewer = Arc::new(watch.viewer);
        let mut all = SelectAll::new();
        for (key, after) in watch.tables {
            let watcher = tables.watch(&key, after).await.map_err(status::failed)?;
            let watched = Watched {
                id: key.table,
                viewer: Arc::clone(&viewer),
                tables: tables.clone(),
                watcher,
                shared: self.clone(),
                sequence: after.unwrap_or_default(),
                next: None,
                over: false,
            };
            all.push(Box::pin(stream::unfold(watched, Watched::step)));
        }
        let guarded = AssertUnwindSafe(all).catch_unwind();
        Ok(Box::pin(guarded.map(move |message| match message {
            Ok(message) => Ok(wrap(message)),
            Err(_) => Err(status::internal(&"a stream broke while it made a message")),
        })))
    }
}

/// One table of a stream.
struct Watched {
    id: TableId,
    viewer: Arc<Viewer>,
    tables: Tables,
    watcher: Watcher,
    shared: Watching,
    /// The sequence of the last message: watching again after it misses nothing.
    sequence: u64,
    /// What follows the last message at once.
    next: Option<TableMessage>,
    over: bool,
}

impl Watched {
    async fn step(mut self) -> Option<(TableMessage, Watched)> {
        let message = self.message().await?;
        Some((message, self))
    }

    async fn message(&mut self) -> Option<TableMessage> {
        if let Some(message) = self.next.take() {
            return Some(message);
        }
        if self.over {
            return None;
        }
        let draining = async {
            // An error says that the server is gone, which is as good a reason to end.
            let _ = self.shared.drain.wait_for(|drain| *drain).await;
        };
        tokio::select! {
            biased;
            () = draining => Some(self.go_away(GoAwayReason::Draining)),
            message = self.watcher.next() => Some(self.tell(message?)),
            () = tokio::time::sleep(self.shared.heartbeat) => Some(self.beat().await),
        }
    }

    fn tell(&mut self, message: Message) -> TableMessage {
        match message {
            Message::Snapshot(state) => {
                self.sequence = state.version;
                self.of(Content::Snapshot(Box::new(table::table(self.id, &state, &self.viewer))))
            }
            Message::Commit { version, events, table: after } => {
                self.sequence = version;
                self.of(Content::Update(event::update(&events, &after, &self.viewer)))
            }
            Message::Compacted(state) => {
                // Its sequence is the one asked for: a reader who is cut off before the snapshot asks again for that.
                let compacted = self.of(Content::Compacted(Compacted { after_sequence: self.sequence }));
                self.next = Some(self.tell(Message::Snapshot(state)));
                compacted
            }
            Message::Behind { .. } => self.go_away(GoAwayReason::FellBehind),
        }
    }

    fn go_away(&mut self, reason: GoAwayReason) -> TableMessage {
        self.over = true;
        self.of(Content::GoAway(GoAway { reason: reason.into() }))
    }

    async fn beat(&self) -> TableMessage {
        let now = self.tables.store().now().await.ok();
        self.of(Content::Heartbeat(Heartbeat { time: now.map(timestamp) }))
    }

    fn of(&self, content: Content) -> TableMessage {
        TableMessage { table_id: self.id.to_string(), sequence: self.sequence, content: Some(content) }
    }
}
