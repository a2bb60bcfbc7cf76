//! The traces of hands, as the settings want them told, and the task that tells them.

use std::sync::Arc;

use rand::TryRng;
use rand::rngs::SysRng;
use tables::{OperatorId, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::cli::failure::Failure;
use crate::config::{PlayerIds, Settings};
use crate::store::Keyring;
use crate::store::keyring::lone_key;
use crate::telemetry::hands::{HandTraces, Teller};
use crate::telemetry::traces::counts::TraceCounts;
use crate::telemetry::traces::{PlayerNames, TraceSettings};

/// The key by which players are named, if the settings name a file with one.
///
/// # Errors
/// [`Failure::Usage`] if that cannot be used.
pub fn key(settings: &Settings) -> Result<Option<[u8; 32]>, Failure> {
    let key = settings.player_key_file().map(lone_key).transpose();
    key.map_err(|error| Failure::Usage(format!("traces.player_key_file: {error}")))
}

/// How traces are told, if they are; without a key for players' names there is one in the keys of the store, or a new one.
///
/// # Errors
/// [`Failure::Failed`] if no new one can be made.
pub fn wanted(
    settings: &Settings,
    player_key: Option<[u8; 32]>,
    keys: Option<&Keyring>,
) -> Result<Option<TraceSettings>, Failure> {
    let traces = &settings.traces;
    if traces.endpoint.is_empty() {
        return Ok(None);
    }
    let players = match (traces.player_ids, player_key, keys) {
        (PlayerIds::Clear, ..) => PlayerNames::Clear,
        (PlayerIds::Hashed, Some(key), _) => PlayerNames::Hashed(key),
        (PlayerIds::Hashed, None, Some(keys)) => PlayerNames::Hashed(*keys.player_key()),
        (PlayerIds::Hashed, None, None) => {
            let mut key = [0; 32];
            let random = SysRng.try_fill_bytes(&mut key);
            random.map_err(|_| Failure::Failed("the operating system gave no random bytes".to_owned()))?;
            PlayerNames::Hashed(key)
        }
    };
    let (endpoint, ratio, from_callers) = (traces.endpoint.clone(), traces.ratio, traces.from_callers);
    Ok(Some(TraceSettings { endpoint, ratio, from_callers, players }))
}

/// Which hands are told, and who tells them; to be made inside a tokio runtime.
///
/// # Errors
/// [`Failure::Usage`] if the collector's address is none.
pub fn prepare(
    settings: &TraceSettings,
    counts: Option<Arc<dyn TraceCounts>>,
) -> Result<(Arc<HandTraces>, Teller), Failure> {
    HandTraces::new(settings, counts).map_err(|error| {
        let endpoint = &settings.endpoint;
        Failure::Usage(format!("traces.endpoint: {endpoint:?} is no collector's address: {error}"))
    })
}

/// The task that tells hands.
pub struct Telling {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Telling {
    /// Begins.
    pub fn begin(teller: Teller, store: Arc<dyn Store>, operators: Vec<OperatorId>) -> Telling {
        let (stop, stopped) = watch::channel(false);
        Telling { stop, task: tokio::spawn(teller.run(store, operators, stopped)) }
    }

    /// Ends it: what waits is told, until this moment at the latest.
    pub async fn end(self, until: Instant) {
        self.stop.send_replace(true);
        // What is not told is noted in the store.
        let _ = timeout_at(until, self.task).await;
    }
}
