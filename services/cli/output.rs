//! The standard output of a command, with a progress bar on the standard error that never gets into it.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressStyle};

/// The output.
#[derive(Clone)]
pub struct Output {
    bar: ProgressBar,
}

impl Output {
    /// Without a bar.
    #[must_use]
    pub fn plain() -> Output {
        Output { bar: ProgressBar::hidden() }
    }

    /// With a bar that counts so many of these; it shows itself only if the standard error is a terminal.
    #[must_use]
    pub fn with_bar(count: u64, what: &str) -> Output {
        let bar = ProgressBar::new(count);
        let template = format!("{{bar:40.cyan/dim}} {{pos}}/{{len}} {what} {{elapsed:.dim}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Output { bar }
    }

    /// Writes a text.
    ///
    /// # Errors
    /// If it cannot be written; a reader who has gone away is [`io::ErrorKind::BrokenPipe`].
    pub fn print(&self, text: &str) -> io::Result<()> {
        self.bar.suspend(|| {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()
        })
    }

    /// Counts one.
    pub fn count(&self) {
        self.bar.inc(1);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
