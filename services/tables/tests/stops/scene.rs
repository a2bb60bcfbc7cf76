//! Processes on one store, and what is asked of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::common::faulty::Faulty;
use rules::Game;
use rules::event::StopScope;
use tables::stops::{Author, Order, Scope, StopEntry, StopError, sweep};
use tables::{Answered, Clock, MemoryStore, PlayError, TableKey, Tables};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::common::*;

/// A process: its tables, its clocks, its sweeps.
pub struct Process {
    pub tables: Tables,
    _stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Process {
    pub fn start(store: &Arc<Faulty>) -> Process {
        let tables = tables(Arc::<Faulty>::clone(store));
        let (stop, shutdown) = watch::channel(false);
        let tasks = vec![
            tokio::spawn(tables::clocks::run(tables.clone(), shutdown.clone())),
            tokio::spawn(sweep::run(tables.clone(), vec![operator()], shutdown)),
        ];
        Process { tables, _stop: stop, tasks }
    }

    /// Ends it as a kill does.
    pub fn kill(self) {
        for task in &self.tasks {
            task.abort();
        }
    }

    pub fn kill_clocks(&self) {
        self.tasks[0].abort();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// A store that several processes use, whose commits are two seconds on their way at most.
pub fn shared() -> Arc<Faulty> {
    let store = alone();
    store.shared.store(2000, Ordering::SeqCst);
    store
}

pub fn alone() -> Arc<Faulty> {
    let clock = RuntimeClock::start();
    Faulty::new(Arc::new(MemoryStore::new(clock as Arc<dyn Clock>)))
}

pub fn order(number: u128, scope: &Scope) -> Order {
    let (reason, requester) = ("audit".to_owned(), "risk desk".to_owned());
    let author = Author::Operator(operator());
    Order { author, scope: scope.clone(), reason, requester, request: request(number) }
}

pub fn by_administrator(order: Order) -> Order {
    Order { author: Author::Administrator(operator()), ..order }
}

pub fn text(entry: &StopEntry) -> Vec<u8> {
    format!("{} since {}", entry.scope.word(), entry.since.0).into_bytes()
}

pub async fn disable(tables: &Tables, number: u128, scope: &Scope) -> Result<Answered, StopError> {
    tables.disable(&order(number, scope), &text).await
}

pub async fn enable(tables: &Tables, number: u128, scope: &Scope) -> Result<Answered, StopError> {
    tables.enable(&order(number, scope), &text).await
}

pub fn every_scope_of_tables() -> Vec<Scope> {
    vec![
        Scope::Service,
        Scope::Operator(operator()),
        Scope::Game(None, Game::TexasHoldem),
        Scope::Game(Some(operator()), Game::TexasHoldem),
    ]
}

pub async fn two_players(tables: &Tables, number: u128) -> TableKey {
    let key = open(tables, number).await;
    for name in ["ann", "bob"] {
        ask(tables, &key, sit(name)).await.unwrap();
    }
    key
}

pub async fn hands(tables: &Tables, key: &TableKey) -> u64 {
    tables.read(key).await.unwrap().hands
}

pub async fn stops(tables: &Tables, key: &TableKey) -> Vec<(StopScope, String)> {
    let table = tables.read(key).await.unwrap();
    table.stops.iter().map(|stop| (stop.scope, stop.reason.clone())).collect()
}

pub async fn scope_of_refusal(refused: Result<Answered, PlayError>) -> String {
    match refused {
        Err(PlayError::Disabled { scope, reason }) => format!("{scope}: {reason}"),
        other => panic!("{other:?}"),
    }
}
