//! A proxy before Redis that counts what passes and keeps the calls of the commit script.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::shared::{Fault, median};

/// What has passed since the beginning of the count.
#[derive(Clone, Default)]
pub struct Recorded {
    /// Commands.
    pub commands: usize,
    /// How often something was sent to Redis after an answer, or as the first thing.
    pub trips: usize,
    /// The arguments of each call of a script, its name left out.
    pub calls: Vec<Vec<Vec<u8>>>,
    counting: bool,
}

/// The proxy.
pub struct Wire {
    pub port: u16,
    recorded: Arc<Mutex<Recorded>>,
}

impl Wire {
    pub async fn before(redis: u16) -> Result<Wire, Fault> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let wire = Wire { port: listener.local_addr()?.port(), recorded: Arc::default() };
        let recorded = Arc::clone(&wire.recorded);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, redis, Arc::clone(&recorded)));
            }
        });
        Ok(wire)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Recorded> {
        self.recorded.lock().expect("no panic")
    }

    pub fn begin(&self) {
        *self.lock() = Recorded { counting: true, ..Recorded::default() };
    }

    pub fn end(&self) -> Recorded {
        std::mem::take(&mut *self.lock())
    }
}

async fn pass(client: TcpStream, redis: u16, recorded: Arc<Mutex<Recorded>>) {
    let Ok(server) = TcpStream::connect(("127.0.0.1", redis)).await else {
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    let (mut asked, mut told, mut held) = (vec![0; 1 << 16], vec![0; 1 << 16], Vec::new());
    let mut answered = true;
    loop {
        tokio::select! {
            read = from_client.read(&mut asked) => {
                let Some(read) = read.ok().filter(|read| *read > 0) else { return };
                held.extend_from_slice(&asked[..read]);
                note(&mut held, &recorded, &mut answered);
                if to_server.write_all(&asked[..read]).await.is_err() { return }
            }
            read = from_server.read(&mut told) => {
                let Some(read) = read.ok().filter(|read| *read > 0) else { return };
                answered = true;
                if to_client.write_all(&told[..read]).await.is_err() { return }
            }
        }
    }
}

/// Takes the commands that are complete.
fn note(held: &mut Vec<u8>, recorded: &Mutex<Recorded>, answered: &mut bool) {
    let mut recorded = recorded.lock().expect("no panic");
    while let Some((command, length)) = command(held) {
        held.drain(..length);
        if !recorded.counting {
            continue;
        }
        recorded.commands += 1;
        recorded.trips += usize::from(std::mem::take(answered));
        if command[0] == b"EVALSHA" {
            recorded.calls.push(command[1..].to_vec());
        }
    }
}

/// The first command of these bytes and its length, if it is complete.
fn command(bytes: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut at = 0;
    let count = number(bytes, &mut at, b'*')?;
    let mut parts = Vec::with_capacity(count);
    for _ in 0..count {
        let length = number(bytes, &mut at, b'$')?;
        parts.push(bytes.get(at..at + length)?.to_vec());
        at += length + 2;
    }
    (at <= bytes.len()).then_some((parts, at))
}

fn number(bytes: &[u8], at: &mut usize, kind: u8) -> Option<usize> {
    let rest = bytes.get(*at..)?;
    let end = rest.iter().position(|byte| *byte == b'\r')?;
    let (first, digits) = rest.get(..end)?.split_first()?;
    if *first != kind {
        return None;
    }
    *at += end + 2;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Words of a command.
type Words = [Vec<u8>];

/// The script's keys and arguments in a recorded call: behind its hash and the number of keys.
pub fn arguments(call: &Words) -> Option<(&Words, &Words)> {
    let keys = std::str::from_utf8(call.get(1)?).ok()?.parse().ok()?;
    call.get(2..)?.split_at_checked(keys)
}

impl Recorded {
    /// The median length of the script's argument at this place, from 1.
    pub fn length(&self, place: usize) -> usize {
        let length = |call: &Vec<Vec<u8>>| Some(arguments(call)?.1.get(place - 1)?.len() as f64);
        median(&self.calls.iter().filter_map(length).collect::<Vec<_>>()) as usize
    }

    pub fn print_sizes(&self) {
        let (state, entry) = (self.length(3), self.length(4));
        let settled = |call: &&Vec<Vec<u8>>| arguments(call).is_some_and(|(_, values)| values.len() > 14);
        let settlements = self.calls.iter().filter(settled).count();
        println!(
            "a commit's state has {state} bytes, its events {entry} (medians); one in {:.1} carries a settlement",
            self.calls.len() as f64 / settlements.max(1) as f64
        );
    }
}
