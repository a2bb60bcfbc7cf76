//! Soft stops of the service, an operator, a game or a player (rules 9.4): what is kept of them, and what a store
//! promises about that.
//!
//! # What is where
//!
//! The *registry* in the store says what is stopped. It counts: no hand begins and nobody is seated against it
//! ([`gate`]). A *stop on a table* (`Stopped`, `PlayerStopped`) shows it to watchers and to `GetTable`, and keeps the
//! table off the calendar. It follows the registry: the clocks put it where a hand would have begun, and the sweep
//! ([`sweep`]) puts and lifts it everywhere. A stop of a table alone is put on it at once by whoever makes it.
//!
//! # Times
//!
//! Whoever commits something that rests on the registry - a hand, a seat, a stop on a table or its lifting - rests it on
//! a copy that he began to read less than [`StopSettings::age`] before he sent the commit, and a store does not do a
//! commit that was longer than [`Stops::in_flight`] on its way. So when [`StopSettings::settle`] has passed since a change
//! of the registry was durable, nothing that rests on the registry before it comes any more. `disable` and `enable`
//! answer after that, and a sweep begins after that.
//!
//! # Orders
//!
//! - *A process dies after the change and before its sweep.* The entry says that it is not swept. Every process looks for
//!   such entries and sweeps them some seconds later. Two who sweep at once do no harm: each commit is judged by the
//!   registry as it is, and puts or lifts only what differs.
//! - *A stop is lifted while somebody still puts it on tables.* He rests on the registry before; when the sweep begins
//!   nothing of his comes any more. Therefore an entry that is being lifted stays until it is swept, and the sweep waits.
//! - *A scope is stopped again while its lifting is swept.* The entry is active again and not swept, with another version:
//!   the sweep that was under way ends nothing that has changed since, and another one follows.
//! - *A table is opened, or a player seated, after the sweep has passed.* The gate holds all the same; the clocks put the
//!   stop where the first hand would begin.
//! - *The registry has lost an entry* (a store that loses commits), *or nobody swept an operator's tables because he had
//!   no token then.* Once in a while, and when a process starts, the tables are compared with the registry as a whole.

pub(crate) mod desk;
pub(crate) mod gate;
pub mod shelves;
pub mod sweep;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use rules::event::StopScope;
use rules::{Game, Millis, PlayerId};

pub use desk::{Order, StopError};

use crate::ids::{OperatorId, RequestId, TableKey};
use crate::store::{RequestRecord, Store, StoreError, Token};

/// So many stops an operator may have of his own.
pub const MOST_STOPS: usize = 10_000;
/// So many entries of the audit are kept a shelf.
pub const AUDIT_KEPT: usize = 10_000;

/// How the gate and the sweep take their time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StopSettings {
    /// A copy of the registry counts so long from the beginning of its reading.
    pub age: Duration,
    /// For clocks of servers that differ, and for the way from a judgement to its commit.
    pub margin: Duration,
    /// How often a process looks for sweeps that others did not finish.
    pub look: Duration,
    /// How long it leaves a sweep to whoever made the change.
    pub grace: Duration,
    /// How often it compares all tables with the registry.
    pub compare: Duration,
}

impl Default for StopSettings {
    fn default() -> StopSettings {
        StopSettings {
            age: Duration::from_millis(1000),
            margin: Duration::from_millis(250),
            look: Duration::from_secs(2),
            grace: Duration::from_secs(5),
            compare: Duration::from_secs(3600),
        }
    }
}

impl StopSettings {
    /// So long after a change was durable nothing comes any more that rests on the registry before it. Where no other
    /// process has copies there is only what has just been judged here.
    #[must_use]
    pub fn settle(&self, store: &dyn Store) -> Duration {
        match store.poll() {
            Some(_) => self.age + store.stops().in_flight() + self.margin,
            None => self.margin,
        }
    }
}

/// What a stop covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All tables of all operators.
    Service,
    /// All tables of the operator.
    Operator(OperatorId),
    /// All tables of the game, of the operator or of all of them.
    Game(Option<OperatorId>, Game),
    /// The table.
    Table(TableKey),
    /// The player, at all tables of his operator.
    Player(OperatorId, PlayerId),
}

impl Scope {
    /// Whose stops it lies with.
    #[must_use]
    pub fn shelf(&self) -> Shelf {
        match self {
            Scope::Service | Scope::Game(None, _) => Shelf::Service,
            Scope::Operator(operator) | Scope::Game(Some(operator), _) | Scope::Player(operator, _) => {
                Shelf::Operator(operator.clone())
            }
            Scope::Table(key) => Shelf::Operator(key.operator.clone()),
        }
    }

    /// How the stop shows on a table of this game; `None` if it does not concern such a table as a whole.
    #[must_use]
    pub fn on_table(&self, game: Game) -> Option<StopScope> {
        match self {
            Scope::Service => Some(StopScope::Service),
            Scope::Operator(_) => Some(StopScope::Operator),
            Scope::Game(_, stopped) => (*stopped == game).then_some(StopScope::Game),
            Scope::Table(_) | Scope::Player(..) => None,
        }
    }

    /// The word for what it covers.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Scope::Service => "SERVICE",
            Scope::Operator(_) => "OPERATOR",
            Scope::Game(..) => "GAME",
            Scope::Table(_) => "TABLE",
            Scope::Player(..) => "PLAYER",
        }
    }
}

/// Stops that lie, change and are counted together: so that no operator's many stops are another one's burden.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Shelf {
    /// Those that concern all operators.
    Service,
    /// Those of one operator.
    Operator(OperatorId),
}

/// A name that no operator's shelf has: theirs begin with `o:`.
impl fmt::Display for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shelf::Service => f.write_str("service"),
            Shelf::Operator(operator) => write!(f, "o:{operator}"),
        }
    }
}

/// Who asks for a stop or its lifting.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Author {
    /// The operator, for himself.
    Operator(OperatorId),
    /// An administrator of the service; he has a name as operators have.
    Administrator(OperatorId),
}

impl Author {
    /// His name.
    #[must_use]
    pub fn name(&self) -> &OperatorId {
        match self {
            Author::Operator(name) | Author::Administrator(name) => name,
        }
    }

    /// Whether he is an administrator. Of one scope operator and administrator have a stop each, and each lifts his own:
    /// what one of them disabled is not enabled by the other.
    #[must_use]
    pub fn is_administrator(&self) -> bool {
        matches!(self, Author::Administrator(_))
    }
}

/// No operator has a colon in his name.
impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Author::Operator(name) => write!(f, "o:{name}"),
            Author::Administrator(name) => write!(f, "a:{name}"),
        }
    }
}

/// Whether a stop is in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopState {
    /// It is.
    Active,
    /// It is not any more, but may still show on tables.
    Lifting,
}

/// A stop in the registry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StopEntry {
    /// What it covers.
    pub scope: Scope,
    /// Who made it.
    pub author: Author,
    /// Why; shown to whoever sees a table.
    pub reason: String,
    /// The person or system that asked for it.
    pub requester: String,
    /// Since when, ms since the epoch.
    pub since: Millis,
    /// When it was last changed, ms since the epoch.
    pub changed: Millis,
    /// The version of its shelf with that change.
    pub version: u64,
    /// Its state.
    pub state: StopState,
    /// The tables show it.
    pub swept: bool,
}

impl StopEntry {
    /// Whether tables have still to be told of its state.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.state == StopState::Lifting || !self.swept
    }

    /// Its name on its shelf: one a scope for the operator, one for administrators.
    #[must_use]
    pub fn name(&self) -> StopName {
        StopName { scope: self.scope.clone(), administrator: self.author.is_administrator() }
    }
}

/// Names a stop on its shelf.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StopName {
    /// What it covers.
    pub scope: Scope,
    /// Whether it is an administrator's.
    pub administrator: bool,
}

/// As text, for stores: no two names of a shelf have the same.
impl fmt::Display for StopName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.administrator { "a:" } else { "o:" })?;
        match &self.scope {
            Scope::Service => f.write_str("service"),
            Scope::Operator(_) => f.write_str("operator"),
            Scope::Game(_, Game::DoubleHoldem) => f.write_str("game:double_holdem"),
            Scope::Game(_, Game::TexasHoldem) => f.write_str("game:texas_holdem"),
            Scope::Table(key) => write!(f, "table:{}", key.table),
            Scope::Player(_, player) => write!(f, "player:{player}"),
        }
    }
}

/// What was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// A stop.
    Disabled,
    /// Its lifting.
    Enabled,
}

/// An entry of the audit. It is made in the same step as what it tells of; that of a table is made before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditEntry {
    /// The version of the shelf with it: they only grow.
    pub number: u64,
    /// When, ms since the epoch.
    pub at: Millis,
    /// Who.
    pub author: Author,
    /// What he asked for.
    pub act: Act,
    /// Of what.
    pub scope: Scope,
    /// Why.
    pub reason: String,
    /// The person or system that asked for it.
    pub requester: String,
}

/// A shelf as it is in the store.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stopped {
    /// The last change; `None` if there never was one.
    pub token: Option<Token>,
    /// The stops, in the order of their names as text.
    pub entries: Vec<StopEntry>,
}

/// One atomic step of a shelf.
#[derive(Clone, Debug)]
pub struct StopChange {
    /// The shelf.
    pub shelf: Shelf,
    /// The change that this one follows.
    pub expected: Option<Token>,
    /// Its own name; one version later.
    pub token: Token,
    /// Stops that are new or changed.
    pub put: Vec<StopEntry>,
    /// Stops that go.
    pub remove: Vec<StopName>,
    /// What the audit is told; its number is the token's version.
    pub audit: Option<AuditEntry>,
    /// The request that asked for it, and whose it is, to be kept for repetitions.
    pub request: Option<(Author, RequestRecord)>,
}

/// What became of a change. The request record is looked at first, as in a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Changed {
    /// It is done and durable.
    Done,
    /// Another change came first.
    Conflict,
    /// The same request was done before, and this was answered; it is durable. Whether it is the same is for the caller to
    /// see.
    Before(RequestRecord),
}

/// The registry of stops in a store.
#[async_trait]
pub trait Stops: Send + Sync + 'static {
    /// The shelf as of its last change, durable as the store promises; `None` if that is the one that is known. An error
    /// says that the store cannot tell: then nothing may be rested on what was read before.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn shelf(&self, shelf: &Shelf, known: Option<Token>) -> Result<Option<Stopped>, StoreError>;

    /// Does all of the change or nothing. It is durable when this returns.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if it may have happened: the same change again finds out.
    async fn change(&self, change: &StopChange) -> Result<Changed, StoreError>;

    /// The durable record of a request, kept for [`crate::store::REQUEST_RETENTION`].
    ///
    /// # Errors
    /// [`StoreError`]
    async fn asked(&self, author: &Author, id: &RequestId) -> Result<Option<RequestRecord>, StoreError>;

    /// Up to `limit` entries of the shelf's audit before this number, the latest first. At least the last
    /// [`AUDIT_KEPT`] are there, and not many more.
    ///
    /// # Errors
    /// [`StoreError`]
    async fn audit(
        &self,
        shelf: &Shelf,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError>;

    /// So long after it was sent a commit of a table may still be done. Nothing where commits are done in the order in
    /// which they and changes of the registry were given to the store.
    fn in_flight(&self) -> Duration {
        Duration::ZERO
    }
}
