//! Scenario: two operators with wallets of their own play while the wallets are killed, hang, and answer late, twice or
//! not at all, and while servers are killed. At the end the wallets' books, the trial balance and the settlement records
//! have to agree to the chip, for every player; and nobody may have waited for the other operator's wallet.

mod books;
mod latency;
mod operator;
mod reading;
mod rota;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tokio::runtime::Runtime;

use self::books::{Books, compare};
use self::latency::{Hands, Times};
use self::operator::Operator;
use self::rota::{Phase, Rota};
use crate::arguments::{Arguments, Size};
use crate::balancer::Balancer;
use crate::fleet::Fleet;
use crate::load::{Finished, Game, Load};
use crate::scenario::{Verdict, one_url, say};
use crate::servers::Server;

/// What the usual run of tests plays: the tables are shared by both operators.
const SHORT: Size = Size { replicas: 3, tables: 8, seats: 3, seconds: 30, think: "10ms", connections: 6 };
/// And so many hands, if they can be played in that time.
const HANDS: u64 = 1_200;
/// From a restart to the next kill of a server, ms.
const BETWEEN: std::ops::RangeInclusive<u64> = 2_000..=5_000;
const AWAY: Duration = Duration::from_secs(1);
/// How often it is looked whether all hands are played.
const LOOK: Duration = Duration::from_millis(200);
/// So long the last pay-outs may take when everything is well again: a wallet that was away is asked after a minute.
const SETTLING: Duration = Duration::from_secs(150);

pub fn run(runtime: &Runtime, arguments: &Arguments) -> Verdict {
    let size = arguments.size(&SHORT);
    let hands = arguments.hands.unwrap_or(HANDS) / 2;
    let folder = tempfile::tempdir().expect("a folder");
    let redis = Server::start();
    let mut operators = ["alpha", "beta"].map(|name| Operator::start(folder.path(), name));
    let config = config_file(folder.path(), &operators);
    let urls = one_url(&redis, "memory", size.replicas);
    let mut fleet = Fleet::with(folder.path(), &urls, &["--config", &config]);
    let balancer = Balancer::before(runtime, fleet.ports());
    let begun = Instant::now();
    let mut loads = operators.each_ref().map(|operator| load(operator, &balancer, &size, hands, arguments));
    let (phases, kills) = break_things(&mut fleet, &mut operators, &mut loads, hands, arguments.seed);
    let played = begun.elapsed();
    say(&format!("all hands are played after {} s, {kills} kills of servers", played.as_secs()));
    let times = loads.each_ref().map(|load| Times::read(load.timeline_file()));
    let finished = loads.map(Load::finish);
    let mut verdict = Verdict::of(told(&finished, played, kills, &phases), fleet.faults());
    verdict.faults.extend(finished.iter().flat_map(judge));
    if kills == 0 || phases.len() < 2 {
        verdict.faults.push(format!("{kills} servers and {} wallets were broken", phases.len()));
    }
    let (table, faults) = latency::judge(&times, &phases);
    verdict.told.extend(table);
    verdict.faults.extend(faults);
    for mut operator in operators {
        let (told, faults) = reconcile(runtime, &balancer.address, &mut operator);
        verdict.told.push(told);
        verdict.faults.extend(faults);
    }
    verdict
}

/// What the servers are told of the operators: their tokens, and where their wallets are.
fn config_file(folder: &Path, operators: &[Operator]) -> String {
    let tokens = folder.join("tokens");
    let lines = operators.iter().map(|operator| format!("{} {}\n", operator.name, operator.token));
    std::fs::write(&tokens, lines.collect::<String>()).expect("a token file");
    let mut text = format!("token_file = {:?}\n", tokens.display().to_string());
    for Operator { name, address, wallet_token, .. } in operators {
        let secret = wallet_token.display().to_string();
        text += &format!("[wallets.{name}]\naddress = \"http://{address}\"\ntoken_file = {secret:?}\n");
    }
    let path = folder.join("fulcrum.toml");
    std::fs::write(&path, text).expect("a settings file");
    path.display().to_string()
}

fn load(operator: &Operator, balancer: &Balancer, size: &Size, hands: u64, arguments: &Arguments) -> Load {
    let game = Game { games: "texas", absent: "0.1%", last_hands: "120s", seed: arguments.seed };
    let size = Size { tables: (size.tables / 2).max(1), ..size.clone() };
    let hands = hands.to_string();
    let more = ["--wallet", "--token", &operator.token, "--hands", &hands, "--churn", "3%", "--fold", "50%"];
    let more = [&more[..], &["--between-hands", "50ms"]].concat();
    Load::with(&operator.folder, &balancer.address, &size, &game, &more)
}

/// Breaks wallets and servers until all hands are played, and leaves everything whole. What was when, and how often
/// servers were killed.
fn break_things(
    fleet: &mut Fleet,
    operators: &mut [Operator; 2],
    loads: &mut [Load; 2],
    hands: u64,
    seed: u64,
) -> (Vec<Phase>, u64) {
    let (over, kills) = (AtomicBool::new(false), AtomicU64::new(0));
    let rota = std::thread::scope(|scope| {
        scope.spawn(|| kill_in_turn(fleet, &over, &kills, seed));
        // Also if this panics: the scope waits for the other thread.
        let _ends = Ends(&over);
        let mut rota = Rota::new(operators, seed);
        let mut counts = loads.each_ref().map(|load| Hands::of(load.timeline_file()));
        while !loads.iter_mut().zip(&mut counts).all(|(load, count)| load.has_ended() || count.now() >= hands)
        {
            rota.go_on();
            std::thread::sleep(LOOK);
        }
        rota.heal();
        rota.phases
    });
    (rota, kills.into_inner())
}

/// Says that it is over when this goes.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn kill_in_turn(fleet: &mut Fleet, over: &AtomicBool, kills: &AtomicU64, seed: u64) {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut victim = 0;
    loop {
        let pause = Instant::now() + Duration::from_millis(dice.random_range(BETWEEN));
        while Instant::now() < pause {
            if over.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(LOOK);
        }
        // Another one: who has just come back has hardly any connections.
        victim = (victim + dice.random_range(1..fleet.len())) % fleet.len();
        fleet.kill(victim);
        kills.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(AWAY);
        fleet.restart(victim);
    }
}

/// What the load's own check found.
fn judge(Finished { code, report, last_words, .. }: &Finished) -> Vec<String> {
    let mut found = report.contradictions();
    found.push(("acknowledged actions lost", report.lost));
    found.push(("hands voided", report.hands_voided));
    found.push(("settlement records that are not those of the log", report.settlements_off));
    let mut faults: Vec<String> =
        found.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{count} {what}")).collect();
    if *code != 0 || report.hands == 0 {
        faults.push(format!("the load ended with {code} after {} hands:\n{last_words}", report.hands));
    }
    faults
}

fn told(finished: &[Finished; 2], played: Duration, kills: u64, phases: &[Phase]) -> Vec<String> {
    let hands: u64 = finished.iter().map(|finished| finished.report.hands).sum();
    let actions: u64 = finished.iter().map(|finished| finished.report.actions_acked).sum();
    let ms = u64::try_from(played.as_millis()).unwrap_or(u64::MAX).max(1);
    let mut told = vec![format!(
        "{hands} hands ({} a second), {actions} decisions, {kills} kills of servers, {} faults of wallets",
        hands * 1000 / ms,
        phases.len()
    )];
    told.push(format!("faults of wallets: {}", rota::summary(phases)));
    for (name, Finished { report, .. }) in ["alpha", "beta"].iter().zip(finished) {
        told.push(format!("{name}: calls that were refused or failed: {:?}", report.errors));
    }
    told
}

/// Waits until nothing is on its way, stops the wallet, and holds all books against each other.
fn reconcile(runtime: &Runtime, address: &str, operator: &mut Operator) -> (String, Vec<String>) {
    let name = operator.name;
    let _within = runtime.enter();
    let mut client = reading::Client::new(address, &operator.token);
    let rows = match runtime.block_on(client.settled(SETTLING)) {
        Ok(rows) => rows,
        Err(why) => return (format!("{name}: not reconciled"), vec![format!("{name}: {why}")]),
    };
    let streamed = match runtime.block_on(client.stream_all()) {
        Ok(streamed) => streamed,
        Err(why) => return (format!("{name}: not reconciled"), vec![format!("{name}: {why}")]),
    };
    operator.stop();
    let books = Books::read(operator);
    let mut faults = compare(&books, &rows, &streamed);
    // A second payment of one chip to one player, to show that it would be seen.
    if let Some(player) = books.players().next() {
        operator.start_again();
        runtime.block_on(operator.pay_once_more(player, 1));
        operator.stop();
        if compare(&Books::read(operator), &rows, &streamed).is_empty() {
            faults.push("a wallet has paid one chip twice, and the books are still said to agree".to_owned());
        }
    }
    let faults = faults.into_iter().map(|fault| format!("{name}: {fault}")).collect();
    (format!("{name}: {}", books::summary(&books, &rows, &streamed)), faults)
}
