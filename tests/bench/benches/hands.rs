//! How many whole hands the rules play: six-handed no-limit hold'em, random legal decisions, no store and no network.
//!
//! `cargo bench -p fulcrum-bench --bench hands` prints the ratio first, then divan's table. The ratio is to the part of
//! a hand that nobody can leave out, measured in the same run: a shuffle, and the value of each hand at the showdown.

#![allow(clippy::float_arithmetic, reason = "ratios of durations; no chips here")]

#[allow(dead_code, reason = "the other benches need more of it")]
mod shared;

use std::hint::black_box;
use std::time::{Duration, Instant};

use conformance::deals::Deals;
use conformance::player::{Temper, decision, shuffled};
use divan::Bencher;
use divan::counter::ItemsCount;
use rules::{Ask, Card, Chips, Command, Game, Millis, PlayerId, Table, TableConfig, evaluate};

use shared::{PLAYERS, config, more_chips, seat};

/// Hands of a round.
const HANDS: u64 = 2_000;
const ROUNDS: usize = 15;

fn main() {
    // `cargo test --benches` only asks whether the benchmarks run.
    if !std::env::args().any(|argument| argument == "--test") {
        print_ratio(Game::TexasHoldem);
        print_ratio(Game::DoubleHoldem);
    }
    divan::main();
}

/// What was played.
#[derive(Clone, Copy, Default)]
struct Played {
    commits: u64,
    /// How many hands of how many cards were valued at showdowns.
    valued: u64,
}

/// A table that takes every command at the same time; what it is asked is always legal.
struct Room {
    table: Table,
    played: Played,
}

impl Room {
    fn ask(&mut self, ask: Ask) {
        let command = Command { at: Millis(1_000), ask };
        let (events, table) = self.table.step(&command).expect("a legal command");
        self.played.commits += black_box(events).len().min(1) as u64;
        self.table = table;
    }

    fn player(number: u8) -> PlayerId {
        PlayerId::new(&format!("p{number}")).expect("a name")
    }

    fn open(game: Game) -> Room {
        let (table, _) =
            Table::open(TableConfig { game, ..config() }, Millis(1_000)).expect("legal settings");
        let mut room = Room { table, played: Played::default() };
        for number in 0..PLAYERS {
            room.ask(seat(Room::player(number)));
        }
        room
    }

    fn top_up(&mut self) {
        for number in 0..PLAYERS {
            let player = Room::player(number);
            let seat = self.table.seat_of(&player).and_then(|seat| self.table.seat(seat));
            if seat.is_some_and(|seat| seat.stack < Chips(2_000)) {
                self.ask(more_chips(player));
            }
        }
    }
}

/// Plays so many hands from the same seed.
fn play(game: Game, hands: u64) -> Played {
    let mut room = Room::open(game);
    let mut random = Deals::from_seed(6);
    while room.table.hands < hands {
        room.top_up();
        let deck = Box::new(shuffled(&mut random));
        room.ask(Ask::StartHand { deck, draw: 0 });
        while let Some(ask) = decision(&room.table, &mut random, Temper::ALL[1]) {
            room.ask(ask);
        }
        let live = room.table.hand.as_ref().map_or(0, |hand| hand.live().len());
        room.played.valued += if live > 1 { live as u64 } else { 0 };
    }
    room.played
}

/// Shuffles as many decks and values as many hands.
fn floor(game: Game, hands: u64, valued: u64) -> u32 {
    let mut random = Deals::from_seed(6);
    let each = if game == Game::DoubleHoldem { 2 } else { 1 };
    let mut sum = 0_u32;
    for hand in 0..hands {
        let deck = shuffled(&mut random);
        let showdowns = valued * (hand + 1) / hands - valued * hand / hands;
        for player in 0..showdowns as usize * each {
            let seven: [Card; 7] = std::array::from_fn(|place| deck.cards()[player * 2 + place]);
            sum = sum.wrapping_add(evaluate(&seven).bits());
        }
    }
    sum
}

#[divan::bench(args = [Game::TexasHoldem, Game::DoubleHoldem])]
fn hands(bencher: Bencher<'_, '_>, game: Game) {
    bencher.counter(ItemsCount::new(HANDS)).bench_local(|| play(game, black_box(HANDS)).commits);
}

fn print_ratio(game: Game) {
    let played = play(game, HANDS);
    let mut taken = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        taken[0].push(timed(|| play(game, HANDS).commits));
        taken[1].push(timed(|| u64::from(floor(game, HANDS, played.valued))));
    }
    let [ours, least] = taken.map(|mut durations: Vec<Duration>| {
        durations.sort_unstable();
        durations[ROUNDS / 2].as_secs_f64()
    });
    println!(
        "{game:?}: {:.0} hands/s, {:.1} commits a hand, {:.2} µs a commit; shuffle and showdown alone {:.0}/s, ratio {:.3}",
        HANDS as f64 / ours,
        played.commits as f64 / HANDS as f64,
        ours * 1e6 / played.commits as f64,
        HANDS as f64 / least,
        least / ours,
    );
}

fn timed(work: impl FnOnce() -> u64) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}
