//! Simple, sensible poker for bots: play what is good for the price, bet what is strong, bluff now and then.

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;

use crate::pb::v1::{Action, LegalActions};

/// A decision and what it rests on.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// What is legal.
    pub legal: LegalActions,
    /// How often in a thousand the hand wins against hands dealt at random.
    pub wins: u32,
    /// How many others are still in.
    pub opponents: usize,
    /// All chips in the pots and in front of the players, in minor units.
    pub pot: i64,
    /// The highest bet of the street, in minor units.
    pub high: i64,
    /// Bets and raises on this street so far, blinds not counted.
    pub raises: u32,
    /// Bets are made in multiples of this where the limits let them, in minor units.
    pub unit: i64,
}

/// How a bot likes to play, so that no two play alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Temper {
    /// By how much he overrates his hand when he is to pay for it, in thousandths.
    loose: u32,
    /// How often he bets or raises a strong hand, in hundredths.
    bold: u32,
    /// How often he bets or raises with nothing, in hundredths.
    bluff: u32,
}

impl Temper {
    /// Somebody's temper.
    #[must_use]
    pub fn drawn(rng: &mut Xoshiro256PlusPlus) -> Temper {
        Temper {
            loose: rng.random_range(0..40),
            bold: rng.random_range(45..85),
            bluff: rng.random_range(2..10),
        }
    }

    /// What to do, and to which amount: 0 for all but bets and raises. Always one of the legal actions.
    #[must_use]
    pub fn decide(self, asked: &Question, rng: &mut Xoshiro256PlusPlus) -> (Action, i64) {
        let mut chance = |hundredths: u32| rng.random_range(0..100) < hundredths;
        let fair = 1000 / (asked.opponents as u32 + 1);
        let may_raise = asked.legal.can_bet || asked.legal.can_raise;
        // The more others have raised, the less their hands are random ones.
        let caution = 45 * asked.raises.min(6);
        let strong = asked.wins > fair * 3 / 2 + 2 * caution;
        let wants = if strong { chance(self.bold) } else { chance(self.bluff) && asked.raises < 2 };
        if may_raise && wants {
            return asked.raise(rng);
        }
        if asked.legal.can_check {
            return (Action::Check, 0);
        }
        let price = asked.price();
        // Before anybody has raised, others will come in too, and the pot will be larger than it is.
        let wanted =
            if asked.raises == 0 { price.min(fair * 5 / 4) } else { u32::midpoint(price, fair) + caution };
        if asked.wins + self.loose > wanted || asked.wins > 900 {
            return (Action::Call, 0);
        }
        (Action::Fold, 0)
    }
}

impl Question {
    /// How often in a thousand the hand has to win for a call to pay.
    fn price(&self) -> u32 {
        let call = self.legal.call_amount.max(0);
        let whole = self.pot.max(0).saturating_add(call).max(1);
        u32::try_from(i128::from(call) * 1000 / i128::from(whole)).unwrap_or(1000)
    }

    /// A bet or raise of half the pot to the whole of it, or everything where little would be left.
    fn raise(&self, rng: &mut Xoshiro256PlusPlus) -> (Action, i64) {
        let action = if self.legal.can_bet { Action::Bet } else { Action::Raise };
        let (least, most) = (self.legal.min_to, self.legal.max_to.max(self.legal.min_to));
        let pot = self.pot.saturating_add(self.legal.call_amount);
        let part = [50, 66, 75, 100][rng.random_range(0..4_usize)];
        let size = i64::try_from(i128::from(pot) * part / 100).unwrap_or(most);
        let wanted = self.high.saturating_add(size);
        let round = wanted - wanted.rem_euclid(self.unit.max(1));
        if wanted > most / 3 * 2 {
            return (action, most);
        }
        (action, round.clamp(least, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn facing_a_bet(wins: u32) -> Question {
        let legal = LegalActions {
            can_fold: true,
            can_check: false,
            call_amount: 100,
            can_bet: false,
            can_raise: true,
            min_to: 200,
            max_to: 2_000,
            can_all_in: true,
        };
        Question { legal, wins, opponents: 1, pot: 200, high: 100, raises: 1, unit: 50 }
    }

    /// How often in 1000 each action is taken: folds, checks, calls, bets and raises.
    fn counts(asked: &Question) -> [u32; 4] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut counts = [0; 4];
        for _ in 0..1000 {
            let (action, to) = Temper::drawn(&mut rng).decide(asked, &mut rng);
            let legal = &asked.legal;
            let place = match action {
                Action::Fold => 0,
                Action::Check => 1,
                Action::Call => 2,
                _ => 3,
            };
            counts[place] += 1;
            match action {
                Action::Check => assert!(legal.can_check),
                Action::Call => assert!(legal.call_amount > 0),
                Action::Bet => assert!(legal.can_bet && (legal.min_to..=legal.max_to).contains(&to)),
                Action::Raise => assert!(legal.can_raise && (legal.min_to..=legal.max_to).contains(&to)),
                _ => assert_eq!(action, Action::Fold),
            }
        }
        counts
    }

    #[test]
    fn the_price_is_the_part_of_the_pot_that_a_call_makes() {
        assert_eq!(facing_a_bet(0).price(), 333);
    }

    #[test]
    fn a_poor_hand_is_folded_and_a_good_one_is_not() {
        assert!(counts(&facing_a_bet(150))[0] > 850);
        let good = counts(&facing_a_bet(960));
        assert_eq!(good[0], 0);
        assert!(good[2] > 50 && good[3] > 300, "a mixture: {good:?}");
    }

    #[test]
    fn nobody_folds_what_is_free() {
        let mut free = facing_a_bet(100);
        free.legal =
            LegalActions { can_check: true, call_amount: 0, can_bet: true, can_raise: false, ..free.legal };
        let counts = counts(&free);
        assert_eq!(counts[0], 0);
        assert!(counts[1] > 800 && counts[3] > 0, "{counts:?}");
    }

    #[test]
    fn without_a_legal_raise_the_best_hand_calls() {
        let mut asked = facing_a_bet(1000);
        asked.legal = LegalActions { can_raise: false, min_to: 0, max_to: 0, ..asked.legal };
        assert_eq!(counts(&asked), [0, 0, 1000, 0]);
    }

    #[test]
    fn amounts_that_no_table_has_do_not_overflow() {
        let mut asked = facing_a_bet(1000);
        asked.pot = i64::MAX;
        asked.high = i64::MAX;
        asked.legal.call_amount = i64::MAX;
        asked.legal.max_to = i64::MAX;
        counts(&asked);
    }
}
