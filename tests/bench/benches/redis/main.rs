//! The service on a real Redis, beside the same commit script called by nobody but a client: actions a second, latency,
//! Redis' own work, bytes and round trips for each, and what a table takes of its memory. All in one run.
//!
//! `cargo bench -p fulcrum-bench --bench redis` prints the tables and says whether the goals hold: one round trip an
//! action while the server knows the table, and no more work of Redis than 110 % of the bare script's.
//!
//! The four ways of making a commit take turns, so that a busy machine slows all of them. The service is everything from
//! a gRPC client to Redis and back; the store is `RedisStore::commit` with commits that were made before; the crate sends
//! what a proxy has recorded of the service, with the tokens put right; redis-benchmark can do neither, and so calls
//! the script without its token check, with arguments of the same sizes, for one table.

#![allow(clippy::float_arithmetic, reason = "rates and ratios; no chips here")]

mod chain;
mod desk;
mod memory;
mod meter;
mod raw;
#[path = "../../../store/redis/servers.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod servers;
#[path = "../shared/mod.rs"]
mod shared;
mod tool;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use fulcrum::store::redis::{Endpoint, RedisConfig, RedisStore, Topology};
use fulcrum::store::{Codec, Keyring};
use tables::{OsDealer, Settings, Store, Tables, clocks};

use chain::Chain;
use desk::{Desk, House};
use meter::{Redis, Way};
use servers::Server;
use shared::Fault;
use wire::Wire;

/// Calls in flight, and how many commits each way makes a round.
const LOADS: [(usize, usize); 2] = [(1, 1_500), (64, 9_600)];
const ROUNDS: usize = 5;
/// The service's share of Redis' work may be so large, in parts of the bare script's.
const GOAL: f64 = 1.10;

#[tokio::main]
async fn main() -> Result<(), Fault> {
    // `cargo test --benches` only asks whether the benchmarks run.
    let try_out = std::env::args().any(|argument| argument == "--test");
    let server = Server::start();
    let redis = Redis::of(&server);
    println!("redis-server {}, {} cores shared by everything", redis.version()?, cores());
    let recorded = trips(&server, if try_out { 50 } else { 1_000 }).await?;
    recorded.print_sizes();
    let store = open(server.endpoint()).await?;
    for (in_flight, commits) in LOADS {
        let (rounds, commits) = if try_out { (1, in_flight * 2) } else { (ROUNDS, commits) };
        ways(&redis, &store, &recorded, in_flight, commits / in_flight, rounds).await?;
    }
    at_rest(&redis, &store, if try_out { 1 } else { 5 }).await?;
    memory::print(if try_out { 4 } else { 40 }).await
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A store in this Redis.
async fn open(endpoint: Endpoint) -> Result<Arc<RedisStore>, Fault> {
    let key = format!("bench {}", "5a".repeat(32));
    let codec = Codec::new(Arc::new(Keyring::parse(&key).map_err(|error| error.to_string())?));
    let config = RedisConfig::new(Topology::Single(endpoint));
    Ok(Arc::new(RedisStore::open(config, codec).await?))
}

fn tables_in(store: Arc<RedisStore>) -> Tables {
    Tables::new(store as Arc<dyn Store>, Arc::new(OsDealer), Settings::default())
}

/// Plays one table through a proxy that counts and records.
async fn trips(server: &Server, acts: usize) -> Result<wire::Recorded, Fault> {
    let wire = Wire::before(server.port).await?;
    let store = open(Endpoint { host: "127.0.0.1".to_owned(), port: wire.port }).await?;
    let house = House::open(tables_in(store)).await?;
    let desk = Desk::open(&house, 1).await?;
    let (desk, _) = desk.play(20).await?;
    let before = desk.commits;
    wire.begin();
    let (desk, _) = desk.play(acts).await?;
    let recorded = wire.end();
    let commits = desk.commits - before;
    let trips = recorded.trips as f64 / commits as f64;
    println!(
        "{acts} actions and {} deals in {commits} commits: {} commands, {} round trips at the socket, {trips:.3} a commit",
        commits - acts,
        recorded.commands,
        recorded.trips
    );
    println!(
        "goal: one round trip an action: {}",
        if recorded.trips == commits { "holds" } else { "DOES NOT HOLD" }
    );
    Ok(recorded)
}

/// All ways of making a commit, so many at once.
async fn ways(
    redis: &Redis,
    store: &Arc<RedisStore>,
    recorded: &wire::Recorded,
    in_flight: usize,
    each: usize,
    rounds: usize,
) -> Result<(), Fault> {
    let house = House::open(tables_in(Arc::clone(store))).await?;
    let (mut desks, mut lines) = (Vec::new(), Vec::new());
    let connection = raw::connect(redis.port).await?;
    for number in 0..in_flight {
        // Played a little, so that nothing is new at its first counted commit.
        desks.push(Desk::open(&house, number as u64).await?.play(8).await?.0);
        lines.push(raw::Line::open(&connection, recorded, number).await?);
    }
    let names =
        ["service, gRPC to Redis", "store alone", "crate, bare script", "crate, at the service's rate"];
    let [mut service, mut alone, mut bare, mut paced] = names.map(Way::new);
    let mut tool = Way::new("redis-benchmark");
    for round in 0..rounds {
        let dealt: usize = desks.iter().map(|desk| desk.commits).sum();
        desks = service.round(redis, desks.into_iter().map(|desk| desk.play(each))).await?;
        // Deals are commits, too, and cost Redis as much.
        service.also(desks.iter().map(|desk| desk.commits).sum::<usize>() - dealt - in_flight * each);
        let rate = service.last_rate();
        let mut chains = Vec::new();
        for number in 0..in_flight {
            chains.push(Chain::open(store, (round * in_flight + number) as u64, each).await?);
        }
        alone.round(redis, chains.into_iter().map(Chain::play)).await?;
        lines = bare.round(redis, lines.into_iter().map(|line| line.play(each, None))).await?;
        let turns = raw::turns(in_flight * each, rate);
        let calls = lines.into_iter().map(|line| line.play(each, Some(Arc::clone(&turns))));
        lines = paced.round(redis, calls).await?;
        tool::run(redis, recorded, in_flight, in_flight * each, &mut tool).await?;
    }
    meter::heading(in_flight);
    for way in [&service, &alone, &bare, &paced, &tool] {
        way.print(&service);
    }
    let work = service.work_to(&paced);
    let holds = if work <= GOAL { "holds" } else { "DOES NOT HOLD" };
    println!(
        "goal: Redis' CPU an action at most {GOAL} of the bare script's at the same rate: {work:.3}, {holds}"
    );
    Ok(())
}

/// What a server asks of Redis when nobody plays: signs of life, the calendar, the time.
async fn at_rest(redis: &Redis, store: &Arc<RedisStore>, seconds: u64) -> Result<(), Fault> {
    let tables = tables_in(Arc::clone(store));
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let running = tokio::spawn(clocks::run(tables, stopped));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = redis.usage()?;
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let used = redis.usage()?.since(&before);
    let _ = stop.send(true);
    let _ = running.await;
    println!("\nA server at rest, its clocks running, 256 shards, for each second:");
    println!(
        "  {:.1} ms of Redis' CPU, {:.1} KiB",
        used.micros / 1e3 / seconds as f64,
        used.bytes / 1024.0 / seconds as f64
    );
    for (command, calls) in used.calls {
        println!("  {:>8.1} {command}", calls as f64 / seconds as f64);
    }
    Ok(())
}
