//! The commit loop: a step of a table is judged on a state, committed, and judged anew where another step came first.

use std::borrow::Cow;

use rules::{Command, Millis, Refusal, Table};

use super::{PlayError, Tables};
use crate::committing::{Draft, Fate};
use crate::ids::TableKey;
use crate::resume::Reached;
use crate::signals::Retry;
use crate::store::{Commit, Stored};

/// So often a step is tried anew because another one came first.
pub(super) const ATTEMPTS: usize = 16;

/// What is to become of a state. A settled verdict counts only if the state was read from the store: it meets no token.
pub(crate) enum Verdict<R> {
    /// Commit this; then `R` is the result.
    Commit(Draft, R),
    /// Nothing is to be committed.
    Settled(Result<R, PlayError>),
    /// It was committed before; that is acknowledged once more, and so it has to be durable.
    Repeated(R),
}

/// How a step ended.
pub(crate) enum Ended<R> {
    /// As its last verdict said.
    Done(R),
    /// The request had been done before.
    Repeated(Vec<u8>),
}

impl Tables {
    /// Brings a step through: judges the state at this time, commits, and judges anew if another step came first, or if
    /// the store's time turns out to be before this one: nothing is stamped with a time that is to come.
    pub(crate) async fn run<R>(
        &self,
        key: &TableKey,
        mut time: Millis,
        judge: impl Fn(&Table, Millis) -> Verdict<R>,
    ) -> Result<Ended<R>, PlayError> {
        let _turn = self.core.queues.enter(key).await.ok_or(PlayError::Contended)?;
        let mut at = self.core.some_state(key).await?.ok_or(PlayError::NotFound)?;
        for _ in 0..ATTEMPTS {
            let verdict = judge(&at.stored.table, time);
            let broken = match &verdict {
                Verdict::Commit(draft, _) => rules::invariant::check(&draft.after).err(),
                Verdict::Settled(_) | Verdict::Repeated(_) => None,
            };
            let (draft, result) = match verdict {
                Verdict::Commit(draft, result) if broken.is_none() => (draft, result),
                Verdict::Settled(result) if at.fresh => return result.map(Ended::Done),
                Verdict::Repeated(result) if at.durable => return Ok(Ended::Done(result)),
                Verdict::Repeated(_) => {
                    at = State::durable(self.core.load_durable(key).await?)?;
                    continue;
                }
                Verdict::Commit(..) if at.fresh => {
                    self.core.stop_broken(key, &at.stored, broken).await?;
                    return Err(PlayError::Malfunction);
                }
                _ => {
                    at = State::fresh(self.core.load(key).await?)?;
                    continue;
                }
            };
            let until = draft.until;
            let commit = Commit { stamped: time, ..self.core.next(key, &at.stored, draft) };
            match self.core.commit_until(commit, until).await? {
                Fate::Ahead(now) => time = now,
                Fate::Done => return Ok(Ended::Done(result)),
                Fate::Repeated { answer } => return Ok(Ended::Repeated(answer)),
                Fate::RequestReused => return Err(PlayError::RequestReused),
                Fate::TooEarly => {
                    return Err(PlayError::Refused {
                        refusal: Refusal::NotDue { at: at.stored.table.due().map(|(when, _)| when) },
                        version: at.stored.token.version,
                    });
                }
                Fate::Overtaken(current) => {
                    self.core.signals().commit_retried(Retry::Conflict);
                    at = State::fresh(current)?;
                }
                Fate::Severed => {
                    self.core.suspect(key, Reached::of(&at.stored)).await?;
                    at = State::fresh(self.core.load(key).await?)?;
                }
            }
        }
        Err(PlayError::Contended)
    }
}

/// A state to judge, whether it was just read, and whether it was read as durable.
pub(crate) struct State {
    pub(crate) stored: Stored,
    pub(crate) fresh: bool,
    pub(crate) durable: bool,
}

impl State {
    fn fresh(current: Option<Stored>) -> Result<State, PlayError> {
        let stored = current.ok_or(PlayError::NotFound)?;
        Ok(State { stored, fresh: true, durable: false })
    }

    fn durable(current: Option<Stored>) -> Result<State, PlayError> {
        Ok(State { durable: true, ..State::fresh(current)? })
    }
}

/// The command as if it had been received at that time.
pub(crate) fn stamped(command: &Command, at: Millis) -> Cow<'_, Command> {
    if at == command.at {
        return Cow::Borrowed(command);
    }
    Cow::Owned(Command { at, ask: command.ask.clone() })
}

pub(super) fn refused<R>(refusal: Refusal, table: &Table) -> Verdict<R> {
    Verdict::Settled(Err(PlayError::Refused { refusal, version: table.version }))
}
