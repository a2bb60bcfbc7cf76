//! The outcomes of hands in records.

use rules::result::{HandResult, PlayerResult, PotResult, ShownValue};

use super::CodecError;
use super::field::{Field, Record, records};
use crate::pb::store_v1 as wire;

records! {
    HandResult => HandResult { number, started_at, settled_at, pots, rake, players }
    PotResult => PotResult { amount, rake, eligible, winners }
    PlayerResult => PlayerResult {
        seat, player, session, stack_before, contributed, returned, won, rake_share, stack_after, shown,
    }
    ShownValue => ShownValue { pick, first, second }
}
