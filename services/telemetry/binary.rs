//! The program's file: how it was built, its SHA-256 as it was at the start, and whether file and process are still that.
//! Whoever swaps the file under a running server, or an upgrade that was not followed by a restart, shows.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rules::Millis;
use sha2::{Digest, Sha256};
use tables::{Clock, SystemClock};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::metrics::Metrics;

/// How often the file is looked at.
pub const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// What runs, wherever its file has gone.
const RUNNING: &str = "/proc/self/exe";
/// So much of a file is read at a time, in bytes.
const PIECE: usize = 64 * 1024;

/// How the program was built.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// Its version.
    pub version: &'static str,
    /// The revision of its source, as FULCRUM_REVISION said when it was built; empty if that said nothing.
    pub revision: &'static str,
    /// The compiler.
    pub compiler: &'static str,
    /// The profile: `release`, `dist`.
    pub profile: &'static str,
    /// The target.
    pub target: &'static str,
}

/// How this program was built.
pub const BUILD: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    revision: env!("FULCRUM_BUILD_REVISION"),
    compiler: env!("FULCRUM_BUILD_COMPILER"),
    profile: env!("FULCRUM_BUILD_PROFILE"),
    target: env!("FULCRUM_BUILD_TARGET"),
};

/// SHA-256 of a file.
pub type Hash = [u8; 32];

/// What was found at the last look.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum State {
    /// Nobody has looked yet.
    #[default]
    Unknown,
    /// File and process are what was started.
    Unchanged,
    /// One of them is not.
    Changed,
    /// Neither can be said: one of them cannot be read.
    Unreadable,
}

/// What is known of the program's file.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Known {
    /// Its hash as it was at the start; `None` until it was read.
    pub hash: Option<Hash>,
    /// When somebody looked last, by the machine's clock.
    pub at: Option<Millis>,
    /// What he found.
    pub state: State,
}

/// The program's file.
#[derive(Debug)]
pub struct Binary {
    running: PathBuf,
    /// Where the file was when the process was started.
    file: PathBuf,
    started: Millis,
    known: Mutex<Known>,
}

impl Default for Binary {
    /// That of this process. Nobody has looked at it yet.
    fn default() -> Binary {
        let running = PathBuf::from(RUNNING);
        let file = std::env::current_exe().unwrap_or_else(|_| running.clone());
        Binary::new(running, file)
    }
}

impl Binary {
    fn new(running: PathBuf, file: PathBuf) -> Binary {
        Binary { running, file, started: SystemClock::default().now(), known: Mutex::default() }
    }

    /// When this was made, which is when the server was started, by the machine's clock.
    #[must_use]
    pub const fn started(&self) -> Millis {
        self.started
    }

    /// What is known of it.
    #[must_use]
    pub fn known(&self) -> Known {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what runs and the file. The first time sets what they have to be later on. It takes a tenth of a second, and
    /// is not for a thread that others wait for.
    pub fn look(&self) -> Known {
        let (running, file) = (hash(&self.running), hash(&self.file));
        let before = self.known();
        let hash = before.hash.or_else(|| running.as_ref().ok().copied());
        let state = state(hash, &running, &file);
        let known = Known { hash, at: Some(SystemClock::default().now()), state };
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
        self.tell(state, &running, &file);
        known
    }

    fn tell(&self, state: State, running: &io::Result<Hash>, file: &io::Result<Hash>) {
        let (path, running, file) = (self.file.display(), words(running), words(file));
        match state {
            State::Unknown | State::Unchanged => {}
            State::Changed => tracing::error!(
                event = "binary_changed",
                %path,
                running,
                file,
                "the program's file is not what was started"
            ),
            State::Unreadable => tracing::warn!(
                event = "binary_unreadable",
                %path,
                running,
                file,
                "the program's file cannot be looked at"
            ),
        }
    }
}

fn state(hash: Option<Hash>, running: &io::Result<Hash>, file: &io::Result<Hash>) -> State {
    let Some(hash) = hash else {
        return State::Unreadable;
    };
    let differs = |found: &io::Result<Hash>| match found {
        Ok(found) => *found != hash,
        // Removed. What runs cannot be: it is there as long as it runs.
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    match (running, file) {
        _ if running.as_ref().is_ok_and(|found| *found != hash) || differs(file) => State::Changed,
        (Ok(_), Ok(_)) => State::Unchanged,
        _ => State::Unreadable,
    }
}

fn hash(path: &Path) -> io::Result<Hash> {
    let mut file = File::open(path)?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(length) => hash.update(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A hash in hexadecimal digits.
#[must_use]
pub fn digits(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn words(found: &io::Result<Hash>) -> String {
    found.as_ref().map_or_else(ToString::to_string, digits)
}

/// Looks at the start and then every so often, until `stop` becomes true or its sender goes.
pub async fn run(
    binary: Arc<Binary>,
    metrics: Option<Arc<Metrics>>,
    every: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let work = async {
        loop {
            let own = Arc::clone(&binary);
            // An error says that the runtime ends.
            if let Ok(known) = spawn_blocking(move || own.look()).await
                && let Some(metrics) = &metrics
            {
                metrics.binary_looked_at(known.state);
            }
            sleep(every).await;
        }
    };
    tokio::select! {
        // An error says that the sender is gone.
        _ = stop.wait_for(|stop| *stop) => {}
        () = work => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_is_replaced_changed_or_removed_shows_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let [running, file, other] = ["running", "file", "other"].map(|name| folder.path().join(name));
        fs::write(&running, "abc").unwrap();
        fs::write(&file, "abc").unwrap();
        let binary = Binary::new(running.clone(), file.clone());
        assert_eq!(binary.known(), Known::default());
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let state = || {
            let known = binary.look();
            assert_eq!(binary.known(), known);
            assert!(known.at.is_some_and(|at| at >= binary.started()));
            assert_eq!(digits(&known.hash.unwrap()), abc, "that of the start");
            known.state
        };
        assert_eq!(state(), State::Unchanged);
        fs::write(&other, "abd").unwrap();
        fs::rename(&other, &file).unwrap();
        assert_eq!(state(), State::Changed);
        fs::write(&file, "abc").unwrap();
        assert_eq!(state(), State::Unchanged);
        fs::remove_file(&file).unwrap();
        assert_eq!(state(), State::Changed);
        fs::write(&file, "abc").unwrap();
        fs::write(&running, "abd").unwrap();
        assert_eq!(state(), State::Changed);
        fs::remove_file(&running).unwrap();
        assert_eq!(state(), State::Unreadable);
        fs::write(&file, "abd").unwrap();
        assert_eq!(state(), State::Changed);
    }

    #[test]
    fn what_cannot_be_read_at_the_start_is_not_taken_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "abc").unwrap();
        let binary = Binary::new(folder.path().join("nothing"), file);
        assert_eq!((binary.look().state, binary.known().hash), (State::Unreadable, None));
    }

    #[test]
    fn a_file_longer_than_a_piece_is_read_to_its_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..PIECE * 2 + 1).map(|at| at.to_le_bytes()[0]).collect();
        io::Write::write_all(&mut file, &bytes).unwrap();
        assert_eq!(hash(file.path()).unwrap(), <Hash>::from(Sha256::digest(&bytes)));
    }
}
