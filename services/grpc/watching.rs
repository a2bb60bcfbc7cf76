//! Watching: one stream a caller, made of what each of its tables tells. Nothing is prepared while the reader does not
//! read: a message is rendered when the connection has room for it, and a reader who stays away is ended by the feed.

pub mod players;

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, SelectAll, Stream, StreamExt};
use http::Extensions;
use rules::view::Viewer;
use tables::{Message, TableKey, Tables, Watcher};
use tonic::Status;
use tonic_types::FieldViolation;

use self::players::{Place, Players};
use super::identity::Role;
use super::parse::tables::{Start, Watch};
use super::render::{event, table, timestamp};
use super::serving::leaving::Leaving;
use super::status;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{Compacted, GoAway, GoAwayReason, Heartbeat, TableMessage};

/// The messages of a stream.
pub type Messages<R> = Pin<Box<dyn Stream<Item = Result<R, Status>> + Send>>;

/// What all streams of a server, or of one of its connections, share.
#[derive(Clone)]
pub struct Watching {
    /// When they are to end.
    pub leaving: Leaving,
    /// How long a stream is quiet before a heartbeat.
    pub heartbeat: Duration,
    /// Those of players who watch with tokens of their own.
    pub players: Arc<Players>,
}

impl Watching {
    /// For the connection on which a request with these extensions came.
    #[must_use]
    pub fn on(&self, request: &Extensions) -> Watching {
        Watching { leaving: self.leaving.of(request), ..self.clone() }
    }

    /// Begins a stream for a caller of this role.
    ///
    /// # Errors
    /// NOT_FOUND if one of the tables is not the operator's; RESOURCE_EXHAUSTED with too many watchers, in all or of a player
    /// who calls by himself.
    pub async fn start<R: Send + 'static>(
        &self,
        tables: &Tables,
        role: &Role,
        watch: Watch,
        wrap: fn(TableMessage) -> R,
    ) -> Result<Messages<R>, Status> {
        let viewer = Arc::new(watch.viewer);
        let mut all = SelectAll::new();
        for (key, start) in watch.tables {
            let place = match role {
                Role::Player(player) => {
                    Some(self.players.place(&key.operator, player).ok_or_else(status::too_many_watchers)?)
                }
                _ => None,
            };
            let (watcher, sequence, resume) = begin(tables, &key, start).await?;
            let watched = Watched {
                key,
                viewer: Arc::clone(&viewer),
                tables: tables.clone(),
                watcher,
                shared: self.clone(),
                sequence,
                resume,
                next: None,
                over: false,
                _place: place,
            };
            all.push(Box::pin(stream::unfold(watched, Watched::step)));
        }
        Ok(unbroken(all.map(move |message| Ok(wrap(message)))))
    }
}

/// The messages of a stream; if it panics, an error at their end.
pub fn unbroken<R>(messages: impl Stream<Item = Result<R, Status>> + Send + 'static) -> Messages<R> {
    let guarded = AssertUnwindSafe(messages).catch_unwind();
    Box::pin(guarded.map(|message| {
        message.unwrap_or_else(|_| Err(status::internal(&"a stream broke while it made a message")))
    }))
}

/// One table of a stream.
struct Watched {
    key: TableKey,
    viewer: Arc<Viewer>,
    tables: Tables,
    watcher: Watcher,
    shared: Watching,
    /// The sequence and the resume token of the last message: watching again after it misses nothing.
    sequence: u64,
    resume: Vec<u8>,
    /// What follows the last message at once.
    next: Option<TableMessage>,
    over: bool,
    _place: Option<Place>,
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
        tokio::select! {
            biased;
            why = self.shared.leaving.why() => Some(self.go_away(why)),
            message = self.watcher.next() => Some(self.tell(message?)),
            () = tokio::time::sleep(self.shared.heartbeat) => Some(self.beat().await),
        }
    }

    fn tell(&mut self, message: Message) -> TableMessage {
        match message {
            Message::Snapshot(state) => {
                self.reach(state.version);
                self.of(Content::Snapshot(Box::new(table::table(self.key.table, &state, &self.viewer))))
            }
            Message::Commit { version, at, events, table: after } => {
                self.reach(version);
                self.of(Content::Update(event::update(&events, at, &after, &self.viewer)))
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

    /// The watcher has been told everything up to here.
    fn reach(&mut self, sequence: u64) {
        self.sequence = sequence;
        let reached = self.watcher.reached();
        let token = reached.map(|reached| self.tables.resume_token(&self.key, &reached));
        self.resume = token.unwrap_or_default();
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
        TableMessage {
            table_id: self.key.table.to_string(),
            sequence: self.sequence,
            content: Some(content),
            resume_token: self.resume.clone(),
        }
    }
}

/// A watcher, with the sequence and the resume token of what its caller had before.
async fn begin(tables: &Tables, key: &TableKey, start: Start) -> Result<(Watcher, u64, Vec<u8>), Status> {
    let (watcher, sequence, resume) = match start {
        Start::Now => (tables.watch(key, None).await, 0, Vec::new()),
        Start::After(after) => (tables.watch(key, Some(after)).await, after, Vec::new()),
        Start::Token(token, field) => {
            let what = "the resume_token of a message about this table; begin anew without one";
            let fault = || status::invalid(vec![FieldViolation::new(field, what)]);
            let reached = tables.reached(key, &token).ok_or_else(fault)?;
            (tables.resume(key, reached).await, reached.token.version, token)
        }
    };
    Ok((watcher.map_err(status::failed)?, sequence, resume))
}
