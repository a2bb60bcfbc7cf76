//! `fulcrum capacity`: measures what play costs on the reader's own machine, and reckons how many servers and how many
//! machines for Redis n tables need.

#![allow(clippy::float_arithmetic, reason = "rates and ratios; no chips here")]

mod arguments;
mod audience;
mod deriving;
mod measured;
mod model;
mod page;
mod play;
mod process;
mod redis;
mod server;
mod simulation;
mod spread;
mod survey;
mod words;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

pub use self::arguments::CapacityArgs;
use self::measured::Measured;
use self::model::{Plan, Resource, Wanted, followers};
use self::play::{Desk, Opened};
use self::redis::Redis;
use self::server::House;
use self::simulation::{Seen, Setting};
use self::survey::Idle;
use super::failure::Failure;
use super::output::Output;
use super::paint::Paint;
use super::signals::Stop;
use crate::store::RedisConfig;

/// The numbers of tables that are always reckoned, beside the one that was asked for.
const SIZES: [u32; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// So long tables may take to be closed when it is broken off.
const CLEARING: Duration = Duration::from_secs(20);
/// Who does more than this, in commands a second, while nobody of ours is there is somebody else.
const SOMEBODY: f64 = 20.0;
const BROKEN_OFF: &str = "ended before everything was measured; what was opened for it is gone";

/// What is told, for people and for programs.
#[derive(Serialize)]
struct Report {
    measured: Measured,
    wanted: Wanted,
    /// What was asked for.
    plan: Plan,
    /// What one server and one Redis hold, by resource, in tables.
    room: Vec<(&'static str, Resource, f64)>,
    /// From few tables to many.
    plans: Vec<Plan>,
    simulated: Vec<Seen>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: CapacityArgs) -> Result<(), Failure> {
    let measured = match &args.measured {
        Some(path) => Measured::load(path)?,
        None => measure(&args).await?,
    };
    let wanted = args.wanted(measured.actions_of_a_hand);
    let of = |tables: f64| Plan::of(&measured, &Wanted { tables, ..wanted.clone() });
    let plan = of(wanted.tables);
    let mut sizes: Vec<f64> = SIZES.map(f64::from).into_iter().chain([wanted.tables]).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let plans: Vec<Plan> = sizes.into_iter().map(of).collect();
    let simulated = simulate(&args, &measured, &wanted).await?;
    let room = model::room(&measured, &wanted);
    let report = Report { measured, wanted, plan, room, plans, simulated };
    if let Some(path) = &args.json {
        write(path, &report)?;
    }
    Output::plain().print(&page::page(&report, Paint::for_stdout()))?;
    Ok(())
}

fn write(path: &Path, report: &Report) -> Result<(), Failure> {
    let written = serde_json::to_vec(report).map_err(|error| error.to_string()).and_then(|mut bytes| {
        bytes.push(b'\n');
        std::fs::write(path, bytes).map_err(|error| error.to_string())
    });
    written.map_err(|error| Failure::Failed(format!("cannot write {}: {error}", path.display())))
}

/// Measures, and leaves nothing behind: whatever happens, tables are closed and what is stored of them goes.
async fn measure(args: &CapacityArgs) -> Result<Measured, Failure> {
    let card_key = std::env::var("FULCRUM_CARD_KEY").ok().filter(|text| !text.is_empty());
    let redis = match &args.redis {
        Some(_) if args.key_file.is_none() && card_key.is_none() => {
            return Err(Failure::Usage(
                "a Redis of your own needs the keys of its cards: name them with --key-file".to_owned(),
            ));
        }
        Some(url) => Redis::at(url).await?,
        None => Redis::start().await?,
    };
    look_round(&redis).await?;
    // What was given belongs to a Redis that was given.
    let card_key = card_key.filter(|_| args.redis.is_some());
    let keys = args.key_file.as_deref().filter(|_| args.redis.is_some());
    let house = House::new(&redis.url, keys, card_key.as_deref())?;
    let shards = RedisConfig::parse(&redis.url).map_err(|error| Failure::Usage(error.to_string()))?.shards;
    let desk = Desk {
        house: &house,
        redis: &redis,
        shards,
        tables: args.played,
        seats: args.seats,
        time: args.time,
        seed: args.seed,
        opened: Opened::default(),
    };
    let mut stop = Stop::listen()?;
    let idle = Idle { tables: args.idle, watchers: args.watchers };
    let measured = tokio::select! {
        measured = survey::measure(&desk, idle) => measured,
        () = stop.asked() => Err(Failure::Failed(BROKEN_OFF.to_owned())),
    };
    let cleared = clear(&desk).await;
    let measured = measured?;
    cleared?;
    Ok(measured)
}

/// Says so if somebody else uses this Redis.
async fn look_round(redis: &Redis) -> Result<(), Failure> {
    if redis.is_ours() {
        return Ok(());
    }
    let before = redis.done().await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let commands = redis.done().await?.since(before).commands;
    if commands > SOMEBODY {
        eprintln!(
            "fulcrum: this Redis serves somebody else with {commands:.0} commands a second: what it costs is told too high"
        );
    }
    Ok(())
}

/// Closes what is still open, and removes what is stored of it. A Redis of ours goes anyway.
async fn clear(desk: &Desk<'_>) -> Result<(), Failure> {
    if desk.redis.is_ours() {
        return Ok(());
    }
    let open = desk.opened.ids();
    let mut closed = Ok(Ok(()));
    if !open.is_empty() {
        // Those who had them open have been ended.
        let server = desk.house.open(0).await?;
        let calls = desk.calls(std::slice::from_ref(&server))?;
        closed = timeout(CLEARING, desk.close(&calls, open.clone())).await;
        tokio::task::spawn_blocking(|| server.end()).await.map_err(std::io::Error::other)?;
    }
    desk.redis.forget(&desk.house.operator).await?;
    // A hand that was still being played is due for ever.
    desk.redis.strike(&desk.calendars(&open)).await?;
    closed.map_err(|_| Failure::Failed("the tables could not be closed in time".to_owned()))?
}

/// Simulates the sizes that were asked for, each with the servers that the model finds, and with as many machines for Redis
/// as play needs: memory is not simulated.
async fn simulate(args: &CapacityArgs, measured: &Measured, wanted: &Wanted) -> Result<Vec<Seen>, Failure> {
    let sizes = if args.no_simulation { Vec::new() } else { args.simulate.clone() };
    let bar = Output::with_bar(sizes.len() as u64, "simulated");
    let mut all = Vec::new();
    for tables in sizes {
        let wanted = Wanted { tables: f64::from(tables), ..wanted.clone() };
        let plan = Plan::of(measured, &wanted);
        if let (Some(servers), Some(machines)) = (plan.servers(), plan.machines_for_play()) {
            let setting = setting(measured, &wanted, (tables, servers, machines), args.seed);
            // It keeps a core busy for a while.
            let seen = tokio::task::spawn_blocking(move || simulation::run(&setting)).await;
            all.push(seen.map_err(|died| Failure::Failed(format!("the simulation broke down: {died}")))?);
        }
        bar.count();
    }
    bar.finish();
    Ok(all)
}

/// What the model says of a commit, for the simulation.
fn setting(
    measured: &Measured,
    wanted: &Wanted,
    (tables, servers, machines): (u32, u32, u32),
    seed: u64,
) -> Setting {
    let Measured { server, redis, .. } = measured;
    let (count, watchers) = (f64::from(servers), wanted.watchers_per_table);
    let others = (followers(count, watchers) - 1.0).max(0.0);
    let of_action = |us: f64| us / measured.commits_of_an_action;
    let quiet = wanted.tables * watchers / count * server.us_per_second_of_a_watcher;
    let hand = 3600.0 / wanted.hands_per_hour;
    Setting {
        tables,
        servers,
        machines,
        shards: wanted.shards,
        cores: wanted.server.cores,
        server_us: of_action(server.us_per_action)
            + watchers * server.us_per_message
            + others * server.us_per_follower,
        redis_us: of_action(redis.us_per_action) + others * redis.us_per_follower,
        server_rest_us: server.us_per_second + quiet,
        redis_rest_us: model::rest_of_redis(measured, wanted, wanted.tables / hand, count)
            / f64::from(machines),
        think: (hand - arguments::PAUSE_S).max(1.0) / measured.actions_of_a_hand,
        decisions: measured.actions_of_a_hand,
        seed,
    }
}
