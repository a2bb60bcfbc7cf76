//! Calls as traces: what a collector is told of them, what it is not, and what nobody has to wait for. A real collector's
//! protocol over a real socket; the log is read along.

mod calls;
mod collectors;
mod headers;
mod secrets;
mod stores;
mod wallets;

use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use fulcrum::telemetry::listener::Listener;
use fulcrum::telemetry::log::{self, LogFormat};
use fulcrum::telemetry::told;
use fulcrum::telemetry::traces::CallTraces;
use fulcrum::telemetry::traces::pipeline::Pipeline;
use tonic::Request;
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

use super::harness::House;
use super::harness::collector::{Collector, Told};

/// A caller's trace, and his span in it.
pub const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub const SPAN: &str = "00f067aa0ba902b7";

/// Where there is only one subscriber, `tracing` takes it for everybody's, and a thread without any makes spans of all
/// threads disappear. With this there are always two.
static SECOND: OnceLock<Dispatch> = OnceLock::new();

/// What is told and logged by this thread.
pub struct Tower {
    pub collector: Collector,
    pub pipeline: Arc<Pipeline>,
    pub log: Paper,
    _reading: DefaultGuard,
}

impl Tower {
    /// This share of the calls is told, and those of callers who say so.
    pub fn open(ratio: f64) -> Tower {
        Tower::with(|traces| CallTraces { ratio, ..traces })
    }

    /// As this test wants it.
    pub fn with(change: impl FnOnce(CallTraces) -> CallTraces) -> Tower {
        let collector = Collector::open();
        let traces = CallTraces { endpoint: collector.endpoint(), ratio: 0.0, from_callers: true };
        let pipeline = Pipeline::start(&change(traces)).expect("an address");
        let log = Paper::default();
        let (lines, _) = log::lines(LogFormat::Json, "trace", log.clone()).expect("a filter");
        let subscriber = tracing_subscriber::registry().with(lines).with(told(&pipeline));
        SECOND.get_or_init(|| Dispatch::new(tracing_subscriber::registry()));
        let reading = tracing::subscriber::set_default(subscriber);
        Tower { collector, pipeline, log, _reading: reading }
    }

    /// Listens to a house, as an installation's server does.
    pub fn listen(&self, house: &House) {
        let _ = house.tables.clone().with_signals(Arc::new(Listener::default()));
    }

    /// Waits for the span of this name in the caller's trace.
    pub async fn span(&self, name: &str) -> Told {
        let found =
            |told: &[Told]| told.iter().find(|span| span.name == name && span.trace == TRACE).cloned();
        let told = self.collector.until(name, |told| found(told).is_some()).await;
        found(&told).expect("it was there")
    }
}

/// Where a log is written.
#[derive(Clone, Default)]
pub struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    /// Everything so far.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).expect("a log is text")
    }
}

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Paper {
    type Writer = Paper;

    fn make_writer(&'a self) -> Paper {
        self.clone()
    }
}

/// A request in the caller's trace, whose flags are these.
pub fn traced<T>(message: T, flags: &str) -> Request<T> {
    let mut request = Request::new(message);
    let parent = format!("00-{TRACE}-{SPAN}-{flags}");
    request.metadata_mut().insert("traceparent", parent.parse().expect("a header"));
    request
}

/// A request that is told.
pub fn sampled<T>(message: T) -> Request<T> {
    traced(message, "01")
}
