//! The tables of an exploration: real ones, decided and folded by the rules. A time at which a payment is due, a text or a
//! note leads to nothing else here, so that they are taken out: what is left are few tables, kept once each.

use std::collections::HashMap;
use std::rc::Rc;

use rules::config::{Clocks, Game, Limit, PivotOrder, Rake, TableConfig};
use rules::event::Event;
use rules::paying::{Again, Answer, Decline, Said};
use rules::payment::{Phase, Requested, Resolution};
use rules::{Ante, Ask, Chips, Command, Millis, PlayerId, Stakes, Table, invariant};

use crate::AMOUNT;

/// So many payments may begin in an exploration.
pub const MOST: usize = 4;
const AT: Millis = Millis(1_790_000_000_000);

/// What happens at a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Doing {
    Reserve(u8),
    Draw(u8),
    StandUp,
    Close,
    /// What the wallet said; `given_up`: it is not asked any more.
    Say {
        number: u8,
        phase: Phase,
        said: Told,
        given_up: bool,
    },
    /// The clocks bring up all that is due.
    Take,
    Retry(u8),
    /// Two people end a parked payment.
    End {
        number: u8,
        settled: bool,
    },
}

/// An answer without its words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Told {
    Done,
    Declined,
    Unknown,
}

impl From<Answer> for Told {
    fn from(answer: Answer) -> Told {
        match answer {
            Answer::Done => Told::Done,
            Answer::Declined(_) => Told::Declined,
            Answer::Unknown(_) => Told::Unknown,
        }
    }
}

/// An open payment, as far as it makes a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Open {
    pub phase: Phase,
    pub debit: bool,
    pub amount: u8,
    pub tried: bool,
}

/// What has to be known of a table.
#[derive(Clone, Debug)]
pub struct Facts {
    pub open: [Option<Open>; MOST],
    /// The players' chips at the table.
    pub chips: u8,
    pub bought_in: u8,
    pub delivered: u8,
    pub written_off: u8,
}

/// A step of a table: the one after it, what the courier is sent for, and what has begun.
#[derive(Clone, Debug)]
pub struct Step {
    pub table: u16,
    pub errands: Vec<(u8, bool)>,
    /// Number, whether it is a debit, amount.
    pub begun: Vec<(u8, bool, u8)>,
}

/// The tables that were seen, by number.
pub struct Tables {
    known: Vec<(Table, Facts)>,
    numbers: HashMap<String, u16>,
    steps: HashMap<(u16, Doing), Option<Rc<Step>>>,
}

impl Tables {
    /// With one table on which nobody sits: number 0.
    pub fn new() -> Tables {
        let (table, _) = Table::open(config(), AT).expect("settings that can be");
        let mut tables = Tables { known: Vec::new(), numbers: HashMap::new(), steps: HashMap::new() };
        tables.number(table).expect("an empty table is sound");
        tables
    }

    pub fn count(&self) -> usize {
        self.known.len()
    }

    pub fn facts(&self, table: u16) -> &Facts {
        &self.known[usize::from(table)].1
    }

    /// What this comes to; nothing if the table refuses it. Errors: an invariant that is broken.
    pub fn step(&mut self, table: u16, doing: Doing) -> Result<Option<Rc<Step>>, String> {
        if let Some(step) = self.steps.get(&(table, doing)) {
            return Ok(step.clone());
        }
        let step = self.decide(table, doing)?.map(Rc::new);
        self.steps.insert((table, doing), step.clone());
        Ok(step)
    }

    fn decide(&mut self, number: u16, doing: Doing) -> Result<Option<Step>, String> {
        let (mut table, mut events) = (self.known[usize::from(number)].0.clone(), Vec::new());
        for ask in asks(doing) {
            let Ok((told, after)) = table.step(&Command { at: AT, ask }) else {
                return Ok(None);
            };
            let mut folded = table.clone();
            folded.apply(&told);
            if folded != after {
                return Err(format!("{doing:?}: the events do not tell all"));
            }
            events.extend(told);
            table = after;
        }
        let begun = events.iter().filter_map(|event| match event {
            Event::PaymentBegun { payment } => {
                Some((payment.number as u8, payment.purpose.is_debit(), small(payment.amount)))
            }
            _ => None,
        });
        let begun = begun.collect();
        let errands = tables::courier::errand::errands(&events);
        let errands = errands.into_iter().map(|(number, again)| (number as u8, again)).collect();
        let table = self.number(table).map_err(|broken| format!("{doing:?}: {broken}"))?;
        Ok(Some(Step { table, errands, begun }))
    }

    fn number(&mut self, mut table: Table) -> Result<u16, String> {
        invariant::check(&table).map_err(|broken| format!("invariant {}: {broken:?}", broken.number()))?;
        table.version = 1;
        for payment in &mut table.payments {
            (payment.begun, payment.since, payment.next_at) = (Millis::ZERO, Millis::ZERO, Millis::ZERO);
            payment.attempts = payment.attempts.min(1);
            payment.error.clear();
            payment.notes.clear();
        }
        let text = format!("{table:?}");
        if let Some(known) = self.numbers.get(&text) {
            return Ok(*known);
        }
        let number = u16::try_from(self.known.len()).map_err(|_| "too many tables".to_owned())?;
        let facts = facts(&table);
        self.known.push((table, facts));
        self.numbers.insert(text, number);
        Ok(number)
    }
}

/// Amounts are small here, so that states are.
fn small(chips: Chips) -> u8 {
    u8::try_from(chips.0).expect("a small amount")
}

fn facts(table: &Table) -> Facts {
    let mut open = [None; MOST];
    for payment in &table.payments {
        open[payment.number as usize - 1] = Some(Open {
            phase: payment.phase,
            debit: payment.purpose.is_debit(),
            amount: small(payment.amount),
            tried: payment.attempts > 0,
        });
    }
    let chips: Chips = table.occupied().map(|(_, seat)| seat.stack).sum();
    let ledger = &table.ledger;
    let [bought_in, delivered, written_off] =
        [ledger.bought_in, ledger.delivered, ledger.written_off].map(small);
    Facts { open, chips: small(chips), bought_in, delivered, written_off }
}

fn asks(doing: Doing) -> Vec<Ask> {
    let player = PlayerId::new("ada").expect("a name");
    let request = |nth| Requested { id: [nth; 16], payload: [nth; 32] };
    let said = |by: &str| Said { by: by.to_owned(), reason: String::new() };
    let (amount, name) = (Chips(AMOUNT.into()), String::new());
    let one = match doing {
        Doing::Reserve(nth) => {
            Ask::Reserve { player, seat: None, buy_in: amount, post: false, name, request: request(nth) }
        }
        Doing::Draw(nth) => Ask::DrawChips { player, amount, name, request: request(nth) },
        Doing::StandUp => Ask::StandUp { player, transaction: String::new() },
        Doing::Close => Ask::Close { reason: String::new() },
        Doing::Say { number, phase, said, given_up } => {
            let answer = match said {
                Told::Done => Answer::Done,
                Told::Declined => Answer::Declined(Decline::Unspecified),
                Told::Unknown => Answer::Unknown(String::new()),
            };
            let again = if given_up { Again::Never } else { Again::At(AT) };
            Ask::Answered { number: number.into(), phase, answer, again }
        }
        Doing::Take => Ask::TakePayments { until: AT },
        Doing::Retry(number) => Ask::RetryPayment { number: number.into(), said: said("ann") },
        Doing::End { number, settled } => {
            let resolution = if settled { Resolution::Settled } else { Resolution::WrittenOff };
            let number = number.into();
            return vec![
                Ask::ProposeEnd { number, resolution, said: said("ann") },
                Ask::ConfirmEnd { number, resolution, said: said("bob") },
            ];
        }
    };
    vec![one]
}

fn config() -> TableConfig {
    TableConfig {
        display_name: String::new(),
        currency: *b"EUR",
        game: Game::TexasHoldem,
        limit: Limit::NoLimit,
        seats: 2,
        stakes: Stakes {
            small_blind: Chips(1),
            big_blind: Chips(2),
            ante: Ante::None,
            straddles: 0,
            small_bet: Chips(2),
            big_bet: Chips(4),
            min_buy_in: Chips(1),
            max_buy_in: Chips(1000),
        },
        rake: Rake::NONE,
        clocks: Clocks::default(),
        pivot_order: PivotOrder::InTurn,
        limit_cap_heads_up: false,
        show_all: false,
        rathole: Millis::ZERO,
    }
}
