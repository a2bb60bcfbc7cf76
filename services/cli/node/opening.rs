//! The store of a server, opened.

use std::sync::Arc;

use rules::Millis;
use tables::{MemoryStore, Store, SystemClock};

use crate::cli::failure::Failure;
use crate::config::Place;
use crate::store::embedded::{EmbeddedSettings, EmbeddedStore, OpenError};
use crate::store::{Codec, Keyring, RedisConfig, RedisStore};

/// What is kept how long.
#[derive(Clone, Copy)]
pub struct Kept {
    /// Commits of a table.
    pub history: u64,
    /// Request records.
    pub requests: Millis,
    /// Settlement records.
    pub settlements: Millis,
}

/// A store that was opened.
pub struct Opened {
    pub store: Arc<dyn Store>,
    /// The same one, if it is in Redis.
    pub redis: Option<Arc<RedisStore>>,
    /// Where it is, in words.
    pub place: String,
}

impl Opened {
    fn alone(store: impl Store, place: String) -> Opened {
        Opened { store: Arc::new(store), redis: None, place }
    }
}

/// The store at this place.
///
/// # Errors
/// [`Failure`], which says what to do.
pub async fn open(place: Place, kept: Kept, keys: Option<Keyring>) -> Result<Opened, Failure> {
    let (path, keys) = match (place, keys) {
        (Place::File(path), Some(keys)) => (path, keys),
        (Place::Redis(url), Some(keys)) => return open_redis(&url, kept, keys).await,
        _ => {
            let history = usize::try_from(kept.history).unwrap_or(usize::MAX);
            let store = MemoryStore::new(Arc::new(SystemClock::default()));
            let store = store.with_history(history).with_requests_kept(kept.requests);
            return Ok(Opened::alone(store, "in memory, lost at the end".to_owned()));
        }
    };
    let place = path.display().to_string();
    let settings = EmbeddedSettings {
        history: kept.history,
        requests_kept: kept.requests,
        ..EmbeddedSettings::new(path, Arc::new(keys))
    };
    // Reads the whole file, to find out whether it is sound.
    let opened = tokio::task::spawn_blocking(move || EmbeddedStore::open(settings)).await;
    let store = opened.map_err(|error| Failure::Failed(format!("opening the store broke down: {error}")))?;
    Ok(Opened::alone(store.map_err(|error| cannot_open(&error))?, place))
}

async fn open_redis(url: &str, kept: Kept, keys: Keyring) -> Result<Opened, Failure> {
    let config = RedisConfig::parse(url).map_err(|error| Failure::Usage(error.to_string()))?;
    let config = RedisConfig { requests_kept: kept.requests, ..config };
    let place = format!("Redis, {}", config.topology);
    let opened = RedisStore::open(config, Codec::new(Arc::new(keys))).await;
    let store = Arc::new(opened.map_err(|error| Failure::Failed(error.to_string()))?);
    Ok(Opened { store: Arc::<RedisStore>::clone(&store), redis: Some(store), place })
}

/// Why a file cannot be opened, as a failure of the command.
pub fn cannot_open(error: &OpenError) -> Failure {
    match error {
        OpenError::KeyMissing { .. } | OpenError::WrongKey { .. } | OpenError::NoStore { .. } => {
            Failure::Usage(error.to_string())
        }
        _ => Failure::Failed(error.to_string()),
    }
}
