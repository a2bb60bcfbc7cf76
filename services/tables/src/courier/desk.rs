//! One operator's desk: his wallet, his line of errands, his breaker. Nobody else waits for it.

use std::sync::Arc;
use std::time::Duration;

use rules::paying::Answer;
use rules::payment::Payment;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::CourierSettings;
use super::breaker::Breaker;
use super::errand::{self, Next};
use crate::signals::Signals;
use crate::wallet::{Call, Order, Reply, Wallet};

/// So many errands of an operator may wait for their turn in one process. The clocks bring the others up again.
const WAITING: usize = 4096;

/// An errand waits so long at most for its turn. Together with two calls it fits into [`rules::payment::FIRST_TERM`].
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// One operator's desk.
pub(super) struct Desk {
    wallet: Arc<dyn Wallet>,
    /// Calls at work at once.
    room: Semaphore,
    /// Errands that wait or are at work.
    line: Arc<Semaphore>,
    /// Callers that wait for what comes of it.
    callers: Arc<Semaphore>,
    breaker: Breaker,
    deadline: Duration,
}

impl Desk {
    pub(super) fn new(wallet: Arc<dyn Wallet>, settings: &CourierSettings) -> Desk {
        Desk {
            wallet,
            room: Semaphore::new(settings.calls),
            callers: Arc::new(Semaphore::new(settings.waiting)),
            line: Arc::new(Semaphore::new(WAITING)),
            breaker: Breaker::default(),
            deadline: settings.deadline,
        }
    }

    /// Whether the wallet is left alone just now.
    pub(super) fn is_closed(&self) -> bool {
        self.breaker.is_open()
    }

    /// A place in the line; none if it is full.
    pub(super) fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.line).try_acquire_owned().ok()
    }

    /// A place for a caller who waits; none if as many wait as may.
    pub(super) fn seat_caller(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.callers).try_acquire_owned().ok()
    }

    /// Runs an errand to its end. None if there is nothing to ask, or no room in time: whoever else may have taken the
    /// payment up by then is not to meet a call of ours.
    pub(super) async fn run(
        &self,
        order: &Order,
        payment: &Payment,
        again: bool,
        signals: &dyn Signals,
    ) -> Option<Answer> {
        let mut call = errand::first(payment.phase, again || payment.attempts > 0)?;
        let Ok(Ok(_room)) = timeout(LONGEST_WAIT, self.room.acquire()).await else {
            return None;
        };
        loop {
            let reply = self.ask(call, order, signals).await;
            match errand::after(payment.phase, call, reply) {
                Next::Ask(next) => call = next,
                Next::Say(answer) => return Some(answer),
            }
        }
    }

    async fn ask(&self, call: Call, order: &Order, signals: &dyn Signals) -> Reply {
        if !self.breaker.admits() {
            signals.wallet_spared(&order.key.operator, call);
            return Reply::Unknown("the wallet did not answer lately, and was not asked".to_owned());
        }
        let begun = Instant::now();
        let asked = timeout(self.deadline, self.wallet.ask(call, order)).await;
        let reply = asked.unwrap_or_else(|_| Reply::Unknown(format!("no answer in {:?}", self.deadline)));
        signals.wallet_asked(&order.key.operator, call, &reply, begun.elapsed());
        match &reply {
            Reply::Unknown(error) => {
                tracing::debug!(operator = %order.key.operator, ?call, id = %order.id, %error, "the wallet gave no answer");
                if self.breaker.failed() {
                    tracing::warn!(event = "wallet_away", operator = %order.key.operator, ?call, "a wallet does not answer and is left alone for a while");
                }
            }
            _ => {
                if self.breaker.answered() {
                    tracing::info!(event = "wallet_back", operator = %order.key.operator, "a wallet answers again");
                }
            }
        }
        reply
    }
}
