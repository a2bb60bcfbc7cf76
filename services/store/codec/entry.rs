//! What a record of a commit's events says beside the events.

use rules::Millis;
use tables::{Origin, Token};

/// Bytes of a trace's id and of a span's.
const TRACE: usize = 16;
const SPAN: usize = 8;

/// The head of such a record.
#[derive(Clone, Copy, Debug)]
pub struct EntryHead {
    /// The commit before it.
    pub previous: Option<Token>,
    /// The commit.
    pub token: Token,
    /// Its time by the store's clock, ms since the epoch.
    pub at: Millis,
    /// How many hands had begun at the table after it; the secrets of the events are bound to this.
    pub hand: u64,
    /// Where it was asked for.
    pub origin: Option<Origin>,
}

pub(super) fn put_origin(origin: Origin) -> Vec<u8> {
    [&origin.trace[..], &origin.span[..]].concat()
}

/// What cannot be read is not known: nothing rests on it.
pub(super) fn take_origin(bytes: &[u8]) -> Option<Origin> {
    let (trace, span) = bytes.split_first_chunk::<TRACE>()?;
    let span: [u8; SPAN] = span.try_into().ok()?;
    Some(Origin { trace: *trace, span })
}
