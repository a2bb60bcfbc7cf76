//! What an error of Redis means for the call that met it: surely not done, or perhaps done.

use ::redis::{RedisError, ServerError, Value};
use tables::StoreError;

/// Why a call brought no answer.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// Nothing was done, and another try may succeed.
    Again(Remedy, String),
    /// Nothing was done, and trying again is no use.
    Refused(String),
    /// It may have been done: the connection was lost, the answer did not come in time, or a script was broken off.
    Unknown(String),
}

/// What has to come before another try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Remedy {
    /// The primary has to be looked for anew: it has moved, or been demoted.
    Locate,
    /// This once, the server at that address is to be asked.
    Ask(String),
    /// Time.
    Wait,
    /// The server does not know our script.
    Script,
    /// The server cannot be reached.
    Reach,
}

impl Fault {
    /// An error of the client: before anything was sent only if the connection could not be made.
    pub(super) fn of_connection(error: &RedisError) -> Fault {
        Fault::Unknown(error.to_string())
    }

    /// As an error of a call that only reads, or that has not been sent.
    pub(super) fn unavailable(self) -> StoreError {
        StoreError::Unavailable(self.text())
    }

    /// As an error of a commit.
    pub(super) fn of_commit(self) -> StoreError {
        match self {
            Fault::Unknown(why) => StoreError::Unknown(why),
            other => other.unavailable(),
        }
    }

    pub(super) fn text(self) -> String {
        match self {
            Fault::Again(_, why) | Fault::Refused(why) | Fault::Unknown(why) => why,
        }
    }
}

/// The first error among the answers to a group of commands.
pub(super) fn first_fault(values: &[Value]) -> Option<Fault> {
    values.iter().find_map(|value| match value {
        Value::ServerError(error) => Some(of_server(error)),
        _ => None,
    })
}

/// Whether a key is not here any more, or not at all, while its slot moves.
pub(super) fn is_asked_elsewhere(value: &Value) -> bool {
    matches!(value, Value::ServerError(error) if error.code() == "ASK")
}

/// What a server's error means. One that a script raised has the script in its text, and may come after its first
/// write; those of which Redis promises that they come before any are listed first.
pub(super) fn of_server(error: &ServerError) -> Fault {
    let details = error.details().unwrap_or_default();
    let text = format!("{} {details}", error.code());
    let remedy = match error.code() {
        "MOVED" => Remedy::Locate,
        "ASK" => match details.split_ascii_whitespace().nth(1) {
            Some(address) => Remedy::Ask(address.to_owned()),
            None => Remedy::Locate,
        },
        "READONLY" | "NOREPLICAS" | "CLUSTERDOWN" | "MASTERDOWN" => Remedy::Locate,
        "TRYAGAIN" | "LOADING" | "BUSY" => Remedy::Wait,
        "NOSCRIPT" => Remedy::Script,
        "OOM" | "MISCONF" | "NOAUTH" | "WRONGPASS" => return Fault::Refused(text),
        _ if details.contains("script:") || details.contains("user_script") => return Fault::Unknown(text),
        _ => return Fault::Refused(text),
    };
    Fault::Again(remedy, text)
}

/// An answer that the protocol does not have: a record that cannot be read, not a lost call.
pub(super) fn strange(what: &str) -> StoreError {
    StoreError::Corrupt(format!("Redis answers something else than {what}"))
}
