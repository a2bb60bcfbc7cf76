//! Processes of the program, each with a log in a file: a full pipe would hold them up.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};

use crate::child::fulcrum;

/// So much of a log is shown when something is wrong.
const SHOWN: usize = 15;

/// A process of the program. It is killed when this goes.
pub struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts the program; what it says is added to the log.
    pub fn start(arguments: &[String], log: &Path) -> Process {
        let open = || File::options().create(true).append(true).open(log).expect("a log file");
        let child = fulcrum(arguments).stdout(open()).stderr(open()).spawn().expect("the program starts");
        Process { child, log: log.to_owned() }
    }

    /// Ends it as a power cut would.
    pub fn kill(&mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("the process is ours");
    }

    /// Stops it in its tracks (`-STOP`), or lets it go on (`-CONT`).
    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([signal, &id]).status().expect("kill is there");
        assert!(status.success());
    }

    /// Its exit code, if it has ended by itself; -1 if a signal ended it.
    pub fn ended(&mut self) -> Option<i32> {
        let status = self.child.try_wait().expect("the process is ours")?;
        Some(status.code().unwrap_or(-1))
    }

    /// Waits for its end.
    pub fn wait(&mut self, patience: Duration) -> Option<i32> {
        let started = Instant::now();
        while started.elapsed() < patience {
            if let Some(code) = self.ended() {
                return Some(code);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }

    /// The end of its log.
    pub fn last_words(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(SHOWN)..].join("\n")
    }

    /// All that it has said.
    pub fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// At a signal, ends all processes that this one has started, and this one. Those that stand still do not end with us
/// by themselves.
pub async fn end_at_signal() {
    let mut terminate = signal(SignalKind::terminate()).expect("signals can be taken");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    // An error says that there are none.
    let _ = Command::new("kill").arg("-KILL").args(children()).status();
    std::process::exit(130);
}

/// The ids of all processes that this one has started, as Linux tells them.
fn children() -> Vec<String> {
    let us = std::process::id().to_string();
    // `id (name) state parent …`, and a name may have anything in it.
    let parent = |stat: &str| stat.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned);
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = processes.filter(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        parent(&stat).as_deref() == Some(us.as_str())
    });
    ours.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}
