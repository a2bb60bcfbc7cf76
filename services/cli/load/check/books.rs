//! The settlement records of a table, which an operator books: one for each hand and movement in the log, with the same
//! amounts, and no others.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

use prost::Message;

use super::told::Told;
use super::{Findings, Kind};
use crate::pb::v1::settlement::Body;
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{SettledHand, Settlement, SettlementKind};

/// The records that there have to be, by sequence, each in words that hold all its amounts.
#[derive(Default)]
pub struct Books {
    due: BTreeMap<(u64, String), u64>,
}

impl Books {
    /// One event.
    pub fn hear(&mut self, sequence: u64, event: &Event) {
        let words = match event {
            Event::PlayerSeated(told) => moved("buy-in", told.seat, Some(told.session), told.buy_in, 0),
            Event::ChipsAdded(told) => moved("added chips", told.seat, None, told.added, told.returned),
            Event::PlayerStoodUp(told) => moved("cash-out", told.seat, Some(told.session), told.paid, 0),
            Event::HandSettled(told) => paid(told.hand.as_ref()),
            Event::HandVoided(told) => {
                void(told.refunds.iter().map(|refund| (refund.seat, refund.amount)).collect())
            }
            Event::HistoryLost(told) => lost(told.last_sequence, told.until_sequence),
            _ => return,
        };
        *self.due.entry((sequence, words)).or_default() += 1;
    }

    /// Holds the records that there are against those that there have to be.
    pub fn finish(&self, log: &Told, records: &[Settlement], found: &mut Findings) {
        let mut there: BTreeMap<(u64, String), u64> = BTreeMap::new();
        for record in records {
            *there.entry((record.sequence, words(record))).or_default() += 1;
        }
        for (key, due) in &self.due {
            let (sequence, words) = key;
            if there.remove(key) != Some(*due) {
                found.add(Kind::Books, *sequence, format!("there is not one settlement record for: {words}"));
            }
        }
        for (sequence, words) in there.into_keys() {
            if log.hides(sequence) {
                found.unverified += 1;
            } else {
                found.add(
                    Kind::Books,
                    sequence,
                    format!("the log has nothing for the settlement record: {words}"),
                );
            }
        }
    }
}

fn words(record: &Settlement) -> String {
    match (record.kind(), &record.body) {
        (SettlementKind::Hand, Some(Body::Hand(hand))) => paid(Some(hand)),
        (SettlementKind::Void, Some(Body::Void(told))) => {
            void(told.refunds.iter().map(|refund| (refund.seat, refund.amount)).collect())
        }
        (SettlementKind::BuyIn, Some(Body::Movement(told))) => {
            moved("buy-in", told.seat, Some(told.session), told.amount, told.returned)
        }
        (SettlementKind::AddChips, Some(Body::Movement(told))) => {
            moved("added chips", told.seat, None, told.amount, told.returned)
        }
        (SettlementKind::CashOut, Some(Body::Movement(told))) => {
            moved("cash-out", told.seat, Some(told.session), told.amount, told.returned)
        }
        (SettlementKind::Reversal, Some(Body::Reversal(told))) => {
            lost(told.last_sequence, told.until_sequence)
        }
        (kind, _) => format!("{} without its amounts", kind.as_str_name()),
    }
}

fn moved(what: &str, seat: u32, session: Option<u64>, amount: i64, returned: i64) -> String {
    let session = session.map_or(String::new(), |session| format!(" in session {session}"));
    format!("{what} of seat {seat}{session}, {amount} and {returned} back")
}

/// Hand, rake, and a number for the whole account.
fn paid(hand: Option<&SettledHand>) -> String {
    let Some(hand) = hand else {
        return "a hand without an account".to_owned();
    };
    let mut hasher = DefaultHasher::new();
    hasher.write(&hand.encode_to_vec());
    let (number, rake, account) = (hand.hand_number, hand.rake, hasher.finish());
    format!("hand {number} with a rake of {rake} (account {account:x})")
}

fn void(mut refunds: Vec<(u32, i64)>) -> String {
    refunds.sort_unstable();
    let refunds: Vec<String> =
        refunds.iter().map(|(seat, amount)| format!("{amount} to seat {seat}")).collect();
    format!("a void with {}", refunds.join(", "))
}

fn lost(last: u64, until: u64) -> String {
    format!("a reversal of all after {last} up to {until}")
}
