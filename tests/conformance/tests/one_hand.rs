//! One hand at a table of any settings, decided by a list of numbers: a fault shrinks to few players, few decisions and
//! small amounts.

use conformance::deals::Deals;
use conformance::life::Watch;
use conformance::player::shuffled;
use proptest::prelude::*;
use rules::event::{Event, PromptKind};
use rules::{
    Action, Ante, Ask, Chips, Clocks, Command, Due, Game, Limit, Millis, Pick, PivotOrder, PlayerId, Rake,
    SeatNo, Stakes, Table, TableConfig,
};

/// A table, its players and what they decide.
#[derive(Clone, Debug)]
struct Given {
    double: bool,
    together: bool,
    limit: u8,
    blinds: (u64, u64),
    ante: (u8, u64),
    straddles: u8,
    rake: u16,
    stacks: Vec<u64>,
    deck: u64,
    button: u64,
    decisions: Vec<u8>,
}

fn given() -> impl Strategy<Value = Given> {
    let table =
        (any::<bool>(), any::<bool>(), 0..3u8, (0..20u64, 1..30u64), (0..3u8, 1..30u64), 0..3u8, 0..1000u16);
    let players = (prop::collection::vec(1..300u64, 2..11), any::<u64>(), 0..10u64);
    let decisions = prop::collection::vec(any::<u8>(), 0..60);
    (table, players, decisions).prop_map(|(table, (stacks, deck, button), decisions)| {
        let (double, together, limit, blinds, ante, straddles, rake) = table;
        Given { double, together, limit, blinds, ante, straddles, rake, stacks, deck, button, decisions }
    })
}

impl Given {
    fn config(&self) -> TableConfig {
        let limit = [Limit::NoLimit, Limit::PotLimit, Limit::FixedLimit][usize::from(self.limit)];
        let (small, big) = self.blinds;
        let ante = match self.ante {
            (0, _) => Ante::None,
            (1, ante) => Ante::PerPlayer(Chips(ante)),
            (_, ante) => Ante::BigBlind(Chips(ante)),
        };
        let stakes = Stakes {
            small_blind: Chips(small.min(big)),
            big_blind: Chips(big),
            ante,
            straddles: if limit == Limit::FixedLimit { 0 } else { self.straddles },
            small_bet: Chips(big),
            big_bet: Chips(big * 2),
            min_buy_in: Chips(1),
            max_buy_in: Chips(300),
        };
        TableConfig {
            display_name: String::new(),
            currency: *b"EUR",
            game: if self.double { Game::DoubleHoldem } else { Game::TexasHoldem },
            limit,
            seats: SeatNo::MAX,
            stakes,
            rake: Rake { basis_points: self.rake, ..Rake::NONE },
            clocks: Clocks { between_hands: Millis::ZERO, ..Clocks::default() },
            pivot_order: if self.together { PivotOrder::Simultaneous } else { PivotOrder::InTurn },
            limit_cap_heads_up: false,
            show_all: false,
            rathole: Millis::ZERO,
        }
    }

    /// Plays the hand to its end; whoever has no decision left runs out of time.
    fn play(&self) -> Result<Table, String> {
        let (mut table, opening) =
            Table::open(self.config(), Millis(1_000)).map_err(|refusal| format!("{refusal:?}"))?;
        let mut watch = Watch::of(&opening)?;
        let mut ask = |table: &mut Table, at: Millis, ask: Ask| {
            let command = Command { at, ask };
            let (events, after) =
                table.step(&command).map_err(|refusal| format!("{command:?}: {refusal:?}"))?;
            *table = after;
            watch.commit(&command, &events, table)?;
            Ok::<Vec<Event>, String>(events)
        };
        for (number, stack) in self.stacks.iter().enumerate() {
            let player = PlayerId::new(&format!("p{number}")).ok_or("no name")?;
            let (buy_in, transaction) = (Chips(*stack), String::new());
            let seat = Ask::Seat { player: player.clone(), seat: None, buy_in, post: false, transaction };
            ask(&mut table, Millis(1_000), seat)?;
            ask(&mut table, Millis(1_000), Ask::Prefer { player, straddle: true, always_show: false })?;
        }
        let deck = Box::new(shuffled(&mut Deals::from_seed(self.deck)));
        ask(&mut table, Millis(1_000), Ask::StartHand { deck, draw: self.button })?;
        let mut decisions = self.decisions.iter();
        while table.running_hand().is_some() {
            let decided = decisions.next().and_then(|choice| decision(&table, *choice));
            let (at, next) = match decided {
                Some(decided) => decided,
                None => (
                    table.due().filter(|(_, due)| *due == Due::Expire).ok_or("nothing is due")?.0,
                    Ask::Expire,
                ),
            };
            ask(&mut table, at, next)?;
        }
        Ok(table)
    }
}

/// The decision that a number stands for: the least first, for shrinking.
fn decision(table: &Table, choice: u8) -> Option<(Millis, Ask)> {
    let hand = table.running_hand()?;
    let prompt = hand.prompt?;
    let player = hand.player(prompt.seats.iter().next()?)?.player.clone();
    let (hand, turn) = (hand.number, prompt.turn);
    if prompt.kind == PromptKind::Pick {
        let pick = Pick::new(choice % 3)?;
        return Some((prompt.at, Ask::Pick { player, hand, turn, pick }));
    }
    let legal = table.legal_now()?;
    let stay = if legal.can_check() { Action::Check } else { Action::Call };
    let made = |to| legal.raise.map_or(stay, |r| if r.is_bet { Action::Bet(to) } else { Action::Raise(to) });
    let (least, most) = legal.raise.map_or((Chips::ZERO, Chips::ZERO), |r| (r.min_to, r.max_to));
    let between = Chips(least.0 + (most.0 - least.0) * u64::from(choice) / 255);
    let action = match choice % 8 {
        0..=2 => stay,
        3 => Action::Fold,
        4 if legal.all_in => Action::AllIn,
        5 => made(most),
        6 => made(between),
        _ => made(least),
    };
    Some((prompt.at, Ask::Act { player, hand, turn, action }))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(debug_assertions) { 300 } else { 5_000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_hand_goes_by_the_rules(given in given()) {
        let table = given.play().map_err(TestCaseError::fail)?;
        prop_assert_eq!(table.hands, 1);
    }
}
