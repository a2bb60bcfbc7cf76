//! How far consumers of settlements are behind, looked up now and then.

use std::sync::Arc;
use std::time::Duration;

use tables::{OperatorId, Store, StoreError, deliveries};
use tokio::sync::watch;
use tokio::time::sleep;

use super::metrics::Metrics;
use super::metrics::money::Unread;

/// How often it is looked.
pub const EVERY: Duration = Duration::from_secs(10);

/// Looks for these operators until `stop` becomes true or its sender goes.
pub async fn run(
    metrics: Arc<Metrics>,
    store: Arc<dyn Store>,
    operators: Vec<OperatorId>,
    every: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let work = async {
        loop {
            let mut unread = Vec::new();
            for operator in &operators {
                match of(&*store, operator).await {
                    Ok(found) => unread.extend(found),
                    // Nothing is told of them then: an old figure would look like a new one.
                    Err(error) => {
                        tracing::warn!(event = "figures_stale", %operator, %error, "how far consumers are behind is not known")
                    }
                }
            }
            metrics.unread(&unread);
            sleep(every).await;
        }
    };
    tokio::select! {
        // An error says that the sender is gone.
        _ = stop.wait_for(|stop| *stop) => {}
        () = work => {}
    }
}

async fn of(store: &dyn Store, operator: &OperatorId) -> Result<Vec<Unread>, StoreError> {
    let mut unread = Vec::new();
    for (consumer, cursor) in store.books().cursors(operator).await? {
        let backlog = deliveries::unread(store, operator, cursor.position).await?;
        let now = store.now().await?;
        let oldest = backlog.oldest.map_or(0, |oldest| (now - oldest).0 / 1000);
        unread.push(Unread { operator: operator.clone(), consumer, depth: backlog.depth, oldest });
    }
    Ok(unread)
}
