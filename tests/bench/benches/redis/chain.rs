//! Commits as the service would make them, made before the clock runs: a table that is played by the rules alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use conformance::deals::Deals;
use conformance::player::{Temper, decision, shuffled};
use fulcrum::store::redis::RedisStore;
use rules::{Ask, Chips, Command, Millis, Table};
use tables::deriving::settlements;
use tables::{Clock, Commit, OperatorId, Outcome, Store, StoreError, SystemClock, TableId, TableKey, Token};
use uuid::Uuid;

use super::shared::{Fault, PLAYERS, Times, config, more_chips, player, seat};

pub fn now() -> Millis {
    SystemClock::default().now()
}

/// What is asked of the table next: an action, or what it needs to go on.
pub fn next_ask(table: &Table, random: &mut Deals) -> Ask {
    if let Some(ask) = decision(table, random, Temper::ALL[1]) {
        return ask;
    }
    match table.occupied().find(|(_, seat)| seat.stack < Chips(2_000)) {
        Some((_, seat)) => more_chips(seat.player.clone()),
        None => Ask::StartHand { deck: Box::new(shuffled(random)), draw: 0 },
    }
}

/// A table and the commits that it will take.
pub struct Chain {
    store: Arc<RedisStore>,
    commits: Vec<Commit>,
}

impl Chain {
    /// Opens a table with its players, and makes so many commits of play.
    pub async fn open(store: &Arc<RedisStore>, seed: u64, count: usize) -> Result<Chain, Fault> {
        let key = TableKey {
            operator: OperatorId::new("chains").ok_or("no operator")?,
            table: TableId(Uuid::new_v4()),
        };
        let mut chain = Chain { store: Arc::clone(store), commits: Vec::new() };
        let mut maker = Maker { key, random: Deals::from_seed(seed), last: None };
        let (mut table, opened) = Table::open(config(), now()).map_err(|refusal| format!("{refusal:?}"))?;
        chain.commits.push(maker.commit(&table, &table, vec![opened]));
        for number in 0..PLAYERS {
            let commit = maker.step(&mut table, seat(player(number)?))?;
            chain.commits.push(commit);
        }
        chain = chain.play().await?.0;
        for _ in 0..count {
            let ask = next_ask(&table, &mut maker.random);
            let commit = maker.step(&mut table, ask)?;
            chain.commits.push(commit);
        }
        Ok(chain)
    }

    /// Makes all commits that there are.
    pub async fn play(mut self) -> Result<(Chain, Times), Fault> {
        let mut times = Times::with_capacity(self.commits.len());
        for commit in std::mem::take(&mut self.commits) {
            let began = Instant::now();
            // On a busy machine an answer may be late: sent again it is known, as the service does it.
            let outcome = loop {
                match self.store.commit(commit.clone()).await {
                    Err(StoreError::Unknown(_) | StoreError::Unavailable(_)) => {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    outcome => break outcome?,
                }
                if began.elapsed() > Duration::from_secs(30) {
                    return Err("Redis does not answer".into());
                }
            };
            times.push(began.elapsed());
            if !matches!(outcome, Outcome::Committed { .. }) {
                return Err("a commit met another one".into());
            }
        }
        Ok((self, times))
    }
}

struct Maker {
    key: TableKey,
    random: Deals,
    last: Option<Token>,
}

impl Maker {
    fn step(&mut self, table: &mut Table, ask: Ask) -> Result<Commit, Fault> {
        let command = Command { at: now(), ask };
        let (events, after) = table.step(&command).map_err(|refusal| format!("{refusal:?}"))?;
        let before = std::mem::replace(table, after);
        Ok(self.commit(&before, table, events))
    }

    fn commit(&mut self, before: &Table, after: &Table, events: Vec<rules::event::Event>) -> Commit {
        let token = Token { version: after.version, nonce: self.random.below(usize::MAX) as u64 };
        let opening = self.last.is_none();
        let settlements = if opening { Vec::new() } else { settlements(&self.key, before, after, &events) };
        Commit {
            key: self.key.clone(),
            expected: self.last.replace(token),
            token,
            table: Arc::new(after.clone()),
            events,
            due: after.due().map(|(at, _)| at),
            request: None,
            settlements,
            accounts: Vec::new(),
            not_before: None,
            stamped: now(),
            origin: None,
            untold: false,
        }
    }
}
