//! What lies where in the file. Every key of an operator's things begins with the operator, so that a range of one
//! operator never reaches into another's.

use redb::TableDefinition;
use rules::{Millis, PlayerId};
use tables::{OperatorId, TableKey, Tally, Token};

/// How the file is laid out; a file with a later number is refused.
pub(super) const LAYOUT: u64 = 1;

/// A state is kept each so many commits, so that later ones can be folded from it; history goes in such blocks.
pub(super) const BLOCK: u64 = 128;

type Definition<K, V> = TableDefinition<'static, K, V>;
type ByTable = (&'static str, u128);
type ByVersion = (&'static str, u128, u64);
type Bytes = &'static [u8];

/// Numbers of the file itself.
pub(super) const META: Definition<&'static str, u64> = Definition::new("meta");
/// In [`META`]: the layout.
pub(super) const META_LAYOUT: &str = "layout";
/// In [`META`]: the format of records that are written; in files that do not have it, the first one.
pub(super) const META_FORMAT: &str = "format";
/// In [`META`]: the last sign of life, ms since the epoch.
pub(super) const META_HEARTBEAT: &str = "heartbeat";

/// By the name of a key: something sealed with it, to tell a wrong key when the store is opened.
pub(super) const KEY_CHECKS: Definition<&'static str, Bytes> = Definition::new("key_checks");
/// By operator and table: a [`Row`].
pub(super) const TABLES: Definition<ByTable, Bytes> = Definition::new("tables");
/// By operator, table and version: an entry record.
pub(super) const EVENTS: Definition<ByVersion, Bytes> = Definition::new("events");
/// By operator, table and version: a table record as of then.
pub(super) const CHECKPOINTS: Definition<ByVersion, Bytes> = Definition::new("checkpoints");
/// By time, operator and table: the calendar of the clocks.
pub(super) const DUE: Definition<(u64, &'static str, u128), ()> = Definition::new("due");
/// By operator and request: the time at which it was recorded, and the record.
pub(super) const REQUESTS: Definition<ByTable, (u64, Bytes)> = Definition::new("requests");
/// By that time, operator and request: in the order in which they go.
pub(super) const REQUEST_AGES: Definition<(u64, &'static str, u128), ()> = Definition::new("request_ages");
/// By operator and position: a settlement record.
pub(super) const SETTLEMENTS: Definition<(&'static str, u64), Bytes> = Definition::new("settlements");
/// By operator and settlement id: the position.
pub(super) const SETTLEMENT_IDS: Definition<ByTable, u64> = Definition::new("settlement_ids");
/// By operator, table and position.
pub(super) const TABLE_SETTLEMENTS: Definition<ByVersion, ()> = Definition::new("table_settlements");
/// By operator, table, hand and position.
pub(super) const HAND_SETTLEMENTS: Definition<(&'static str, u128, u64, u64), ()> =
    Definition::new("hand_settlements");
/// By operator, player and position.
pub(super) const PLAYER_SETTLEMENTS: Definition<(&'static str, &'static str, u64), ()> =
    Definition::new("player_settlements");
/// By operator: the position of the last settlement that was removed for its age, and the latest moment that one told of.
pub(super) const RETIRED: Definition<&'static str, (u64, u64)> = Definition::new("retired");
/// By operator and reader: how often the cursor was taken, and the last position acknowledged.
pub(super) const CURSORS: Definition<(&'static str, &'static str), (u64, Option<u64>)> =
    Definition::new("cursors");
/// The key of an account.
pub(super) type AccountKey<'a> = (&'a str, &'a str, [u8; 3]);
/// By operator, player and currency: a [`Tally::row`].
pub(super) const ACCOUNTS: Definition<AccountKey<'static>, [u64; Tally::SUMS]> = Definition::new("accounts");
/// By shelf: version and nonce of its last change.
pub(super) const STOP_SHELVES: Definition<&'static str, (u64, u64)> = Definition::new("stop_shelves");
/// By shelf and name: a stop.
pub(super) const STOPS: Definition<(&'static str, &'static str), Bytes> = Definition::new("stops");
/// By shelf and number: an entry of the audit of stops.
pub(super) const STOP_AUDIT: Definition<(&'static str, u64), Bytes> = Definition::new("stop_audit");
/// By author and request: the time at which it was recorded, and the record.
pub(super) const STOP_REQUESTS: Definition<ByTable, (u64, Bytes)> = Definition::new("stop_requests");
/// By that time, author and request: in the order in which they go.
pub(super) const STOP_REQUEST_AGES: Definition<(u64, &'static str, u128), ()> =
    Definition::new("stop_request_ages");
/// By operator, table and hand: when a hand of which is still to be told was noted, or taken last.
pub(super) const UNTOLD: Definition<ByVersion, u64> = Definition::new("untold");
/// By operator, that time, table and hand.
pub(super) const UNTOLD_AGES: Definition<(&'static str, u64, u128, u64), ()> = Definition::new("untold_ages");
/// By operator: how many.
pub(super) const UNTOLD_COUNTS: Definition<&'static str, u64> = Definition::new("untold_counts");
/// The times when the service was away: from, to.
pub(super) const OUTAGES: Definition<u64, u64> = Definition::new("outages");

/// What lies in [`TABLES`]: the token and the due time stand before the record, so that a commit need not decode it.
pub(super) struct Row<'a> {
    pub token: Token,
    pub due: Option<Millis>,
    /// A table record.
    pub record: &'a [u8],
}

const HEAD_LEN: usize = 24;
/// No due time.
const NEVER: u64 = u64::MAX;

impl<'a> Row<'a> {
    pub fn read(bytes: &'a [u8]) -> Option<Row<'a>> {
        let (head, record) = bytes.split_first_chunk::<HEAD_LEN>()?;
        let [version, nonce, due] = [0, 8, 16].map(|at| number(head, at));
        let due = (due != NEVER).then_some(Millis(due));
        Some(Row { token: Token { version, nonce }, due, record })
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_LEN + self.record.len());
        for number in [self.token.version, self.token.nonce, self.due.map_or(NEVER, |due| due.0)] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(self.record);
        bytes
    }
}

fn number(head: &[u8; HEAD_LEN], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&head[at..at + 8]);
    u64::from_be_bytes(bytes)
}

/// The key of an account in [`ACCOUNTS`].
pub(super) fn account_key<'a>(
    operator: &'a OperatorId,
    player: &'a PlayerId,
    currency: [u8; 3],
) -> AccountKey<'a> {
    (operator.as_str(), player.as_str(), currency)
}

/// The key of a table in [`TABLES`].
pub(super) fn table_key(key: &TableKey) -> (&str, u128) {
    (key.operator.as_str(), key.table.0.as_u128())
}
