//! A bot's money: it takes a seat, adds chips and leaves, beside the hands that it plays. Where the operator's wallet pays,
//! that may take long, and may come to nothing.

use std::sync::Weak;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;
use tonic::Status;

use super::bot::Stage;
use super::calls::{Called, Calls};
use super::check::{Ack, Deed, Record};
use crate::cli::asks::Asks;
use crate::cli::client::{Client, reason};
use crate::pb::v1::{ErrorReason, SeatPlayerResponse};

/// The pause after a refusal: what it was about may be different then.
const PAUSE: Duration = Duration::from_millis(500);

/// One player's way to the cashier of a table.
#[derive(Clone)]
pub struct Cashier {
    pub calls: Calls,
    pub table_id: String,
    pub player: String,
    /// The operator's wallet pays: no transaction is named.
    pub wallet: bool,
    /// Nothing is begun anew at a table that ends.
    pub stage: watch::Receiver<Stage>,
    /// Held by whoever is there: nobody is to be stood up before he is back.
    pub queue: Weak<()>,
}

impl Cashier {
    /// Asks for a free seat.
    pub async fn ask_for_a_seat(&self, buy_in: i64) -> Called<SeatPlayerResponse> {
        let mut request = self.asks().seat(0, buy_in);
        self.pay_with(&mut request.transaction_id);
        let call = |mut c: Client, request| async move { c.tables.seat_player(request).await };
        let called = self.calls.ask(&request, call).await;
        self.calls.meter.bought_in(called.took);
        called
    }

    /// Takes a free seat.
    pub async fn sit_down(self, buy_in: i64) -> Record {
        let _there = self.queue.upgrade();
        loop {
            match self.ask_for_a_seat(buy_in).await {
                Called { answer: Ok(answer), .. } => {
                    return Record { acks: vec![seated(&answer, buy_in)], ..Record::default() };
                }
                Called { answer: Err(status), in_doubt, .. } => {
                    if !self.comes_again(&status).await {
                        return Record { unknown: u64::from(in_doubt), ..Record::default() };
                    }
                }
            }
        }
    }

    /// Adds chips.
    pub async fn add_chips(self, seat: u32, amount: i64) -> Record {
        let _there = self.queue.upgrade();
        let mut record = Record::default();
        loop {
            let mut request = self.asks().add_chips(amount);
            self.pay_with(&mut request.transaction_id);
            let call = |mut c: Client, request| async move { c.tables.add_chips(request).await };
            record.asked_for_chips += 1;
            match self.calls.ask(&request, call).await.answer {
                Ok(answer) => {
                    let deed = if answer.pending {
                        Deed::Requested { amount }
                    } else {
                        Deed::Added { amount: answer.added }
                    };
                    record.acks.push(Ack { sequence: answer.sequence, seat, deed });
                    return record;
                }
                Err(status) if self.comes_again(&status).await => {}
                Err(_) => return record,
            }
        }
    }

    /// Leaves, and is paid out.
    pub async fn stand_up(self, seat: u32) -> Record {
        let _there = self.queue.upgrade();
        let mut request = self.asks().stand_up();
        self.pay_with(&mut request.transaction_id);
        let call = |mut c: Client, request| async move { c.tables.stand_up(request).await };
        match self.calls.ask(&request, call).await.answer {
            Ok(left) => {
                let deed = if left.pending { Deed::Leaving } else { Deed::Left { paid: left.paid } };
                Record { acks: vec![Ack { sequence: left.sequence, seat, deed }], ..Record::default() }
            }
            // He has left already.
            Err(_) => Record::default(),
        }
    }

    fn asks(&self) -> Asks<'_> {
        Asks { table_id: &self.table_id, player: &self.player }
    }

    fn pay_with(&self, transaction_id: &mut String) {
        if self.wallet {
            transaction_id.clear();
        }
    }

    /// Waits a while after a refusal. True if a new request is worth a try: the wallet has said no, or nothing.
    async fn comes_again(&self, status: &Status) -> bool {
        sleep(PAUSE).await;
        let wallet =
            matches!(reason(status), Some(ErrorReason::WalletDeclined | ErrorReason::WalletNotConfirmed));
        wallet && *self.stage.borrow() == Stage::Playing
    }
}

/// What a player is told who has bought a seat.
#[must_use]
pub fn seated(answer: &SeatPlayerResponse, buy_in: i64) -> Ack {
    let deed = Deed::Seated { session: answer.session, buy_in };
    Ack { sequence: answer.sequence, seat: answer.seat, deed }
}
