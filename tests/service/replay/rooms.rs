//! Many tables at once, over a few connections.

use std::future::Future;
use std::sync::Arc;

use tokio::task::JoinSet;

use super::harness::{Caller, Decks, House};

/// Hands a server. Each table has its hand, and what a store in memory knows of it is given back with the server.
const A_HOUSE: usize = 250;
/// Tables that are played at a time.
const AT_ONCE: usize = 48;
/// Connections.
const CALLERS: usize = 4;

/// Plays each of these at a table of its own, and gives what came of it, in no order.
pub async fn play_all<J, W, R>(jobs: Vec<J>, play: fn(Caller, Arc<Decks>, J) -> W) -> Vec<R>
where
    W: Future<Output = R> + Send + 'static,
    R: Send + 'static,
{
    let mut results = Vec::with_capacity(jobs.len());
    let mut jobs = jobs.into_iter().peekable();
    while jobs.peek().is_some() {
        let house = House::open().await;
        let mut callers = Vec::new();
        for _ in 0..CALLERS {
            callers.push(house.caller().await);
        }
        let mut tables = JoinSet::new();
        for (caller, job) in callers.iter().cycle().zip(jobs.by_ref().take(A_HOUSE)) {
            if tables.len() == AT_ONCE
                && let Some(played) = tables.join_next().await
            {
                results.push(played.expect("a table that is played to its end"));
            }
            tables.spawn(play(caller.clone(), Arc::clone(&house.decks), job));
        }
        results.extend(tables.join_all().await);
        house.close().await;
    }
    results
}
