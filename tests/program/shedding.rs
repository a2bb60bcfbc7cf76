//! A Redis that is silent or slow: every call is told so within its deadline and when to come again, nothing piles up,
//! and when Redis is back so is everything else, by itself.

mod calls;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use tokio::task::JoinSet;
use tonic::{Code, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt;

use crate::child::Server;
use crate::proxy::Proxy;
use crate::raw::Line;
use crate::redis::key_file;
use crate::servers;
use crate::spectator::connect;
use calls::Call;

/// What a server may grow by, whatever comes while Redis is silent.
const GROWTH: u64 = 96 << 20;
/// Once Redis is back all is well within so long, also on a busy machine: half of the longest rest of what has failed.
const RECOVERED: Duration = Duration::from_secs(5);
const NAMES: [&str; 5] = [
    "",
    "fulcrum.v1.TableService",
    "fulcrum.v1.ActionService",
    "fulcrum.v1.PivotService",
    "fulcrum.v1.SettlementService",
];

/// A server and the Redis behind it.
struct Site {
    redis: servers::Server,
    server: Server,
    lines: Vec<Line>,
    _folder: tempfile::TempDir,
}

impl Site {
    /// `port`: where the server looks for Redis, if it is not Redis' own.
    async fn open(redis: servers::Server, port: u16) -> Site {
        let folder = tempfile::tempdir().unwrap();
        let keys = key_file(folder.path());
        let url = format!("redis://127.0.0.1:{port}?shards=8");
        let server =
            Server::start(["--listen", "127.0.0.1:0", "--redis", &url, "--key-file", keys.to_str().unwrap()]);
        let mut lines = Vec::new();
        for _ in 0..8 {
            lines.push(Line::open(server.address.parse().unwrap(), None).await);
        }
        Site { redis, server, lines, _folder: folder }
    }

    /// Makes all these calls at the same time; what they are told, and after how long.
    async fn at_once(&self, calls: &[Call], deadline: Duration) -> Vec<(&'static str, Told)> {
        let mut tasks = JoinSet::new();
        for (number, call) in calls.iter().cloned().enumerate() {
            let mut line = self.lines[number % self.lines.len()].clone();
            tasks.spawn(async move {
                let begun = Instant::now();
                let answer = line.answer_within(call.path, call.message, deadline).await;
                (call.path, Told { after: begun.elapsed(), status: answer.err() })
            });
        }
        tasks.join_all().await
    }

    /// The memory of the server's process, in bytes.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
    }

    async fn health(&self) -> Vec<ServingStatus> {
        let address = format!("http://{}", self.server.address);
        let channel = tonic::transport::Endpoint::from_shared(address).unwrap().connect_lazy();
        let mut client = HealthClient::new(channel);
        let mut all = Vec::new();
        for service in NAMES {
            let request = tonic_health::pb::HealthCheckRequest { service: service.to_owned() };
            all.push(client.check(request).await.unwrap().into_inner().status());
        }
        all
    }

    /// Waits until the health of all services is this; how long that took.
    async fn until_health(&self, wanted: ServingStatus) -> Duration {
        let begun = Instant::now();
        while self.health().await != [wanted; NAMES.len()] {
            assert!(begun.elapsed() < Duration::from_secs(25), "health does not become {wanted:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        begun.elapsed()
    }

    /// Waits until a read and a change succeed; how long that took.
    async fn until_served(&self, table_id: &str) -> Duration {
        let begun = Instant::now();
        for call in [calls::read(table_id), calls::prefer(table_id, "mia")] {
            loop {
                let told = self.at_once(std::slice::from_ref(&call), Duration::from_secs(1)).await;
                if told[0].1.status.is_none() {
                    break;
                }
                assert!(begun.elapsed() < Duration::from_secs(25), "{told:?}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        begun.elapsed()
    }
}

/// What a caller was told.
#[derive(Debug)]
struct Told {
    after: Duration,
    /// None for an answer.
    status: Option<Status>,
}

impl Told {
    /// The caller's own clock was quicker than the answer, which comes an eighth before the deadline: on a busy machine
    /// that happens to a few of a crowd, and without that answer to all of them.
    fn is_overtaken(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.code() == Code::Cancelled)
    }
}

/// Everybody was turned away in time, each with a reason and when to come again. Gives the longest wait, and how often
/// which reason was told.
fn turned_away(told: &[(&'static str, Told)], within: Duration) -> (Duration, BTreeMap<String, usize>) {
    let (mut longest, mut reasons) = (Duration::ZERO, BTreeMap::new());
    assert!(told.iter().filter(|(_, told)| told.is_overtaken()).count() <= told.len() / 50, "{told:?}");
    for (path, Told { after, status }) in told.iter().filter(|(_, told)| !told.is_overtaken()) {
        let status = status.as_ref().unwrap_or_else(|| panic!("{path} got an answer from nowhere"));
        let known = matches!(status.code(), Code::Unavailable | Code::ResourceExhausted);
        assert!(known, "{path} after {after:?}: {status:?}");
        let details = status.get_error_details();
        let (retry, info) = (details.retry_info(), details.error_info());
        assert!(retry.is_some_and(|retry| retry.retry_delay.is_some()), "{path}: {status:?}");
        *reasons.entry(info.expect("a reason").reason.clone()).or_default() += 1;
        assert!(*after < within, "{path} only after {after:?}");
        longest = longest.max(*after);
    }
    (longest, reasons)
}

/// What most of them waited at most: a busy machine makes some calls late, not most.
fn median(told: &[(&'static str, Told)]) -> Duration {
    let mut waits: Vec<Duration> = told.iter().map(|(_, told)| told.after).collect();
    waits.sort_unstable();
    waits[waits.len() / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_is_turned_away_in_time_while_redis_is_silent() {
    let redis = servers::Server::start();
    let port = redis.port;
    let site = Site::open(redis, port).await;
    let calls = calls::all(&site.server.address).await;
    let table_id = calls::table_for_reading(&site.server.address).await;
    // Nobody waits until his deadline has passed, and who has much time waits for half of it at most.
    for (deadline, most) in [(1000, 1000), (3000, 1500)].map(|(a, b)| (millis(a), millis(b))) {
        site.until_health(ServingStatus::Serving).await;
        site.redis.signal("-STOP");
        let first = site.at_once(&calls, deadline).await;
        let (longest, reasons) = turned_away(&first, deadline);
        let first = median(&first);
        assert!(first < most, "{first:?}");
        println!("deadline {deadline:?}: {} calls, the longest {longest:?}, {reasons:?}", calls.len());
        assert!(!reasons.contains_key("OVERLOADED"), "{reasons:?}");
        // Now that it is known nobody waits for it.
        let then = site.at_once(&calls, deadline).await;
        let (longest, reasons) = turned_away(&then, deadline);
        println!("after that the longest {longest:?}, {reasons:?}; {:?} after {first:?}", median(&then));
        assert!(median(&then) < first / 2, "{:?} after {first:?}", median(&then));
        let noticed = site.until_health(ServingStatus::NotServing).await;
        site.redis.signal("-CONT");
        let (served, healthy) =
            tokio::join!(site.until_served(&table_id), site.until_health(ServingStatus::Serving));
        println!("health {noticed:?} later; served {served:?} and healthy {healthy:?} after it is back");
        assert!(served < RECOVERED && healthy < RECOVERED, "{served:?} {healthy:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_does_not_pile_up_while_redis_is_silent() {
    let redis = servers::Server::start();
    let port = redis.port;
    let site = Site::open(redis, port).await;
    let table_id = calls::table_for_reading(&site.server.address).await;
    let every = calls::all(&site.server.address).await;
    // Half of them at one table, half of them wherever.
    let crowd: Vec<Call> = (0..5000)
        .map(|number| match number % 2 {
            0 => calls::prefer(&table_id, "mia"),
            _ => every[number / 2 % every.len()].clone(),
        })
        .collect();
    // What connections and a warm server need is not what piles up; and how long so many take this machine anyway.
    let (reads, begun) = (vec![calls::read(&table_id); crowd.len()], Instant::now());
    site.at_once(&reads, millis(20_000)).await;
    let deadline = millis(3000) + begun.elapsed();
    let before = site.memory();
    for round in 0..3 {
        site.redis.signal("-STOP");
        let (longest, reasons) = turned_away(&site.at_once(&crowd, deadline).await, deadline);
        let grown = site.memory().saturating_sub(before);
        println!("5000 at once, round {round}: the longest {longest:?}, {reasons:?}; grown by {grown} bytes");
        assert!(grown < GROWTH, "by {grown} bytes");
        site.redis.signal("-CONT");
        let (served, healthy) =
            tokio::join!(site.until_served(&table_id), site.until_health(ServingStatus::Serving));
        println!("served {served:?} and healthy {healthy:?} after it is back");
        assert!(served < RECOVERED && healthy < RECOVERED, "{served:?} {healthy:?}");
    }
}

/// Redis answers, but late: who cannot be served in time is told so in time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_deadline_passes_unanswered_while_redis_is_slow() {
    let redis = servers::Server::start();
    let proxy = Proxy::before(&redis.endpoint()).await;
    let site = Site::open(redis, proxy.port).await;
    let table_id = calls::table_for_reading(&site.server.address).await;
    let every = calls::all(&site.server.address).await;
    let crowd: Vec<Call> =
        every.into_iter().chain((0..200).map(|_| calls::prefer(&table_id, "mia"))).collect();
    // What a crowd takes this machine anyway is not what Redis' slowness costs.
    let begun = Instant::now();
    site.at_once(&crowd, millis(20_000)).await;
    let deadline = millis(1000) + 2 * begun.elapsed();
    proxy.delay(millis(250));
    let mut served = 0;
    for _ in 0..2 {
        let mut told = site.at_once(&crowd, deadline).await;
        let all = told.len();
        // An answer, or a refusal by the rules: whoever came through.
        told.retain(|(_, told)| {
            assert!(told.is_overtaken() || told.after < deadline, "{told:?}");
            let code = told.status.as_ref().map(Status::code);
            !matches!(code, None | Some(Code::FailedPrecondition | Code::NotFound))
        });
        served += all - told.len();
        let (longest, reasons) = turned_away(&told, deadline);
        println!("{} of {all} served, the others turned away: {longest:?}, {reasons:?}", all - told.len());
        assert!(!told.is_empty(), "it is too slow for so many");
    }
    assert!(served > 0, "it is not dead");
    proxy.delay(Duration::ZERO);
    let served = site.until_served(&table_id).await;
    assert!(served < RECOVERED, "{served:?}");
}

/// Rules 8.4: the time during which nobody could act does not count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r8_4_running_clocks_get_back_the_time_of_a_silence() {
    let redis = servers::Server::start();
    let port = redis.port;
    let site = Site::open(redis, port).await;
    let (table_id, turn) = calls::table_with_clock(&site.server.address, 5).await;
    let request = v1::WatchTableRequest { table_id, ..Default::default() };
    let mut stream = connect(&site.server.address).watch_table(request).await.unwrap().into_inner();
    let asked = Instant::now();
    site.redis.signal("-STOP");
    tokio::time::sleep(millis(6500)).await;
    site.redis.signal("-CONT");
    let (mut shifted, mut ran_out) = (None, None);
    while ran_out.is_none() {
        let message = tokio::time::timeout(Duration::from_secs(20), stream.message()).await;
        let message = message.expect("the clock goes on").unwrap().expect("the stream goes on");
        let Some(Content::Update(update)) = message.message.and_then(|message| message.content) else {
            continue;
        };
        for event in update.events.into_iter().filter_map(|event| event.event) {
            match event {
                Event::ClocksShifted(shift) => shifted = shift.by,
                Event::PlayerActed(acted) if acted.turn == turn => ran_out = Some(asked.elapsed()),
                _ => {}
            }
        }
    }
    let (shifted, ran_out) = (shifted.expect("before the clock ran out"), ran_out.unwrap());
    println!("given back {shifted:?}; the clock of 5 s ran out after {ran_out:?}");
    // All of the silence but the second between two signs of life; then the clock and its grace.
    assert!(shifted.seconds >= 5 && shifted.seconds <= 8, "{shifted:?}");
    assert!(ran_out >= millis(10_500) && ran_out <= millis(15_000), "{ran_out:?}");
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
