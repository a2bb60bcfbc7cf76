//! Streams of tables that never end by themselves: what breaks is opened again at the next connection, and goes on after
//! the last sequence that was heard.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tonic::{Status, Streaming};

use super::calls::{Calls, asked_pause};
use crate::pb::v1::table_event::Event;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{TableMessage, Viewer, WatchTablesRequest, WatchTablesResponse, WatchedTable};

/// A stream may take so long to open.
const OPENING: Duration = Duration::from_secs(5);
/// The first pause before a stream is opened again, doubled by each further failure up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Where a stream goes on.
#[derive(Clone, Default)]
struct Place {
    /// After this sequence; `None`: begins with a snapshot.
    after: Option<u64>,
    /// After the message with this token, which tells more than a sequence; empty: there was none.
    token: Vec<u8>,
}

impl Place {
    fn after(message: &TableMessage) -> Place {
        Place { after: Some(message.sequence), token: message.resume_token.clone() }
    }
}

/// A stream of one or more tables, for one viewer.
pub struct Stream {
    calls: Calls,
    viewer: Option<Viewer>,
    /// Where each table that is still open goes on.
    heard: BTreeMap<String, Place>,
    open: Option<Streaming<WatchTablesResponse>>,
    news: Instant,
    again_at: Instant,
    pause: Duration,
}

impl Stream {
    /// A stream of these tables, each after a sequence or from a snapshot on. `viewer`: `None` is a spectator.
    #[must_use]
    pub fn new(calls: Calls, tables: BTreeMap<String, Option<u64>>, viewer: Option<Viewer>) -> Stream {
        let now = Instant::now();
        let place = |after| Place { after, ..Place::default() };
        let heard = tables.into_iter().map(|(id, after)| (id, place(after))).collect();
        Stream { calls, viewer, heard, open: None, news: now, again_at: now, pause: FIRST_PAUSE }
    }

    /// The next message; never returns once all tables are closed. May be dropped and called again.
    pub async fn next(&mut self) -> TableMessage {
        loop {
            if self.heard.is_empty() {
                std::future::pending::<()>().await;
            }
            let Some(open) = &mut self.open else {
                sleep_until(self.again_at).await;
                if let Err(status) = self.begin().await {
                    self.broken(Some(&status));
                }
                continue;
            };
            let quiet = self.news + self.calls.quiet;
            let told = tokio::select! {
                told = open.message() => told,
                () = sleep_until(quiet) => Ok(None),
            };
            match told {
                Ok(Some(WatchTablesResponse { message: Some(message) })) => {
                    if self.note(&message) {
                        return message;
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => self.broken(None),
                Err(status) => self.broken(Some(&status)),
            }
        }
    }

    /// Forgets a table: what it tells from now on does not matter.
    pub fn forget(&mut self, table_id: &str) {
        self.heard.remove(table_id);
    }

    async fn begin(&mut self) -> Result<(), Status> {
        let watched = |(table_id, place): (&String, &Place)| WatchedTable {
            table_id: table_id.clone(),
            after_sequence: place.after.filter(|_| place.token.is_empty()),
            resume_token: place.token.clone(),
        };
        let request = WatchTablesRequest {
            tables: self.heard.iter().map(watched).collect(),
            viewer: self.viewer.clone(),
        };
        let mut tables = self.calls.connections.next().tables;
        let opened = tokio::time::timeout(OPENING, tables.watch_tables(request)).await;
        let opened = opened.map_err(|_| Status::deadline_exceeded("the stream does not open"))?;
        self.open = Some(opened?.into_inner());
        self.news = Instant::now();
        Ok(())
    }

    fn broken(&mut self, status: Option<&Status>) {
        if let Some(status) = status {
            self.calls.meter.error(status);
        }
        self.calls.meter.stream();
        self.open = None;
        let asked = status.and_then(asked_pause).unwrap_or_default();
        self.again_at = Instant::now() + self.pause.max(asked);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    /// Whether the message tells anything of a table.
    fn note(&mut self, message: &TableMessage) -> bool {
        let Some(heard) = self.heard.get_mut(&message.table_id) else {
            return false;
        };
        match &message.content {
            Some(Content::Snapshot(_)) => *heard = Place::after(message),
            Some(Content::Update(update)) => {
                *heard = Place::after(message);
                let closed = |told: &Event| matches!(told, Event::TableClosed(_));
                if update.events.iter().filter_map(|told| told.event.as_ref()).any(closed) {
                    self.heard.remove(&message.table_id);
                }
            }
            Some(Content::Compacted(_)) => return true,
            Some(Content::GoAway(_)) => {
                // Of many tables only this one is over: all are opened again, so that one stream is enough.
                self.broken(None);
                return false;
            }
            Some(Content::Heartbeat(_)) | None => return false,
        }
        self.news = Instant::now();
        self.pause = FIRST_PAUSE;
        true
    }
}
