//! A run: tables are opened, bots play, all hands are played to their ends, everybody is paid out, and then the logs are
//! read and checked.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tonic::Status;
use uuid::Uuid;

use super::LoadArgs;
use super::bot::Manner;
use super::calls::Calls;
use super::check::{Findings, Log};
use super::connections::Connections;
use super::games::BUY_IN;
use super::logbook::{self, Ends};
use super::meter::Meter;
use super::progress::Progress;
use super::report::{Checked, Played, Report};
use super::room::{Ended, Room};
use crate::cli::failure::Failure;
use crate::cli::signals::Stop;

/// So many tables are opened, filled or ended at a time.
const AT_ONCE: usize = 32;
/// A table is quiet for so long at most, besides what bots think and clocks run.
const QUIET: Duration = Duration::from_secs(5);
const OPENING_SAID: &str = "ended while tables were being opened";
/// So many tables that stay open are named.
const NAMED: usize = 100;
const AT_ONCE_SAID: &str = "ended at once: players are still seated, and nothing was checked";
/// The bits of a bot's seed that tell the places at a table apart.
const PLACES: u32 = 8;

/// A run that goes.
pub struct Run<'a> {
    args: &'a LoadArgs,
    calls: Calls,
    rooms: Vec<Room>,
    /// The tables that are open, whatever becomes of the run.
    opened: Opened,
    ends: watch::Sender<Option<Ends>>,
    logs: JoinSet<BTreeMap<String, Log>>,
    seed: u64,
}

/// Plays as long as asked for, and checks. A second signal ends it at once.
///
/// # Errors
/// [`Failure`] if it cannot begin, or is ended before it could check.
pub async fn run(args: &LoadArgs, stop: &mut Stop) -> Result<Report, Failure> {
    let connections = Connections::with(&args.address, &args.access, args.connections)?;
    let meter = Meter::new().map_err(|error| Failure::Failed(format!("cannot measure: {error}")))?;
    let quiet = QUIET + 2 * (args.think + args.action_clock);
    let calls = Calls { connections: Arc::new(connections), meter: Arc::new(meter), quiet };
    let mut progress = Progress::new(&calls.meter, args.duration, args.timeline.as_deref())?;
    let (ends, _) = watch::channel(None);
    // Fewer bits, so that every reader of JSON keeps all of them.
    let seed = args.seed.unwrap_or_else(|| crate::cli::any_seed() >> 16);
    let mut run =
        Run { args, calls, rooms: Vec::new(), opened: Opened::default(), ends, logs: JoinSet::new(), seed };

    progress.say("opening tables");
    let opened = run.opened.clone();
    tokio::select! {
        begun = run.begin() => begun.map_err(|failure| opened.told_with(failure))?,
        () = stop.asked() => return Err(opened.told_with(Failure::Failed(OPENING_SAID.to_owned()))),
    }
    progress.say("");
    let begun = Instant::now();
    let before = run.calls.meter.start();
    let ended = tokio::select! {
        () = sleep(args.duration) => Ok(()),
        () = run.calls.meter.until_hands(args.hands) => Ok(()),
        () = stop.asked() => Ok(()),
        Err(failure) = progress.run() => Err(failure),
    };
    let rest = run.calls.meter.stop();
    let played = Played { time: begun.elapsed(), counts: run.calls.meter.counts().since(before), rest };
    progress.say("last hands");
    let checked = tokio::select! {
        checked = run.end() => checked,
        Err(failure) = progress.run(), if ended.is_ok() => Err(failure),
        () = stop.asked() => Err(Failure::Failed(AT_ONCE_SAID.to_owned())),
    };
    progress.finish();
    ended?;
    Ok(Report::new(&run.calls.meter, (args.tables, args.seats), played, seed, checked?))
}

impl Run<'_> {
    /// Opens and fills the tables. The logs are followed from the beginning on.
    async fn begin(&mut self) -> Result<(), Failure> {
        let mut opening = JoinSet::new();
        let (mut rooms, mut failed) = (BTreeMap::new(), Ok(()));
        for index in 0..self.args.tables {
            if opening.len() >= AT_ONCE {
                failed = collect(opening.join_next().await, &mut rooms, &self.args.address);
            }
            if failed.is_err() {
                break;
            }
            let clocks = (self.args.action_clock, self.args.between_hands);
            let config = self.args.games.config(index, self.args.seats, clocks);
            let (calls, opened) = (self.calls.clone(), self.opened.clone());
            opening.spawn(async move {
                let room = Room::open(&calls, config).await;
                room.iter().for_each(|room| opened.note(&room.id));
                (index, room)
            });
        }
        // After a failure too: what is on its way may be opened yet.
        while let Some(opened) = opening.join_next().await {
            failed = failed.and(collect(Some(opened), &mut rooms, &self.args.address));
        }
        failed?;
        self.rooms = rooms.into_values().collect();
        self.follow();
        self.fill().await
    }

    fn follow(&mut self) {
        let (lost, mut told) = mpsc::unbounded_channel::<String>();
        let ids: Vec<String> = self.rooms.iter().map(|room| room.id.clone()).collect();
        for some in ids.chunks(logbook::TABLES) {
            let ends = self.ends.subscribe();
            self.logs.spawn(logbook::follow(self.calls.clone(), some.to_vec(), ends, lost.clone()));
        }
        let calls = self.calls.clone();
        tokio::spawn(async move {
            while let Some(table_id) = told.recv().await {
                let calls = calls.clone();
                tokio::spawn(async move { Room::resume(&calls, &table_id).await });
            }
        });
    }

    async fn fill(&mut self) -> Result<(), Failure> {
        let run = &Uuid::new_v4().simple().to_string()[..8];
        let manner = Manner {
            think: self.args.think,
            absent: self.args.absent,
            fold: self.args.fold,
            churn: self.args.churn,
            wallet: self.args.wallet,
            buy_in: BUY_IN,
            notes: !self.args.no_check,
        };
        let mut filling = JoinSet::new();
        let mut rooms = BTreeMap::new();
        for (index, mut room) in std::mem::take(&mut self.rooms).into_iter().enumerate() {
            if filling.len() >= AT_ONCE {
                collect(filling.join_next().await, &mut rooms, &self.args.address)?;
            }
            let name = |place| format!("load-{run}-{}-{place}", index + 1);
            let players = (1..=self.args.seats).map(name).collect();
            let seed = self.seed.wrapping_add((index as u64) << PLACES);
            filling.spawn(async move {
                let seated = room.seat(players, manner, seed).await;
                (index, seated.map(|()| room))
            });
        }
        while let Some(filled) = filling.join_next().await {
            collect(Some(filled), &mut rooms, &self.args.address)?;
        }
        self.rooms = rooms.into_values().collect();
        Ok(())
    }

    /// Plays the last hands, reads the logs and checks them; closes the tables if all is right at every one.
    async fn end(&mut self) -> Result<Checked, Failure> {
        let patience = self.args.last_hands;
        let mut ending = JoinSet::new();
        for mut room in std::mem::take(&mut self.rooms) {
            ending.spawn(async move {
                let end = room.end(patience).await;
                (room, end)
            });
        }
        let mut ends = Ends::new();
        let mut stuck = BTreeMap::new();
        while let Some(ended) = ending.join_next().await {
            let (room, end) =
                ended.map_err(|broken| Failure::Failed(format!("a table broke down: {broken}")))?;
            match end {
                Ok(end) => _ = ends.insert(room.id.clone(), end),
                Err(status) => _ = stuck.insert(room.id.clone(), status),
            }
            self.rooms.push(room);
        }
        self.ends.send_replace(Some(ends.clone()));
        let checked = self.check(&ends, &stuck).await?;
        if checked.clean() {
            self.close().await;
        }
        Ok(checked)
    }

    async fn check(&mut self, ends: &Ends, stuck: &BTreeMap<String, Status>) -> Result<Checked, Failure> {
        let mut followed = BTreeMap::new();
        while let Some(logs) = self.logs.join_next().await {
            followed.extend(logs.map_err(|broken| Failure::Failed(format!("a log broke down: {broken}")))?);
        }
        let read = if self.args.no_check { BTreeMap::new() } else { logbook::read(&self.calls, ends).await };
        let mut checked = Checked::new(!self.args.no_check, read.len());
        for room in &mut self.rooms {
            let Ended { views, records, broken } = room.gather().await;
            if let Some(broken) = broken {
                return Err(Failure::Failed(format!("a bot broke down: {broken}")));
            }
            let live = followed.remove(&room.id).unwrap_or_default();
            let mut found = match read.get(&room.id) {
                _ if self.args.no_check => Findings::default(),
                Some(log) => log.check(&records, &views, Some(&live)),
                None => live.check(&records, &views, None),
            };
            if let Some(status) = stuck.get(&room.id) {
                found.stuck(live.last(), status.message());
            } else if !self.args.no_check {
                match room.settlements().await {
                    Ok(records) => read.get(&room.id).unwrap_or(&live).check_books(&records, &mut found),
                    Err(status) => found.without_books(status.message()),
                }
            }
            checked.add(&room.id, &room.name, &records, found);
        }
        Ok(checked)
    }

    async fn close(&mut self) {
        let mut closing = JoinSet::new();
        for room in std::mem::take(&mut self.rooms) {
            closing.spawn(async move { room.close().await });
        }
        while closing.join_next().await.is_some() {}
    }
}

/// The ids of the tables that were opened.
#[derive(Clone, Default)]
struct Opened(Arc<Mutex<Vec<String>>>);

impl Opened {
    fn note(&self, table_id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(table_id.to_owned());
    }

    /// The failure, and which tables it leaves open.
    fn told_with(&self, failure: Failure) -> Failure {
        let ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match failure {
            Failure::Failed(text) if !ids.is_empty() => {
                let named = ids.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("\n  ");
                let more = match ids.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!("\n  and {more} more"),
                };
                Failure::Failed(format!("{text}\n\nThese tables stay open:\n  {named}{more}"))
            }
            failure => failure,
        }
    }
}

type Done = Option<Result<(usize, Result<Room, Status>), tokio::task::JoinError>>;

fn collect(done: Done, rooms: &mut BTreeMap<usize, Room>, addresses: &[String]) -> Result<(), Failure> {
    let Some(done) = done else {
        return Ok(());
    };
    let (index, room) = done.map_err(|broken| Failure::Failed(format!("a table broke down: {broken}")))?;
    let room = room.map_err(|status| Failure::call("cannot open a table", &addresses.join(", "), &status))?;
    rooms.insert(index, room);
    Ok(())
}
