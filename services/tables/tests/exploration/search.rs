//! Breadth first through every state that can be reached, each looked at once.

use std::collections::HashMap;

use rules::payment::Phase;

use crate::table::{MOST, Tables};
use crate::wallet::{Account, Kept};
use crate::world::{Courier, Place, Rules, State, next};

/// What was gone through.
#[derive(Debug)]
pub struct Explored {
    pub states: usize,
    pub steps: usize,
    pub tables: usize,
    /// States in which no payment is open and nobody at work.
    pub ended: usize,
    /// The same with payments that people have to see to, and no others.
    pub parked: usize,
    /// States in which somebody is going to commit an answer that comes too late.
    pub late: usize,
    /// States in which two couriers are at work on one payment.
    pub in_two: usize,
}

/// A state, and the place of the one from which it was reached first.
type Reached = (State, u32);

/// Goes through everything that may happen to a player who begins with this much. Errors: what is wrong, and how it came
/// about.
pub fn explore(start: u8, rules: &Rules) -> Result<Explored, String> {
    let mut tables = Tables::new();
    let mut seen: HashMap<State, u32> = HashMap::new();
    let (mut states, mut edges): (Vec<Reached>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    let begin = State::begin(Account::new(start));
    seen.insert(begin, 0);
    states.push((begin, 0));
    let mut place = 0;
    while let Some((state, _)) = states.get(place).copied() {
        let told = |what: String, states: &[Reached]| format!("{what}\n{}", path(states, place));
        holds(&state, start, &tables).map_err(|what| told(what, &states))?;
        for after in next(state, rules, &mut tables).map_err(|what| told(what, &states))? {
            let number = *seen.entry(after).or_insert_with(|| {
                states.push((after, place as u32));
                states.len() as u32 - 1
            });
            edges.push((number, place as u32));
        }
        place += 1;
    }
    let ends = |state: &State| is_over(state, &tables) && state.is_idle();
    let goals =
        |goal: &dyn Fn(&State) -> bool| -> Vec<bool> { states.iter().map(|(s, _)| goal(s)).collect() };
    let parks = |state: &State| state.is_idle() && is_parked(state, &tables);
    let (ended, parked) = (goals(&ends), goals(&parks));
    let goal = ended.iter().zip(&parked).map(|(ended, parked)| *ended || *parked).collect();
    if let Some(stuck) = unreached(goal, &mut edges) {
        return Err(format!("from here no end is reached\n{}", path(&states, stuck)));
    }
    let count = |goals: &[bool]| goals.iter().filter(|goal| **goal).count();
    let (ended, parked) = (count(&ended), count(&parked));
    let late = count(&goals(&|state| state.couriers.iter().flatten().any(|c| is_late(c, state, &tables))));
    let in_two = count(&goals(&|state| match state.couriers {
        [Some(one), Some(other)] => one.number == other.number,
        _ => false,
    }));
    let (tables, steps) = (tables.count(), edges.len());
    Ok(Explored { states: states.len(), steps, tables, ended, parked, late, in_two })
}

/// A state from which no goal is reached, if there is one.
fn unreached(mut reached: Vec<bool>, edges: &mut [(u32, u32)]) -> Option<usize> {
    edges.sort_unstable();
    let mut open: Vec<u32> = (0..reached.len() as u32).filter(|n| reached[*n as usize]).collect();
    while let Some(number) = open.pop() {
        let from = edges.partition_point(|(to, _)| *to < number);
        for (_, before) in edges[from..].iter().take_while(|(to, _)| *to == number) {
            if !std::mem::replace(&mut reached[*before as usize], true) {
                open.push(*before);
            }
        }
    }
    reached.iter().position(|reached| !reached)
}

fn is_over(state: &State, tables: &Tables) -> bool {
    tables.facts(state.table).open.iter().all(Option::is_none)
}

fn is_late(courier: &Courier, state: &State, tables: &Tables) -> bool {
    let open = tables.facts(state.table).open[usize::from(courier.number) - 1];
    matches!(courier.place, Place::Knows(_)) && open.is_none_or(|open| open.phase != courier.phase)
}

fn is_parked(state: &State, tables: &Tables) -> bool {
    let mut open = tables.facts(state.table).open.iter().flatten().peekable();
    open.peek().is_some() && open.all(|open| open.phase == Phase::Parked)
}

/// What holds in every state: of the player's money nothing is lost and nothing is there twice.
fn holds(state: &State, start: u8, tables: &Tables) -> Result<(), String> {
    let facts = tables.facts(state.table);
    let (account, mut under_way) = (&state.account, 0);
    for number in 1..=MOST as u8 {
        let Some(open) = facts.open[usize::from(number) - 1] else { continue };
        let booked = account.kept(number) == Kept::Booked;
        // Taken, and not at the table yet; or owed, and not given yet.
        under_way += if open.debit == booked { open.amount } else { 0 };
    }
    let found = account.has() + facts.chips + under_way;
    if found != start {
        let (has, chips) = (account.has(), facts.chips);
        return Err(format!(
            "of {start} there are {found}: he has {has}, at the table {chips}, {under_way} under way"
        ));
    }
    let booked = (facts.bought_in, facts.delivered + facts.written_off);
    if is_over(state, tables) && account.books() != booked {
        let books = account.books();
        return Err(format!(
            "the wallet's books say {books:?}, the table's {booked:?} (bought in, delivered)"
        ));
    }
    Ok(())
}

/// How it came to this state.
fn path(states: &[Reached], place: usize) -> String {
    let (mut lines, mut at) = (Vec::new(), place);
    loop {
        let (state, before) = &states[at];
        lines.push(format!("{state:?}"));
        if at == 0 {
            break;
        }
        at = *before as usize;
    }
    lines.reverse();
    lines.join("\n")
}
