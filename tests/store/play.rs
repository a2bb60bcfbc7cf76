//! Random play on the real rules: a source of states and events that nobody thought of.

use rules::command::{Action, Ask, Command, Wish};
use rules::config::{Clocks, Game, Limit, PivotOrder, Rake, TableConfig};
use rules::event::{Event, PromptKind, StopScope};
use rules::{Ante, Chips, Deck, Due, Legal, Millis, Pick, PlayerId, SeatNo, Stakes, Table};

/// A small generator: the same seed plays the same game.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// The next number (splitmix64).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below this.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn deck(&mut self) -> Deck {
        let mut cards = *Deck::ordered().cards();
        for last in (1..cards.len()).rev() {
            cards.swap(last, self.below(last as u64 + 1) as usize);
        }
        Deck::new(cards).expect("a shuffled deck is a deck")
    }
}

/// A table that is played at random, one commit after the other.
pub struct RandomGame {
    pub table: Table,
    pub opened: Event,
    dice: Dice,
    now: Millis,
    players: u64,
}

pub const START: Millis = Millis(1_790_000_000_000);

impl RandomGame {
    /// Opens a table whose settings depend on the seed.
    pub fn open(seed: u64) -> RandomGame {
        let mut dice = Dice::new(seed);
        let config = config(&mut dice);
        let (table, opened) = Table::open(config, START).expect("settings that can be");
        RandomGame { table, opened, dice, now: START, players: 0 }
    }

    /// Goes on with a table that was played before.
    pub fn resume(table: Table, seed: u64) -> RandomGame {
        let opened = Event::Opened { config: Box::new(table.config.clone()), at: table.opened_at };
        // Nobody else's player has such a name, and no time of that play is later.
        let now = Millis(START.0 + table.version * 100_000_000);
        RandomGame { table, opened, dice: Dice::new(seed), now, players: seed * 1000 }
    }

    /// When the last commit was.
    pub fn now(&self) -> Millis {
        self.now
    }

    /// Nothing happens for so long.
    pub fn pass(&mut self, time: Millis) {
        self.now = self.now + time;
    }

    /// The next commit: the events, after which `self.table` is the state.
    pub fn step(&mut self) -> Vec<Event> {
        loop {
            let ask = self.ask();
            let command = Command { at: self.now, ask };
            if let Ok((events, table)) = self.table.step(&command) {
                self.table = table;
                return events;
            }
            self.now = self.now + Millis(50);
        }
    }

    fn ask(&mut self) -> Ask {
        if self.dice.one_in(12) {
            return self.around_the_game();
        }
        if let Some(prompt) = self.table.running_hand().and_then(|hand| hand.prompt) {
            if self.dice.one_in(20) {
                return self.wait();
            }
            let nth = self.dice.below(prompt.seats.len() as u64) as usize;
            let seat = prompt.seats.iter().nth(nth).expect("somebody is asked");
            return self.decide(seat, prompt.turn, prompt.kind);
        }
        if self.table.able_to_play().len() < 2 { self.newcomer() } else { self.wait() }
    }

    /// Lets the time come at which the table is due.
    fn wait(&mut self) -> Ask {
        match self.table.due() {
            Some((at, Due::StartHand)) => {
                self.now = self.now.max(at);
                Ask::StartHand { deck: Box::new(self.dice.deck()), draw: self.dice.next() }
            }
            Some((at, Due::Payments)) => {
                self.now = self.now.max(at);
                Ask::TakePayments { until: at }
            }
            Some((at, Due::Expire)) => {
                self.now = self.now.max(at);
                Ask::Expire
            }
            None => self.newcomer(),
        }
    }

    fn decide(&mut self, seat: SeatNo, turn: u32, kind: PromptKind) -> Ask {
        let hand = self.table.hand.as_ref().expect("a hand runs");
        let (number, player) = (hand.number, hand.player(seat).expect("dealt in").player.clone());
        if kind == PromptKind::Pick {
            let pick = Pick::ALL[self.dice.below(3) as usize];
            return Ask::Pick { player, hand: number, turn, pick };
        }
        let legal = self.table.legal_now().expect("a bet is asked for");
        Ask::Act { player, hand: number, turn, action: self.action(&legal) }
    }

    fn action(&mut self, legal: &Legal) -> Action {
        match self.dice.below(10) {
            0 if !legal.can_check() => Action::Fold,
            1 if legal.all_in => Action::AllIn,
            2..=4 => match legal.raise {
                Some(range) => {
                    let to = if self.dice.one_in(2) { range.min_to } else { range.max_to };
                    if range.is_bet { Action::Bet(to) } else { Action::Raise(to) }
                }
                None => Action::Call,
            },
            _ if legal.can_check() => Action::Check,
            _ => Action::Call,
        }
    }

    fn newcomer(&mut self) -> Ask {
        self.players += 1;
        let stakes = self.table.config.stakes;
        let span = stakes.max_buy_in.0 - stakes.min_buy_in.0;
        Ask::Seat {
            player: PlayerId::new(&format!("player:{}", self.players)).expect("a name"),
            seat: None,
            buy_in: Chips(stakes.min_buy_in.0 + self.dice.below(span + 1)),
            post: self.dice.one_in(2),
            transaction: format!("tx-{}", self.dice.below(1_000_000)),
        }
    }

    fn somebody(&mut self) -> Option<PlayerId> {
        let seated: Vec<PlayerId> = self.table.occupied().map(|(_, seat)| seat.player.clone()).collect();
        let nth = self.dice.below(seated.len().max(1) as u64) as usize;
        seated.into_iter().nth(nth)
    }

    fn around_the_game(&mut self) -> Ask {
        let Some(player) = self.somebody() else {
            return self.newcomer();
        };
        let (yes, transaction) = (self.dice.one_in(2), format!("tx-{}", self.dice.below(1_000_000)));
        let hand = self.table.hands;
        match self.dice.below(12) {
            0 => Ask::StandUp { player, transaction },
            1 => Ask::SitOut { player, wish: if yes { Wish::NextHand } else { Wish::NextBigBlind } },
            2 | 3 => Ask::SitIn { player, post: yes },
            4 => Ask::Prefer { player, straddle: yes, always_show: !yes },
            5 => Ask::AddChips { player, amount: Chips(1 + self.dice.below(5000)), transaction },
            6 => Ask::Show { player, hand },
            7 if self.dice.one_in(4) => {
                Ask::Void { hand, reason: "a test".to_owned(), requester: "tester".to_owned() }
            }
            8 => Ask::Stop { scope: StopScope::Table, reason: "a pause".to_owned() },
            9 => Ask::Resume { scope: StopScope::Table },
            10 => Ask::CreditOutage { from: self.now, to: self.now + Millis::seconds(3) },
            _ => self.newcomer(),
        }
    }
}

fn config(dice: &mut Dice) -> TableConfig {
    let ante = match dice.below(3) {
        0 => Ante::None,
        1 => Ante::PerPlayer(Chips(10)),
        _ => Ante::BigBlind(Chips(100)),
    };
    let limit = [Limit::NoLimit, Limit::PotLimit, Limit::FixedLimit][dice.below(3) as usize];
    let straddles = if limit == Limit::FixedLimit { 0 } else { dice.below(3) as u8 };
    TableConfig {
        display_name: "Zürich 4".to_owned(),
        currency: *b"CHF",
        game: if dice.one_in(4) { Game::TexasHoldem } else { Game::DoubleHoldem },
        limit,
        seats: 2 + dice.below(9) as u8,
        stakes: Stakes {
            small_blind: Chips(50),
            big_blind: Chips(100),
            ante,
            straddles,
            small_bet: Chips(100),
            big_bet: Chips(200),
            min_buy_in: Chips(1000),
            max_buy_in: Chips(20_000),
        },
        rake: Rake { basis_points: 500, cap_two: Some(Chips(300)), ..Rake::NONE },
        clocks: Clocks::default(),
        pivot_order: if dice.one_in(2) { PivotOrder::InTurn } else { PivotOrder::Simultaneous },
        limit_cap_heads_up: dice.one_in(2),
        show_all: dice.one_in(3),
        rathole: Millis::minutes(60),
    }
}
