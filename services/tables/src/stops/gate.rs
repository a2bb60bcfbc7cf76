//! The gate: what may not begin because of a stop (rules 9.4), by a copy of the registry that is young enough.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::event::StopScope;
use rules::{Ask, Command, Game, Millis, PlayerId, Refusal, Table};
use tokio::sync::{Mutex as Line, Notify};
use tokio::time::Instant;

use super::{Scope, Shelf, StopEntry, StopSettings, StopState, Stopped};
use crate::committing::Draft;
use crate::ids::{OperatorId, TableId, TableKey};
use crate::play::PlayError;
use crate::store::{Store, StoreError};

/// The stops that the registry puts on tables.
const SCOPES: [StopScope; 3] = [StopScope::Service, StopScope::Operator, StopScope::Game];

/// Copies of the registry, by shelf.
pub(crate) struct Gate {
    pub(crate) settings: StopSettings,
    places: Mutex<HashMap<Shelf, Arc<Place>>>,
    made: Mutex<Vec<Made>>,
    /// Rings when a change was made here.
    pub(super) sweeping: Notify,
}

/// A change that was made here: from when on it, and all before it, may be swept.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) shelf: Shelf,
    pub(super) version: u64,
    pub(super) from: Instant,
}

#[derive(Default)]
struct Place {
    /// One reads for all.
    reading: Line<()>,
    copy: Mutex<Option<Copied>>,
}

#[derive(Clone)]
struct Copied {
    /// When its reading began.
    begun: Instant,
    /// Whatever its age.
    old: bool,
    stops: Arc<Known>,
}

/// A shelf, and what is looked for in it at every hand.
pub(super) struct Known {
    pub(super) stopped: Stopped,
    /// The places of active stops of tables, and of players. The first of a name is an administrator's.
    of_tables: Vec<usize>,
    of_players: HashMap<PlayerId, usize>,
    of_one_table: HashMap<TableId, usize>,
}

impl Known {
    fn new(stopped: Stopped) -> Known {
        let (mut of_tables, mut of_players) = (Vec::new(), HashMap::new());
        let mut of_one_table = HashMap::new();
        for (place, entry) in stopped.entries.iter().enumerate() {
            match &entry.scope {
                _ if entry.state != StopState::Active => {}
                Scope::Player(_, player) => {
                    of_players.entry(player.clone()).or_insert(place);
                }
                Scope::Table(key) => {
                    of_one_table.entry(key.table).or_insert(place);
                }
                _ => of_tables.push(place),
            }
        }
        Known { stopped, of_tables, of_players, of_one_table }
    }

    fn of_tables(&self) -> impl Iterator<Item = &StopEntry> {
        self.of_tables.iter().filter_map(|place| self.stopped.entries.get(*place))
    }
}

/// What is stopped for an operator's tables, by a copy that is young enough until then.
pub(crate) struct Standing {
    service: Arc<Known>,
    own: Arc<Known>,
    table: TableId,
    pub(crate) until: Instant,
}

impl Gate {
    pub(crate) fn new(settings: StopSettings) -> Gate {
        Gate { settings, places: Mutex::default(), made: Mutex::default(), sweeping: Notify::new() }
    }

    /// Has a change that was made here swept, when it has settled.
    pub(super) fn note(&self, made: Made) {
        self.forget(&made.shelf);
        lock(&self.made).push(made);
        self.sweeping.notify_one();
    }

    /// The changes that were made here and may be swept now; each is given once.
    pub(super) fn ripe(&self) -> Vec<Made> {
        let now = Instant::now();
        lock(&self.made).extract_if(.., |made| made.from <= now).collect()
    }

    /// Gives one back that could not be swept.
    pub(super) fn put_back(&self, made: Made) {
        lock(&self.made).push(made);
    }

    /// When the next one may be.
    pub(super) fn next_ripe(&self) -> Option<Instant> {
        lock(&self.made).iter().map(|made| made.from).min()
    }

    fn place(&self, shelf: &Shelf) -> Arc<Place> {
        let mut places = lock(&self.places);
        Arc::clone(places.entry(shelf.clone()).or_default())
    }

    /// Sees to it that [`Gate::standing`] has something to say: reads what is not here or no longer young.
    ///
    /// # Errors
    /// [`StoreError`]: then nothing may begin.
    pub(crate) async fn open(&self, store: &dyn Store, operator: &OperatorId) -> Result<(), StoreError> {
        let own = Shelf::Operator(operator.clone());
        // Half of its time is for the way from here to the judgement.
        let half = self.settings.age / 2;
        let (service, own) = (self.read(store, &Shelf::Service, half), self.read(store, &own, half));
        tokio::try_join!(service, own).map(|_| ())
    }

    /// A copy whose reading began less than that ago.
    async fn read(&self, store: &dyn Store, shelf: &Shelf, age: Duration) -> Result<Arc<Known>, StoreError> {
        let place = self.place(shelf);
        let young = |copy: &Copied| !copy.old && copy.begun.elapsed() < age;
        let kept = || lock(&place.copy).clone();
        if let Some(copy) = kept().filter(young) {
            return Ok(copy.stops);
        }
        let _turn = place.reading.lock().await;
        let copy = kept();
        if let Some(copy) = copy.clone().filter(young) {
            return Ok(copy.stops);
        }
        let begun = Instant::now();
        let known = copy.map(|copy| copy.stops);
        let read = store.stops().shelf(shelf, known.as_ref().and_then(|known| known.stopped.token)).await?;
        let stops = match (read, known) {
            (Some(stopped), _) => Arc::new(Known::new(stopped)),
            (None, Some(known)) => known,
            (None, None) => return Err(StoreError::Corrupt("an unread shelf has not changed".to_owned())),
        };
        *lock(&place.copy) = Some(Copied { begun, old: false, stops: Arc::clone(&stops) });
        Ok(stops)
    }

    /// The shelf as it is in the store now.
    ///
    /// # Errors
    /// [`StoreError`]
    pub(super) async fn read_anew(&self, store: &dyn Store, shelf: &Shelf) -> Result<Arc<Known>, StoreError> {
        self.read(store, shelf, Duration::ZERO).await
    }

    /// Has the shelf read anew by whoever needs it next: it was changed.
    fn forget(&self, shelf: &Shelf) {
        if let Some(copy) = &mut *lock(&self.place(shelf).copy) {
            // What is known of it saves the reading of what has not changed.
            copy.old = true;
        }
    }

    /// What is stopped for the table.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if that was read too long ago: then nothing may begin.
    pub(crate) fn standing(&self, key: &TableKey) -> Result<Standing, StoreError> {
        let copy = |shelf: Shelf| lock(&self.place(&shelf).copy).clone();
        let copies = copy(Shelf::Service).zip(copy(Shelf::Operator(key.operator.clone())));
        let copies = copies.filter(|(service, own)| !service.old && !own.old);
        let standing = copies.map(|(service, own)| Standing {
            until: service.begun.min(own.begun) + self.settings.age,
            service: service.stops,
            own: own.stops,
            table: key.table,
        });
        let old = || StoreError::Unavailable("what is stopped was read too long ago".to_owned());
        standing.filter(|standing| Instant::now() < standing.until).ok_or_else(old)
    }
}

impl Standing {
    /// The stop that a table of this game has to show in this scope: of the service first, then of an administrator.
    fn on_table(&self, game: Game, scope: StopScope) -> Option<&StopEntry> {
        let mut all = self.service.of_tables().chain(self.own.of_tables());
        all.find(|entry| entry.scope.on_table(game) == Some(scope))
    }

    /// The stop of the player.
    fn of_player(&self, player: &PlayerId) -> Option<&StopEntry> {
        self.own.stopped.entries.get(*self.own.of_players.get(player)?)
    }

    /// The stop of this table alone.
    fn of_this_table(&self) -> Option<&StopEntry> {
        self.own.stopped.entries.get(*self.own.of_one_table.get(&self.table)?)
    }

    /// Whether the player may be seated at the table, which is one of this game, or bring more chips to it.
    ///
    /// # Errors
    /// [`PlayError::Disabled`]
    pub(crate) fn admits(&self, game: Game, player: &PlayerId) -> Result<(), PlayError> {
        let of_table = SCOPES.iter().find_map(|scope| self.on_table(game, *scope));
        match of_table.or_else(|| self.of_this_table()).or_else(|| self.of_player(player)) {
            None => Ok(()),
            Some(stop) => {
                let (scope, reason) = (stop.scope.word(), stop.reason.clone());
                Err(PlayError::Disabled { scope, reason })
            }
        }
    }

    /// What has to be asked of a table so that it shows what is stopped; nothing if it does.
    pub(crate) fn asks(&self, table: &Table) -> Vec<Ask> {
        let mut asks = Vec::new();
        for scope in SCOPES {
            let wanted = self.on_table(table.config.game, scope).map(|stop| &stop.reason);
            let shown = table.stops.iter().find(|stop| stop.scope == scope).map(|stop| &stop.reason);
            match wanted {
                Some(reason) if shown != Some(reason) => {
                    asks.push(Ask::Stop { scope, reason: reason.clone() });
                }
                None if shown.is_some() => asks.push(Ask::Resume { scope }),
                _ => {}
            }
        }
        // Only put there: the table may be stopped by PauseTable as well.
        let paused = table.stops.iter().any(|stop| stop.scope == StopScope::Table);
        if let Some(stop) = self.of_this_table().filter(|_| !paused) {
            asks.push(Ask::Stop { scope: StopScope::Table, reason: stop.reason.clone() });
        }
        for (_, seat) in table.occupied() {
            let wanted = self.of_player(&seat.player).map_or("", |stop| stop.reason.as_str());
            let player = seat.player.clone();
            if wanted == seat.stopped {
                continue;
            }
            asks.push(match wanted {
                "" => Ask::ResumePlayer { player },
                reason => Ask::StopPlayer { player, reason: reason.to_owned() },
            });
        }
        asks
    }

    /// The step that makes a table show what is stopped; `None` if it does already, or cannot: one who is leaving cannot be
    /// stopped any more.
    pub(crate) fn step(&self, table: &Table, at: Millis) -> Option<(Vec<rules::Event>, Table)> {
        let mut events = Vec::new();
        let mut after = table.clone();
        for ask in self.asks(table) {
            let decided: Result<Vec<_>, Refusal> = after.decide(&Command { at, ask });
            // A refusal is of this ask only.
            for event in decided.unwrap_or_default() {
                after.evolve(&event);
                events.push(event);
            }
        }
        if events.is_empty() {
            return None;
        }
        let mut after = table.clone();
        after.apply(&events);
        Some((events, after))
    }
}

impl Standing {
    /// The step that takes the place of a hand that was to begin from then on, where a stop stands against it, or stands on
    /// the table no more; `None`: the hand may begin. As a time-out it is tried once.
    pub(crate) fn stop(&self, table: &Table, at: Millis, from: Millis) -> Option<Draft> {
        let (events, after) = self.step(table, at)?;
        Some(Draft { not_before: Some(from), ..Draft::resting(events, after, self) })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Copies and times: a panic elsewhere leaves none of them half written.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
