//! Commits: records made, the script called, its answer read.

use std::sync::Arc;

use ::redis::Cmd;
use rules::Millis;
use tables::books::overflows;
use tables::store::{AHEAD, severed};
use tables::{Commit, Outcome, StoreError, Stored, TableKey};

use super::RedisStore;
use super::accounts::increments;
use super::fault::Fault;
use super::fences::fence;
use super::keys::{Place, Shard};
use super::route::{Home, Kind};
use super::script::{Answer, Arguments, Verdict, split_state};
use crate::store::codec::EntryHead;
use crate::store::{CodecError, LATEST};

/// A commit that comes to Redis later than this after it was sent is not done any more: whoever sent it has given up.
/// Shorter than the silence that counts as an outage, so that a time-out which Redis sat on during one is not applied
/// before the clocks have got that time back (rules 8.4).
pub(super) const STALE: Millis = Millis(2_000);

/// Redis refuses times of life that it cannot add to its own time, and zero; that would come after the first write. A hundred
/// years, ms.
const LONGEST_KEPT: Millis = Millis::minutes(100 * 365 * 24 * 60);

impl RedisStore {
    pub(super) async fn try_commit(&self, commit: &Commit) -> Result<Outcome, StoreError> {
        let place = Place::of(&commit.key, self.shards());
        let sent = self.time().await?;
        let state = self.codec.write_table(&commit.key, &commit.table)?;
        let head = EntryHead {
            previous: commit.expected,
            token: commit.token,
            at: commit.time(sent),
            hand: commit.table.hands,
            origin: commit.origin,
        };
        let entry = self.codec.write_entry(&commit.key, &head, &commit.events)?;
        let request =
            commit.request.as_ref().map(|record| self.codec.write_request(&commit.key.operator, record));
        let settlements = commit.settlements.iter().map(|s| Ok((s.id, self.codec.write_settlement(s)?)));
        let accounts = increments(&commit.key.operator, &commit.accounts)?;
        let arguments = Arguments {
            keys: keys(&place, commit, !accounts.is_empty()),
            expected: commit.expected,
            token: commit.token,
            state: &state,
            entry: &entry,
            history: self.config.history,
            due: commit.due.map(|due| due.min(LATEST).0),
            name: commit.key.to_string(),
            not_before: not_before(commit),
            not_after: Some((sent + STALE).0),
            // Where replicas count, nobody hears of it before they have it.
            channel: if self.waits() { String::new() } else { place.channel() },
            keeps_state: commit.token.version.is_multiple_of(self.state_every()),
            request: request.transpose()?,
            request_kept: self.requests_kept(),
            settlements: settlements.collect::<Result<_, CodecError>>()?,
            accounts,
        };
        if let Some(hand) = commit.untold_hand() {
            self.note(&commit.key.operator, hand, sent).await;
        }
        self.listener.own(commit.token);
        let outcome = self.send(commit, place.shard, arguments.command()).await;
        if !matches!(outcome, Ok(Outcome::Committed { .. })) {
            self.listener.disown(commit.token);
        } else if self.waits() {
            self.publish(&place, &entry);
        }
        outcome
    }

    /// Tells other processes of a commit that replicas have. Nobody waits for it: what is not heard is looked for.
    fn publish(&self, place: &Place<'_>, entry: &[u8]) {
        let mut publish = ::redis::cmd("SPUBLISH");
        publish.arg(place.channel()).arg(entry);
        let (router, home) = (Arc::clone(&self.router), Home::Shard(place.shard));
        tokio::spawn(async move {
            if let Err(fault) = router.call(home, &[publish], Kind::Read).await {
                tracing::debug!(why = fault.text(), "a commit is not told of");
            }
        });
    }

    async fn send(&self, commit: &Commit, shard: Shard, command: Cmd) -> Result<Outcome, StoreError> {
        let mut answer = self.call_script(commit, shard, std::slice::from_ref(&command)).await?;
        // What it rests on was written by somebody of whom it is not known whether replicas confirmed it to him.
        if self.waits() && matches!(answer.verdict, Verdict::Before(_) | Verdict::DoneBefore) {
            answer = self.call_script(commit, shard, &[command, fence(Home::Shard(shard))]).await?;
        }
        self.outcome(commit, answer)
    }

    async fn call_script(
        &self,
        commit: &Commit,
        shard: Shard,
        commands: &[Cmd],
    ) -> Result<Answer, StoreError> {
        let reply = self.router.call(Home::Shard(shard), commands, Kind::Commit).await;
        let reply = reply.map_err(Fault::of_commit)?;
        let answer = Answer::read(reply.values.into_iter().next());
        let answer = answer.map_err(|error| StoreError::Unknown(error.to_string()))?;
        if is_ahead(commit, &answer) {
            self.router.time.set_back(&reply.from.endpoint, answer.now);
        } else {
            self.router.time.heard(&reply.from.endpoint, answer.now);
        }
        Ok(answer)
    }

    fn outcome(&self, commit: &Commit, answer: Answer) -> Result<Outcome, StoreError> {
        let now = Millis(answer.now / 1000);
        match answer.verdict {
            Verdict::Done | Verdict::DoneBefore => Ok(Outcome::Committed { now }),
            Verdict::Conflict(None, _) => Ok(Outcome::Conflict(None)),
            Verdict::Conflict(Some(state), kept) => {
                let current = self.read_state(&commit.key, &state)?;
                let lost = commit.expected.is_some_and(|expected| severed(expected, &current, kept));
                Ok(if lost { Outcome::Severed(current) } else { Outcome::Conflict(Some(current)) })
            }
            Verdict::Full => Err(overflows(&commit.key.operator)),
            Verdict::TooEarly if is_ahead(commit, &answer) => Ok(Outcome::Ahead { now }),
            Verdict::TooEarly => Ok(Outcome::TooEarly { now }),
            Verdict::TooLate => {
                Err(StoreError::Unavailable("the commit was too long on its way to Redis".to_owned()))
            }
            Verdict::Before(record) => {
                let Some(request) = &commit.request else {
                    return Err(super::fault::strange("the record of a request that was made"));
                };
                let done = self.codec.read_request(&commit.key.operator, &request.id, &record)?;
                Ok(if done.payload == request.payload {
                    Outcome::Repeated { answer: done.answer, declined: done.declined }
                } else {
                    Outcome::RequestReused
                })
            }
        }
    }

    /// A state as it lies in Redis.
    pub(super) fn read_state(&self, key: &TableKey, bytes: &[u8]) -> Result<Stored, StoreError> {
        let (token, record) =
            split_state(bytes).ok_or_else(|| StoreError::Corrupt(format!("the state of {key}")))?;
        let table = self.codec.read_table(key, record)?;
        if table.version != token.version {
            return Err(StoreError::Corrupt(format!("the state of {key} is not of its token's version")));
        }
        Ok(Stored { token, table: table.into() })
    }

    /// How long request records are kept, ms.
    pub(super) fn requests_kept(&self) -> u64 {
        self.config.requests_kept.clamp(Millis(1), LONGEST_KEPT).0
    }

    /// The state is kept in history so often that the last of those that are kept is never far.
    pub(super) fn state_every(&self) -> u64 {
        (self.config.history as u64 / 4).clamp(1, 64)
    }
}

/// The earliest time at which the script may do it: due, and not stamped with a time that is to come. One argument for
/// both, since the answer tells the time.
fn not_before(commit: &Commit) -> Option<u64> {
    let stamped = (commit.stamped > Millis::ZERO).then(|| commit.stamped - AHEAD);
    commit.not_before.max(stamped).map(|at| at.0)
}

/// Whether it was too early for nothing but its stamp.
fn is_ahead(commit: &Commit, answer: &Answer) -> bool {
    let due = commit.not_before.is_none_or(|at| Millis(answer.now / 1000) >= at);
    matches!(answer.verdict, Verdict::TooEarly) && due
}

/// In the order in which the script takes them; what the commit does not touch is not named. `counts`: it adds to accounts.
fn keys(place: &Place<'_>, commit: &Commit, counts: bool) -> Vec<String> {
    let operator = &place.key.operator;
    let mut keys = vec![place.state(), place.events(), place.shard.calendar()];
    let opening = commit.expected.is_none();
    if opening || !commit.settlements.is_empty() {
        keys.push(place.shard.outbox(operator));
        keys.push(place.shard.outbox_index(operator));
    }
    if opening || counts {
        keys.push(place.shard.accounts(operator));
        keys.push(place.shard.account_names(operator));
    }
    if opening {
        keys.push(place.shard.tables(operator));
    }
    if let Some(request) = &commit.request {
        keys.push(place.request(&request.id));
    }
    keys
}
