//! What a way of making commits takes: time of its callers, and work of Redis.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use super::servers::Server;
use super::shared::{Fault, Times, at_once, median};

/// A server that is asked what it has done.
pub struct Redis {
    pub port: u16,
    client: redis::Client,
}

/// What Redis has done, since it was started or since a moment.
pub struct Usage {
    /// CPU of the whole process, µs.
    pub micros: f64,
    /// In and out.
    pub bytes: f64,
    /// Calls by command, those that scripts make among them.
    pub calls: BTreeMap<String, u64>,
    /// Within calls of scripts by their hash, µs.
    script: f64,
}

impl Redis {
    pub fn of(server: &Server) -> Redis {
        let url = format!("redis://127.0.0.1:{}", server.port);
        Redis { port: server.port, client: redis::Client::open(url).expect("a URL") }
    }

    pub fn info(&self, section: &str) -> Result<BTreeMap<String, String>, Fault> {
        let mut connection = self.client.get_connection()?;
        let text: String = redis::cmd("INFO").arg(section).query(&mut connection)?;
        let pair = |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(text.lines().filter_map(pair).collect())
    }

    pub fn version(&self) -> Result<String, Fault> {
        Ok(self.info("server")?.remove("redis_version").unwrap_or_default())
    }

    pub fn ask<T: redis::FromRedisValue>(&self, command: &[&str]) -> Result<T, Fault> {
        let mut connection = self.client.get_connection()?;
        let mut packed = redis::cmd(command[0]);
        packed.arg(&command[1..]);
        Ok(packed.query(&mut connection)?)
    }

    pub fn usage(&self) -> Result<Usage, Fault> {
        let number = |of: &BTreeMap<String, String>, name: &str| -> Result<f64, Fault> {
            Ok(of.get(name).ok_or_else(|| format!("Redis tells no {name}"))?.parse()?)
        };
        let (cpu, stats, commands) = (self.info("cpu")?, self.info("stats")?, self.info("commandstats")?);
        let seconds = number(&cpu, "used_cpu_user")? + number(&cpu, "used_cpu_sys")?;
        let bytes = number(&stats, "total_net_input_bytes")? + number(&stats, "total_net_output_bytes")?;
        let (mut calls, mut script) = (BTreeMap::new(), 0.0);
        for (name, line) in &commands {
            let Some(command) = name.strip_prefix("cmdstat_") else {
                continue;
            };
            let field = |name: &str| line.split(',').find_map(|part| part.strip_prefix(name));
            calls.insert(command.to_owned(), field("calls=").unwrap_or("0").parse()?);
            if command == "evalsha" {
                script = field("usec=").unwrap_or("0").parse()?;
            }
        }
        Ok(Usage { micros: seconds * 1e6, bytes, calls, script })
    }
}

impl Usage {
    pub fn since(self, before: &Usage) -> Usage {
        let earlier = |command: &str| before.calls.get(command).copied().unwrap_or_default();
        let calls = self.calls.into_iter().map(|(command, calls)| {
            let more = calls - earlier(&command);
            (command, more)
        });
        Usage {
            micros: self.micros - before.micros,
            bytes: self.bytes - before.bytes,
            calls: calls.filter(|(command, calls)| *calls > 0 && command != "info").collect(),
            script: self.script - before.script,
        }
    }
}

/// One way of making commits, over all rounds.
pub struct Way {
    name: &'static str,
    rates: Vec<f64>,
    nanos: Histogram<u64>,
    /// Latencies that another program has measured, µs.
    told: Option<(f64, f64)>,
    /// What each round has taken, and for how many commits.
    rounds: Vec<(Usage, usize)>,
}

impl Way {
    pub fn new(name: &'static str) -> Way {
        let nanos = Histogram::new(3).expect("three digits");
        Way { name, rates: Vec::new(), nanos, told: None, rounds: Vec::new() }
    }

    /// Does all of this at once.
    pub async fn round<R, W>(&mut self, redis: &Redis, work: impl Iterator<Item = W>) -> Result<Vec<R>, Fault>
    where
        R: Send + 'static,
        W: Future<Output = Result<(R, Times), Fault>> + Send + 'static,
    {
        let (before, began) = (redis.usage()?, Instant::now());
        let (results, taken) = at_once(work).await?;
        let wall = began.elapsed();
        self.ended(redis.usage()?.since(&before), taken.len(), wall);
        for time in taken {
            self.nanos.record(u64::try_from(time.as_nanos())?)?;
        }
        Ok(results)
    }

    /// A round that another program has made.
    pub fn told(&mut self, used: Usage, commits: usize, rate: f64, latency: (f64, f64)) {
        self.ended(used, commits, Duration::from_secs_f64(commits as f64 / rate));
        self.told = Some(latency);
    }

    fn ended(&mut self, used: Usage, commits: usize, wall: Duration) {
        self.rates.push(commits as f64 / wall.as_secs_f64());
        self.rounds.push((used, commits));
    }

    /// So many commits more were made in the last round, which are not calls of its callers.
    pub fn also(&mut self, commits: usize) {
        if let Some((_, all)) = self.rounds.last_mut() {
            *all += commits;
        }
    }

    pub fn last_rate(&self) -> f64 {
        self.rates.last().copied().unwrap_or(1.0)
    }

    /// Per commit, each round: CPU in µs, bytes, µs in the script, calls of scripts.
    fn work(&self) -> Vec<[f64; 4]> {
        let each = |(used, commits): &(Usage, usize)| {
            let scripts = used.calls.get("evalsha").copied().unwrap_or_default() as f64;
            [used.micros, used.bytes, used.script, scripts].map(|all| all / *commits as f64)
        };
        self.rounds.iter().map(each).collect()
    }

    pub fn print(&self, service: &Way) {
        let micros = |quantile| self.nanos.value_at_quantile(quantile) as f64 / 1e3;
        let (half, most) = self.told.unwrap_or_else(|| (micros(0.5), micros(0.99)));
        let work = self.work();
        let of = |place: usize| median(&work.iter().map(|work| work[place]).collect::<Vec<_>>());
        println!(
            "{:<30} {:>8.0} {half:>8.0} {most:>8.0} {:>8.1} {:>8.1} {:>8.0} {:>8.2} {:>9.3}",
            self.name,
            median(&self.rates),
            of(0),
            of(2),
            of(1),
            of(3),
            service.work_to(self)
        );
    }

    /// Redis' CPU for a commit of ours to that for one of theirs: the median over the rounds, as both ways of a round saw
    /// the same machine.
    pub fn work_to(&self, other: &Way) -> f64 {
        let (ours, theirs) = (self.work(), other.work());
        median(&ours.iter().zip(&theirs).map(|(ours, theirs)| ours[0] / theirs[0]).collect::<Vec<_>>())
    }
}

pub fn heading(in_flight: usize) {
    println!(
        "\n{:<30} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9}",
        format!("{in_flight} in flight"),
        "calls/s",
        "p50 µs",
        "p99 µs",
        "CPU µs",
        "script",
        "bytes",
        "scripts",
        "service/"
    );
}
