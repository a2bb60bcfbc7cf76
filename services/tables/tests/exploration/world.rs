//! A state of an exploration: a table, a wallet, couriers at work, and requests on their way; and every step from there.

use rules::payment::Phase;
use tables::courier::errand::{self, Next};
use tables::wallet::{Call, Reply};

use crate::table::{Doing, MOST, Tables, Told};
use crate::wallet::{Account, Kept, Wallet};

/// So many couriers are at work at once: the one that was sent, and another server's.
const COURIERS: usize = 2;
/// The requests that change something at a wallet.
const CALLS: [Call; 3] = [Call::Debit, Call::Credit, Call::Cancel];

/// Where a courier is. He may die in each of these places.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// He is going to make this call.
    Calls(Call),
    /// He has sent his request and waits; he hears of no reply to anybody else.
    Waits(Call),
    /// The wallet's reply is on its way to him.
    Replied(Call, Said),
    /// He is going to commit this.
    Knows(Told),
}

/// A reply without its words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Said {
    Booked,
    Declined,
    Cancelled,
    Missing,
    Unknown,
}

/// A courier on his errand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Courier {
    pub number: u8,
    /// The payment's phase as he found it.
    pub phase: Phase,
    pub place: Place,
}

/// The rules of an errand: the real ones, or wrong ones.
#[derive(Clone, Copy)]
pub struct Machine {
    pub first: fn(Phase, bool) -> Option<Call>,
    pub after: fn(Phase, Call, Reply) -> Next,
}

impl Machine {
    pub const REAL: Machine = Machine { first: errand::first, after: errand::after };
}

/// A state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    pub table: u16,
    pub account: Account,
    pub couriers: [Option<Courier>; COURIERS],
    /// Requests that were sent: each may reach the wallet at any time from now on, once or more often or never. With
    /// people, who wait until nothing is on its way any more, it may be lost for certain.
    pub sent: u16,
    /// How far the player's script has come.
    pub script: u8,
    pub closed: bool,
}

/// What an exploration goes through.
pub struct Rules {
    pub machine: Machine,
    pub wallet: Wallet,
    /// What the player wants, one after the other, as soon as it is possible.
    pub script: &'static [Doing],
    /// Whether the table may close at any time.
    pub closes: bool,
    /// Whether payments are parked, and people see to them.
    pub people: bool,
}

fn bit(call: Call, number: u8) -> u16 {
    let place = CALLS.iter().position(|known| *known == call);
    // What is only asked changes nothing, however late it comes.
    place.map_or(0, |place| 1 << (place * MOST + usize::from(number) - 1))
}

impl State {
    pub fn begin(account: Account) -> State {
        State { table: 0, account, couriers: [None; COURIERS], sent: 0, script: 0, closed: false }
    }

    /// Nobody is at work.
    pub fn is_idle(&self) -> bool {
        self.couriers.iter().all(Option::is_none)
    }

    fn with(mut self, slot: usize, courier: Option<Courier>) -> State {
        self.couriers[slot] = courier;
        // Which server a courier is from makes no difference.
        self.couriers.sort_unstable();
        self
    }

    fn after(self, account: Account) -> State {
        State { account, ..self }
    }

    fn sent(mut self, call: Call, number: u8) -> State {
        self.sent |= bit(call, number);
        self
    }
}

/// Every state that may come next.
pub fn next(state: State, rules: &Rules, tables: &mut Tables) -> Result<Vec<State>, String> {
    let mut all = Vec::new();
    player(state, rules, tables, &mut all)?;
    clocks(state, rules, tables, &mut all)?;
    if rules.people {
        people(state, rules, tables, &mut all)?;
    }
    for slot in 0..COURIERS {
        if let Some(courier) = state.couriers[slot] {
            step(state, slot, courier, rules, tables, &mut all)?;
        }
    }
    for call in CALLS {
        for number in (1..=MOST as u8).filter(|number| state.sent & bit(call, *number) != 0) {
            if rules.people {
                all.push(State { sent: state.sent & !bit(call, number), ..state });
            }
            let arrived = rules.wallet.take(state.account, call, number);
            all.extend(arrived.into_iter().map(|(account, _)| state.after(account)));
        }
    }
    Ok(all)
}

/// A commit, and who is sent by it: whoever committed may die at once, so that nobody is.
fn commit(
    state: State,
    doing: Doing,
    rules: &Rules,
    tables: &mut Tables,
    all: &mut Vec<State>,
) -> Result<bool, String> {
    let Some(step) = tables.step(state.table, doing)? else {
        return Ok(false);
    };
    let mut after = State { table: step.table, ..state };
    for &(number, debit, amount) in &step.begun {
        after.account.begin(number, debit, amount)?;
    }
    all.push(after);
    let Some(slot) = after.couriers.iter().position(Option::is_none) else {
        return Ok(true);
    };
    for &(number, again) in &step.errands {
        let Some(open) = tables.facts(step.table).open[usize::from(number) - 1] else {
            continue;
        };
        let call = (rules.machine.first)(open.phase, again || open.tried);
        if let Some(call) = call {
            let courier = Courier { number, phase: open.phase, place: Place::Calls(call) };
            all.push(after.with(slot, Some(courier)));
        }
    }
    Ok(true)
}

fn player(state: State, rules: &Rules, tables: &mut Tables, all: &mut Vec<State>) -> Result<(), String> {
    if let Some(doing) = rules.script.get(usize::from(state.script)) {
        commit(State { script: state.script + 1, ..state }, *doing, rules, tables, all)?;
    }
    if rules.closes && !state.closed {
        commit(State { closed: true, ..state }, Doing::Close, rules, tables, all)?;
    }
    Ok(())
}

fn clocks(state: State, rules: &Rules, tables: &mut Tables, all: &mut Vec<State>) -> Result<(), String> {
    commit(state, Doing::Take, rules, tables, all).map(|_| ())
}

/// People look into what is parked: they let it be asked for again, or move the money themselves once nothing is on its way
/// any more.
fn people(state: State, rules: &Rules, tables: &mut Tables, all: &mut Vec<State>) -> Result<(), String> {
    for number in 1..=MOST as u8 {
        let open = tables.facts(state.table).open[usize::from(number) - 1];
        let Some(open) = open.filter(|open| open.phase == Phase::Parked) else {
            continue;
        };
        commit(state, Doing::Retry(number), rules, tables, all)?;
        if state.is_idle() && state.sent == 0 {
            let booked = state.account.kept(number) == Kept::Booked;
            // A credit that was not booked is paid by hand, a debit that was booked is given back.
            let by_hand = open.debit == booked;
            let mut settled = state;
            settled.account.by_hand(number, if by_hand { open.amount } else { 0 });
            let settled_credit = !open.debit;
            let doing = Doing::End { number, settled: by_hand || settled_credit };
            commit(settled, doing, rules, tables, all)?;
        }
    }
    Ok(())
}

/// The steps of one courier.
fn step(
    state: State,
    slot: usize,
    courier: Courier,
    rules: &Rules,
    tables: &mut Tables,
    all: &mut Vec<State>,
) -> Result<(), String> {
    let (number, at) = (courier.number, |place| Some(Courier { place, ..courier }));
    let heard = |call, said| state.with(slot, at(place_after(courier, rules, call, said)));
    // He may die before whatever he does, and so after what he did last.
    all.push(state.with(slot, None));
    match courier.place {
        Place::Calls(call) => all.push(state.with(slot, at(Place::Waits(call))).sent(call, number)),
        Place::Waits(call) => {
            let replies = rules.wallet.take(state.account, call, number).into_iter();
            all.extend(
                replies
                    .map(|(account, said)| state.after(account).with(slot, at(Place::Replied(call, said)))),
            );
            all.push(heard(call, Said::Unknown));
        }
        Place::Replied(call, said) => all.extend([heard(call, said), heard(call, Said::Unknown)]),
        Place::Knows(said) => {
            let gone = state.with(slot, None);
            let phase = courier.phase;
            for given_up in [false, true] {
                let counts = said == Told::Unknown && phase != Phase::Debiting && rules.people;
                if !given_up || counts {
                    commit(gone, Doing::Say { number, phase, said, given_up }, rules, tables, all)?;
                }
            }
        }
    }
    Ok(())
}

fn place_after(courier: Courier, rules: &Rules, call: Call, said: Said) -> Place {
    use rules::payment::Decline;
    let reply = match said {
        Said::Booked => Reply::Booked,
        Said::Declined => Reply::Declined(Decline::Unspecified),
        Said::Cancelled => Reply::Cancelled,
        Said::Missing => Reply::Missing,
        Said::Unknown => Reply::Unknown(String::new()),
    };
    match (rules.machine.after)(courier.phase, call, reply) {
        Next::Ask(call) => Place::Calls(call),
        Next::Say(answer) => Place::Knows(answer.into()),
    }
}
