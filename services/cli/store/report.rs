//! What is told of a stored table. Every field is chosen: there is none for a card, and the state was read without the keys
//! that open cards.

use rules::config::TableConfig;
use rules::hand::{Hand, HandPlayer};
use rules::player::Seat;
use rules::table::Table;
use rules::{Chips, SeatNo, pots};
use serde::Serialize;
use tables::TableKey;

use super::payments::Open;
use super::words;
use crate::store::codec::blind::{self, EntryHead};
use crate::store::inspect::{HistorySize, RawEntry, RawState};

/// A table as it lies in the store. Amounts in minor units, times as RFC 3339.
#[derive(Serialize)]
pub struct Report {
    pub table: String,
    pub record: Record,
    pub calendar: Option<String>,
    /// Why there is no state below.
    pub unreadable: Option<String>,
    pub state: Option<State>,
    /// Newest first.
    pub entries: Vec<Entry>,
}

#[derive(Serialize)]
pub struct Record {
    pub format: Option<u32>,
    pub version: u64,
    pub nonce: String,
    pub state_bytes: usize,
    pub history_entries: u64,
    pub history_bytes: Option<u64>,
}

#[derive(Serialize)]
pub struct State {
    pub life: String,
    pub opened: String,
    pub stops: Vec<Stop>,
    pub config: Config,
    pub ledger: Ledger,
    pub seats: Vec<Sitting>,
    /// Between the operator's wallet and the table, oldest first.
    pub payments: Vec<Open>,
    pub hands: u64,
    pub next_hand: Option<String>,
    pub hand: Option<HandReport>,
    pub due: Option<String>,
    pub credited_until: String,
    /// Of the last loss (rules 10.2).
    pub history_lost: Option<LostHistory>,
}

/// Versions that count for nothing.
#[derive(Serialize)]
pub struct LostHistory {
    pub after: u64,
    pub until: u64,
}

#[derive(Serialize)]
pub struct Stop {
    pub scope: &'static str,
    pub reason: String,
    pub since: String,
}

#[derive(Serialize)]
pub struct Config {
    pub version: u64,
    pub display_name: String,
    pub currency: String,
    pub game: &'static str,
    pub limit: &'static str,
    pub seats: u8,
    pub small_blind: u64,
    pub big_blind: u64,
    pub ante: String,
    pub straddles: u64,
    pub small_bet: u64,
    pub big_bet: u64,
    pub min_buy_in: u64,
    pub max_buy_in: u64,
    pub rake_basis_points: u16,
    pub action_clock_ms: u64,
    pub pivot_clock_ms: u64,
    pub time_bank_ms: u64,
}

#[derive(Serialize)]
pub struct Ledger {
    pub bought_in: u64,
    pub paid_out: u64,
    pub raked: u64,
    /// What went to the operator's wallet, or has to.
    pub owed: u64,
    /// What of that the wallet has.
    pub delivered: u64,
    /// What of that was written off.
    pub written_off: u64,
    pub stacks: u64,
    pub pots: u64,
    /// What is brought in is what is accounted for (rules 10.3).
    pub balanced: bool,
}

#[derive(Serialize)]
pub struct Sitting {
    pub seat: u8,
    pub player: String,
    pub session: u64,
    pub stack: u64,
    pub bought_in: u64,
    pub presence: String,
    pub wish: Option<&'static str>,
    pub stopped: Option<String>,
    pub pending: Option<Pending>,
    pub leaving_transaction: Option<String>,
    pub time_bank_ms: u64,
    pub timeouts: u8,
}

#[derive(Serialize)]
pub struct Pending {
    pub amount: u64,
    pub transaction: String,
}

#[derive(Serialize)]
pub struct HandReport {
    pub number: u64,
    pub started: String,
    pub end: String,
    pub street: &'static str,
    pub button_seat: u8,
    pub small_blind_seat: u8,
    pub big_blind_seat: u8,
    pub pots: Vec<Pot>,
    pub players: Vec<Playing>,
    pub turn: Option<Turn>,
}

#[derive(Serialize)]
pub struct Pot {
    pub amount: u64,
    pub seats: Vec<u8>,
}

#[derive(Serialize)]
pub struct Playing {
    pub seat: u8,
    pub player: String,
    pub stack_before: u64,
    pub bet: u64,
    pub contributed: u64,
    pub folded: bool,
}

#[derive(Serialize)]
pub struct Turn {
    pub number: u32,
    pub kind: &'static str,
    pub seats: Vec<u8>,
    pub asked: String,
    pub act_by: String,
    pub bank_until: String,
}

#[derive(Serialize)]
pub struct Entry {
    pub version: u64,
    pub time: Option<String>,
    pub bytes: usize,
    pub events: Vec<&'static str>,
    pub unreadable: Option<String>,
}

impl Report {
    /// The report of what was found.
    pub fn new(key: &TableKey, found: &RawState, history: HistorySize, entries: &[RawEntry]) -> Report {
        let read = blind::read_table(&found.record);
        let record = Record {
            format: blind::format(&found.record).ok(),
            version: found.token.version,
            nonce: format!("{:016x}", found.token.nonce),
            state_bytes: found.record.len(),
            history_entries: history.entries,
            history_bytes: history.bytes,
        };
        Report {
            table: key.to_string(),
            record,
            calendar: found.due.map(words::time),
            unreadable: read.as_ref().err().map(ToString::to_string),
            state: read.ok().map(|table| state(&table)),
            entries: entries.iter().map(entry).collect(),
        }
    }
}

fn state(table: &Table) -> State {
    let stop = |stop: &rules::table::Stop| Stop {
        scope: words::scope(stop.scope),
        reason: stop.reason.clone(),
        since: words::time(stop.at),
    };
    State {
        life: words::life(&table.life),
        opened: words::time(table.opened_at),
        stops: table.stops.iter().map(stop).collect(),
        config: config(table.config_version, &table.config),
        ledger: ledger(table),
        seats: table.occupied().map(|(no, seat)| sitting(no, seat)).collect(),
        payments: table.payments.iter().map(Open::new).collect(),
        hands: table.hands,
        next_hand: table.next_hand_at.map(words::time),
        hand: table.hand.as_ref().map(hand),
        due: table.due().map(|(at, _)| words::time(at)),
        credited_until: words::time(table.credited_until),
        history_lost: table.lost.map(|lost| LostHistory { after: lost.last, until: lost.until }),
    }
}

fn config(version: u64, config: &TableConfig) -> Config {
    let stakes = &config.stakes;
    Config {
        version,
        display_name: config.display_name.clone(),
        currency: String::from_utf8_lossy(&config.currency).into_owned(),
        game: words::game(config.game),
        limit: words::limit(config.limit),
        seats: config.seats,
        small_blind: stakes.small_blind.0,
        big_blind: stakes.big_blind.0,
        ante: words::ante(stakes.ante),
        straddles: stakes.straddles.into(),
        small_bet: stakes.small_bet.0,
        big_bet: stakes.big_bet.0,
        min_buy_in: stakes.min_buy_in.0,
        max_buy_in: stakes.max_buy_in.0,
        rake_basis_points: config.rake.basis_points,
        action_clock_ms: config.clocks.action.0,
        pivot_clock_ms: config.clocks.pivot.0,
        time_bank_ms: config.clocks.time_bank.0,
    }
}

fn ledger(table: &Table) -> Ledger {
    let rules::table::Ledger { bought_in, paid_out, raked, owed, delivered, written_off } = table.ledger;
    let stacks: Chips = table.occupied().map(|(_, seat)| seat.stack).sum();
    let in_pots = table.running_hand().map_or(Chips::ZERO, pots::total);
    Ledger {
        bought_in: bought_in.0,
        paid_out: paid_out.0,
        raked: raked.0,
        owed: owed.0,
        delivered: delivered.0,
        written_off: written_off.0,
        stacks: stacks.0,
        pots: in_pots.0,
        balanced: stacks + in_pots + paid_out + raked == bought_in,
    }
}

fn sitting(no: SeatNo, seat: &Seat) -> Sitting {
    let some = |text: &String| (!text.is_empty()).then(|| text.clone());
    let pending = |pending: &rules::player::Pending| Pending {
        amount: pending.amount.0,
        transaction: pending.transaction.clone(),
    };
    Sitting {
        seat: no.number(),
        player: seat.player.to_string(),
        session: seat.session,
        stack: seat.stack.0,
        bought_in: seat.bought_in.0,
        presence: words::presence(seat.presence),
        wish: seat.wish.map(words::wish),
        stopped: some(&seat.stopped),
        pending: seat.pending.as_ref().map(pending),
        leaving_transaction: some(&seat.leaving_transaction),
        time_bank_ms: seat.time_bank.0,
        timeouts: seat.timeouts,
    }
}

fn hand(hand: &Hand) -> HandReport {
    let pot = |pot: &pots::Pot| Pot { amount: pot.amount.0, seats: words::seats(pot.eligible) };
    let playing = |(no, player): (SeatNo, &HandPlayer)| Playing {
        seat: no.number(),
        player: player.player.to_string(),
        stack_before: player.stack_before.0,
        bet: player.bet.0,
        contributed: player.live.0 + player.dead.0,
        folded: player.folded,
    };
    let turn = |prompt: &rules::hand::Prompt| Turn {
        number: prompt.turn,
        kind: words::prompt(prompt.kind),
        seats: words::seats(prompt.seats),
        asked: words::time(prompt.at),
        act_by: words::time(prompt.act_by),
        bank_until: words::time(prompt.bank_until),
    };
    let pots = if hand.is_running() { pots::in_the_middle(hand) } else { Vec::new() };
    HandReport {
        number: hand.number,
        started: words::time(hand.started_at),
        end: words::end(hand.end.as_ref()),
        street: words::street(hand.street),
        button_seat: hand.positions.button.number(),
        small_blind_seat: hand.positions.small.number(),
        big_blind_seat: hand.positions.big.number(),
        pots: pots.iter().map(pot).collect(),
        players: SeatNo::all().filter_map(|no| Some((no, hand.player(no)?))).map(playing).collect(),
        turn: hand.prompt.as_ref().map(turn),
    }
}

fn entry(raw: &RawEntry) -> Entry {
    let (version, bytes) = (raw.version, raw.record.len());
    match blind::read_entry(&raw.record) {
        Ok(EntryHead { at, events, .. }) => {
            Entry { version, time: at.map(words::time), bytes, events, unreadable: None }
        }
        Err(error) => {
            Entry { version, time: None, bytes, events: Vec::new(), unreadable: Some(error.to_string()) }
        }
    }
}
