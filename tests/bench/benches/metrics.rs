//! What it costs to count one action, and to tell everything that a busy server counts.
//!
//! `cargo bench -p fulcrum-bench --bench metrics` prints divan's table: `an_action` is all that one Act call has counted, and
//! `a_scrape` one reading of the metrics, with every call, operation, action and outcome in it.

#[allow(dead_code, reason = "the other benches need more of it")]
mod shared;

use std::sync::Arc;
use std::time::Duration;

use conformance::deals::Deals;
use conformance::player::shuffled;
use divan::Bencher;
use fulcrum::grpc::Counting;
use fulcrum::store::RoundTrips;
use fulcrum::telemetry::metrics::Metrics;
use fulcrum::telemetry::store::OPERATIONS;
use rules::{Action, Ask, Command, Game, Millis, PlayerId, Table, TableConfig};
use tables::signals::CommitEnd;
use tables::{Commit, OperatorId, Signals, TableId, TableKey, Token};

use shared::{PLAYERS, config, seat};

const TOOK: Duration = Duration::from_micros(700);
const METHODS: [&str; 30] = [
    "A/A", "A/B", "A/C", "A/D", "A/E", "A/F", "A/G", "A/H", "A/I", "A/J", "B/A", "B/B", "B/C", "B/D", "B/E",
    "B/F", "B/G", "B/H", "B/I", "B/J", "C/A", "C/B", "C/C", "C/D", "C/E", "C/F", "C/G", "C/H", "C/I", "C/J",
];

fn main() {
    divan::main();
}

/// A table whose first player is asked, and the commit of his call.
struct Step {
    before: Table,
    commit: Commit,
}

impl Step {
    fn new() -> Step {
        let at = |ask| Command { at: Millis(1_000), ask };
        let settings = TableConfig { game: Game::TexasHoldem, ..config() };
        let (mut table, _) = Table::open(settings, Millis(1_000)).expect("legal settings");
        for number in 0..PLAYERS {
            let player = PlayerId::new(&format!("p{number}")).expect("a name");
            table = table.step(&at(seat(player))).expect("a seat").1;
        }
        let deck = Box::new(shuffled(&mut Deals::from_seed(1)));
        let before = table.step(&at(Ask::StartHand { deck, draw: 0 })).expect("a hand").1;
        let hand = before.running_hand().expect("a hand");
        let prompt = hand.prompt.expect("somebody is asked");
        let player =
            prompt.seats.iter().next().and_then(|seat| hand.player(seat)).expect("a player").player.clone();
        let ask = Ask::Act { player, hand: hand.number, turn: prompt.turn, action: Action::Call };
        let (events, after) = before.step(&at(ask)).expect("a call");
        let operator = OperatorId::new("operator").expect("a name");
        let commit = Commit {
            key: TableKey { operator, table: TableId(uuid::Uuid::nil()) },
            expected: Some(Token { version: before.version, nonce: 1 }),
            token: Token { version: after.version, nonce: 2 },
            table: Arc::new(after),
            events,
            request: None,
            settlements: Vec::new(),
            accounts: Vec::new(),
            due: None,
            not_before: None,
            stamped: Millis(1_700),
            origin: None,
            untold: false,
        };
        Step { before, commit }
    }

    /// Everything that one Act call has counted.
    fn count(&self, metrics: &Metrics) {
        metrics.unary_begun();
        metrics.store.done("now", TOOK, None);
        metrics.store.time(Millis(1_700));
        metrics.answered("commit", TOOK);
        metrics.store.done("commit", TOOK, None);
        metrics.decided(&self.before, &self.commit);
        metrics.committed(&self.commit);
        metrics.commit_ended(CommitEnd::Done, TOOK);
        metrics.unary_ended("/fulcrum.v1.ActionService/Act", "OK", TOOK);
    }
}

fn operators() -> Vec<OperatorId> {
    (0..4).filter_map(|number| OperatorId::new(&format!("operator-{number}"))).collect()
}

#[divan::bench]
fn an_action(bencher: Bencher<'_, '_>) {
    let (metrics, step) = (Metrics::new(&operators()), Step::new());
    bencher.bench_local(|| step.count(&metrics));
}

/// With values that point to traces, as where traces are told.
#[divan::bench]
fn an_action_with_exemplars(bencher: Bencher<'_, '_>) {
    let (metrics, step) = (Metrics::new(&operators()), Step::new());
    metrics.point_to_calls(|| Some([1; 16]));
    metrics.point_to_hands(Box::new(|_, _| Some([2; 16])));
    bencher.bench_local(|| step.count(&metrics));
}

#[divan::bench]
fn a_scrape(bencher: Bencher<'_, '_>) {
    let (metrics, step) = (Metrics::new(&operators()), Step::new());
    metrics.point_to_calls(|| Some([1; 16]));
    step.count(&metrics);
    for method in METHODS {
        for code in ["OK", "UNAVAILABLE", "NOT_FOUND", "FAILED_PRECONDITION"] {
            metrics.unary_ended(method, code, TOOK);
        }
    }
    for operation in OPERATIONS {
        metrics.store.done(operation, TOOK, None);
    }
    bencher.bench_local(|| metrics.text().map(|text| text.len()));
}
