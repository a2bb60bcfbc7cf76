//! Real tables for the laws: commits as the program itself would write them.

use std::sync::Arc;

use rules::{
    Ante, Ask, Chips, Clocks, Command, Deck, Event, Game, Limit, Millis, PivotOrder, PlayerId, Rake, Stakes,
    Table, TableConfig,
};
use uuid::Uuid;

use crate::dealer::nonce;
use crate::deriving::settlements;
use crate::ids::{OperatorId, RequestId, TableId, TableKey};
use crate::store::{Commit, Entry, Outcome, RequestRecord, Store, Stored, Token};

/// A law's verdict: what is wrong, if something is.
pub(super) type Verdict = Result<(), String>;

/// Ends a law with a reason unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
}
pub(super) use ensure;

/// A store error or a refusal is a broken law where none is due.
pub(super) fn text(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}

/// The settings of a two-handed no-limit table of 1/2.
pub(crate) fn config() -> TableConfig {
    TableConfig {
        display_name: "law".to_owned(),
        currency: *b"EUR",
        game: Game::TexasHoldem,
        limit: Limit::NoLimit,
        seats: 6,
        stakes: Stakes {
            small_blind: Chips(1),
            big_blind: Chips(2),
            ante: Ante::None,
            straddles: 0,
            small_bet: Chips(2),
            big_bet: Chips(4),
            min_buy_in: Chips(40),
            max_buy_in: Chips(200),
        },
        rake: Rake::NONE,
        clocks: Clocks::default(),
        pivot_order: PivotOrder::InTurn,
        limit_cap_heads_up: false,
        show_all: false,
        rathole: Millis::ZERO,
    }
}

/// The operator of that number.
pub(super) fn operator(number: u8) -> Result<OperatorId, String> {
    OperatorId::new(&format!("operator-{number}")).ok_or_else(|| "a legal name is refused".to_owned())
}

/// A table of an operator; ids are in the order of the numbers.
pub(super) fn key(operator_number: u8, table: u128) -> Result<TableKey, String> {
    Ok(TableKey { operator: operator(operator_number)?, table: TableId(Uuid::from_u128(table)) })
}

/// A request record of that number.
pub(super) fn record(number: u128, payload: u8, answer: &[u8], at: Millis) -> RequestRecord {
    RequestRecord {
        id: RequestId(Uuid::from_u128(number)),
        payload: [payload; 32],
        answer: answer.to_vec(),
        at,
        declined: false,
    }
}

/// The commit that opens a table.
pub(super) fn opening(key: &TableKey, at: Millis) -> Result<Commit, String> {
    let (table, event) = Table::open(config(), at).map_err(text)?;
    Ok(commit(key, None, vec![event], table, Vec::new()))
}

/// A commit that follows: the one player of the table comes or goes, so that each has a settlement.
pub(super) fn following(key: &TableKey, before: &Stored, at: Millis) -> Result<Commit, String> {
    let player = PlayerId::new("player").ok_or("a legal name is refused")?;
    let transaction = format!("t{}", before.token.version);
    let ask = match before.table.seat_of(&player) {
        Some(_) => Ask::StandUp { player, transaction },
        None => Ask::Seat { player, seat: None, buy_in: Chips(100), post: false, transaction },
    };
    let (events, after) = before.table.step(&Command { at, ask }).map_err(text)?;
    let records = settlements(key, &before.table, &after, &events);
    Ok(commit(key, Some(before.token), events, after, records))
}

/// The commits of a hand from the players' coming to its void, each resting on the one before.
pub(super) fn a_hand(key: &TableKey, opened: &Stored, at: Millis) -> Result<Vec<Commit>, String> {
    let mut asks = Vec::new();
    for name in ["ann", "bob"] {
        let player = PlayerId::new(name).ok_or("a legal name is refused")?;
        let transaction = format!("in-{name}");
        asks.push(Ask::Seat { player, seat: None, buy_in: Chips(100), post: true, transaction });
    }
    asks.push(Ask::StartHand { deck: Box::new(Deck::ordered()), draw: 0 });
    asks.push(Ask::Void { hand: 1, reason: "law".to_owned(), requester: "law".to_owned() });
    let mut before = opened.clone();
    let mut commits = Vec::new();
    for ask in asks {
        let at = before.table.due().map_or(at, |(due, _)| due.max(at));
        let (events, after) = before.table.step(&Command { at, ask }).map_err(text)?;
        let records = settlements(key, &before.table, &after, &events);
        let next = commit(key, Some(before.token), events, after, records);
        before = Stored { token: next.token, table: Arc::clone(&next.table) };
        commits.push(next);
    }
    Ok(commits)
}

fn commit(
    key: &TableKey,
    expected: Option<Token>,
    events: Vec<Event>,
    after: Table,
    settlements: Vec<crate::Settlement>,
) -> Commit {
    Commit {
        key: key.clone(),
        expected,
        token: Token { version: after.version, nonce: nonce() },
        table: Arc::new(after),
        events,
        request: None,
        settlements,
        accounts: Vec::new(),
        due: None,
        not_before: None,
        stamped: Millis::ZERO,
        origin: None,
        untold: false,
    }
}

/// Commits and demands that it is done; gives the state that the store has now to have.
pub(super) async fn done(store: &dyn Store, commit: Commit) -> Result<Stored, String> {
    let stored = Stored { token: commit.token, table: Arc::clone(&commit.table) };
    match store.commit(commit).await.map_err(text)? {
        Outcome::Committed { .. } => Ok(stored),
        other => Err(format!("a commit in order is answered with {other:?}")),
    }
}

/// Opens a table and takes it to a version.
pub(super) async fn table_at(store: &dyn Store, key: &TableKey, version: u64) -> Result<Stored, String> {
    let at = store.now().await.map_err(text)?;
    let mut stored = done(store, opening(key, at)?).await?;
    while stored.token.version < version {
        stored = done(store, following(key, &stored, at)?).await?;
    }
    Ok(stored)
}

/// Everything that a store shows of a table, to see that nothing has changed.
#[derive(PartialEq, Debug)]
pub(super) struct Picture {
    token: Option<Token>,
    table: Option<Table>,
    entries: Vec<Entry>,
    due: Vec<(TableKey, Millis)>,
    next_due: Option<Millis>,
    settlements: Vec<Uuid>,
}

/// Takes the picture of a table, its operator's records, and the calendar.
pub(super) async fn picture(store: &dyn Store, key: &TableKey) -> Result<Picture, String> {
    let stored = store.load(key).await.map_err(text)?;
    let records =
        store.settlements(&key.operator, &Default::default(), None, 1000).await.map_err(text)?.records;
    Ok(Picture {
        token: stored.as_ref().map(|s| s.token),
        table: stored.map(|s| (*s.table).clone()),
        entries: store.history(key, 0, 1000).await.map_err(text)?.entries,
        due: store.due(Millis(u64::MAX), 1000).await.map_err(text)?,
        next_due: store.next_due().await.map_err(text)?,
        settlements: records.into_iter().map(|(_, settlement)| settlement.id).collect(),
    })
}
