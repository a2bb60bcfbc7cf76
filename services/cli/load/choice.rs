//! What a bot under load decides: anything that is legal, mostly what keeps the hand going. It looks at no card.

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;

use crate::cli::share::Share;
use crate::pb::v1::{Action, LegalActions};

/// One of the legal actions, and its amount: 0 for all but bets and raises. `fold`: the share of bets that he folds to
/// without further ado.
#[must_use]
pub fn choose(legal: &LegalActions, fold: Share, rng: &mut Xoshiro256PlusPlus) -> (Action, i64) {
    if !legal.can_check && fold.hits(rng) {
        return (Action::Fold, 0);
    }
    let bet = match (legal.can_bet, legal.can_raise) {
        (true, _) => Some(Action::Bet),
        (_, true) => Some(Action::Raise),
        _ => None,
    };
    match (rng.random_range(0..100), bet) {
        (0..15, Some(bet)) => (bet, amount(legal, rng)),
        (15..18, _) if legal.can_all_in => (Action::AllIn, 0),
        (18..20, _) => (Action::Fold, 0),
        (20..45, _) if !legal.can_check => (Action::Fold, 0),
        _ if legal.can_check => (Action::Check, 0),
        _ if legal.call_amount > 0 => (Action::Call, 0),
        _ => (Action::Fold, 0),
    }
}

/// Between the least and three times as much, as far as the limit goes.
fn amount(legal: &LegalActions, rng: &mut Xoshiro256PlusPlus) -> i64 {
    let least = legal.min_to;
    let most = legal.max_to.min(least.saturating_mul(3)).max(least);
    rng.random_range(least..=most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use std::collections::BTreeSet;

    fn never() -> Share {
        "0%".parse().unwrap()
    }

    #[test]
    fn every_choice_is_legal_and_all_kinds_come() {
        let open = LegalActions { can_fold: true, can_check: true, can_bet: true, ..LegalActions::default() };
        let facing =
            LegalActions { can_fold: true, call_amount: 50, can_raise: true, ..LegalActions::default() };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut seen = BTreeSet::new();
        for legal in [open, facing] {
            let legal = LegalActions { min_to: 100, max_to: 250, can_all_in: true, ..legal };
            for _ in 0..2000 {
                let (action, to) = choose(&legal, never(), &mut rng);
                let right = match action {
                    Action::Check => legal.can_check && to == 0,
                    Action::Call => legal.call_amount > 0 && to == 0,
                    Action::Bet => legal.can_bet && (100..=250).contains(&to),
                    Action::Raise => legal.can_raise && (100..=250).contains(&to),
                    Action::Fold | Action::AllIn => to == 0,
                    Action::Unspecified => false,
                };
                assert!(right, "{action:?} to {to}");
                seen.insert(action as i32);
            }
        }
        assert_eq!(seen.len(), 6);
    }

    #[test]
    fn whoever_folds_to_every_bet_still_checks_where_he_can() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let facing = LegalActions { can_fold: true, call_amount: 50, ..LegalActions::default() };
        let open = LegalActions { can_fold: true, can_check: true, ..LegalActions::default() };
        assert_eq!(choose(&facing, Share::ALL, &mut rng), (Action::Fold, 0));
        let checks = (0..100).filter(|_| choose(&open, Share::ALL, &mut rng).0 == Action::Check).count();
        assert!(checks > 50, "{checks}");
    }

    #[test]
    fn where_nothing_is_to_be_bet_nothing_is() {
        let legal = LegalActions { can_fold: true, call_amount: 70, ..LegalActions::default() };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..500 {
            assert!(matches!(choose(&legal, never(), &mut rng), (Action::Call | Action::Fold, 0)));
        }
    }
}
