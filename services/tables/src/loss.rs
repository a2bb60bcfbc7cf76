//! Lost history: found out by names of commits that somebody has seen and the store does not know any more.
//!
//! Names are seen in three places: in the recent states, by watchers, and in the tokens with which watchers come back. A
//! name that is missing is a suspicion. It becomes a loss only by a commit, after the table was looked for and read
//! anew: a server that is out of date does not know the latest commits either, and its commits count for nothing.

use std::sync::Arc;

use rules::{Ask, Command};

use crate::committing::{Core, Draft, Fate};
use crate::ids::TableKey;
use crate::play::PlayError;
use crate::resume::Reached;
use crate::store::{StoreError, Stored, Token, severed};

/// So often the loss is tried to be committed because another commit came first.
const ATTEMPTS: usize = 16;

impl Core {
    /// Looks into the suspicion that the table has lost what somebody has seen. If so the table stops, its running hand
    /// is void, and the operator is told (rules 10.2).
    pub(crate) async fn suspect(self: &Arc<Core>, key: &TableKey, reached: Reached) -> Result<(), PlayError> {
        self.store.find_again(key).await?;
        for _ in 0..ATTEMPTS {
            self.recent.forget(key);
            let Some(at) = self.store.load(key).await? else {
                tracing::error!(table = %key, version = reached.token.version, "the store has lost a whole table");
                return Ok(());
            };
            if !self.is_severed(key, reached.token, &at).await? {
                return Ok(());
            }
            let now = self.store.now().await?;
            let lose = Command { at: now, ask: Ask::LoseHistory { seen: reached.seen } };
            let (seen, found) = (reached.token.version, at.token.version);
            let Ok((events, after)) = at.table.step(&lose) else {
                tracing::error!(table = %key, seen, found, "a closed table has lost history");
                return Ok(());
            };
            tracing::error!(
                table = %key, seen, found,
                "the store has lost commits: the hand is void and the table stops; ResumeTable lets it go on"
            );
            let draft = Draft { events, after: Arc::new(after), request: None, not_before: None };
            if let Fate::Done = self.commit(self.next(key, &at, draft)).await? {
                return Ok(());
            }
        }
        Err(PlayError::Contended)
    }

    /// Whether a commit that somebody has seen is not in the past of this state.
    pub(crate) async fn is_severed(
        &self,
        key: &TableKey,
        seen: Token,
        current: &Stored,
    ) -> Result<bool, StoreError> {
        if current.token.version <= seen.version {
            return Ok(severed(seen, current, None));
        }
        let history = self.store.history(key, seen.version.saturating_sub(1), 1).await?;
        let kept = history.entries.first().filter(|entry| entry.version == seen.version);
        Ok(severed(seen, current, kept.map(|entry| entry.token)))
    }
}
