//! Old settlements are removed in the background, so that what a reader leaves lying does not grow for ever. In bites, with
//! pauses: whoever commits or reads meanwhile waits for one bite at most.

use std::time::Duration;

use rules::Millis;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::ids::OperatorId;
use crate::play::Tables;
use crate::settlement::SettlementPosition;
use crate::store::{Store, StoreError};

/// How often it is looked for old records.
const EVERY: Duration = Duration::from_secs(60);
/// So many records go at a time.
const BITE: usize = 256;
/// The pause after a bite.
const PAUSE: Duration = Duration::from_millis(20);
/// So many bites in a row an operator gets; then it is the next one's turn.
const BITES: usize = 200;

/// What is kept how long.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Retention {
    /// Whose settlements are removed when they are old.
    pub operators: Vec<OperatorId>,
    /// How long they are kept, ms.
    pub kept: Millis,
}

/// Removes old settlements until `shutdown` becomes true or its sender goes.
pub async fn run(tables: Tables, retention: Retention, mut shutdown: watch::Receiver<bool>) {
    let work = async {
        loop {
            for operator in &retention.operators {
                tidy(&*tables.core.store, operator, retention.kept).await;
            }
            sleep(EVERY).await;
        }
    };
    tokio::select! {
        // An error says that the sender is gone.
        _ = shutdown.wait_for(|stop| *stop) => {}
        () = work => {}
    }
}

/// Removes an operator's old settlements. A failure ends the turn; the next one comes soon enough.
async fn tidy(store: &dyn Store, operator: &OperatorId, kept: Millis) {
    match remove(store, operator, kept).await {
        Ok(0) => {}
        Ok(removed) => {
            tracing::info!(event = "settlements_removed", %operator, removed, "old settlements were removed")
        }
        Err(error) => {
            tracing::warn!(event = "settlements_not_removed", %operator, %error, "old settlements cannot be removed now")
        }
    }
}

async fn remove(store: &dyn Store, operator: &OperatorId, kept: Millis) -> Result<usize, StoreError> {
    let (books, before) = (store.books(), store.now().await? - kept);
    let mut removed = 0;
    for _ in 0..BITES {
        let bite = books.retire(operator, before, BITE).await?;
        removed += bite;
        if bite < BITE {
            break;
        }
        sleep(PAUSE).await;
    }
    if removed > 0
        && let Some(until) = books.retired_until(operator).await?
    {
        complain(store, operator, until).await?;
    }
    Ok(removed)
}

/// Says which readers have missed something: money may not have been booked.
async fn complain(
    store: &dyn Store,
    operator: &OperatorId,
    until: SettlementPosition,
) -> Result<(), StoreError> {
    for (consumer, cursor) in store.books().cursors(operator).await? {
        if cursor.position < Some(until) {
            tracing::warn!(event = "settlements_missed", %operator, consumer, "settlements were removed that this reader has not acknowledged");
        }
    }
    Ok(())
}
