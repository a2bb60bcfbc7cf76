//! What can be asked of the tables: every change goes `request → command → decide → commit → evolve → publish`.

mod reading;
mod step;

use std::fmt;
use std::sync::Arc;

use rules::event::Event;
use rules::payment::Decline;
use rules::{Accepted, Ask, Command, Millis, PlayerId, Refusal, Table, TableConfig};
use thiserror::Error;
use tokio::time::Instant;

use self::step::{ATTEMPTS, refused};
use crate::committing::{Core, Draft, Fate};
use crate::courier::Courier;
use crate::dealer::Dealer;
use crate::drawing;
use crate::feed::{Feed, FeedLimits};
use crate::ids::{OperatorId, RequestId, TableId, TableKey};
use crate::signals::Signals;
use crate::stops::StopSettings;
use crate::store::{Commit, RequestRecord, Store, StoreError};

pub(crate) use self::step::{Ended, State, Verdict, stamped};

/// So often it is looked what is stopped, for one call.
const LOOKS: usize = 3;

/// A request as its caller names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Its id.
    pub id: RequestId,
    /// SHA-256 of the method and the message without the id.
    pub payload: [u8; 32],
}

/// The encoded answer to a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Answered {
    /// The bytes, the same ones for every repetition.
    pub bytes: Vec<u8>,
    /// The request had been done before.
    pub replayed: bool,
}

/// Without the bytes, which may show a player's own cards.
impl fmt::Debug for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered").field("replayed", &self.replayed).finish_non_exhaustive()
    }
}

/// Makes the answer to a request out of what it led to.
pub type Answer<'a> = &'a (dyn Fn(&[Event], &Table) -> Vec<u8> + Sync);

/// Why a call led to nothing.
#[derive(Debug, Clone, Error)]
pub enum PlayError {
    /// The operator has no such table.
    #[error("no such table")]
    NotFound,
    /// The rules say no.
    #[error("refused by rules {}: {}", refusal.rule(), refusal.reason())]
    Refused {
        /// Why.
        refusal: Refusal,
        /// The version of the table that refused; 0 where there is none yet.
        version: u64,
    },
    /// The request id was used before for something else.
    #[error("the request id was used for another request")]
    RequestReused,
    /// The table has gone on since the version that the caller named.
    #[error("the table is at version {current}")]
    EtagMismatch {
        /// The version now.
        current: u64,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Too many calls for this table at once; the same call may work later.
    #[error("too many calls for one table")]
    Contended,
    /// The step would have broken an invariant: the hand is void and the table has stopped (rules 10.3).
    #[error("the table has stopped because its books would not balance")]
    Malfunction,
    /// A stop is in force (rules 9.4).
    #[error("stopped: {scope}")]
    Disabled {
        /// The word for what it covers ([`crate::stops::Scope::word`]).
        scope: &'static str,
        /// Why, as whoever made it said.
        reason: String,
    },
    /// The process has no room for another watcher.
    #[error("too many watchers")]
    TooManyWatchers,
    /// The operator's wallet declined the debit. The same request gets the same answer.
    #[error("the wallet declined the debit: {0:?}")]
    WalletDeclined(Decline),
    /// The operator's wallet did not confirm the debit: it is cancelled. The same request gets the same answer.
    #[error("the wallet did not confirm the debit")]
    WalletNotConfirmed,
    /// The operator's wallet has not answered yet; the same request again goes on waiting.
    #[error("the wallet has not answered yet")]
    WalletPending,
    /// The operator's wallet does not answer lately, and was not asked.
    #[error("the wallet does not answer lately")]
    WalletAway,
}

/// Sizes of the parts that hold tables in memory.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// So many recent states are kept.
    pub recent_tables: usize,
    /// Bounds of the feed.
    pub feed: FeedLimits,
    /// How stops take effect.
    pub stops: StopSettings,
}

impl Default for Settings {
    fn default() -> Settings {
        let (feed, stops) = (FeedLimits::default(), StopSettings::default());
        Settings { recent_tables: 10_000, feed, stops }
    }
}

/// All tables of one store. Cheap to clone.
#[derive(Clone)]
pub struct Tables {
    pub(crate) core: Arc<Core>,
}

impl Tables {
    /// The tables in this store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, dealer: Arc<dyn Dealer>, settings: Settings) -> Tables {
        Tables { core: Arc::new(Core::new(store, dealer, settings)) }
    }

    /// Lets the operators' wallets be asked by this courier, once and for all.
    #[must_use]
    pub fn with_courier(self, courier: Courier) -> Tables {
        // A second one would change nothing: payments of the first may be on their way.
        let _ = self.core.courier.set(courier);
        self
    }

    /// Lets these hear what has to be looked at, once and for all.
    #[must_use]
    pub fn with_signals(self, signals: Arc<dyn Signals>) -> Tables {
        // A second one would change nothing, as a second courier.
        let _ = self.core.signals.set(signals);
        self
    }

    /// Who hears what happens.
    #[must_use]
    pub fn signals(&self) -> &dyn Signals {
        self.core.signals()
    }

    /// Whether the operator's money comes from his wallet.
    #[must_use]
    pub fn draws(&self, operator: &OperatorId) -> bool {
        self.core.courier().is_some_and(|courier| courier.serves(operator))
    }

    /// The store, for what only reads.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.core.store
    }

    /// The feed, for a store that hears of commits of other processes.
    #[must_use]
    pub fn feed(&self) -> &Arc<Feed> {
        &self.core.feed
    }

    /// Opens the table that this request names.
    ///
    /// # Errors
    /// [`PlayError::Refused`] for bad settings, [`PlayError::RequestReused`], [`PlayError::Store`]
    pub async fn open(
        &self,
        operator: &OperatorId,
        request: Request,
        config: TableConfig,
        answer: Answer<'_>,
    ) -> Result<Answered, PlayError> {
        let key = TableKey { operator: operator.clone(), table: TableId::derived(operator, &request.id) };
        let mut at = self.core.store.now().await?;
        for _ in 0..ATTEMPTS {
            match self.open_at(&key, request, config.clone(), at, answer).await? {
                Ok(answered) => return Ok(answered),
                Err(now) => at = now,
            }
        }
        Err(PlayError::Contended)
    }

    /// Opens a table at this time; if the store's is behind it, gives that and has done nothing.
    async fn open_at(
        &self,
        key: &TableKey,
        request: Request,
        config: TableConfig,
        at: Millis,
        answer: Answer<'_>,
    ) -> Result<Result<Answered, Millis>, PlayError> {
        let (table, event) = match Table::open(config, at) {
            Ok(opened) => opened,
            Err(refusal) => {
                let refused = PlayError::Refused { refusal, version: 0 };
                return self.unless_done_before(key, Some(request), refused).await.map(Ok);
            }
        };
        let events = vec![event];
        let bytes = answer(&events, &table);
        let record = RequestRecord {
            id: request.id,
            payload: request.payload,
            answer: bytes.clone(),
            at,
            declined: false,
        };
        let draft =
            Draft { events, after: Arc::new(table), request: Some(record), not_before: None, until: None };
        let commit = Commit { stamped: at, ..self.core.opening(key, draft) };
        match self.core.commit(commit).await? {
            Fate::Done => Ok(Ok(Answered { bytes, replayed: false })),
            Fate::Repeated { answer } => Ok(Ok(Answered { bytes: answer, replayed: true })),
            Fate::Ahead(now) => Ok(Err(now)),
            // The table is there but the record is not: the id is older than records are kept.
            Fate::RequestReused | Fate::Overtaken(_) | Fate::Severed => Err(PlayError::RequestReused),
            Fate::TooEarly => Err(PlayError::Contended),
        }
    }

    /// Asks something of a table. A request that was done before gets the answer that it got then, whatever has
    /// happened since. A seat or chips of an operator with a wallet are paid for from there first. `etag`: only at this version.
    ///
    /// # Errors
    /// [`PlayError`]
    pub async fn ask(
        &self,
        key: &TableKey,
        request: Option<Request>,
        etag: Option<u64>,
        ask: Ask,
        answer: Answer<'_>,
    ) -> Result<Answered, PlayError> {
        if let Some(request) = request
            && self.draws(&key.operator)
            && drawing::draws(&ask)
        {
            return self.draw(key, request, etag, ask).await;
        }
        let at = self.core.store.now().await?;
        let command = Command { at, ask };
        let judge = |table: &Table, at: Millis| {
            // The wallet is being asked for a request of this name, of which there is no record yet.
            if request.is_some_and(|request| table.payment_of(request.id.0.as_bytes()).is_some()) {
                return Verdict::Settled(Err(PlayError::RequestReused));
            }
            if let Some(wanted) = etag
                && wanted != table.version
            {
                return Verdict::Settled(Err(PlayError::EtagMismatch { current: table.version }));
            }
            let until = match self.admission(key, &command.ask, table) {
                Ok(until) => until,
                Err(error) => return Verdict::Settled(Err(error)),
            };
            let (events, after) = match table.step(&stamped(&command, at)) {
                Ok(step) => step,
                Err(refusal) => return refused(refusal, table),
            };
            let bytes = answer(&events, &after);
            let record = |r: Request| RequestRecord {
                id: r.id,
                payload: r.payload,
                answer: bytes.clone(),
                at,
                declined: false,
            };
            let request = request.map(record);
            Verdict::Commit(Draft { events, after: Arc::new(after), request, not_before: None, until }, bytes)
        };
        let ended = match brought(&command.ask) {
            Some(_) => self.run_admitted(key, at, judge).await,
            None => self.run(key, at, judge).await,
        };
        match ended {
            Ok(Ended::Done(bytes)) => Ok(Answered { bytes, replayed: false }),
            Ok(Ended::Repeated(bytes)) => Ok(Answered { bytes, replayed: true }),
            Err(error) => self.unless_done_before(key, request, error).await,
        }
    }

    /// Decides a turn: `ask` is an action or a pick. It counts by when it was received (rules 8.2), by the store's
    /// time, and not by when it is looked at. A repetition of an accepted decision gets the same answer.
    ///
    /// # Errors
    /// [`PlayError`]
    pub async fn decide_turn(
        &self,
        key: &TableKey,
        ask: Ask,
        received_at: Millis,
    ) -> Result<Accepted, PlayError> {
        let command = Command { at: received_at, ask };
        let judge = |table: &Table, at: Millis| {
            if let Some(accepted) = table.repeated(&command) {
                return Verdict::Repeated(accepted);
            }
            let (events, after) = match table.step(&stamped(&command, at)) {
                Ok(step) => step,
                Err(refusal) => return refused(refusal, table),
            };
            match after.repeated(&command) {
                Some(accepted) => Verdict::Commit(
                    Draft { events, after: Arc::new(after), request: None, not_before: None, until: None },
                    accepted,
                ),
                // Not a turn at all: only of turns is it remembered who decided what. Nothing is committed.
                None => refused(Refusal::NotYourTurn { seats: rules::SeatSet::EMPTY }, table),
            }
        };
        let mut ended = self.run(key, received_at, &judge).await;
        if ended.as_ref().is_err_and(ran_out) && self.credit_by_now(key).await? {
            ended = self.run(key, received_at, &judge).await;
        }
        match ended? {
            Ended::Done(accepted) => Ok(accepted),
            // Turns carry no request record that could be met.
            Ended::Repeated(_) => Err(PlayError::RequestReused),
        }
    }

    /// As [`Tables::run`], of a judgement that asks for [`Tables::admission`]: what is stopped is looked up first. Whoever
    /// waits long for his turn at the table, or for the state, looks once more instead of giving up.
    pub(crate) async fn run_admitted<R>(
        &self,
        key: &TableKey,
        at: Millis,
        judge: impl Fn(&Table, Millis) -> Verdict<R>,
    ) -> Result<Ended<R>, PlayError> {
        for _ in 1..LOOKS {
            self.core.gate.open(&*self.core.store, &key.operator).await?;
            match self.run(key, at, &judge).await {
                Err(PlayError::Store(StoreError::Unavailable(_))) if self.standing(key).is_err() => {}
                ended => return ended,
            }
        }
        self.core.gate.open(&*self.core.store, &key.operator).await?;
        self.run(key, at, judge).await
    }

    /// Until when the ask may be committed if it brings a player or his chips to the table: the stops of rules 9.4 stand
    /// against that. One who is stopped may leave and is paid; that he sits in again does no harm, as he is not dealt in.
    pub(crate) fn admission(
        &self,
        key: &TableKey,
        ask: &Ask,
        table: &Table,
    ) -> Result<Option<Instant>, PlayError> {
        let Some(player) = brought(ask) else {
            return Ok(None);
        };
        let standing = self.standing(key)?;
        standing.admits(table.config.game, player)?;
        Ok(Some(standing.until))
    }

    /// The stored answer if the request was done before; else the error. The record is read after the state on which
    /// the error rests, so that a twin of this request cannot slip in between.
    async fn unless_done_before(
        &self,
        key: &TableKey,
        request: Option<Request>,
        error: PlayError,
    ) -> Result<Answered, PlayError> {
        let decided = matches!(
            error,
            PlayError::NotFound
                | PlayError::Refused { .. }
                | PlayError::EtagMismatch { .. }
                | PlayError::Disabled { .. }
                | PlayError::Malfunction
        );
        let Some(request) = request.filter(|_| decided) else {
            return Err(error);
        };
        match self.core.store.request(key, &request.id).await? {
            Some(done) if done.payload == request.payload => {
                Ok(Answered { bytes: done.answer, replayed: true })
            }
            Some(_) => Err(PlayError::RequestReused),
            None => Err(error),
        }
    }
}

/// Whom the ask brings to the table, or whose chips.
fn brought(ask: &Ask) -> Option<&PlayerId> {
    match ask {
        Ask::Seat { player, .. }
        | Ask::AddChips { player, .. }
        | Ask::Reserve { player, .. }
        | Ask::DrawChips { player, .. } => Some(player),
        _ => None,
    }
}

fn ran_out(error: &PlayError) -> bool {
    matches!(error, PlayError::Refused { refusal: Refusal::ClockRanOut { .. }, .. })
}
