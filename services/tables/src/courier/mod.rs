//! The courier: makes the calls to operators' wallets that payments wait for, outside of every table's line and commit.
//!
//! Whoever commits a payment, or takes it up, makes its calls, within [`rules::payment::FIRST_TERM`]. If he dies, the clocks
//! bring the payment up again, at whatever server (`Due::Payments`): so nothing has to be kept here. What the wallet says
//! becomes a commit of the table. Two couriers may be at work on one payment: each call may be repeated, and of two
//! answers the first one counts.

mod breaker;
mod desk;
pub mod errand;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rules::event::Event;
use rules::paying::{Again, Answer};
use rules::payment::{Ending, Payment, Phase};
use rules::{Ask, Command, Millis, Refusal, Table};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tracing::Instrument;

use self::desk::Desk;
use crate::committing::{Core, Draft};
use crate::ids::{OperatorId, RequestId, TableKey};
use crate::play::{Ended, PlayError, Tables, Verdict};
use crate::store::RequestRecord;
use crate::wallet::{Order, Wallet};

/// The first pause before a wallet is asked again, doubled by each further one up to the longest.
const FIRST_PAUSE: Millis = Millis(1_000);
const LONGEST_PAUSE: Millis = Millis(60_000);

/// Makes the answer to a request that was carried out through the wallet, in bytes.
pub type Rendered = fn(&TableKey, &[Event], &Table) -> Vec<u8>;

/// How wallets are asked.
#[derive(Clone, Copy, Debug)]
pub struct CourierSettings {
    /// The longest that one call may take.
    pub deadline: Duration,
    /// Calls of one operator at work at once, in this process.
    pub calls: usize,
    /// Callers of one operator that wait for his wallet at once, in this process: they take room from others' calls.
    pub waiting: usize,
    /// So long a wallet is asked before a payment is parked, ms.
    pub park_after: Millis,
    /// The answer to a seat that was bought.
    pub seated: Rendered,
    /// The answer to chips that were added.
    pub added: Rendered,
}

/// The operators' wallets.
pub struct Courier {
    desks: HashMap<OperatorId, Arc<Desk>>,
    settings: CourierSettings,
}

impl Courier {
    /// With these wallets.
    #[must_use]
    pub fn new(wallets: Vec<(OperatorId, Arc<dyn Wallet>)>, settings: CourierSettings) -> Courier {
        let desk = |wallet| Arc::new(Desk::new(wallet, &settings));
        let desks = wallets.into_iter().map(|(operator, wallet)| (operator, desk(wallet))).collect();
        Courier { desks, settings }
    }

    /// Whether the operator's money comes from his wallet.
    pub(crate) fn serves(&self, operator: &OperatorId) -> bool {
        self.desks.contains_key(operator)
    }

    /// A place for a caller who waits for the operator's wallet; none if as many wait as may.
    pub(crate) fn seat_caller(&self, operator: &OperatorId) -> Option<OwnedSemaphorePermit> {
        self.desks.get(operator).and_then(|desk| desk.seat_caller())
    }

    /// Whether the operator's wallet is left alone just now, since it did not answer.
    pub(crate) fn is_closed(&self, operator: &OperatorId) -> bool {
        self.desks.get(operator).is_some_and(|desk| desk.is_closed())
    }
}

/// Sends the courier on his way for what was just committed. Returns at once.
pub(crate) fn send(core: &Arc<Core>, key: &TableKey, table: &Arc<Table>, events: &[Event]) {
    for (number, again) in errand::errands(events) {
        let Some(payment) = table.payment(number).cloned() else {
            continue;
        };
        let order = Order::of(key, &payment, table.config.currency);
        let errand = run(Tables { core: Arc::clone(core) }, order, payment, again);
        tokio::spawn(errand.instrument(core.signals().errand()));
    }
}

async fn run(tables: Tables, order: Order, payment: Payment, again: bool) {
    let Some(courier) = tables.core.courier() else {
        // Its server knows no wallets; another one may, and finds the payment when its term is over.
        return;
    };
    let answer = match courier.desks.get(&order.key.operator) {
        Some(desk) => {
            let Some(_place) = desk.enter() else {
                return;
            };
            desk.run(&order, &payment, again, tables.core.signals()).await
        }
        None => Some(Answer::Unknown("this server knows no wallet of the operator".to_owned())),
    };
    let Some(answer) = answer else {
        return;
    };
    match tables.say(&order.key, &payment, &answer, courier.settings).await {
        // It has moved on: another courier was faster.
        Ok(()) | Err(PlayError::Refused { refusal: Refusal::PaymentUnknown, .. }) => {}
        Err(error) => {
            tracing::warn!(event = "payment_not_written", table = %order.key, id = %order.id, %error, "a wallet's answer could not be written: asked again");
        }
    }
}

impl Tables {
    /// Writes what the wallet said, and with it what the request that asked for the money came to.
    async fn say(
        &self,
        key: &TableKey,
        payment: &Payment,
        answer: &Answer,
        settings: CourierSettings,
    ) -> Result<(), PlayError> {
        match self.write_answer(key, payment, answer, settings, true).await? {
            Ended::Done(()) => Ok(()),
            // The request was answered before: its twin came to its end at another server while this one began. What the
            // request came to stands, and this debit, which is another one, is not used.
            Ended::Repeated(_) => {
                let answer = match answer {
                    Answer::Declined(why) => Answer::Declined(*why),
                    Answer::Done | Answer::Unknown(_) => {
                        Answer::Unknown("the request had been answered before".to_owned())
                    }
                };
                self.write_answer(key, payment, &answer, settings, false).await.map(|_| ())
            }
        }
    }

    async fn write_answer(
        &self,
        key: &TableKey,
        payment: &Payment,
        answer: &Answer,
        settings: CourierSettings,
        recorded: bool,
    ) -> Result<Ended<()>, PlayError> {
        if brings_chips(payment, answer) {
            self.core.gate.open(&*self.core.store, &key.operator).await?;
        }
        let now = self.core.store.now().await?;
        let again = again(payment, now, settings.park_after);
        let judge = |table: &Table, at: Millis| {
            let (answer, until) = match self.admitted(key, payment, answer, table) {
                Ok(admitted) => admitted,
                Err(error) => return Verdict::Settled(Err(error)),
            };
            let ask = Ask::Answered { number: payment.number, phase: payment.phase, answer, again };
            // The payment may be lost (rules 10.2), and its number be another one's.
            let step = match table.payment(payment.number) {
                Some(open) if !open.is_same(payment) => Err(Refusal::PaymentUnknown),
                _ => table.step(&Command { at, ask }),
            };
            let (events, after) = match step {
                Ok(step) => step,
                Err(refusal) => {
                    return Verdict::Settled(Err(PlayError::Refused { refusal, version: table.version }));
                }
            };
            let request = recorded.then(|| record(key, payment, &events, &after, at, settings)).flatten();
            let draft = Draft { events, after: Arc::new(after), request, not_before: None, until };
            Verdict::Commit(draft, ())
        };
        match self.run(key, now, judge).await {
            Err(PlayError::RequestReused) if recorded => Ok(Ended::Repeated(Vec::new())),
            ended => ended,
        }
    }

    /// The answer, and until when it may be committed if it brings chips to the table. Against a stop that came while the
    /// wallet was asked (rules 9.4) it brings none: the debit is cancelled. If that cannot be told it is asked again.
    fn admitted(
        &self,
        key: &TableKey,
        payment: &Payment,
        answer: &Answer,
        table: &Table,
    ) -> Result<(Answer, Option<Instant>), PlayError> {
        if !brings_chips(payment, answer) {
            return Ok((answer.clone(), None));
        }
        let standing = self.standing(key)?;
        match standing.admits(table.config.game, &payment.player) {
            Ok(()) => Ok((answer.clone(), Some(standing.until))),
            Err(PlayError::Disabled { .. }) => {
                Ok((Answer::Unknown("stopped while the wallet was asked".to_owned()), None))
            }
            Err(error) => Err(error),
        }
    }
}

fn brings_chips(payment: &Payment, answer: &Answer) -> bool {
    payment.phase == Phase::Debiting && *answer == Answer::Done
}

/// What the request came to that asked for this payment, if that is known with these events.
fn record(
    key: &TableKey,
    payment: &Payment,
    events: &[Event],
    after: &Table,
    at: Millis,
    settings: CourierSettings,
) -> Option<RequestRecord> {
    let request = payment.request?;
    let outcome = events.iter().find_map(|event| match event {
        Event::PaymentEnded { number, ending, .. } if *number == payment.number => Some(*ending),
        // The request is over with that, though the debit is not.
        Event::PaymentMoved { number, .. } if *number == payment.number => Some(Ending::Cancelled),
        _ => None,
    });
    let (declined, answer) = match outcome? {
        Ending::Used => {
            let seats = events.iter().any(|event| matches!(event, Event::PlayerSeated { .. }));
            let rendered = if seats { settings.seated } else { settings.added };
            (false, rendered(key, events, after))
        }
        ending => (true, vec![remembered::code(ending)]),
    };
    // The cancel of a debit ends long after its request was answered.
    let first = payment.phase == Phase::Debiting;
    let id = RequestId(uuid::Uuid::from_bytes(request.id));
    first.then_some(RequestRecord { id, payload: request.payload, answer, at, declined })
}

/// When to ask again: after pauses that grow, and no more after a day.
fn again(payment: &Payment, now: Millis, park_after: Millis) -> Again {
    if now >= payment.since + park_after {
        return Again::Never;
    }
    let doubled = FIRST_PAUSE.0.checked_shl(payment.attempts.min(16)).unwrap_or(u64::MAX);
    Again::At(now + Millis(doubled).min(LONGEST_PAUSE))
}

/// How refusals of a wallet are remembered with their request.
pub(crate) mod remembered {
    use rules::payment::{Decline, Ending};

    use crate::play::PlayError;

    const DECLINES: [Decline; 7] = [
        Decline::Unspecified,
        Decline::Funds,
        Decline::Player,
        Decline::Blocked,
        Decline::Limit,
        Decline::Currency,
        Decline::Cancelled,
    ];
    /// For a debit that nobody confirmed. Codes are never given another meaning.
    const NOT_CONFIRMED: u8 = 100;

    pub(crate) fn code(ending: Ending) -> u8 {
        let Ending::Declined(why) = ending else {
            return NOT_CONFIRMED;
        };
        DECLINES.iter().zip(0..).find(|(known, _)| **known == why).map_or(0, |(_, code)| code)
    }

    pub(crate) fn refusal(answer: &[u8]) -> PlayError {
        match answer.first() {
            Some(code) if usize::from(*code) < DECLINES.len() => {
                PlayError::WalletDeclined(DECLINES[usize::from(*code)])
            }
            _ => PlayError::WalletNotConfirmed,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_refusal_comes_back_as_it_was() {
            for why in DECLINES {
                let told = refusal(&[code(Ending::Declined(why))]);
                assert!(matches!(told, PlayError::WalletDeclined(again) if again == why), "{why:?}");
            }
            assert!(matches!(refusal(&[code(Ending::Cancelled)]), PlayError::WalletNotConfirmed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payment(since: u64, attempts: u32) -> Payment {
        use rules::payment::Purpose;
        Payment {
            number: 1,
            epoch: 0,
            purpose: Purpose::CashOut,
            phase: Phase::Crediting,
            player: rules::PlayerId::new("ada").unwrap(),
            seat: rules::SeatNo::new(1).unwrap(),
            session: 1,
            amount: rules::Chips(5),
            hand: 0,
            name: String::new(),
            request: None,
            begun: Millis(since),
            since: Millis(since),
            attempts,
            next_at: Millis(0),
            error: String::new(),
            proposal: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn pauses_grow_to_a_minute_and_end_after_a_day() {
        let day = Millis::minutes(24 * 60);
        let pause = |attempts| match again(&payment(0, attempts), Millis(0), day) {
            Again::At(at) => at.0,
            Again::Never => 0,
        };
        assert_eq!([0, 1, 2, 5, 6, 1000].map(pause), [1_000, 2_000, 4_000, 32_000, 60_000, 60_000]);
        assert_eq!(again(&payment(7, 3), Millis(7) + day, day), Again::Never);
        assert!(matches!(again(&payment(7, 3), Millis(6) + day, day), Again::At(_)));
    }
}
