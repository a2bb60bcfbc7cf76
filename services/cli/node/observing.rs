//! Who watches over a server: its metrics, if an address is given at which they are to be read. Without one nothing is
//! counted.

use std::net::SocketAddr;
use std::sync::Arc;

use tables::{OperatorId, Store, Tables};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::cannot_listen;
use crate::cli::failure::Failure;
use crate::grpc::Counting;
use crate::store::RedisStore;
use crate::telemetry::hands::HandTrace;
use crate::telemetry::metrics::{Metrics, house, lateness, redis};
use crate::telemetry::store::Watched;
use crate::telemetry::traces::TraceSettings;
use crate::telemetry::traces::counts::TraceCounts;
use crate::telemetry::{scrape, spans, unread};

/// Who watches over a server.
pub struct Observing {
    metrics: Option<(SocketAddr, Arc<Metrics>)>,
}

impl Observing {
    /// Metrics, if they are to be read somewhere.
    pub fn new(at: Option<SocketAddr>, operators: &[OperatorId]) -> Observing {
        Observing { metrics: at.map(|at| (at, Arc::new(Metrics::new(operators)))) }
    }

    /// The store, watched over.
    pub fn store(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        let metrics = self.metrics.as_ref().map(|(_, metrics)| Arc::clone(metrics));
        Arc::new(Watched::new(store, metrics))
    }

    /// Who counts what is heard of the tables.
    pub fn metrics(&self) -> Option<Arc<Metrics>> {
        self.metrics.as_ref().map(|(_, metrics)| Arc::clone(metrics))
    }

    /// Who counts what becomes of traces that are told so; values of play point to those of hands from now on.
    pub fn trace_counts(&self, settings: &TraceSettings) -> Option<Arc<dyn TraceCounts>> {
        let (metrics, ratio) = (self.metrics()?, settings.ratio);
        metrics.point_to_hands(Box::new(move |key, number| {
            let hand = HandTrace::of(&key.operator, &key.table, number);
            hand.is_in(ratio).then_some(hand.trace)
        }));
        Some(metrics)
    }

    /// Who counts the calls.
    pub fn counting(&self) -> Option<Arc<dyn Counting>> {
        let (_, metrics) = self.metrics.as_ref()?;
        Some(Arc::<Metrics>::clone(metrics))
    }

    /// Looks at the store and the tables now and then, and serves the metrics.
    ///
    /// # Errors
    /// [`Failure::Failed`] if the address cannot be had.
    pub async fn begin(
        self,
        tables: &Tables,
        redis: Option<Arc<RedisStore>>,
        operators: Vec<OperatorId>,
        stop: watch::Receiver<bool>,
    ) -> Result<(), Failure> {
        let Some((at, metrics)) = self.metrics else {
            return Ok(());
        };
        let listener = TcpListener::bind(at).await;
        let listener =
            listener.map_err(|error| Failure::Failed(format!("metrics: cannot listen on {at}: {error}")))?;
        let address = listener.local_addr().map_err(|error| cannot_listen(at, &error))?;
        tracing::info!(event = "metrics_served", %address, "metrics are served");
        metrics.point_to_calls(spans::told_trace);
        metrics.commits.watch(Arc::clone(tables.feed()));
        let (own, store, every) = (Arc::clone(&metrics), Arc::clone(tables.store()), unread::EVERY);
        tokio::spawn(unread::run(own, store, operators.clone(), every, stop.clone()));
        let (own, store, every) = (Arc::clone(&metrics), Arc::clone(tables.store()), house::EVERY);
        tokio::spawn(house::run(own, store, operators, every, stop.clone()));
        if let Some(store) = redis {
            tokio::spawn(redis::run(Arc::clone(&metrics), store, redis::EVERY, stop.clone()));
        }
        tokio::spawn(lateness::run(metrics.lateness(), stop.clone()));
        tokio::spawn(scrape::serve(listener, metrics, stop));
        Ok(())
    }
}
