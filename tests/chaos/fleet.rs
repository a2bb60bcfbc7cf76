//! Several servers on one Redis, each at an address of its own that it has again after a restart.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::process::Process;
use crate::servers::free_port;

/// So long a server may take to be ready on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// So many lines of a log are shown that should not be there.
const SHOWN: usize = 3;

/// The servers. They are killed when this goes.
pub struct Fleet {
    replicas: Vec<Replica>,
}

struct Replica {
    name: String,
    port: u16,
    arguments: Vec<String>,
    log: PathBuf,
    process: Process,
}

impl Fleet {
    /// A server for each of these URLs of Redis.
    pub fn start(folder: &Path, urls: &[String]) -> Fleet {
        Fleet::with(folder, urls, &[])
    }

    /// The same with more options.
    pub fn with(folder: &Path, urls: &[String], more: &[&str]) -> Fleet {
        let keys = key_file(folder);
        let start = |(number, url): (usize, &String)| Replica::start(number, folder, &keys, url, more);
        let mut replicas: Vec<Replica> = (1..).zip(urls).map(start).collect();
        for replica in &mut replicas {
            replica.until_ready();
        }
        Fleet { replicas }
    }

    pub fn len(&self) -> usize {
        self.replicas.len()
    }

    pub fn ports(&self) -> Vec<u16> {
        self.replicas.iter().map(|replica| replica.port).collect()
    }

    /// Kills one as a power cut would.
    pub fn kill(&mut self, number: usize) {
        self.replicas[number].process.kill();
    }

    /// Asks one to stop, and waits for its end: its exit code, and how long it took.
    pub fn stop(&mut self, number: usize) -> (Option<i32>, Duration) {
        let (asked, process) = (Instant::now(), &mut self.replicas[number].process);
        process.signal("-TERM");
        (process.wait(PATIENCE), asked.elapsed())
    }

    /// Starts one that was killed or stopped, at its old address, and waits until it serves.
    pub fn restart(&mut self, number: usize) -> Duration {
        let started = Instant::now();
        let replica = &mut self.replicas[number];
        replica.process = Process::start(&replica.arguments, &replica.log);
        replica.until_ready();
        started.elapsed()
    }

    /// What is wrong with servers that nobody has killed.
    pub fn faults(&mut self) -> Vec<String> {
        let mut faults = Vec::new();
        for Replica { name, process, .. } in &mut self.replicas {
            if let Some(code) = process.ended() {
                faults.push(format!("{name} ended by itself with {code}:\n{}", process.last_words()));
            }
            let log = process.log();
            let bad = ["panicked at", "an invariant does not hold"];
            let told = log.lines().filter(|line| bad.iter().any(|words| line.contains(words)));
            faults.extend(told.take(SHOWN).map(|line| format!("{name} says: {line}")));
        }
        faults
    }
}

impl Replica {
    fn start(number: usize, folder: &Path, keys: &Path, url: &str, more: &[&str]) -> Replica {
        let (name, port) = (format!("server {number}"), free_port());
        let listen = format!("127.0.0.1:{port}");
        let keys = keys.display().to_string();
        let arguments = ["serve", "--redis", url, "--key-file", &keys, "--listen", &listen, "--log", "warn"];
        let arguments: Vec<String> =
            arguments.iter().chain(more).map(|argument| (*argument).to_owned()).collect();
        let log = folder.join(format!("server-{number}.log"));
        let process = Process::start(&arguments, &log);
        Replica { name, port, arguments, log, process }
    }

    /// It listens when everything else is ready.
    fn until_ready(&mut self) {
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = self.process.ended();
            assert!(
                ended.is_none() && started.elapsed() < PATIENCE,
                "{} is not ready ({ended:?}):\n{}",
                self.name,
                self.process.last_words()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn key_file(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("keys");
    fs::write(&path, format!("k1 {}\n", "5a".repeat(32))).expect("a key file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a key file");
    path
}
