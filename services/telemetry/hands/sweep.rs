//! Hands that are left over: their server was killed, or the collector did not take them. Every server looks for them, and
//! who takes one has it for a while; the trace is the same, whoever tells it.

use futures_util::future::join_all;
use opentelemetry_sdk::trace::SpanData;
use tables::{OperatorId, TableHand, TableKey};
use tokio::time::{Instant, sleep};

use super::gather::{self, Left};
use super::teller::{AT_ONCE, Work, cannot_read};
use crate::telemetry::traces::counts::HandTold;

/// So many are taken at a time.
const MOST: usize = 64;

/// Looks for them, again and again.
pub(super) async fn run(work: &Work, operators: &[OperatorId]) {
    let mut well = true;
    loop {
        sleep(work.pace.every).await;
        for operator in operators {
            well = work.sweep(operator, well).await;
        }
    }
}

/// What is to be done about a hand that is left over.
enum Next {
    Tell(Vec<SpanData>),
    Forget,
    /// It cannot be read now.
    Leave,
}

impl Work {
    /// Tells all hands of the operator that are left over. `well`: whether the collector took the last batch; if not it is
    /// tried with one hand. Gives the same.
    async fn sweep(&self, operator: &OperatorId, mut well: bool) -> bool {
        loop {
            let limit = if well { MOST } else { 1 };
            let began = Instant::now();
            let taken = match self.store.untold().take(operator, self.pace.age, limit).await {
                Ok(taken) => taken,
                Err(error) => {
                    tracing::debug!(%operator, %error, "hands that are left over cannot be read");
                    return well;
                }
            };
            for some in taken.chunks(AT_ONCE) {
                // Later others may take them.
                if began.elapsed().as_millis() > u128::from(self.pace.age.0 / 2) {
                    return well;
                }
                well = self.tell_late(operator, some).await;
                if !well {
                    return false;
                }
            }
            if taken.len() < limit {
                return well;
            }
        }
    }

    /// Whether the collector has these now, or there was nothing for it.
    async fn tell_late(&self, operator: &OperatorId, hands: &[TableHand]) -> bool {
        let next = join_all(hands.iter().map(|hand| self.next(operator, *hand))).await;
        let (mut batch, mut told, mut over) = (Vec::new(), Vec::new(), Vec::new());
        for (hand, next) in hands.iter().zip(next) {
            match next {
                Next::Tell(mut spans) => {
                    batch.append(&mut spans);
                    told.push((operator.clone(), *hand));
                }
                Next::Forget => over.push((operator.clone(), *hand)),
                Next::Leave => {}
            }
        }
        self.forget(&over).await;
        if batch.is_empty() {
            return true;
        }
        let sent = self.export.send(batch, None).await;
        if sent {
            self.forget(&told).await;
            told.iter().for_each(|_| self.counts.hand_trace(HandTold::Late));
        }
        sent
    }

    async fn next(&self, operator: &OperatorId, hand: TableHand) -> Next {
        let key = TableKey { operator: operator.clone(), table: hand.table };
        match gather::left(&*self.store, &key, hand.number).await {
            Ok(Left::Over(found)) => match self.spans(&key, hand.number, &found) {
                Some(spans) => Next::Tell(spans),
                None => gone(&key, hand.number),
            },
            Ok(Left::Open) => Next::Forget,
            Ok(Left::Gone) => gone(&key, hand.number),
            Err(error) => {
                cannot_read(&key, hand.number, &error);
                Next::Leave
            }
        }
    }
}

fn gone(table: &TableKey, hand: u64) -> Next {
    tracing::warn!(event = "hand_untold", %table, hand, "nothing is kept any more of a hand whose trace was to be told");
    Next::Forget
}
