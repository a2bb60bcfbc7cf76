//! Replay of Double Hold'em showdowns: what everybody has, who is best, and what the pots pay (rules 6).

use rules::pots::{self, Contribution, Pot};
use rules::{Chips, HandValue, Pick, PivotValue, SeatNo, pivot_value};
use serde::{Deserialize, Deserializer, de::Error};

use crate::cards::Cards;
use crate::difference::Differences;
use crate::evaluation::counts;
use crate::ranking::rank;

/// A record with `committed` and `pivots`. Players are numbered from the first seat left of the button.
#[derive(Deserialize)]
pub struct Showdown {
    n: usize,
    board: Cards<5>,
    holes: Vec<Cards<3>>,
    #[serde(deserialize_with = "picks")]
    pivots: Vec<Pick>,
    ranks: Vec<[usize; 2]>,
    counts: Vec<u8>,
    winners: Vec<usize>,
    class: String,
    committed: Vec<u64>,
    folded: Vec<usize>,
    pots: Vec<RecordedPot>,
    won: Vec<u64>,
}

/// Amount, who could win it, who won it.
type RecordedPot = (u64, Vec<usize>, Vec<usize>);

impl Showdown {
    /// Values all hands and compares.
    #[must_use]
    pub fn check(&self) -> Differences {
        let mut differences = Differences::default();
        differences.compare("n", [self.holes.len(), self.pivots.len()], [self.n; 2]);
        let values = self.values();
        let ranks: Vec<_> = values.iter().map(|v| [rank(v.first), rank(v.second)]).collect();
        differences.compare("ranks", &ranks, &self.ranks);
        let which: Vec<_> = values.iter().map(|v| counts(*v)).collect();
        differences.compare("counts", &which, &self.counts);
        self.compare_winners(&values, &mut differences);
        self.compare_pots(&values, &mut differences);
        differences
    }

    fn values(&self) -> Vec<PivotValue> {
        let hands = self.holes.iter().zip(&self.pivots);
        hands.map(|(hole, pick)| pivot_value(&hole.0, *pick, &self.board.0)).collect()
    }

    /// The best hand of all, whether its owner folded or not: the records compare cards before chips.
    fn compare_winners(&self, values: &[PivotValue], differences: &mut Differences) {
        let best = values.iter().map(|v| v.best()).max();
        let has_best = |player: &usize| values.get(*player).map(|v| v.best()) == best;
        let winners: Vec<usize> = (0..values.len()).filter(has_best).collect();
        differences.compare("winners", &winners, &self.winners);
        let class = best.map(|value| value.category().to_string());
        differences.compare("class", class.as_deref(), Some(&self.class));
    }
    /// What the pots pay to those who have not folded.
    fn compare_pots(&self, values: &[PivotValue], differences: &mut Differences) {
        let mut won = vec![0; self.committed.len()];
        let mut paid = Vec::new();
        for pot in pots::build(&self.contributions()) {
            let winners = winners(&pot, values);
            for (seat, share) in pots::split(pot.amount, &winners) {
                won[seat.index()] += share.0;
            }
            paid.push((pot.amount.0, players(pot.eligible.iter()), players(winners)));
        }
        differences.compare("pots", &paid, &self.pots);
        differences.compare("won", &won, &self.won);
    }

    fn contributions(&self) -> Vec<Contribution> {
        let of = |(player, (seat, live)): (usize, (SeatNo, &u64))| Contribution {
            seat,
            live: Chips(*live),
            dead: Chips::ZERO,
            folded: self.folded.contains(&player),
        };
        SeatNo::all().zip(&self.committed).enumerate().map(of).collect()
    }
}

/// Who has the best hand of those who can win the pot. Seat 1 is the first left of the button.
fn winners(pot: &Pot, values: &[PivotValue]) -> Vec<SeatNo> {
    let value = |seat: SeatNo| values.get(seat.index()).map(|value| value.best());
    let best: Option<HandValue> = pot.eligible.iter().filter_map(value).max();
    pot.eligible.iter().filter(|seat| value(*seat) == best).collect()
}

fn players(seats: impl IntoIterator<Item = SeatNo>) -> Vec<usize> {
    seats.into_iter().map(SeatNo::index).collect()
}

fn picks<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<Pick>, D::Error> {
    let indices = Vec::<u8>::deserialize(source)?;
    let picks: Option<Vec<Pick>> = indices.iter().copied().map(Pick::new).collect();
    picks.ok_or_else(|| D::Error::custom(format!("{indices:?} are not picks")))
}
