//! The scripts: their arguments and their answers.

use std::sync::LazyLock;

use ::redis::{Cmd, Script, Value, cmd};
use tables::stops::AUDIT_KEPT;
use tables::{StoreError, Token};
use uuid::Uuid;

use super::fault::strange;

/// One commit.
const COMMIT: &str = include_str!("commit.lua");
/// One change of a shelf of stops.
const STOPS: &str = include_str!("stops.lua");
/// One sign of life of one shard.
const BEAT: &str = include_str!("beat.lua");

static COMMIT_HASH: LazyLock<String> = LazyLock::new(|| Script::new(COMMIT).get_hash().to_owned());
static STOPS_HASH: LazyLock<String> = LazyLock::new(|| Script::new(STOPS).get_hash().to_owned());
static BEAT_HASH: LazyLock<String> = LazyLock::new(|| Script::new(BEAT).get_hash().to_owned());

/// The length of a token at the beginning of a state.
const TOKEN_LEN: usize = 16;

/// Makes a server know the scripts. They do not come to a replica with its data.
pub(super) fn loading() -> [Cmd; 3] {
    [COMMIT, BEAT, STOPS].map(|script| {
        let mut command = cmd("SCRIPT");
        command.arg("LOAD").arg(script);
        command
    })
}

/// What the commit script is told; see there.
pub(super) struct Arguments<'a> {
    pub(super) keys: Vec<String>,
    pub(super) expected: Option<Token>,
    pub(super) token: Token,
    pub(super) state: &'a [u8],
    pub(super) entry: &'a [u8],
    pub(super) history: usize,
    pub(super) due: Option<u64>,
    pub(super) name: String,
    pub(super) not_before: Option<u64>,
    pub(super) not_after: Option<u64>,
    pub(super) channel: String,
    pub(super) keeps_state: bool,
    pub(super) request: Option<Vec<u8>>,
    pub(super) request_kept: u64,
    pub(super) settlements: Vec<(Uuid, Vec<u8>)>,
    pub(super) accounts: Vec<Increment>,
}

/// What is added to one sum of an account: its name, the sum's, and how much.
pub(super) type Increment = (Vec<u8>, &'static str, u64);

impl Arguments<'_> {
    /// The call of the script, by its hash.
    pub(super) fn command(&self) -> Cmd {
        let or_empty = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let mut command = cmd("EVALSHA");
        command.arg(&*COMMIT_HASH).arg(self.keys.len());
        for key in &self.keys {
            command.arg(key);
        }
        command
            .arg(self.expected.map(|token| token_bytes(token).to_vec()).unwrap_or_default())
            .arg(&token_bytes(self.token)[..])
            .arg(self.state)
            .arg(self.entry)
            .arg(entry_id(self.token.version))
            .arg(self.history)
            .arg(or_empty(self.due))
            .arg(&self.name)
            .arg(or_empty(self.not_before))
            .arg(or_empty(self.not_after))
            .arg(&self.channel)
            .arg(if self.keeps_state { "1" } else { "" })
            .arg(self.request.as_deref().unwrap_or_default())
            .arg(self.request_kept)
            .arg(self.settlements.len());
        for (id, record) in &self.settlements {
            command.arg(&id.as_bytes()[..]).arg(&record[..]);
        }
        for (name, sum, more) in &self.accounts {
            command.arg(&name[..]).arg(*sum).arg(*more);
        }
        command
    }
}

/// What the script of stops is told; see there.
pub(super) struct StopArguments {
    pub(super) keys: Vec<String>,
    pub(super) expected: Option<Token>,
    pub(super) token: Token,
    pub(super) audit: Option<Vec<u8>>,
    pub(super) request: Option<Vec<u8>>,
    pub(super) request_kept: u64,
    /// Names and records.
    pub(super) put: Vec<(String, Vec<u8>)>,
    pub(super) remove: Vec<String>,
}

impl StopArguments {
    /// The call of the script, by its hash.
    pub(super) fn command(&self) -> Cmd {
        let mut command = cmd("EVALSHA");
        command.arg(&*STOPS_HASH).arg(self.keys.len()).arg(&self.keys);
        command
            .arg(self.expected.map(|token| token_bytes(token).to_vec()).unwrap_or_default())
            .arg(&token_bytes(self.token)[..])
            .arg(self.audit.as_deref().unwrap_or_default())
            .arg(entry_id(self.token.version))
            .arg(AUDIT_KEPT)
            .arg(self.request.as_deref().unwrap_or_default())
            .arg(self.request_kept)
            .arg(self.put.len());
        for (name, record) in &self.put {
            command.arg(name).arg(&record[..]);
        }
        command.arg(&self.remove);
        command
    }
}

/// What the commit script answered. Times in µs since the epoch.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) now: u64,
    pub(super) verdict: Verdict,
}

#[derive(Debug)]
pub(super) enum Verdict {
    Done,
    /// The state, and the token that has the expected one's version.
    Conflict(Option<Vec<u8>>, Option<Token>),
    TooEarly,
    TooLate,
    Before(Vec<u8>),
    /// This commit itself was done before.
    DoneBefore,
    /// An account would be too large.
    Full,
}

impl Answer {
    pub(super) fn read(value: Option<Value>) -> Result<Answer, StoreError> {
        let wrong = || strange("the commit script's answer");
        let mut parts = value.and_then(|value| value.into_sequence().ok()).ok_or_else(wrong)?.into_iter();
        let (Some(Value::Int(code)), Some(Value::Int(now))) = (parts.next(), parts.next()) else {
            return Err(wrong());
        };
        let record = parts.next().and_then(bytes);
        let verdict = match (code, record) {
            (0, _) => Verdict::Done,
            (1, state) => Verdict::Conflict(state, parts.next().and_then(bytes).and_then(token)),
            (2, _) => Verdict::TooEarly,
            (3, _) => Verdict::TooLate,
            (4, Some(record)) => Verdict::Before(record),
            (5, _) => Verdict::DoneBefore,
            (6, _) => Verdict::Full,
            _ => return Err(wrong()),
        };
        Ok(Answer { now: u64::try_from(now).map_err(|_| wrong())?, verdict })
    }
}

/// The call of the script of signs of life. Lengths of time in ms.
pub(super) fn beat(key: &str, silence: u64, kept: u64) -> Cmd {
    let mut command = cmd("EVALSHA");
    command.arg(&*BEAT_HASH).arg(1).arg(key).arg(silence).arg(kept);
    command
}

/// Its answer: the time in µs, and outages in ms since the epoch.
pub(super) fn read_beat(value: &Value) -> Option<(u64, Vec<(u64, u64)>)> {
    let [Value::Int(now), Value::BulkString(outages)] = value.as_sequence()? else {
        return None;
    };
    let outages = std::str::from_utf8(outages).ok()?;
    let outage = |text: &str| {
        let (from, to) = text.split_once('-')?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    let outages = outages.split_terminator(';').map(outage).collect::<Option<_>>()?;
    Some((u64::try_from(*now).ok()?, outages))
}

pub(super) fn entry_id(version: u64) -> String {
    format!("{version}-1")
}

pub(super) fn token_bytes(token: Token) -> [u8; TOKEN_LEN] {
    let mut bytes = [0; TOKEN_LEN];
    bytes[..8].copy_from_slice(&token.version.to_be_bytes());
    bytes[8..].copy_from_slice(&token.nonce.to_be_bytes());
    bytes
}

/// A token alone.
pub(super) fn token(bytes: Vec<u8>) -> Option<Token> {
    split_state(&bytes).filter(|(_, rest)| rest.is_empty()).map(|(token, _)| token)
}

/// A state as it is stored: token, then record.
pub(super) fn split_state(bytes: &[u8]) -> Option<(Token, &[u8])> {
    let (version, rest) = bytes.split_first_chunk::<8>()?;
    let (nonce, record) = rest.split_first_chunk::<8>()?;
    Some((Token { version: u64::from_be_bytes(*version), nonce: u64::from_be_bytes(*nonce) }, record))
}

/// Bytes, or nothing.
pub(super) fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_the_same_after_it_was_stored() {
        let token = Token { version: 7, nonce: u64::MAX - 1 };
        let stored = [&token_bytes(token)[..], b"record"].concat();
        assert_eq!(split_state(&stored), Some((token, &b"record"[..])));
        assert_eq!(split_state(&stored[..15]), None);
    }

    #[test]
    fn answers_are_read_strictly() {
        let answer = |parts: Vec<Value>| Answer::read(Some(Value::Array(parts)));
        let state = Value::BulkString(b"state".to_vec());
        assert!(matches!(
            answer(vec![Value::Int(0), Value::Int(5)]),
            Ok(Answer { now: 5, verdict: Verdict::Done })
        ));
        let kept = Token { version: 3, nonce: 4 };
        let kept_bytes = Value::BulkString(token_bytes(kept).to_vec());
        let conflict = answer(vec![Value::Int(1), Value::Int(5), state, kept_bytes]).unwrap();
        let Verdict::Conflict(Some(bytes), found) = conflict.verdict else { panic!("{conflict:?}") };
        assert_eq!((&bytes[..], found), (&b"state"[..], Some(kept)));
        let conflict = answer(vec![Value::Int(1), Value::Int(5), Value::Nil]).unwrap();
        assert!(matches!(conflict.verdict, Verdict::Conflict(None, None)));
        assert!(answer(vec![Value::Int(4), Value::Int(5)]).is_err());
        assert!(answer(vec![Value::Int(9), Value::Int(5)]).is_err());
        assert!(Answer::read(Some(Value::Okay)).is_err());
        assert!(Answer::read(None).is_err());
    }

    #[test]
    fn the_script_counts_as_far_as_the_other_stores() {
        assert_eq!(tables::books::ACCOUNT_LIMIT, 9 * 10_u64.pow(18));
        assert!(COMMIT.contains("> 9e18 then return {6"));
        assert!(i64::try_from(tables::books::ACCOUNT_LIMIT).is_ok(), "Redis counts so far");
    }

    #[test]
    fn a_beat_tells_of_outages() {
        let answer =
            |out: &str| Value::Array(vec![Value::Int(9), Value::BulkString(out.as_bytes().to_vec())]);
        assert_eq!(read_beat(&answer("")), Some((9, vec![])));
        assert_eq!(read_beat(&answer("1-2;3-4;")), Some((9, vec![(1, 2), (3, 4)])));
        assert_eq!(read_beat(&answer("1-2;x")), None);
    }
}
