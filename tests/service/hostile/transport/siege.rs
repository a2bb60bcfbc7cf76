//! A server under attack, in a process of its own: while it lasts the operator `beta` plays on another connection, and not
//! one of his calls may fail, which it would after ten seconds; the server's memory stays within a bound; it neither panics nor ends.

use std::io::Write;
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use tokio::sync::{Mutex, MutexGuard, watch};
use tokio::task::JoinHandle;

use super::super::super::harness::operators::{ALPHA, BETA};
use super::super::super::harness::{Caller, Eyes, in_time, texas};
use super::super::child::{Server, fulcrum};

/// One at a time: a server is to suffer from its own attack only.
static ONE: Mutex<()> = Mutex::const_new(());

/// Play goes on for so long after all of an attack was sent: some of it takes effect only then.
const AFTERWARDS: Duration = Duration::from_secs(1);
/// As a quick player plays, so that he stays within a player's limit.
const THOUGHT: Duration = Duration::from_millis(10);

/// The server and whoever plays there.
pub struct Siege {
    /// Where it is.
    pub address: String,
    server: Server,
    before: u64,
    stop: watch::Sender<bool>,
    playing: JoinHandle<Played>,
    _tokens: tempfile::NamedTempFile,
    _one: MutexGuard<'static, ()>,
}

/// What came of the playing.
struct Played {
    actions: usize,
    longest: Duration,
}

impl Siege {
    /// Starts a server, and play there.
    pub async fn lay() -> Siege {
        let one = ONE.lock().await;
        let mut tokens = tempfile::NamedTempFile::new().expect("a file");
        writeln!(tokens, "alpha {ALPHA}\nbeta {BETA}").expect("written");
        let path = tokens.path().to_str().expect("a path").to_owned();
        let mut command = fulcrum(["serve", "--memory", "--listen", "127.0.0.1:0", "--log", "warn"]);
        command.args(["--drain-seconds", "2", "--token-file", &path]);
        let server = Server::of(command, [] as [&str; 0]);
        let address = server.address.clone();
        let mut beta = Caller::connect(address.parse().expect("an address"), Some(BETA)).await;
        let table = beta.table_of(texas(), &["ann", "bob"]).await;
        let mut eyes = beta.watch(&table, "").await;
        beta.begin(&table).await;
        act(&mut beta, &mut eyes, &table).await;
        let before = memory(server.process.id(), "VmRSS:");
        let (stop, stopped) = watch::channel(false);
        let playing = tokio::spawn(play(beta, eyes, table, stopped));
        Siege { address, server, before, stop, playing, _tokens: tokens, _one: one }
    }

    /// A backend of the operator whose credentials the attacker has.
    pub async fn alpha(&self) -> Caller {
        Caller::connect(self.address.parse().expect("an address"), Some(ALPHA)).await
    }

    /// The attack is over: nobody has noticed, and the server has never grown by more than this.
    pub async fn lift(mut self, attack: &str, bound: u64) {
        tokio::time::sleep(AFTERWARDS).await;
        self.stop.send_replace(true);
        let played = in_time(self.playing).await.expect("beta's calls all pass");
        let grown = memory(self.server.process.id(), "VmHWM:").saturating_sub(self.before);
        println!(
            "{attack}: {} actions, the longest {:?}; grown from {} kB by {} kB at the most",
            played.actions,
            played.longest,
            self.before / 1024,
            grown / 1024
        );
        assert!(!self.server.process.has_ended(), "the server has ended");
        assert!(played.actions > 0, "nothing was played");
        assert!(grown < bound, "{attack}: by {grown} bytes");
        self.server.process.signal("TERM");
        let (code, _, errors) =
            tokio::task::spawn_blocking(|| self.server.process.wait()).await.expect("its end");
        assert_eq!(code, 0, "{errors}");
        assert!(!errors.contains("panic") && !errors.contains("service_fault"), "{errors}");
    }
}

/// Plays until it is over.
async fn play(mut beta: Caller, mut eyes: Eyes, table: String, stopped: watch::Receiver<bool>) -> Played {
    let mut played = Played { actions: 0, longest: Duration::ZERO };
    while !*stopped.borrow() {
        let begun = Instant::now();
        act(&mut beta, &mut eyes, &table).await;
        played.longest = played.longest.max(begun.elapsed());
        played.actions += 1;
        tokio::time::sleep(THOUGHT).await;
    }
    played
}

/// Answers one turn, and sees it told.
async fn act(beta: &mut Caller, eyes: &mut Eyes, table: &str) {
    let turn = eyes.turn_after(0).await;
    let player = ["", "ann", "bob"][turn.seats[0] as usize];
    let free = turn.legal.as_ref().is_some_and(|legal| legal.can_check);
    let action = if free { v1::Action::Check } else { v1::Action::Call };
    let answer = beta.act(table, player, &turn, action, 0).await.expect("beta plays on");
    eyes.until(answer.sequence).await;
}

/// What the process holds in memory, or has held at the most, in bytes.
fn memory(process: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process of Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(what)).expect("its memory");
    line.split_whitespace().next().expect("a number").parse::<u64>().expect("a number") * 1024
}
