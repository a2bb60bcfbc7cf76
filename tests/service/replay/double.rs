//! Random hands of Double Hold'em: each player is a bot with a stream and a mind of its own, and the same deck and
//! decisions in the rules alone have to come to the same settlement.

use std::fmt;
use std::ops::Add;
use std::sync::Arc;

use conformance::deals::Deals;
use conformance::difference::Differences;
use conformance::player::shuffled;
use conformance::setup::{Place, Setup};
use fulcrum::pb::v1;
use fulcrum::pb::v1::settlement::Body;
use rules::{
    Action, Ante, Ask, Chips, Clocks, Game, Limit, Pick, PivotOrder, PlayerId, Rake, SeatNo, Stakes,
    TableConfig,
};
use tokio::task::JoinSet;

use super::harness::{Caller, Decks, Eyes};
use super::messages::sit_down;
use super::mirror::Mirror;
use super::recorded::Found;

/// So many hands.
pub const HANDS: u64 = 500;
const LIMITS: [Limit; 3] = [Limit::NoLimit, Limit::PotLimit, Limit::FixedLimit];
const ORDERS: [PivotOrder; 2] = [PivotOrder::InTurn, PivotOrder::Simultaneous];

/// What was played, so that hands that are all alike are noticed.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    hands: usize,
    /// Hands by limit and order.
    kinds: [[usize; 2]; 3],
    decisions: usize,
    picks: usize,
    showdowns: usize,
    side_pots: usize,
    raked: usize,
}

impl Tally {
    /// Every kind of table and every part of a hand was there often.
    pub fn assert_varied(&self) {
        let rarest = self.kinds.iter().flatten().min().copied();
        assert!(rarest >= Some(self.hands / 7), "a limit or an order is missing: {:?}", self.kinds);
        assert!(
            self.picks > self.hands && self.decisions > 5 * self.hands,
            "hardly anything was decided: {self}"
        );
        for often in [self.showdowns, self.side_pots, self.raked] {
            assert!(often > self.hands / 20, "{self}");
        }
    }
}

impl Add for Tally {
    type Output = Tally;

    fn add(mut self, more: Tally) -> Tally {
        for (sum, kind) in self.kinds.iter_mut().flatten().zip(more.kinds.iter().flatten()) {
            *sum += kind;
        }
        Tally {
            hands: self.hands + more.hands,
            decisions: self.decisions + more.decisions,
            picks: self.picks + more.picks,
            showdowns: self.showdowns + more.showdowns,
            side_pots: self.side_pots + more.side_pots,
            raked: self.raked + more.raked,
            ..self
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { hands, kinds: _, decisions, picks, showdowns, side_pots, raked } = self;
        write!(f, "{hands} hands, {decisions} decisions, {picks} pivots, {showdowns} showdowns, ")?;
        write!(f, "{side_pots} with side pots, {raked} raked")
    }
}

/// Plays the hand of this number through the service, and again in the rules.
pub async fn check(mut caller: Caller, decks: Arc<Decks>, number: u64) -> (Found, Tally) {
    let setup = setup(number);
    let table = sit_down(&mut caller, &setup).await;
    decks.lay_out(&table, 1, setup.deck.clone());
    decks.first_button(&table, setup.places.len() as u64 - 1);
    let mut bots = Vec::new();
    for place in &setup.places {
        let eyes = caller.watch(&table, place.player.as_str()).await;
        let seed = number * 16 + u64::from(place.seat.number());
        let random = Deals::from_seed(seed ^ 0xb07);
        bots.push(Bot { caller: caller.clone(), table: table.clone(), place: place.clone(), eyes, random });
    }
    let mut spectator = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    spectator.turn_after(begun).await;
    // Before any bot acts, so that no second hand begins and the streams end with this one.
    caller.close_table(&table).await;
    let mut minds = JoinSet::new();
    bots.into_iter().for_each(|bot| {
        minds.spawn(bot.play());
    });
    let mut decisions: Vec<(u64, Ask)> = minds.join_all().await.into_iter().flatten().collect();
    decisions.sort_by_key(|(sequence, _)| *sequence);

    let records = caller.records(&table).await;
    let paid = records.into_iter().find_map(|record| match record.body {
        Some(Body::Hand(hand)) => Some(v1::SettledHand { started: None, ..hand }),
        _ => None,
    });
    let tally = tally(number, &decisions, paid.as_ref());
    let differences = compare(&setup, decisions, paid);
    (Found { id: format!("hand {number}"), differences }, tally)
}

/// Plays the same in the rules.
fn compare(setup: &Setup, decisions: Vec<(u64, Ask)>, paid: Option<v1::SettledHand>) -> Differences {
    let mut differences = Differences::default();
    let mirrored = Mirror::begin(setup).and_then(|mut mirror| {
        decisions.into_iter().try_for_each(|(_, ask)| mirror.ask(ask))?;
        Ok(mirror.settled())
    });
    differences.compare("settlement", Ok(paid), mirrored);
    differences
}

fn tally(number: u64, decisions: &[(u64, Ask)], paid: Option<&v1::SettledHand>) -> Tally {
    let mut kinds = [[0; 2]; 3];
    kinds[number as usize % 3][number as usize / 3 % 2] = 1;
    let has = |what: &dyn Fn(&v1::SettledHand) -> bool| usize::from(paid.is_some_and(what));
    Tally {
        hands: 1,
        kinds,
        decisions: decisions.len(),
        picks: decisions.iter().filter(|(_, ask)| matches!(ask, Ask::Pick { .. })).count(),
        showdowns: has(&|hand| hand.players.iter().any(|player| player.shown.is_some())),
        side_pots: has(&|hand| hand.pots.len() > 1),
        raked: has(&|hand| hand.rake > 0),
    }
}

/// Stakes, stacks and deck of this number.
fn setup(number: u64) -> Setup {
    let mut random = Deals::from_seed(number);
    let config = config(number, &mut random);
    let players = 2 + random.below(9) as u8;
    let place = |no: u8| {
        let deepest = [150, 1_000, 5_000, 30_000][random.below(4)];
        Some(Place {
            seat: SeatNo::new(no)?,
            player: PlayerId::new(&format!("bot-{no}"))?,
            stack: Chips(1 + random.below(deepest) as u64),
            straddle: random.below(3) == 0,
        })
    };
    let places = (1..=players).filter_map(place).collect();
    Setup { config, places, leaver: None, deck: shuffled(&mut random) }
}

fn config(number: u64, random: &mut Deals) -> TableConfig {
    let limit = LIMITS[number as usize % 3];
    let ante = [Ante::None, Ante::PerPlayer(Chips(15)), Ante::BigBlind(Chips(100))][random.below(3)];
    let fixed = limit == Limit::FixedLimit;
    let basis_points = [0, 500][random.below(2)];
    TableConfig {
        display_name: format!("random {number}"),
        currency: *b"EUR",
        game: Game::DoubleHoldem,
        limit,
        seats: SeatNo::MAX,
        stakes: Stakes {
            small_blind: Chips(50),
            big_blind: Chips(100),
            ante,
            straddles: if fixed { 0 } else { random.below(3) as u8 },
            small_bet: Chips(100),
            big_bet: Chips(200),
            min_buy_in: Chips(1),
            max_buy_in: Chips(1_000_000),
        },
        rake: Rake { basis_points, cap_two: Some(Chips(300)), ..Rake::NONE },
        clocks: Clocks { between_hands: rules::Millis::ZERO, ..Clocks::default() },
        pivot_order: ORDERS[number as usize / 3 % 2],
        limit_cap_heads_up: random.below(2) == 0,
        show_all: random.below(2) == 0,
        rathole: rules::Millis::ZERO,
    }
}

/// A player who decides at random among what his own stream says is legal.
struct Bot {
    caller: Caller,
    table: String,
    place: Place,
    eyes: Eyes,
    random: Deals,
}

impl Bot {
    /// Plays until the stream ends; what was accepted, with its sequence.
    async fn play(mut self) -> Vec<(u64, Ask)> {
        let mut accepted = Vec::new();
        let mut answered = 0;
        let seat = u32::from(self.place.seat.number());
        while self.eyes.next().await.is_some() {
            // With simultaneous picks the turn stays open for others after the own pick.
            let open =
                self.eyes.turn.clone().filter(|turn| turn.number > answered && turn.seats.contains(&seat));
            if let Some(turn) = open {
                answered = turn.number;
                accepted.push(self.decide(&turn).await);
            }
        }
        accepted
    }

    async fn decide(&mut self, turn: &v1::Turn) -> (u64, Ask) {
        let player = self.place.player.clone();
        let (hand, number) = (turn.hand_number, turn.number);
        let legal = turn.legal.unwrap_or_default();
        if turn.kind() == v1::TurnKind::Pick && !(legal.can_fold && self.random.below(100) < 3) {
            let index = self.random.below(3) as u8;
            let pick = Pick::new(index).expect("one of three");
            let answer = self.caller.pick(&self.table, player.as_str(), turn, index.into()).await;
            let sequence = answer.expect("a legal pick").sequence;
            return (sequence, Ask::Pick { player, hand, turn: number, pick });
        }
        let (action, to) = match turn.kind() {
            v1::TurnKind::Pick => (v1::Action::Fold, 0),
            _ => choose(&legal, &mut self.random),
        };
        let answer = self.caller.act(&self.table, player.as_str(), turn, action, to).await;
        let sequence = answer.expect("a legal action").sequence;
        (sequence, Ask::Act { player, hand, turn: number, action: in_the_rules(action, to) })
    }
}

/// One of the legal actions.
fn choose(legal: &v1::LegalActions, random: &mut Deals) -> (v1::Action, i64) {
    if legal.can_all_in && random.below(100) < 6 {
        return (v1::Action::AllIn, 0);
    }
    if (legal.can_bet || legal.can_raise) && random.below(100) < 30 {
        let action = if legal.can_bet { v1::Action::Bet } else { v1::Action::Raise };
        let between = random.below((legal.max_to - legal.min_to) as usize + 1) as i64;
        let to = [legal.min_to, legal.min_to, legal.min_to + between, legal.max_to][random.below(4)];
        return (action, to);
    }
    if legal.can_fold && random.below(100) < if legal.can_check { 2 } else { 20 } {
        return (v1::Action::Fold, 0);
    }
    (if legal.can_check { v1::Action::Check } else { v1::Action::Call }, 0)
}

fn in_the_rules(action: v1::Action, to: i64) -> Action {
    let to = Chips(to.unsigned_abs());
    match action {
        v1::Action::Fold => Action::Fold,
        v1::Action::Check => Action::Check,
        v1::Action::Call => Action::Call,
        v1::Action::Bet => Action::Bet(to),
        v1::Action::Raise => Action::Raise(to),
        v1::Action::AllIn => Action::AllIn,
        v1::Action::Unspecified => unreachable!("no bot chooses this"),
    }
}
