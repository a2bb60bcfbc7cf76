//! What a rule test says of payments between the operator's wallet and the table; `K` is a payment's number.
//!
//! Asked: `NAME reserves SEAT|any for AMOUNT [posting]`, `N draws AMOUNT`, `take payments` (until 10 s from now),
//! `payment K done|declined|unknown|given-up [to PHASE]` is what the wallet said (`given-up`: nothing, and it is not
//! asked again) to what it was asked in this phase, or in the present one, `payment K retried by WHO`,
//! `payment K proposed|confirmed settled|written-off by WHO`.
//! Expected: `payment K is PHASE`, `payment K ended used|declined|cancelled|paid|settled|written-off` in the last commit,
//! `payment K of AMOUNT for buy-in|add-chips|cash-out|returned to|from NAME`, `open K K …`, `nothing open`,
//! `owed TOTAL delivered AMOUNT written-off AMOUNT`, `wallet due 15s` from now.

use rules::paying::{Again, Answer, Decline, Said};
use rules::payment::{Ending, Phase, Purpose, Requested, Resolution};
use rules::{Ask, Due, Event, Millis};

use super::{Play, millis};

/// How long whoever sees to a payment has for it, and how long the wallet is left alone after an answer that was none.
const PAUSE: Millis = Millis(10_000);

impl Play {
    /// What these words ask about payments.
    pub(super) fn ask_of_payment(&self, words: &[&str]) -> Option<Ask> {
        match words {
            ["take", "payments"] => Some(Ask::TakePayments { until: self.now + PAUSE }),
            [who, "reserves", seat, "for", amount, posting @ ..] => Some(Ask::Reserve {
                player: self.player(who),
                seat: (*seat != "any").then(|| self.seat(seat)),
                buy_in: self.chips(amount),
                post: *posting == ["posting"],
                name: format!("debit of {who}"),
                request: requested(self.table.payments_begun),
            }),
            [who, "draws", amount] => Some(Ask::DrawChips {
                player: self.player(who),
                amount: self.chips(amount),
                name: format!("more for {who}"),
                request: requested(self.table.payments_begun),
            }),
            ["payment", number, "retried", "by", who] => {
                Some(Ask::RetryPayment { number: self.number(number), said: said(who) })
            }
            ["payment", number, "proposed", how, "by", who] => {
                let (number, resolution) = (self.number(number), resolution(how));
                Some(Ask::ProposeEnd { number, resolution, said: said(who) })
            }
            ["payment", number, "confirmed", how, "by", who] => {
                let (number, resolution) = (self.number(number), resolution(how));
                Some(Ask::ConfirmEnd { number, resolution, said: said(who) })
            }
            ["payment", number, what] => self.answered(number, what, None),
            ["payment", number, what, "to", asked] => self.answered(number, what, Some(asked)),
            _ => None,
        }
    }

    fn answered(&self, number: &str, what: &str, asked: Option<&str>) -> Option<Ask> {
        let again = if what == "given-up" { Again::Never } else { Again::At(self.now + PAUSE) };
        let answer = match what {
            "done" => Answer::Done,
            "declined" => Answer::Declined(Decline::Funds),
            "unknown" | "given-up" => Answer::Unknown("no answer".to_owned()),
            _ => return None,
        };
        let number = self.number(number);
        let present = self.table.payment(number).map_or(Phase::Debiting, |payment| payment.phase);
        let phase = asked.map_or(present, |word| named_phase(word).expect("a phase"));
        Some(Ask::Answered { number, phase, answer, again })
    }

    /// Whether these words said something about payments that holds; panics if it does not hold.
    pub(super) fn expect_of_payments(&self, words: &[&str]) -> bool {
        let line = &self.line;
        match words {
            ["payment", number, "is", phase] => {
                let payment = self.table.payment(self.number(number));
                assert_eq!(payment.map(|p| p.phase), named_phase(phase), "{line}");
            }
            ["payment", number, "ended", how] => {
                let number = self.number(number);
                assert!(self.table.payment(number).is_none(), "{line}: it is open");
                assert_eq!(self.ending(number).map(named_ending), Some(*how), "{line}");
            }
            ["payment", number, "of", amount, "for", purpose, "to" | "from", who] => {
                let payment = self.table.payment(self.number(number));
                let payment = payment.unwrap_or_else(|| panic!("{line}: it is not open"));
                let found = (payment.amount, named_purpose(payment.purpose), payment.player.as_str());
                assert_eq!(found, (self.chips(amount), *purpose, *who), "{line}");
            }
            ["nothing", "open"] => assert_eq!(self.table.payments, [], "{line}"),
            ["open", numbers @ ..] => {
                let open: Vec<String> = self.table.payments.iter().map(|p| p.number.to_string()).collect();
                assert_eq!(open, numbers, "{line}");
            }
            ["owed", owed, "delivered", delivered, "written-off", written_off] => {
                let ledger = &self.table.ledger;
                let found = [ledger.owed, ledger.delivered, ledger.written_off];
                assert_eq!(found, [owed, delivered, written_off].map(|word| self.chips(word)), "{line}");
            }
            ["wallet", "due", time] => {
                assert_eq!(self.table.due(), Some((self.now + millis(time), Due::Payments)), "{line}");
            }
            _ => return false,
        }
        true
    }

    /// How a payment ended in the last commit.
    fn ending(&self, number: u64) -> Option<Ending> {
        self.commit.iter().find_map(|event| match event {
            Event::PaymentEnded { number: ended, ending, .. } if *ended == number => Some(*ending),
            _ => None,
        })
    }

    fn number(&self, word: &str) -> u64 {
        word.parse().unwrap_or_else(|_| panic!("{}: no number: {word}", self.line))
    }
}

fn requested(number: u64) -> Requested {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&number.to_be_bytes());
    Requested { id, payload: [7; 32] }
}

fn said(who: &str) -> Said {
    Said { by: who.to_owned(), reason: "a reason".to_owned() }
}

fn resolution(word: &str) -> Resolution {
    match word {
        "settled" => Resolution::Settled,
        "written-off" => Resolution::WrittenOff,
        other => panic!("no resolution: {other}"),
    }
}

fn named_phase(word: &str) -> Option<Phase> {
    match word {
        "debiting" => Some(Phase::Debiting),
        "cancelling" => Some(Phase::Cancelling),
        "crediting" => Some(Phase::Crediting),
        "parked" => Some(Phase::Parked),
        "over" => None,
        other => panic!("no phase: {other}"),
    }
}

fn named_ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Used => "used",
        Ending::Declined(_) => "declined",
        Ending::Cancelled => "cancelled",
        Ending::Paid => "paid",
        Ending::Resolved(Resolution::Settled) => "settled",
        Ending::Resolved(Resolution::WrittenOff) => "written-off",
    }
}

fn named_purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::BuyIn { .. } => "buy-in",
        Purpose::AddChips => "add-chips",
        Purpose::CashOut => "cash-out",
        Purpose::Returned => "returned",
    }
}
