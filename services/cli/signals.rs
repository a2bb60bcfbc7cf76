//! Being asked to stop.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears Ctrl-C and SIGTERM.
pub struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    /// From now on the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// If the operating system does not let us hear them.
    pub fn listen() -> io::Result<Stop> {
        Ok(Stop { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    pub async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
