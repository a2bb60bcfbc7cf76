//! How fast seven cards are valued: ours beside two published evaluators, measured in the same run.
//!
//! `cargo bench -p fulcrum-bench --bench evaluate` prints the ratios first (medians of rounds in which the three take
//! turns, so that a busy machine slows all of them), then divan's table.

#![allow(clippy::float_arithmetic, reason = "ratios of durations; no chips here")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use conformance::deals::Deals;
use divan::Bencher;
use divan::counter::ItemsCount;

/// How many random hands are valued in turn: too many for a processor to remember what it met.
const HANDS: usize = 1 << 16;
/// All boards for two given cards: 50 over 5.
const BOARDS: usize = 2_118_760;
const ROUNDS: usize = 15;

fn main() {
    // `cargo test --benches` only asks whether the benchmarks run.
    if !std::env::args().any(|argument| argument == "--test") {
        print_ratios();
    }
    divan::main();
}

/// An evaluator that gathers cards one by one.
trait Evaluator {
    type Card: Copy;
    type Holding: Copy;
    fn card(index: u8) -> Self::Card;
    fn empty() -> Self::Holding;
    fn add(holding: Self::Holding, card: Self::Card) -> Self::Holding;
    fn value(holding: Self::Holding) -> u32;
}

struct Ours;

impl Evaluator for Ours {
    type Card = rules::Card;
    type Holding = rules::Holding;

    fn card(index: u8) -> Self::Card {
        rules::Card::from_index(index).expect("an index below 52")
    }
    fn empty() -> Self::Holding {
        rules::Holding::EMPTY
    }
    fn add(mut holding: Self::Holding, card: Self::Card) -> Self::Holding {
        holding.add(card);
        holding
    }
    fn value(holding: Self::Holding) -> u32 {
        holding.value().bits()
    }
}

struct RsPoker;

impl Evaluator for RsPoker {
    type Card = rs_poker::core::Card;
    type Holding = rs_poker::core::SevenCardAccum;

    fn card(index: u8) -> Self::Card {
        let (rank, suit) = (index / 4, index % 4);
        rs_poker::core::Card::new(rs_poker::core::Value::from_u8(rank), rs_poker::core::Suit::from_u8(suit))
    }
    fn empty() -> Self::Holding {
        rs_poker::core::SevenCardAccum::new()
    }
    fn add(holding: Self::Holding, card: Self::Card) -> Self::Holding {
        holding + card
    }
    fn value(holding: Self::Holding) -> u32 {
        u32::from(holding.rank().value_bits())
    }
}

/// The fastest that we know of, with tables of 222 KB and unsafe code.
struct Pokers;

impl Evaluator for Pokers {
    type Card = pokers::Hand;
    type Holding = pokers::Hand;

    fn card(index: u8) -> Self::Card {
        pokers::CARDS[usize::from(index)]
    }
    fn empty() -> Self::Holding {
        pokers::Hand::default()
    }
    fn add(holding: Self::Holding, card: Self::Card) -> Self::Holding {
        holding + card
    }
    fn value(holding: Self::Holding) -> u32 {
        u32::from(holding.evaluate())
    }
}

fn random_hands<E: Evaluator>() -> Vec<[E::Card; 7]> {
    let mut deals = Deals::from_seed(7);
    (0..HANDS).map(|_| deals.cards::<7>().map(|card| E::card(card.index()))).collect()
}

fn value_all<E: Evaluator>(hands: &[[E::Card; 7]]) -> u32 {
    let value =
        |hand: &[E::Card; 7]| E::value(hand.iter().fold(E::empty(), |held, card| E::add(held, *card)));
    hands.iter().map(value).fold(0, u32::wrapping_add)
}

/// All boards for two cards, each card added once for all the boards that share it.
fn all_boards<E: Evaluator>() -> u32 {
    let deck: Vec<E::Card> = (0..52).map(E::card).collect();
    let two = E::add(E::add(E::empty(), deck[0]), deck[51]);
    boards::<E>(two, &deck[1..51], 5)
}

fn boards<E: Evaluator>(held: E::Holding, deck: &[E::Card], missing: usize) -> u32 {
    if missing == 1 {
        return deck.iter().map(|card| E::value(E::add(held, *card))).fold(0, u32::wrapping_add);
    }
    let rest = |i: usize| boards::<E>(E::add(held, deck[i]), &deck[i + 1..], missing - 1);
    (0..deck.len()).map(rest).fold(0, u32::wrapping_add)
}

#[divan::bench(types = [Ours, RsPoker, Pokers])]
fn random<E: Evaluator>(bencher: Bencher<'_, '_>) {
    let hands = random_hands::<E>();
    bencher.counter(ItemsCount::new(HANDS)).bench_local(|| value_all::<E>(black_box(&hands)));
}

#[divan::bench(types = [Ours, RsPoker, Pokers])]
fn enumeration<E: Evaluator>(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(BOARDS)).bench_local(all_boards::<E>);
}

fn print_ratios() {
    let (ours, theirs, fastest) =
        (random_hands::<Ours>(), random_hands::<RsPoker>(), random_hands::<Pokers>());
    let random = rounds([
        &|| value_all::<Ours>(black_box(&ours)),
        &|| value_all::<RsPoker>(black_box(&theirs)),
        &|| value_all::<Pokers>(black_box(&fastest)),
    ]);
    print_ratio("random hands", HANDS, random);
    let enumeration = rounds([&all_boards::<Ours>, &all_boards::<RsPoker>, &all_boards::<Pokers>]);
    print_ratio("enumeration", BOARDS, enumeration);
}

/// The median duration of each, the three taking turns.
fn rounds(work: [&dyn Fn() -> u32; 3]) -> [Duration; 3] {
    let mut taken = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (work, taken) in work.iter().zip(&mut taken) {
            let start = Instant::now();
            black_box(work());
            taken.push(start.elapsed());
        }
    }
    taken.map(|mut durations| {
        durations.sort_unstable();
        durations[ROUNDS / 2]
    })
}

fn print_ratio(what: &str, hands: usize, [ours, rs_poker, pokers]: [Duration; 3]) {
    let millions = |taken: Duration| hands as f64 / taken.as_secs_f64() / 1e6;
    println!(
        "{what}: ours {:.0} M/s; rs_poker {:.0} M/s, ratio {:.2}; pokers {:.0} M/s, ratio {:.2}",
        millions(ours),
        millions(rs_poker),
        rs_poker.as_secs_f64() / ours.as_secs_f64(),
        millions(pokers),
        pokers.as_secs_f64() / ours.as_secs_f64(),
    );
}
