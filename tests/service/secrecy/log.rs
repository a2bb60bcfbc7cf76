//! Reads the log at its finest level while a test runs, and looks for cards and other secrets in it. In a log there is none
//! at all.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::{Layer, Registry};

use super::faces;

/// The log of one thread.
#[derive(Clone, Default)]
pub struct Log {
    found: Arc<Mutex<Found>>,
    /// What is secret beside cards.
    words: &'static [&'static str],
}

/// What a log held.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Lines of the service itself.
    pub own: usize,
    /// Lines of everything below it.
    pub others: usize,
    /// Lines with secrets.
    pub leaks: Vec<String>,
}

impl Log {
    /// One in which these words are looked for, too.
    pub fn without(words: &'static [&'static str]) -> Log {
        Log { words, ..Log::default() }
    }

    /// Reads the log of this thread until the guard is dropped.
    pub fn read(&self) -> DefaultGuard {
        tracing::subscriber::set_default(Registry::default().with(self.clone()))
    }

    /// What was found.
    pub fn found(&self) -> Found {
        self.found.lock().unwrap().clone()
    }

    fn word(&self, text: &Text) -> Option<&'static str> {
        self.words.iter().copied().find(|word| text.0.contains(word))
    }

    fn line(&self, of: &Metadata<'_>, record: impl FnOnce(&mut Text)) {
        let mut text = Text::default();
        record(&mut text);
        let mut found = self.found.lock().unwrap();
        let own = ["fulcrum", "rules", "tables", "service"].iter().any(|name| of.target().starts_with(name));
        let card = if own {
            found.own += 1;
            faces::find(&text.0)
        } else {
            found.others += 1;
            faces::find_but_seconds(&text.0)
        };
        if let Some(card) = card {
            found.leaks.push(format!("{card} in a line of {}: {}", of.target(), text.0));
        }
        if let Some(word) = self.word(&text) {
            found.leaks.push(format!("{word} in a line of {}: {}", of.target(), text.0));
        }
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        self.line(attributes.metadata(), |text| attributes.record(text));
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut text = Text::default();
        values.record(&mut text);
        let card = faces::find_but_seconds(&text.0);
        let secrets = card.into_iter().chain(self.word(&text).map(str::to_owned));
        let leaks = secrets.map(|secret| format!("{secret} in a span: {}", text.0));
        self.found.lock().unwrap().leaks.extend(leaks);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        self.line(event.metadata(), |text| event.record(text));
    }
}

/// The fields of a line, one after the other.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}
