//! The log of a test's thread, as the program writes it for machines.

use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use fulcrum::telemetry::log::{self, LogFormat};
use serde_json::Value;
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// Where there is only one subscriber, `tracing` takes it for everybody's, and a thread without any makes lines of all
/// threads disappear. With this there are always two.
static SECOND: OnceLock<Dispatch> = OnceLock::new();

/// The lines so far.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// Reads the log of this thread until the guard is dropped.
    pub fn read(&self) -> DefaultGuard {
        let (lines, _) = log::lines(LogFormat::Json, "info", self.clone()).expect("a filter");
        SECOND.get_or_init(|| Dispatch::new(tracing_subscriber::registry()));
        tracing::subscriber::set_default(tracing_subscriber::registry().with(lines))
    }

    /// Those with this event.
    pub fn of(&self, event: &str) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).expect("a log is text");
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter(|line| line["event"] == event).collect()
    }

    /// The one with this event.
    pub fn only(&self, event: &str) -> Value {
        let mut lines = self.of(event);
        assert_eq!(lines.len(), 1, "{event}: {lines:?}");
        lines.remove(0)
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Lines;

    fn make_writer(&'a self) -> Lines {
        self.clone()
    }
}
