//! What is done to which wallet when: one is ill while the other is well, and between two faults both are well.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tables::{Clock, SystemClock};

use super::operator::Operator;
use crate::scenario::say;
use crate::timeline::Span;

/// How long a fault and the time of health before it last, ms.
const FAULT: std::ops::RangeInclusive<u64> = 3_000..=8_000;
const HEALTH: std::ops::RangeInclusive<u64> = 2_500..=4_000;

/// What can be wrong with a wallet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The process stands still: connections hold, and nobody answers.
    Stopped,
    /// The process is killed, and started again at the end.
    Killed,
    /// It is told to misbehave like this.
    Told(&'static str),
}

/// In this order, over and over, each for one wallet and then for the other.
const FAULTS: [Fault; 9] = [
    Fault::Stopped,
    Fault::Killed,
    Fault::Told("twice"),
    Fault::Told("late=5s:50%"),
    Fault::Told("drop-after:40%"),
    Fault::Told("hang-after:30%"),
    Fault::Told("fail-after:40%"),
    Fault::Told("slow=4s:40%"),
    Fault::Told("fail:50%\ndrop:20%"),
];

/// A time in which one wallet was ill.
pub struct Phase {
    /// Whose: 0 or 1.
    pub whose: usize,
    pub fault: Fault,
    /// ms since the epoch.
    pub time: Span,
}

pub struct Rota<'a> {
    operators: &'a mut [Operator; 2],
    dice: Xoshiro256PlusPlus,
    clock: SystemClock,
    turn: usize,
    ill: Option<(usize, Fault, u64)>,
    next: Instant,
    pub phases: Vec<Phase>,
}

impl Rota<'_> {
    pub fn new(operators: &mut [Operator; 2], seed: u64) -> Rota<'_> {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(1));
        let next = Instant::now() + Duration::from_millis(dice.random_range(HEALTH));
        Rota { operators, dice, clock: SystemClock::default(), turn: 0, ill: None, next, phases: Vec::new() }
    }

    /// Goes on to what comes next, if it is time.
    pub fn go_on(&mut self) {
        if Instant::now() < self.next {
            return;
        }
        let time = if self.ill.is_some() {
            self.heal();
            HEALTH
        } else {
            self.hurt();
            FAULT
        };
        self.next = Instant::now() + Duration::from_millis(self.dice.random_range(time));
    }

    fn hurt(&mut self) {
        let (whose, fault) = (self.turn % 2, FAULTS[self.turn / 2 % FAULTS.len()]);
        self.turn += 1;
        let operator = &mut self.operators[whose];
        match fault {
            Fault::Stopped => operator.signal("-STOP"),
            Fault::Killed => operator.stop(),
            Fault::Told(what) => operator.misbehave(what),
        }
        self.ill = Some((whose, fault, self.clock.now().0));
    }

    /// Makes the wallet well that is ill.
    pub fn heal(&mut self) {
        let Some((whose, fault, from)) = self.ill.take() else {
            return;
        };
        let until = self.clock.now().0;
        let operator = &mut self.operators[whose];
        match fault {
            Fault::Stopped => operator.signal("-CONT"),
            Fault::Killed => operator.start_again(),
            Fault::Told(_) => operator.misbehave(""),
        }
        say(&format!("the wallet of {} was {} for {} ms", operator.name, name(fault), until - from));
        self.phases.push(Phase { whose, fault, time: (from, until) });
    }
}

fn name(fault: Fault) -> String {
    match fault {
        Fault::Stopped => "stopped".to_owned(),
        Fault::Killed => "killed".to_owned(),
        Fault::Told(what) => format!("told {}", what.replace('\n', " and ")),
    }
}

/// How often what was done.
pub fn summary(phases: &[Phase]) -> String {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for phase in phases {
        *counts.entry(name(phase.fault)).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} × {name}")).collect();
    counts.join(", ")
}
