//! The commit script called by nobody but the redis crate: what the service has sent, with other tables' names and the
//! tokens put right.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{Cmd, Value};
use tokio::sync::Semaphore;

use super::shared::{Fault, Times};
use super::wire::{Recorded, arguments};

/// Far enough away to be never too late; as long as the times of these years.
const NEVER: &str = "9999999999999";

/// As the service makes its connections.
pub async fn connect(port: u16) -> Result<MultiplexedConnection, Fault> {
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}/?protocol=resp3"))?;
    Ok(client.get_multiplexed_async_connection().await?)
}

/// So many turns, so many a second. A thread of its own sleeps more exactly than the runtime's clock ticks.
pub fn turns(count: usize, rate: f64) -> Arc<Semaphore> {
    let turns = Arc::new(Semaphore::new(0));
    let (given, pause, mut next) = (Arc::clone(&turns), Duration::from_secs_f64(1.0 / rate), Instant::now());
    std::thread::spawn(move || {
        for _ in 0..count {
            next += pause;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            given.add_permits(1);
        }
    });
    turns
}

/// One table of nobody's.
pub struct Line {
    connection: MultiplexedConnection,
    calls: Arc<Vec<Vec<Vec<u8>>>>,
    name: String,
    version: u64,
    token: [u8; 16],
}

impl Line {
    pub async fn open(
        connection: &MultiplexedConnection,
        recorded: &Recorded,
        number: usize,
    ) -> Result<Line, Fault> {
        let name = uuid::Uuid::new_v4().to_string();
        let calls = Arc::new(recorded.calls.clone());
        let mut line = Line { connection: connection.clone(), calls, name, version: 1, token: [0; 16] };
        line.token = line.token_of(number as u64);
        let first = line.calls.first().ok_or("nothing was recorded")?;
        let (keys, values) = arguments(first).ok_or("a call without arguments")?;
        let state = [&line.token[..], &values[2]].concat();
        let key = line.renamed(&keys[0]);
        redis::cmd("SET").arg(key).arg(state).exec_async(&mut line.connection).await?;
        Ok(line)
    }

    fn token_of(&self, nonce: u64) -> [u8; 16] {
        let mut token = [0; 16];
        token[..8].copy_from_slice(&self.version.to_be_bytes());
        token[8..].copy_from_slice(&(nonce ^ 0x5555_5555_5555_5555).to_be_bytes());
        token
    }

    /// With this table's id in the place of the other one's, which stands behind the operator's name and a slash.
    fn renamed(&self, text: &[u8]) -> Vec<u8> {
        let slash = text.iter().position(|byte| *byte == b'/');
        let Some(id) = slash.and_then(|slash| text.get(slash + 1..slash + 1 + self.name.len())) else {
            return text.to_vec();
        };
        let behind = slash.unwrap_or_default() + 1;
        let mut renamed = text.to_vec();
        renamed[behind..behind + id.len()].copy_from_slice(self.name.as_bytes());
        renamed
    }

    fn next(&mut self) -> Result<Cmd, Fault> {
        let calls = Arc::clone(&self.calls);
        let call = &calls[self.version as usize % calls.len()];
        let (keys, values) = arguments(call).ok_or("a call without arguments")?;
        self.version += 1;
        let (expected, token) = (self.token, self.token_of(self.version.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        self.token = token;
        let mut command = redis::cmd("EVALSHA");
        command.arg(&call[0]).arg(keys.len());
        for key in keys {
            command.arg(self.renamed(key));
        }
        for (place, value) in (1..).zip(values) {
            match place {
                1 => command.arg(&expected[..]),
                2 => command.arg(&token[..]),
                5 => command.arg(format!("{}-1", self.version)),
                8 | 11 => command.arg(self.renamed(value)),
                10 => command.arg(NEVER),
                _ => command.arg(&value[..]),
            };
        }
        Ok(command)
    }

    /// Makes so many commits, each only when its turn has come.
    pub async fn play(
        mut self,
        commits: usize,
        turns: Option<Arc<Semaphore>>,
    ) -> Result<(Line, Times), Fault> {
        let mut times = Times::with_capacity(commits);
        for _ in 0..commits {
            let command = self.next()?;
            if let Some(turns) = &turns {
                turns.acquire().await?.forget();
            }
            let began = Instant::now();
            let answer: Value = command.query_async(&mut self.connection).await?;
            times.push(began.elapsed());
            if !matches!(answer.as_sequence(), Some([Value::Int(0), ..])) {
                return Err("the script did not commit".into());
            }
        }
        Ok((self, times))
    }
}
