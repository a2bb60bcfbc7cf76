//! The settlement records of a replayed table.

use conformance::difference::Differences;
use fulcrum::pb::v1;
use fulcrum::pb::v1::settlement::Body;

use super::hands::Hand;
use super::harness::{Caller, in_time};
use super::messages;

/// What watchers were told.
pub struct Told<'a> {
    /// The table.
    pub table: &'a str,
    /// How the hand was paid.
    pub hand: &'a v1::SettledHand,
    /// Whether the table was closed with the hand.
    pub closed: bool,
}

impl Told<'_> {
    /// Reads the records and compares: a buy-in each, the hand, and a cash-out each if the table was closed.
    pub async fn check(&self, caller: &mut Caller, hand: &Hand, found: &mut Differences) {
        let records = caller.records(self.table).await;
        let wanted = self.wanted(hand);
        let told: Vec<Line> = records.iter().map(Line::of).take(wanted.len()).collect();
        found.compare("records", &told, &wanted);
        let all = if self.closed { wanted.len() } else { records.len().max(wanted.len()) };
        found.compare("number of records", records.len(), all);
        let paid: Vec<_> =
            records.iter().filter(|record| record.kind() == v1::SettlementKind::Hand).collect();
        let Some(record) = paid.first() else {
            return found.compare("a record of the hand", false, true);
        };
        found.compare("record of the hand", &record.body, &Some(Body::Hand(self.hand.clone())));
        let setup = &hand.setup.config;
        let heading = (record.table_id.as_str(), record.currency.as_str(), record.game(), record.limit());
        let currency = String::from_utf8_lossy(&setup.currency);
        let wanted = (self.table, &*currency, messages::game(setup.game), messages::limit(setup.limit));
        found.compare("heading of the record", heading, wanted);
        let request = v1::GetSettlementRequest { settlement_id: record.settlement_id.clone() };
        let read = in_time(caller.settlements.get_settlement(request)).await;
        let read = read.ok().and_then(|read| read.into_inner().settlement);
        found.compare("the record read by its id", read.as_ref(), Some(record));
    }

    fn wanted(&self, hand: &Hand) -> Vec<Line> {
        use v1::SettlementKind::{BuyIn, CashOut};
        let line = |kind, stacks: &[u64]| -> Vec<Line> {
            let places = hand.setup.places.iter().zip(stacks);
            let line = |(place, stack): (&conformance::setup::Place, &u64)| Line {
                kind,
                player: place.player.as_str().to_owned(),
                amount: messages::amount(rules::Chips(*stack)),
            };
            places.map(line).collect()
        };
        let mut lines = line(BuyIn, &hand.record.starting_stacks);
        lines.push(Line { kind: v1::SettlementKind::Hand, player: String::new(), amount: 0 });
        if self.closed {
            lines.extend(line(CashOut, hand.record.finishing_stacks.as_deref().unwrap_or_default()));
        }
        lines
    }
}

/// What is compared of each record.
#[derive(PartialEq, Eq, Debug)]
struct Line {
    kind: v1::SettlementKind,
    player: String,
    amount: i64,
}

impl Line {
    fn of(record: &v1::Settlement) -> Line {
        let (player, amount) = match &record.body {
            Some(Body::Movement(moved)) => (moved.player_id.clone(), moved.amount),
            _ => (String::new(), 0),
        };
        Line { kind: record.kind(), player, amount }
    }
}
