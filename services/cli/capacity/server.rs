//! A server of our own: this very program as another process, on loopback, so that what it takes can be told from what
//! the bots take.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use uuid::Uuid;

use super::process;
use super::redis::alone;
use crate::cli::failure::Failure;

/// So long a server gets to end when it is asked to.
const LAST_WAIT: Duration = Duration::from_secs(8);
/// So many lines of its log are shown when something is wrong.
const SHOWN: usize = 12;
/// What nobody may set otherwise while it is measured.
const SETTINGS: &str = "\
drain_seconds = 2
[connections]
age_minutes = 0
[log]
filter = \"warn\"
";

/// What all servers of a measurement have in common: keys, tokens, settings, and the operator whose tables are played.
pub struct House {
    folder: TempDir,
    redis: String,
    keys: Option<PathBuf>,
    /// The operator's name. Nobody else has it.
    pub operator: String,
    /// His token.
    pub token: String,
}

impl House {
    /// A house on this Redis. Without `keys` new ones are made, unless `FULCRUM_CARD_KEY` has some.
    ///
    /// # Errors
    /// [`Failure::Failed`] if its files cannot be written.
    pub fn new(redis: &str, keys: Option<&Path>, card_key: Option<&str>) -> Result<House, Failure> {
        let folder = tempfile::tempdir()?;
        let (operator, token) = (format!("capacity-{}", &random()[..12]), random());
        write(&folder.path().join("tokens"), &format!("{operator} {token}\n"))?;
        write(&folder.path().join("settings.toml"), SETTINGS)?;
        let keys = match (keys, card_key) {
            (Some(keys), _) => Some(fs::canonicalize(keys).unwrap_or_else(|_| keys.to_owned())),
            (None, Some(_)) => None,
            (None, None) => {
                let keys = folder.path().join("keys");
                write(&keys, &format!("capacity {}{}\n", random(), random()))?;
                Some(keys)
            }
        };
        Ok(House { folder, redis: redis.to_owned(), keys, operator, token })
    }

    /// Starts a server and waits until it is ready.
    ///
    /// # Errors
    /// [`Failure::Failed`], with the end of its log.
    pub async fn open(&self, number: usize) -> Result<Server, Failure> {
        let log = self.folder.path().join(format!("log-{number}"));
        let mut command = Command::new(std::env::current_exe()?);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("FULCRUM_") && (name != "FULCRUM_CARD_KEY" || self.keys.is_some()) {
                command.env_remove(&*name);
            }
        }
        let file = |name: &str| self.folder.path().join(name);
        // Arguments are seen by everybody on the machine, and the URL may have a password.
        command.env("FULCRUM_REDIS", &self.redis);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "text"]);
        command.arg("--config").arg(file("settings.toml")).arg("--token-file").arg(file("tokens"));
        if let Some(keys) = &self.keys {
            command.arg("--key-file").arg(keys);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        let mut child = alone(&mut command).spawn()?;
        let output = child.stdout.take();
        let mut server = Server { child, address: String::new(), log };
        let greeting = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            output.map(|output| BufReader::new(output).read_line(&mut line)).transpose().map(|_| line)
        });
        let greeting = greeting.await.map_err(std::io::Error::other)??;
        match greeting.split("http://").nth(1).and_then(|rest| rest.split(' ').next()) {
            Some(address) => server.address = format!("http://{address}"),
            None => {
                return Err(Failure::Failed(format!("a server does not start:\n{}", server.last_words())));
            }
        }
        Ok(server)
    }
}

/// A running server. It is ended when this goes.
pub struct Server {
    child: Child,
    /// Where it is.
    pub address: String,
    log: PathBuf,
}

impl Server {
    /// Its CPU until now, µs.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it has ended, here and below.
    pub fn cpu(&self) -> Result<u64, Failure> {
        process::cpu(self.child.id())
    }

    /// Its memory now, bytes.
    pub fn memory(&self) -> Result<u64, Failure> {
        process::memory(self.child.id())
    }

    fn last_words(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(SHOWN)..].join("\n")
    }

    /// Asks it to end, and waits for that.
    pub fn end(mut self) {
        let id = self.child.id().to_string();
        // If it has ended already there is nobody to ask.
        let _ = Command::new("kill").args(["-TERM", &id]).stderr(Stdio::null()).status();
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < LAST_WAIT {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// 32 hexadecimal digits that nobody guesses.
fn random() -> String {
    Uuid::new_v4().simple().to_string()
}

/// A file for nobody else's eyes.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}
