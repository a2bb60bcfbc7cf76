//! The Redis of a measurement: the reader's own, or one that is started for it; and what it has done and holds.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ::redis::aio::MultiplexedConnection;
use ::redis::{Client, FromRedisValue, RedisError, cmd};
use tempfile::TempDir;

use crate::cli::failure::Failure;
use crate::store::RedisConfig;
use crate::store::redis::Topology;

/// So long Redis may take to be ready.
const PATIENCE: Duration = Duration::from_secs(20);
/// So many keys are looked at or asked about at a time.
const BITE: usize = 500;

/// A Redis.
pub struct Redis {
    /// Where servers find it.
    pub url: String,
    connection: MultiplexedConnection,
    /// If it is ours: its process and its folder.
    own: Option<Own>,
}

struct Own {
    child: Child,
    _folder: TempDir,
}

impl Drop for Own {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What Redis has done since it was started.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Done {
    /// CPU of the main thread, µs.
    pub us: f64,
    /// Received and sent.
    pub bytes: f64,
    /// Calls of scripts.
    pub scripts: f64,
    /// Looks at calendars.
    pub looks: f64,
    /// Commands, those of scripts left out.
    pub commands: f64,
}

impl Redis {
    /// The reader's own.
    ///
    /// # Errors
    /// [`Failure`] if it is not one server, or does not answer.
    pub async fn at(url: &str) -> Result<Redis, Failure> {
        let config = RedisConfig::parse(url).map_err(|error| Failure::Usage(error.to_string()))?;
        if !matches!(config.topology, Topology::Single(_)) || config.tls.is_some() {
            return Err(Failure::Usage(
                "capacity is measured at one server, redis://host:port: in a cluster each machine is such a one"
                    .to_owned(),
            ));
        }
        let connection = connect(url).await.map_err(|error| {
            Failure::Failed(format!("Redis does not answer: {error}\n\n--redis says where it is."))
        })?;
        Ok(Redis { url: url.to_owned(), connection, own: None })
    }

    /// One that is started here, set as `deploy/redis.md` asks, and stopped when this goes.
    ///
    /// # Errors
    /// [`Failure`] if none is installed, or it does not start.
    pub async fn start() -> Result<Redis, Failure> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr())?.port();
        let mut command = Command::new("redis-server");
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "yes", "--appendfsync", "everysec", "--stream-node-max-bytes", "1024"]);
        command.args(["--maxmemory-policy", "noeviction", "--dir"]).arg(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = alone(&mut command).spawn().map_err(|error| {
            Failure::Failed(format!(
                "no redis-server can be started here: {error}\n\nInstall one (Debian: apt-get install redis-server), or \
                 name one of your own with --redis and its keys with --key-file."
            ))
        })?;
        let mut own = Own { child, _folder: folder };
        let url = format!("redis://127.0.0.1:{port}");
        let begun = Instant::now();
        loop {
            match connect(&url).await {
                Ok(connection) => return Ok(Redis { url, connection, own: Some(own) }),
                Err(error) if begun.elapsed() > PATIENCE || own.child.try_wait()?.is_some() => {
                    return Err(Failure::Failed(format!(
                        "the redis-server that was started here fails: {error}"
                    )));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    /// Whether it is thrown away at the end.
    pub const fn is_ours(&self) -> bool {
        self.own.is_some()
    }

    async fn ask<T: FromRedisValue>(&self, command: &[&str]) -> Result<T, Failure> {
        let mut packed = cmd(command.first().copied().unwrap_or_default());
        packed.arg(command.get(1..).unwrap_or_default());
        packed.query_async(&mut self.connection.clone()).await.map_err(|error| refused(&error))
    }

    async fn info(&self, section: &str) -> Result<BTreeMap<String, String>, Failure> {
        let text: String = self.ask(&["INFO", section]).await?;
        Ok(fields(&text))
    }

    /// Its version.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it does not say, here and below.
    pub async fn version(&self) -> Result<String, Failure> {
        Ok(self.info("server").await?.remove("redis_version").unwrap_or_default())
    }

    /// What it has done until now.
    pub async fn done(&self) -> Result<Done, Failure> {
        done(&self.info("cpu").await?, &self.info("stats").await?, &self.info("commandstats").await?)
    }

    /// The memory of what it holds, in bytes: without buffers of connections and of the append-only file, which come and
    /// go.
    pub async fn memory(&self) -> Result<f64, Failure> {
        let memory = self.info("memory").await?;
        let passing = ["mem_clients_normal", "mem_aof_buffer", "mem_clients_slaves"];
        let passing: f64 = passing.iter().filter_map(|name| number(&memory, name).ok()).sum();
        Ok(number(&memory, "used_memory")? - passing)
    }

    /// The memory of these keys, in bytes.
    pub async fn weigh(&self, keys: &[String]) -> Result<f64, Failure> {
        let mut all = 0.0;
        for some in keys.chunks(BITE) {
            let mut pipe = ::redis::pipe();
            for key in some {
                pipe.cmd("MEMORY").arg("USAGE").arg(key).arg("SAMPLES").arg(0);
            }
            let sizes: Vec<Option<f64>> =
                pipe.query_async(&mut self.connection.clone()).await.map_err(|error| refused(&error))?;
            all += sizes.into_iter().flatten().sum::<f64>();
        }
        Ok(all)
    }

    /// How many entries these streams have together.
    pub async fn entries(&self, streams: &[String]) -> Result<f64, Failure> {
        let mut all = 0.0;
        for some in streams.chunks(BITE) {
            let mut pipe = ::redis::pipe();
            for key in some {
                pipe.cmd("XLEN").arg(key);
            }
            let lengths: Vec<f64> =
                pipe.query_async(&mut self.connection.clone()).await.map_err(|error| refused(&error))?;
            all += lengths.into_iter().sum::<f64>();
        }
        Ok(all)
    }

    /// Looks so many times at all calendars, as servers do: what one look takes of CPU, µs, and how many bytes.
    pub async fn look(&self, shards: u16, times: u32) -> Result<(f64, f64), Failure> {
        let mut pipe = ::redis::pipe();
        for shard in 0..shards {
            let calendar = format!("{{s{shard:03}}}:tm");
            pipe.cmd("ZRANGEBYSCORE").arg(calendar).arg("-inf").arg(0).arg("WITHSCORES");
            pipe.arg("LIMIT").arg(0).arg(64);
        }
        let before = self.done().await?;
        for _ in 0..times {
            let _: Vec<::redis::Value> =
                pipe.query_async(&mut self.connection.clone()).await.map_err(|error| refused(&error))?;
        }
        let used = self.done().await?.since(before);
        let looks = f64::from(times) * f64::from(shards);
        Ok((used.us / looks, used.bytes / looks))
    }

    /// Strikes names out of sorted sets.
    pub async fn strike(&self, names: &[(String, String)]) -> Result<(), Failure> {
        for some in names.chunks(BITE) {
            let mut pipe = ::redis::pipe();
            for (key, name) in some {
                pipe.cmd("ZREM").arg(key).arg(name);
            }
            let _: Vec<u64> =
                pipe.query_async(&mut self.connection.clone()).await.map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// Removes all keys that have this name in them: of an operator whom nobody else has.
    pub async fn forget(&self, name: &str) -> Result<(), Failure> {
        let (pattern, bite) = (format!("*:{name}*"), BITE.to_string());
        let mut cursor = "0".to_owned();
        loop {
            let (next, keys): (String, Vec<String>) =
                self.ask(&["SCAN", &cursor, "MATCH", &pattern, "COUNT", &bite]).await?;
            if !keys.is_empty() {
                let command: Vec<&str> =
                    std::iter::once("UNLINK").chain(keys.iter().map(String::as_str)).collect();
                self.ask::<u64>(&command).await?;
            }
            if next == "0" {
                return Ok(());
            }
            cursor = next;
        }
    }
}

impl Done {
    /// What has come since then.
    #[must_use]
    pub fn since(self, then: Done) -> Done {
        Done {
            us: self.us - then.us,
            bytes: self.bytes - then.bytes,
            scripts: self.scripts - then.scripts,
            looks: self.looks - then.looks,
            commands: self.commands - then.commands,
        }
    }
}

/// A process that a Ctrl-C in the terminal does not reach: it ends when we are done with it.
pub fn alone(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt;
    command.process_group(0)
}

async fn connect(url: &str) -> Result<MultiplexedConnection, RedisError> {
    // What stands behind a ? is for servers.
    let client = Client::open(url.split('?').next().unwrap_or_default())?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    connection.set_response_timeout(PATIENCE);
    let _: String = cmd("PING").query_async(&mut connection).await?;
    Ok(connection)
}

fn refused(error: &RedisError) -> Failure {
    Failure::Failed(format!("Redis does not say what it has done: {error}"))
}

fn fields(text: &str) -> BTreeMap<String, String> {
    let pair =
        |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    text.lines().filter_map(pair).collect()
}

fn number(of: &BTreeMap<String, String>, name: &str) -> Result<f64, Failure> {
    let text = of.get(name).and_then(|text| text.parse().ok());
    text.ok_or_else(|| Failure::Failed(format!("Redis tells no {name}: version 7.0 or later does")))
}

fn done(
    cpu: &BTreeMap<String, String>,
    stats: &BTreeMap<String, String>,
    commands: &BTreeMap<String, String>,
) -> Result<Done, Failure> {
    let seconds = number(cpu, "used_cpu_user_main_thread")? + number(cpu, "used_cpu_sys_main_thread")?;
    let bytes = number(stats, "total_net_input_bytes")? + number(stats, "total_net_output_bytes")?;
    let calls = |name: &str| {
        let line = commands.get(name)?;
        line.split(',').find_map(|part| part.strip_prefix("calls="))?.parse().ok()
    };
    let (scripts, looks) = (calls("cmdstat_evalsha"), calls("cmdstat_zrangebyscore"));
    Ok(Done {
        us: seconds * 1e6,
        bytes,
        scripts: scripts.unwrap_or_default(),
        looks: looks.unwrap_or_default(),
        commands: number(stats, "total_commands_processed")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_redis_has_done_is_read_from_its_info() {
        let cpu = fields("used_cpu_sys_main_thread:0.25\r\nused_cpu_user_main_thread:1.50\r\n");
        let stats = fields(
            "total_net_input_bytes:100\r\ntotal_net_output_bytes:11\r\ntotal_commands_processed:9\r\n",
        );
        let commands = fields("cmdstat_evalsha:calls=7,usec=900,usec_per_call=1\r\n");
        let all = Done { us: 1_750_000.0, bytes: 111.0, scripts: 7.0, looks: 0.0, commands: 9.0 };
        assert_eq!(done(&cpu, &stats, &commands).unwrap(), all);
        assert_eq!(done(&cpu, &stats, &BTreeMap::new()).unwrap().scripts, 0.0);
        assert!(done(&BTreeMap::new(), &stats, &commands).is_err());
        assert_eq!(all.since(all), Done::default());
    }
}
