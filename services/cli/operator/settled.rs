//! What the settlement records come to, per player and currency.

use std::collections::BTreeMap;

use prost::Message;
use serde::Serialize;

use super::books::{Books, Fault};
use crate::pb::v1::settlement::Body;
use crate::pb::v1::{Settlement, SettlementKind};

/// A player's sums, in minor units.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Settled {
    /// Hands that were paid.
    pub hands: u64,
    /// Brought to tables: buy-ins and added chips.
    pub bought_in: i128,
    /// Taken from tables.
    pub paid_out: i128,
    /// Won in hands, less what was put in: negative for who lost.
    pub net: i128,
    /// His part of the rake, which is already out of what he won.
    pub rake: i128,
}

/// All records of the books. Where a table was played on elsewhere before a loss was noticed, records before the reversed
/// ones may be lost too; GetSettlement tells which, and this example does not ask it.
#[derive(Default)]
pub struct Sums {
    /// By player and currency.
    pub players: BTreeMap<(String, String), Settled>,
    /// How many records there are, those that count for nothing included.
    pub records: u64,
    /// How many of them count for nothing, because a reversal says so (rules 10.2).
    pub reversed: u64,
}

impl Sums {
    /// The sums of these books.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn of(books: &Books) -> Result<Sums, Fault> {
        let mut records = Vec::new();
        books.settlements(|bytes| {
            let record = Settlement::decode(bytes).map_err(|_| Fault::Damaged("a settlement record"))?;
            records.push(record);
            Ok(())
        })?;
        Ok(Sums::of_records(&records))
    }

    fn of_records(records: &[Settlement]) -> Sums {
        let mut sums = Sums { records: records.len() as u64, ..Sums::default() };
        // A reversal may come long after what it reverses, or be read before it.
        let mut reversed: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
        for record in records {
            if let Some(Body::Reversal(reversal)) = &record.body {
                let range = (reversal.last_sequence, reversal.until_sequence);
                reversed.entry(&record.table_id).or_default().push(range);
            }
        }
        for record in records {
            let ranges = reversed.get(record.table_id.as_str()).map(Vec::as_slice).unwrap_or_default();
            let reversal = matches!(record.body, Some(Body::Reversal(_)));
            let within = |(last, until): &(u64, u64)| record.sequence > *last && record.sequence <= *until;
            if !reversal && ranges.iter().any(within) {
                sums.reversed += 1;
            } else {
                sums.add(record);
            }
        }
        sums
    }

    fn add(&mut self, record: &Settlement) {
        match &record.body {
            Some(Body::Hand(hand)) => {
                for player in &hand.players {
                    let sums = self.player(&player.player_id, &record.currency);
                    sums.hands += 1;
                    sums.net += i128::from(player.won) - i128::from(player.contributed);
                    sums.rake += i128::from(player.rake_share);
                }
            }
            Some(Body::Movement(movement)) => {
                let sums = self.player(&movement.player_id, &record.currency);
                match record.kind() {
                    SettlementKind::CashOut => sums.paid_out += i128::from(movement.amount),
                    _ => sums.bought_in += i128::from(movement.amount),
                }
            }
            // Of a void everybody has back what he put in; kinds of later versions move nothing that is summed here.
            _ => {}
        }
    }

    fn player(&mut self, player: &str, currency: &str) -> &mut Settled {
        self.players.entry((player.to_owned(), currency.to_owned())).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb::v1::{Movement, Reversal, SettledHand, SettledPlayer};

    fn record(kind: SettlementKind, sequence: u64, body: Body) -> Settlement {
        Settlement {
            kind: kind.into(),
            table_id: "t".into(),
            sequence,
            currency: "EUR".into(),
            body: Some(body),
            ..Settlement::default()
        }
    }

    fn movement(amount: i64) -> Body {
        Body::Movement(Movement { player_id: "ada".into(), amount, ..Movement::default() })
    }

    fn hand(contributed: i64, won: i64, rake_share: i64) -> Body {
        let player = SettledPlayer {
            player_id: "ada".into(),
            contributed,
            won,
            rake_share,
            ..SettledPlayer::default()
        };
        Body::Hand(SettledHand { players: vec![player], ..SettledHand::default() })
    }

    #[test]
    fn records_are_summed_and_reversed_ones_count_for_nothing() {
        let reversal = Reversal { last_sequence: 4, until_sequence: 100, ..Reversal::default() };
        let records = [
            record(SettlementKind::Reversal, 200, Body::Reversal(reversal)),
            record(SettlementKind::BuyIn, 1, movement(1000)),
            record(SettlementKind::AddChips, 2, movement(50)),
            record(SettlementKind::Hand, 3, hand(100, 0, 3)),
            record(SettlementKind::Hand, 4, hand(100, 190, 5)),
            record(SettlementKind::Hand, 5, hand(700, 0, 9)),
            record(SettlementKind::CashOut, 100, movement(7)),
            record(SettlementKind::CashOut, 201, movement(1040)),
        ];
        let sums = Sums::of_records(&records);
        assert_eq!((sums.records, sums.reversed), (8, 2));
        let ada = sums.players[&("ada".to_owned(), "EUR".to_owned())];
        assert_eq!(ada, Settled { hands: 2, bought_in: 1050, paid_out: 1040, net: -10, rake: 8 });
    }
}
