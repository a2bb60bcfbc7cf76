//! Lost history: found out by names of commits that somebody has seen and the store does not know any more.
//!
//! Names are seen in three places: in the recent states, by watchers, and in the tokens with which watchers come back. A
//! name that is missing is a suspicion. It becomes a loss only by a commit, after the table was looked for and read
//! anew: a server that is out of date does not know the latest commits either, and its commits count for nothing.

use std::sync::Arc;

use rules::lost::REASON;
use rules::{Ask, Command, Millis};

use crate::committing::{Core, Draft, Fate, stop};
use crate::ids::TableKey;
use crate::play::PlayError;
use crate::resume::Reached;
use crate::store::{StoreError, Stored, Token, is_past, severed};

/// So often the loss is tried to be committed because another commit came first.
const ATTEMPTS: usize = 4;

impl Core {
    /// Looks into the suspicion that the table has lost what somebody has seen. If so the table stops, its running hand
    /// is void, and the operator is told (rules 10.2). If that fails, whoever suspects still does.
    pub(crate) async fn suspect(self: &Arc<Core>, key: &TableKey, reached: Reached) -> Result<(), PlayError> {
        self.store.find_again(key).await?;
        for _ in 0..ATTEMPTS {
            let Some(at) = self.store.load(key).await? else {
                self.is_gone(key);
                return Ok(());
            };
            if !self.is_severed(key, reached.token, &at).await? {
                return Ok(());
            }
            let (seen, found) = (reached.token.version, at.token.version);
            let Some(draft) = self.loss(&at, &reached, self.store.now().await?) else {
                tracing::error!(event = "history_lost", table = %key, seen, found, "history was lost of a table that is closed or stopped");
                return Ok(());
            };
            if let Fate::Done = self.commit(self.next(key, &at, draft)).await? {
                tracing::error!(event = "history_lost",
                    table = %key, seen, found,
                    "the store has lost commits: the hand is void, the table has stopped; ResumeTable lets it go on"
                );
                return Ok(());
            }
        }
        Err(PlayError::Contended)
    }

    /// The step that tells the loss; `None` if there is nothing left to do. Where records cannot tell it yet the table
    /// stops as after any other malfunction.
    fn loss(&self, at: &Stored, reached: &Reached, now: Millis) -> Option<Draft> {
        if !self.store.can_tell_loss() {
            tracing::error!(
                event = "history_lost",
                "stored records cannot tell that history was lost before `fulcrum store migrate`"
            );
            return stop(&at.table, now, REASON);
        }
        let lose = Command { at: now, ask: Ask::LoseHistory { seen: reached.seen } };
        let (events, after) = at.table.step(&lose).ok()?;
        Some(Draft { events, after: Arc::new(after), request: None, not_before: None, until: None })
    }

    /// Whether a commit that somebody has seen is not in the past of this state, and that is not known yet.
    pub(crate) async fn is_severed(
        &self,
        key: &TableKey,
        seen: Token,
        current: &Stored,
    ) -> Result<bool, StoreError> {
        Ok(severed(seen, current, self.kept(key, seen, current).await?))
    }

    /// Whether a commit is in the past of this state, as far as history is kept.
    pub(crate) async fn is_past(
        &self,
        key: &TableKey,
        seen: Token,
        current: &Stored,
    ) -> Result<bool, StoreError> {
        Ok(is_past(seen, current, self.kept(key, seen, current).await?))
    }

    /// The commit of that version that the history before this state has.
    async fn kept(&self, key: &TableKey, seen: Token, current: &Stored) -> Result<Option<Token>, StoreError> {
        if current.token.version <= seen.version {
            return Ok(None);
        }
        let history = self.store.history(key, seen.version.saturating_sub(1), 1).await?;
        let kept = history.entries.first().filter(|entry| entry.version == seen.version);
        Ok(kept.map(|entry| entry.token))
    }
}
