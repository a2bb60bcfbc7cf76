//! The logs of a run's tables: followed while it goes, with a spectator's eyes, and read again when it is over.

use std::collections::BTreeMap;
use std::time::Duration;

use tables::{Clock, SystemClock};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::calls::Calls;
use super::check::Log;
use super::stream::Stream;
use crate::pb::v1::table_event::Event;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{StopScope, TableMessage};

/// So many tables are watched on one stream.
pub const TABLES: usize = 100;
/// So long a stream may be behind when all is over.
const LAST_NEWS: Duration = Duration::from_secs(60);
/// So long the logs may take to be read again.
const READING: Duration = Duration::from_secs(120);

/// The last sequence of each table, once it is known.
pub type Ends = BTreeMap<String, u64>;

/// Follows tables from their beginning until all of them are over.
pub async fn follow(
    calls: Calls,
    tables: Vec<String>,
    mut ends: watch::Receiver<Option<Ends>>,
    lost: mpsc::UnboundedSender<String>,
) -> BTreeMap<String, Log> {
    let mut stream = Stream::new(calls.clone(), from_the_beginning(&tables), None);
    let mut logs: BTreeMap<String, Log> = tables.into_iter().map(|id| (id, Log::default())).collect();
    let clock = SystemClock::default();
    let mut limit = None;
    loop {
        let known = ends.borrow_and_update().clone();
        if let Some(known) = &known {
            let read = |(id, log): (&String, &Log)| known.get(id).is_none_or(|end| log.last() >= *end);
            let until = *limit.get_or_insert_with(|| Instant::now() + LAST_NEWS);
            if logs.iter().all(read) || Instant::now() >= until {
                return logs;
            }
        }
        let until = limit.unwrap_or_else(|| Instant::now() + LAST_NEWS);
        tokio::select! {
            message = stream.next() => {
                note(&calls, &message, &lost);
                if let Some(log) = logs.get_mut(&message.table_id) {
                    log.hear(&message, Some(clock.now().0));
                }
            }
            _ = ends.changed() => {}
            () = sleep_until(until) => {}
        }
    }
}

fn from_the_beginning(tables: &[String]) -> BTreeMap<String, Option<u64>> {
    tables.iter().map(|id| (id.clone(), Some(0))).collect()
}

/// Counts hands, and tells of a table that the loss of its history has stopped.
fn note(calls: &Calls, message: &TableMessage, lost: &mpsc::UnboundedSender<String>) {
    // Nobody listens when all is over.
    let stopped = || _ = lost.send(message.table_id.clone());
    match &message.content {
        Some(Content::Update(update)) => {
            for event in update.events.iter().filter_map(|told| told.event.as_ref()) {
                match event {
                    Event::HandSettled(_) | Event::HandVoided(_) => calls.meter.hand(),
                    Event::HistoryLost(_) => stopped(),
                    _ => {}
                }
            }
        }
        // Who comes later hears of it like this.
        Some(Content::Snapshot(table))
            if table.stops.iter().any(|stop| stop.scope() == StopScope::Malfunction) =>
        {
            stopped();
        }
        _ => {}
    }
}

/// Reads whole logs again, up to their ends. A log whose beginning is not kept any more is left out.
pub async fn read(calls: &Calls, ends: &Ends) -> BTreeMap<String, Log> {
    let limit = Instant::now() + READING;
    let mut logs = BTreeMap::new();
    let tables: Vec<String> = ends.keys().cloned().collect();
    for some in tables.chunks(TABLES) {
        let mut stream = Stream::new(calls.clone(), from_the_beginning(some), None);
        let mut open: BTreeMap<String, Log> = some.iter().map(|id| (id.clone(), Log::default())).collect();
        while !open.is_empty() {
            let message = tokio::select! {
                message = stream.next() => message,
                () = sleep_until(limit) => return logs,
            };
            let id = &message.table_id;
            let Some(log) = open.get_mut(id) else {
                continue;
            };
            log.hear(&message, None);
            if log.last() < ends.get(id).copied().unwrap_or_default() && log.whole() {
                continue;
            }
            stream.forget(id);
            if let Some(log) = open.remove(id)
                && log.whole()
            {
                logs.insert(id.clone(), log);
            }
        }
    }
    logs
}
