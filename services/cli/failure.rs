//! How a command fails: what is wrong, what to do, and the exit code.

use std::fmt;

use tonic::{Code, Status};

/// Why a command ended before its time. The text says what is wrong and what to do next.
#[derive(Debug)]
pub enum Failure {
    /// What was asked for cannot be: bad usage, or bad settings. Exit code 2.
    Usage(String),
    /// It could be, and did not work out. Exit code 1.
    Failed(String),
    /// Whoever reads the output has gone away, as `head` does. No error: exit code 0.
    Unheard,
}

impl Failure {
    /// The exit code.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Failed(_) => 1,
            Failure::Unheard => 0,
        }
    }

    /// A call that was refused or got no answer; `what` is what was to be done: "cannot take a seat".
    #[must_use]
    pub fn call(what: &str, address: &str, status: &Status) -> Failure {
        let advice = match status.code() {
            Code::Unauthenticated => {
                "\n\nThe server wants to know who calls: give a token of its token file with --token or FULCRUM_TOKEN."
                    .to_owned()
            }
            Code::Unavailable | Code::Unknown | Code::DeadlineExceeded => format!(
                "\n\nIs a server running at {address}? `fulcrum serve` starts one and names its address; --address \
                 says where to look."
            ),
            _ => String::new(),
        };
        Failure::Failed(format!("{what}: {}{advice}", words(status)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) | Failure::Failed(text) => f.write_str(text),
            Failure::Unheard => f.write_str("nobody reads the output"),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Unheard,
            _ => Failure::Failed(format!("cannot write the output: {error}")),
        }
    }
}

/// What the server said; a status without words by its code.
fn words(status: &Status) -> String {
    if status.message().is_empty() {
        status.code().description().to_owned()
    } else {
        status.message().to_owned()
    }
}
