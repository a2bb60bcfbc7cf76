//! All rules at once: random sessions of every kind of table, in which players and operator do whatever they can,
//! sensible or not. After each step everything that [`crate::play`] checks holds, and what is said here.

use rules::event::{PromptKind, StopScope};
use rules::{
    Action, Ask, Card, Chips, Deck, Event, Legal, Millis, Pick, PivotOrder, PlayerId, SeatNo, TableConfig,
    Wish,
};

use crate::blinds_sessions::Dice;
use crate::play::{Play, play};

const TABLES: [&str; 14] = [
    "double nl 1/2",
    "double nl 1/2 simultaneous timeouts 1",
    "double pl 5/10 ante 3 rake 500 cap 3/5/9 bank 0s",
    "double fl 10/20 rake 250 unit 5 refill 5s/3",
    "double nl 1/2 big-blind-ante 2 simultaneous rathole 60m buy-in 4..400",
    "double nl 0/2 ante 5 show-all timeouts 1",
    "texas nl 1/2 straddles 2 rake 1000",
    "texas nl 10/25 straddles 1 ante 40 timeouts 1",
    "texas pl 1/2 big-blind-ante 3",
    "texas pl 3/5 straddles 2 max-seats 4",
    "texas fl 5/10 ante 1 cap-heads-up timeouts 3",
    "texas fl 7/20 big-bet 45 max-seats 3",
    "texas nl 5/5 max-seats 2 rake 333 unit 3",
    "double nl 50/100 straddles 2 big-blind-ante 100 rake 10000",
];

#[derive(Default, Debug)]
struct Seen {
    settled: u64,
    voided: u64,
    side_pots: u64,
    mucked: u64,
    stood_up: u64,
    halted: u64,
    refused: u64,
    absent: u64,
}

pub fn shuffled(dice: &mut Dice) -> Deck {
    let mut cards: [Card; 52] = *Deck::ordered().cards();
    for place in (1..52).rev() {
        cards.swap(place, dice.below(place as u64 + 1) as usize);
    }
    Deck::new(cards).expect("a permutation")
}

fn anybody(dice: &mut Dice) -> PlayerId {
    PlayerId::new(&format!("p{}", dice.below(12) + 1)).expect("a name")
}

/// Small stacks meet in side pots, large ones bet on.
fn amount(dice: &mut Dice, config: &TableConfig) -> Chips {
    let big = config.stakes.big_blind.0;
    match dice.below(4) {
        0 => Chips(1 + dice.below(2 * big)),
        1 => Chips(big * (1 + dice.below(8))),
        _ => Chips(big * (10 + dice.below(60))),
    }
}

/// A decision that is legal here.
pub fn legal_action(dice: &mut Dice, legal: &Legal) -> Action {
    match dice.below(8) {
        0 => Action::Fold,
        1 if legal.all_in => Action::AllIn,
        2 | 3 if legal.raise.is_some() => {
            let raise = legal.raise.expect("asked before");
            let width = raise.max_to.0 - raise.min_to.0;
            let small = if dice.below(2) == 0 { width } else { width.min(10) };
            let to = Chips(raise.min_to.0 + dice.below(small + 1));
            if raise.is_bet { Action::Bet(to) } else { Action::Raise(to) }
        }
        _ if legal.can_check() => Action::Check,
        _ => Action::Call,
    }
}

/// An answer to the prompt; in one case of eight not a sensible one.
fn answer(dice: &mut Dice, play: &Play) -> Option<(Ask, bool)> {
    let hand = play.table.running_hand()?;
    let prompt = hand.prompt?;
    let seats: Vec<SeatNo> = prompt.seats.iter().collect();
    let seat = seats[dice.below(seats.len() as u64) as usize];
    let player = hand.player(seat)?.player.clone();
    let (number, turn) = (hand.number, prompt.turn);
    let pick = Pick::new(dice.below(3) as u8)?;
    if dice.below(8) == 0 {
        let to = Chips(dice.below(3) * (u64::MAX / 2));
        let actions =
            [Action::Fold, Action::Check, Action::Call, Action::Bet(to), Action::Raise(to), Action::AllIn];
        let action = actions[dice.below(6) as usize];
        let (number, turn) = (number + 1 - dice.below(3), turn + 1 - dice.below(3) as u32);
        let player = if dice.below(2) == 0 { player } else { anybody(dice) };
        let wild = if dice.below(3) == 0 {
            Ask::Pick { player, hand: number, turn, pick }
        } else {
            Ask::Act { player, hand: number, turn, action }
        };
        return Some((wild, false));
    }
    let ask = match prompt.kind {
        PromptKind::Act => {
            let action = legal_action(dice, &play.table.legal_now()?);
            Ask::Act { player, hand: number, turn, action }
        }
        PromptKind::Pick if dice.below(9) == 0 && play.table.config.pivot_order == PivotOrder::InTurn => {
            Ask::Act { player, hand: number, turn, action: Action::Fold }
        }
        PromptKind::Pick => Ask::Pick { player, hand: number, turn, pick },
    };
    Some((ask, true))
}

/// Something that players and operators ask between decisions.
fn other(dice: &mut Dice, play: &Play) -> Ask {
    let (player, transaction) = (anybody(dice), "t".to_owned());
    let scope = [StopScope::Table, StopScope::Game][dice.below(2) as usize];
    let amount = amount(dice, &play.table.config);
    let seat = SeatNo::new(dice.below(11) as u8);
    let post = dice.below(2) == 0;
    match dice.below(24) {
        0..=5 => Ask::Seat { player, seat, buy_in: amount, post, transaction },
        6..=8 => Ask::StandUp { player, transaction },
        9 => Ask::SitOut { player, wish: Wish::NextHand },
        10 => Ask::SitOut { player, wish: Wish::NextBigBlind },
        11..=13 => Ask::SitIn { player, post },
        14 => Ask::Prefer { player, straddle: dice.below(3) > 0, always_show: post },
        15..=18 => Ask::AddChips { player, amount, transaction },
        19 => Ask::Show { player, hand: play.table.hands },
        20 => Ask::Void { hand: play.table.hands, reason: "r".to_owned(), requester: "q".to_owned() },
        21 => {
            let from = Millis(play.now.0.saturating_sub(dice.below(20_000)));
            Ask::CreditOutage { from, to: play.now }
        }
        22 => Ask::Stop { scope, reason: "r".to_owned() },
        _ => Ask::Resume { scope },
    }
}

/// A step of the session: an answer, a time-out, the next deal, or something else; whether it has to be accepted.
fn next(dice: &mut Dice, play: &mut Play) -> (Ask, bool) {
    let roll = dice.below(20);
    let now = |play: &mut Play, at: Millis| play.now = play.now.max(at);
    if roll < 14
        && let Some(answer) = answer(dice, play)
    {
        play.now = play.now + Millis(dice.below(4000));
        let in_time = play.table.due().is_none_or(|(at, due)| due == rules::Due::StartHand || play.now < at);
        return (answer.0, answer.1 && in_time);
    }
    if roll < 16
        && let Some((at, due)) = play.table.due()
    {
        now(play, at);
        let deck = Box::new(shuffled(dice));
        return match due {
            rules::Due::Expire => (Ask::Expire, true),
            rules::Due::Payments => (Ask::TakePayments { until: at }, true),
            rules::Due::StartHand => (Ask::StartHand { deck, draw: dice.below(1000) }, true),
        };
    }
    if roll < 19
        && let Some(at) = play.table.next_hand_at
    {
        now(play, at);
        return (Ask::StartHand { deck: Box::new(shuffled(dice)), draw: dice.below(1000) }, true);
    }
    (other(dice, play), false)
}

/// The accounts of a hand add up (rules 3.4, 6, 7).
fn check_result(play: &Play) {
    let Some(result) = play.commit.iter().find_map(|event| match event {
        Event::HandSettled(result) => Some(result),
        _ => None,
    }) else {
        return;
    };
    let sum = |amounts: &mut dyn Iterator<Item = Chips>| amounts.sum::<Chips>();
    let contributed = sum(&mut result.players.iter().map(|p| p.contributed));
    assert_eq!(sum(&mut result.pots.iter().map(|pot| pot.amount)), contributed);
    assert_eq!(sum(&mut result.pots.iter().map(|pot| pot.rake)), result.rake);
    assert_eq!(sum(&mut result.players.iter().map(|p| p.rake_share)), result.rake);
    for pot in &result.pots {
        assert_eq!(sum(&mut pot.winners.iter().map(|(_, won)| *won)), pot.amount - pot.rake);
        assert!(pot.winners.iter().all(|(seat, _)| pot.eligible.contains(*seat)));
    }
    for player in &result.players {
        assert_eq!(player.stack_before + player.won, player.stack_after + player.contributed);
    }
    let open = play.shown();
    assert!(result.players.iter().all(|p| p.shown.is_none() || open.contains(&p.seat)));
}

/// A table never waits for nothing: a hand has a prompt (an invariant), and a pause has an end once two can play.
fn check_liveness(play: &Play) {
    let table = &play.table;
    let stopped = !table.stops.is_empty();
    let able = table.able_to_play().len();
    match table.running_hand() {
        Some(_) => assert!(table.due().is_some() && table.next_hand_at.is_none()),
        None => assert_eq!(
            table.next_hand_at.is_some(),
            able >= 2 && !stopped,
            "{able} can play, stopped: {stopped}"
        ),
    }
    assert!(able >= 2 || table.running_hand().is_some() || table.positions.is_none() || table.interrupted);
}

fn count(play: &Play, seen: &mut Seen) {
    for event in &play.commit {
        match event {
            Event::HandSettled(result) => {
                seen.settled += 1;
                seen.side_pots += u64::from(result.pots.len() > 1);
            }
            Event::HandVoided { .. } => seen.voided += 1,
            Event::HandMucked { .. } => seen.mucked += 1,
            Event::PlayerStoodUp { .. } => seen.stood_up += 1,
            Event::PlayHalted => seen.halted += 1,
            Event::Acted { by: rules::event::By::Absence, .. } => seen.absent += 1,
            _ => {}
        }
    }
}

fn session(settings: &str, seed: u64, steps: u32, seen: &mut Seen) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (seed << 7 | 1));
    let mut play = play(&format!("table {settings}"));
    for _ in 0..steps {
        let (ask, must) = next(&mut dice, &mut play);
        let asked = format!("{settings}, seed {seed}: {ask:?}");
        play.label(&asked);
        match play.step(ask) {
            Ok(()) => {
                check_result(&play);
                check_liveness(&play);
                count(&play, seen);
            }
            Err(refusal) => {
                assert!(!must, "{asked}: {refusal:?}");
                seen.refused += 1;
            }
        }
    }
}

#[test]
fn r1_to_r10_no_session_breaks_a_table() {
    let mut seen = Seen::default();
    for (number, settings) in (0_u64..).zip(TABLES) {
        for seed in 0..6 {
            session(settings, 100 * number + seed, 400, &mut seen);
        }
    }
    let Seen { settled, voided, side_pots, mucked, stood_up, halted, refused, absent } = seen;
    let counts = [settled, voided, side_pots, mucked, stood_up, halted, refused, absent];
    assert!(counts.iter().all(|count| *count >= 50), "the sessions show too little: {counts:?}");
}
