//! A bot of a run: it watches its table with its player's eyes, answers its turns with anything legal, and notes what it
//! was told and what was acknowledged to it.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tonic::Status;

use super::calls::{Called, Calls};
use super::cashier::Cashier;
use super::check::{Ack, Deed, Denied, Record, View};
use super::choice::choose;
use super::stream::Stream;
use crate::cli::asks::Asks;
use crate::cli::client::{as_player, reason};
use crate::cli::share::Share;
use crate::cli::sight::Sight;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{ActedBy, ErrorReason, SitOutReason, TableMessage, Turn, TurnKind};

/// How many cards a player of Double Hold'em can pick from.
const CARDS: u32 = 3;
/// A bot waits so long for the rest of its stream when all is over.
const LAST_NEWS: Duration = Duration::from_secs(60);

/// Where a table of a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It plays.
    Playing,
    /// The running hand is its last.
    Ending,
    /// Nothing more happens after this sequence.
    Over(u64),
}

/// How bots play.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// How long they think, on average.
    pub think: Duration,
    /// The share of decisions that they leave to the clock.
    pub absent: Share,
    /// The share of bets that they fold to without further ado.
    pub fold: Share,
    /// The share of hands after which they leave and come back; after as many they add chips.
    pub churn: Share,
    /// The operator's wallet pays.
    pub wallet: bool,
    /// What they buy in for, in minor units.
    pub buy_in: i64,
    /// Whether they note what they were told.
    pub notes: bool,
}

/// Of a buy-in, what is added where nobody is broke.
const SOME_CHIPS: i64 = 4;

type Errand = Pin<Box<dyn Future<Output = Record> + Send>>;

/// A bot.
pub struct Bot {
    calls: Calls,
    cashier: Cashier,
    manner: Manner,
    stage: watch::Receiver<Stage>,
    rng: Xoshiro256PlusPlus,
    stream: Stream,
    sight: Sight,
    view: View,
    record: Record,
    /// What it is about to do.
    errand: Option<Errand>,
    /// What is about its money goes on beside that: a wallet that hangs costs nobody his turn.
    money: Option<Errand>,
    /// The last sequence that it has heard, and the one that has to be heard before it goes to the cashier again.
    heard: u64,
    told: u64,
    /// After so many hands it was decided whether to stay.
    stayed: u64,
    /// The turn answered last: hand and number.
    answered: (u64, u32),
    came_back: bool,
}

impl Bot {
    /// A bot for a player of this table. It takes a seat if he has none.
    #[must_use]
    pub fn new(cashier: Cashier, manner: Manner, seed: u64) -> Bot {
        let (calls, name) = (cashier.calls.clone(), cashier.player.clone());
        let tables = BTreeMap::from([(cashier.table_id.clone(), None)]);
        Bot {
            manner,
            stage: cashier.stage.clone(),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            stream: Stream::new(calls.clone(), tables, as_player(&name)),
            sight: Sight::new(&name),
            view: View::new(&name),
            calls,
            record: Record { player: name, ..Record::default() },
            cashier,
            errand: None,
            money: None,
            heard: 0,
            told: 1,
            stayed: 0,
            answered: (0, 0),
            came_back: false,
        }
    }

    /// Plays until the table is over: what it was told, and what was acknowledged to it.
    pub async fn play(mut self) -> (View, Record) {
        let mut until = None;
        loop {
            let stage = *self.stage.borrow_and_update();
            if let Stage::Over(last) = stage {
                let limit = *until.get_or_insert_with(|| Instant::now() + LAST_NEWS);
                let idle = self.errand.is_none() && self.money.is_none();
                let heard = idle && (self.view.last() >= last || !self.manner.notes);
                if heard || Instant::now() >= limit {
                    self.record.unknown += u64::from(!idle);
                    return (self.view, self.record);
                }
            }
            let patience = until.unwrap_or_else(|| Instant::now() + LAST_NEWS);
            tokio::select! {
                message = self.stream.next() => self.hear(&message),
                done = run(&mut self.errand) => {
                    self.errand = None;
                    self.record.merge(done);
                }
                done = run(&mut self.money) => {
                    self.money = None;
                    // He may ask again for what he did not get.
                    self.came_back &= !done.acks.is_empty();
                    self.told = done.acks.iter().map(|ack| ack.sequence).fold(self.told, u64::max);
                    self.record.merge(done);
                }
                _ = self.stage.changed() => {}
                () = tokio::time::sleep_until(patience) => {}
            }
            if self.errand.is_none() {
                self.errand = self.next_errand();
            }
            if self.money.is_none() {
                self.money = self.next_way_to_the_cashier();
            }
        }
    }

    fn hear(&mut self, message: &TableMessage) {
        if self.manner.notes {
            self.view.hear(message);
        }
        match &message.content {
            Some(Content::Snapshot(table)) => self.sight.reset(table),
            Some(Content::Update(update)) => self.sight.apply(update),
            _ => return,
        }
        self.heard = message.sequence;
    }

    fn next_errand(&mut self) -> Option<Errand> {
        let stage = *self.stage.borrow();
        self.answer().or_else(|| if stage == Stage::Playing { self.come_back() } else { None })
    }

    fn answer(&mut self) -> Option<Errand> {
        let seat = self.sight.seat?;
        let turn = self.sight.my_turn()?.clone();
        let this = (turn.hand_number, turn.number);
        if this == self.answered {
            return None;
        }
        self.answered = this;
        if self.manner.absent.hits(&mut self.rng) {
            return None;
        }
        let half = self.manner.think / 2;
        let think = half + self.rng.random_range(Duration::ZERO..=half * 2);
        Some(match turn.kind() {
            TurnKind::Pick => self.pick(&turn, seat, think),
            _ => self.act(&turn, seat, think),
        })
    }

    fn act(&mut self, turn: &Turn, seat: u32, think: Duration) -> Errand {
        let (action, to) = choose(&turn.legal.unwrap_or_default(), self.manner.fold, &mut self.rng);
        let request = self.asks().act(turn, action, to);
        let (calls, denied) = (self.calls.clone(), denied(turn, seat));
        Box::pin(async move {
            sleep(think).await;
            let called =
                calls.ask(&request, |mut c, request| async move { c.actions.act(request).await }).await;
            decided(&calls, denied, called, |answer| {
                let told = answer.action?;
                let (hand, turn, action) = (told.hand_number, told.turn, told.action());
                let deed = Deed::Acted { hand, turn, action, to: told.to, put_in: told.put_in };
                Some(Ack { sequence: answer.sequence, seat: told.seat, deed })
            })
        })
    }

    fn pick(&mut self, turn: &Turn, seat: u32, think: Duration) -> Errand {
        let card = self.rng.random_range(0..CARDS);
        let request = self.asks().pick(turn, card);
        let (calls, denied) = (self.calls.clone(), denied(turn, seat));
        Box::pin(async move {
            sleep(think).await;
            let called = calls
                .ask(&request, |mut c, request| async move { c.pivots.select_pivot(request).await })
                .await;
            decided(&calls, denied, called, |answer| {
                let deed = Deed::Picked { hand: answer.hand_number, turn: answer.turn };
                let own = answer.by() == ActedBy::Player;
                own.then_some(Ack { sequence: answer.sequence, seat: answer.seat, deed })
            })
        })
    }

    /// Sits in again after time-outs.
    fn come_back(&mut self) -> Option<Errand> {
        if !self.is_out(SitOutReason::TimeOuts) {
            return None;
        }
        let (calls, request) = (self.calls.clone(), self.asks().sit_in());
        Some(Box::pin(async move {
            calls.ask(&request, |mut c, request| async move { c.tables.sit_in(request).await }).await;
            Record::default()
        }))
    }

    /// True once for each time that he is out for this reason.
    fn is_out(&mut self, why: SitOutReason) -> bool {
        let out = self.sight.out.filter(|_| !self.sight.closing && self.sight.seat.is_some());
        self.came_back &= out.is_some();
        let now = out == Some(why) && !self.came_back;
        self.came_back |= now;
        now
    }

    /// Takes a seat, buys in again when broke, and comes and goes.
    fn next_way_to_the_cashier(&mut self) -> Option<Errand> {
        if *self.stage.borrow() != Stage::Playing || self.sight.closing || self.heard < self.told {
            return None;
        }
        let (cashier, buy_in) = (self.cashier.clone(), self.manner.buy_in);
        let Some(seat) = self.sight.seat else {
            // He brings back at least what he left with (rules 9.2).
            let least = self.sight.paid.unwrap_or_default();
            return Some(Box::pin(cashier.sit_down(buy_in.max(least))));
        };
        // New chips bring him back by themselves.
        if self.is_out(SitOutReason::NoChips) {
            return Some(Box::pin(cashier.add_chips(seat, buy_in)));
        }
        if std::mem::replace(&mut self.stayed, self.sight.played) == self.sight.played {
            return None;
        }
        if self.manner.churn.hits(&mut self.rng) {
            return Some(Box::pin(cashier.stand_up(seat)));
        }
        let adds = self.manner.churn.hits(&mut self.rng);
        adds.then(|| Box::pin(cashier.add_chips(seat, buy_in / SOME_CHIPS)) as Errand)
    }

    fn asks(&self) -> Asks<'_> {
        Asks { table_id: &self.cashier.table_id, player: &self.cashier.player }
    }
}

/// Waits for an errand; for ever if there is none.
async fn run(errand: &mut Option<Errand>) -> Record {
    match errand {
        Some(errand) => errand.await,
        None => std::future::pending().await,
    }
}

const fn denied(turn: &Turn, seat: u32) -> Denied {
    Denied { hand: turn.hand_number, turn: turn.number, seat }
}

/// What a decision led to.
fn decided<T>(
    calls: &Calls,
    denied: Denied,
    called: Called<T>,
    ack: impl FnOnce(T) -> Option<Ack>,
) -> Record {
    let mut record = Record::default();
    match called.answer {
        Ok(answer) => {
            calls.meter.acked(called.took);
            record.acks.extend(ack(answer));
        }
        Err(status) if says_undone(&status, called.in_doubt) => record.denied.push(denied),
        Err(_) => record.unknown += u64::from(called.in_doubt),
    }
    record
}

/// Refusals that say that the turn was not decided by this call, nor by the same one before. A clock that ran out says it
/// of this call only: one before, which came in time, may still be on its way.
fn says_undone(status: &Status, in_doubt: bool) -> bool {
    use ErrorReason::{ClockRanOut, IllegalAction, IllegalAmount, NotYourTurn, TurnPassed};
    match reason(status) {
        Some(TurnPassed | NotYourTurn | IllegalAction | IllegalAmount) => true,
        Some(ClockRanOut) => !in_doubt,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;
    use tonic_types::{ErrorDetails, StatusExt};

    #[test]
    fn only_a_refusal_that_speaks_for_all_tries_is_held_against_the_log() {
        let refused = |reason: &str| {
            let details = ErrorDetails::with_error_info(reason, "fulcrum", []);
            Status::with_error_details(Code::FailedPrecondition, "no", details)
        };
        assert!(says_undone(&refused("TURN_PASSED"), true));
        assert!(says_undone(&refused("CLOCK_RAN_OUT"), false));
        assert!(!says_undone(&refused("CLOCK_RAN_OUT"), true));
        assert!(
            !says_undone(&refused("HAND_OVER"), false),
            "the hand is over, with this decision or without"
        );
        assert!(!says_undone(&Status::unknown("broken pipe"), false));
    }
}
