//! The course of a measurement: at rest, tables, watchers, play at several rates, a second server.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::sleep;

use super::audience::Audience;
use super::deriving::{Findings, Rest, derive};
use super::measured::Measured;
use super::play::{Course, Desk};
use super::server::Server;
use crate::cli::failure::Failure;

/// The rates: how long bots think.
const RATES: [(&str, Duration); 3] = [
    ("slow", Duration::from_millis(400)),
    ("brisk", Duration::from_millis(100)),
    ("as fast as it goes", Duration::ZERO),
];
/// Spectators at each table, beside its players, where messages are measured.
const SPECTATORS: u32 = 16;
/// A server that was just started has things to do that it does once, as reading its own file. It has come to rest when it
/// takes less than so much CPU in a while, µs; longer than the patience is not waited for.
const SETTLING: Duration = Duration::from_secs(1);
const SETTLED: u64 = 150_000;
const PATIENCE: Duration = Duration::from_secs(60);
/// So often it is looked at all calendars, to see what that costs.
const LOOKS: u32 = 300;
/// Steps of the bar.
const STEPS: u64 = 9;

/// What is opened to be weighed, and not played.
#[derive(Clone, Copy)]
pub struct Idle {
    /// Tables.
    pub tables: usize,
    /// Watchers, over all of them.
    pub watchers: usize,
}

/// Measures.
///
/// # Errors
/// [`Failure`] if a server or Redis fails.
pub async fn measure(desk: &Desk<'_>, idle: Idle) -> Result<Measured, Failure> {
    let bar = Steps::new();
    bar.next("a server at rest");
    let mut servers = vec![desk.house.open(1).await?];
    let alone = rest(desk, &servers).await?;
    bar.next("tables at which nobody plays");
    let look = desk.redis.look(desk.shards, LOOKS).await?;
    let mut findings = Findings { alone, look, ..Findings::default() };
    weigh(desk, &servers, idle, &bar, &mut findings).await?;
    for (name, think) in RATES {
        bar.next(name);
        findings.rates.push(desk.play(&servers, Course { name, think, spectators: 0 }).await?);
    }
    // At the rate that loads without haste.
    let [_, (_, think), _] = RATES;
    bar.next("with spectators");
    findings.watched =
        Some(desk.play(&servers, Course { name: "with spectators", think, spectators: SPECTATORS }).await?);
    bar.next("two servers at rest");
    servers.push(desk.house.open(2).await?);
    findings.together = rest(desk, &servers).await?;
    bar.next("two servers");
    findings.shared = Some(desk.play(&servers, Course { name: "two servers", think, spectators: 0 }).await?);
    bar.finish();
    // In threads of their own: each is waited for.
    let ended = tokio::task::spawn_blocking(move || servers.into_iter().for_each(Server::end));
    ended.await.map_err(std::io::Error::other)?;
    let mut measured = derive(&findings)?;
    (measured.seats, measured.shards) = (desk.seats, desk.shards);
    measured.redis_version = desk.redis.version().await?;
    Ok(measured)
}

/// What these servers take while nothing happens.
async fn rest(desk: &Desk<'_>, servers: &[Server]) -> Result<Rest, Failure> {
    settle(servers).await?;
    let cpu = || servers.iter().map(Server::cpu).sum::<Result<u64, Failure>>();
    let (redis, server) = (desk.redis.done().await?, cpu()?);
    let begun = tokio::time::Instant::now();
    sleep(desk.time).await;
    let used = desk.redis.done().await?.since(redis);
    let seconds = begun.elapsed().as_secs_f64();
    let memory = servers.iter().map(Server::memory).sum::<Result<u64, Failure>>()?;
    Ok(Rest {
        server_us: cpu()?.saturating_sub(server) as f64 / seconds,
        redis_us: used.us / seconds,
        redis_bytes: used.bytes / seconds,
        scripts: used.scripts / seconds,
        looks: used.looks / seconds,
        server_bytes: memory as f64 / servers.len().max(1) as f64,
    })
}

async fn settle(servers: &[Server]) -> Result<(), Failure> {
    let begun = tokio::time::Instant::now();
    for server in servers {
        loop {
            let before = server.cpu()?;
            sleep(SETTLING).await;
            if server.cpu()? - before < SETTLED || begun.elapsed() > PATIENCE {
                break;
            }
        }
    }
    Ok(())
}

/// What tables take at which nobody plays, and watchers to whom nothing is told.
async fn weigh(
    desk: &Desk<'_>,
    servers: &[Server],
    idle: Idle,
    bar: &Steps,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let Some(server) = servers.first() else {
        return Ok(());
    };
    // Some before, so that what is made with a shard's first table is there.
    let calls = desk.calls(servers)?;
    desk.open(&calls, 2 * usize::from(desk.shards)).await?;
    let (redis, memory) = (desk.redis.memory().await?, server.memory()?);
    let rooms = desk.open(&calls, idle.tables).await?;
    let count = rooms.len().max(1) as f64;
    findings.redis_table = (desk.redis.memory().await? - redis) / count;
    findings.server_table = (server.memory()? as f64 - memory as f64) / count;

    bar.next("watchers");
    let ids: Vec<String> = rooms.iter().map(|room| room.id.clone()).collect();
    let some = ids.len().min(idle.watchers).max(1);
    let each = u32::try_from(idle.watchers.div_ceil(some)).unwrap_or(u32::MAX);
    let memory = server.memory()?;
    let mut audience = Audience::default();
    let joined = audience.join(&calls, ids.get(..some).unwrap_or_default(), each).await;
    joined.map_err(|status| Failure::call("cannot watch", &server.address, &status))?;
    let count = some as f64 * f64::from(each);
    findings.server_watcher = (server.memory()? as f64 - memory as f64) / count;
    let quiet = rest(desk, servers).await?;
    findings.watcher_us = (quiet.server_us - findings.alone.server_us) / count;
    drop(audience);
    desk.close(&calls, desk.opened.ids()).await
}

/// The bar: a step for each part of the measurement.
struct Steps(ProgressBar);

impl Steps {
    fn new() -> Steps {
        let bar = ProgressBar::new(STEPS);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:30.cyan/dim} {pos}/{len}  {msg}  {elapsed:.dim}")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Steps(bar)
    }

    fn next(&self, what: &'static str) {
        self.0.inc(1);
        self.0.set_message(what);
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
