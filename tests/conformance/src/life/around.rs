//! What happens around the hands: coming, going, sitting out, chips, stops, settings, voids, outages.

use rules::event::StopScope;
use rules::player::Seat;
use rules::{Ask, Chips, Millis, PlayerId, Wish};

use super::{Life, settings};

/// All scopes that may be stopped.
const SCOPES: [StopScope; 5] =
    [StopScope::Service, StopScope::Operator, StopScope::Game, StopScope::Table, StopScope::Malfunction];

impl Life {
    /// Anything that may come in between. Whether it is legal now is left open.
    pub(super) fn around(&mut self) -> Option<Ask> {
        let roll = self.random.below(1000);
        let transaction = format!("t{}", self.table.version);
        if roll < 300 {
            return Some(self.newcomer());
        }
        if roll >= 880 {
            return Some(self.of_the_table(roll - 880));
        }
        let (_, player) = self.anybody()?;
        Some(match roll {
            300..380 => Ask::StandUp { player, transaction },
            380..450 => Ask::SitOut {
                player,
                wish: settings::pick(&mut self.random, &[Wish::NextHand, Wish::NextBigBlind]),
            },
            450..560 => Ask::SitIn { player, post: self.random.below(2) == 0 },
            560..680 => Ask::Prefer {
                player,
                straddle: self.random.below(3) > 0,
                always_show: self.random.below(4) == 0,
            },
            680..800 => Ask::AddChips { player, amount: self.chips(), transaction },
            _ => Ask::Show { player, hand: self.table.hands },
        })
    }

    /// What is asked of the table as a whole.
    fn of_the_table(&mut self, roll: usize) -> Ask {
        let reason = "at random".to_owned();
        match roll {
            0..20 => Ask::Void { hand: self.table.hands, reason, requester: "operator".to_owned() },
            20..35 => Ask::Stop { scope: settings::pick(&mut self.random, &SCOPES), reason },
            35..75 => Ask::Resume { scope: settings::pick(&mut self.random, &SCOPES) },
            75..95 => {
                let lost = Millis(self.random.below(60_000) as u64);
                Ask::CreditOutage { from: self.now - lost, to: self.now }
            }
            95..119 => {
                let mut config = self.table.config.clone();
                settings::vary(&mut config, &mut self.random);
                Ask::Configure { config: Box::new(config) }
            }
            _ => Ask::Close { reason },
        }
    }

    /// What brings more players into the coming hands.
    pub(super) fn revive(&mut self) -> Ask {
        if let Some(stop) = self.table.stops.first() {
            return Ask::Resume { scope: stop.scope };
        }
        let idle: Vec<&Seat> =
            self.table.occupied().map(|(_, seat)| seat).filter(|seat| !seat.can_play()).collect();
        let roll = self.random.below(idle.len() + self.table.free_seats().len().min(3));
        let Some(seat) = idle.get(roll) else {
            return self.newcomer();
        };
        let (player, broke, pending) = (seat.player.clone(), seat.stack.is_zero(), seat.pending.is_some());
        let transaction = format!("t{}", self.table.version);
        match self.random.below(4) {
            0 if broke => Ask::StandUp { player, transaction },
            _ if broke && !pending => Ask::AddChips { player, amount: self.chips(), transaction },
            _ => Ask::SitIn { player, post: self.random.below(2) == 0 },
        }
    }

    /// Somebody new sits down, or somebody who was here comes back.
    fn newcomer(&mut self) -> Ask {
        let player = match self.table.departed.first() {
            Some(departed) if self.random.below(3) == 0 => departed.player.clone(),
            _ => self.new_name(),
        };
        let free = self.table.free_seats();
        let seat = match free.len() {
            0 => None,
            count => free.iter().nth(self.random.below(count + 1)),
        };
        let transaction = format!("t{}", self.table.version);
        Ask::Seat { player, seat, buy_in: self.chips(), post: self.random.below(2) == 0, transaction }
    }

    fn new_name(&mut self) -> PlayerId {
        self.players += 1;
        Life::name(self.players)
    }

    /// From a single chip to the maximum buy-in.
    pub(super) fn chips(&mut self) -> Chips {
        let stakes = self.table.config.stakes;
        let (min, max) = (stakes.min_buy_in, stakes.max_buy_in);
        let big = stakes.big_blind.0;
        let blinds = match self.random.below(10) {
            0 => Chips(1 + self.random.below(big as usize) as u64),
            1 => max,
            2..=5 => Chips(big.saturating_mul(1 + self.random.below(10) as u64)),
            _ => Chips(big.saturating_mul(1 + self.random.below(250) as u64)),
        };
        blinds.clamp(min, max)
    }
}
