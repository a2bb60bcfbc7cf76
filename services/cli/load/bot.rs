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
use super::check::{Ack, Deed, Denied, Record, View};
use super::choice::choose;
use super::stream::Stream;
use crate::cli::asks::Asks;
use crate::cli::client::{as_player, reason};
use crate::cli::share::Share;
use crate::cli::sight::Sight;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{ActedBy, AddChipsRequest, ErrorReason, SitOutReason, TableMessage, Turn, TurnKind};

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
    /// What they buy in for, in minor units.
    pub buy_in: i64,
    /// Whether they note what they were told.
    pub notes: bool,
}

type Errand = Pin<Box<dyn Future<Output = Record> + Send>>;

/// A bot.
pub struct Bot {
    calls: Calls,
    table_id: String,
    name: String,
    manner: Manner,
    stage: watch::Receiver<Stage>,
    rng: Xoshiro256PlusPlus,
    stream: Stream,
    sight: Sight,
    view: View,
    record: Record,
    /// What it is about to do.
    errand: Option<Errand>,
    /// The turn answered last: hand and number.
    answered: (u64, u32),
    came_back: bool,
}

impl Bot {
    /// A bot for a player who sits at this table.
    #[must_use]
    pub fn new(
        calls: &Calls,
        (table_id, name): (&str, &str),
        manner: Manner,
        seed: u64,
        stage: watch::Receiver<Stage>,
    ) -> Bot {
        let tables = BTreeMap::from([(table_id.to_owned(), None)]);
        Bot {
            calls: calls.clone(),
            table_id: table_id.to_owned(),
            name: name.to_owned(),
            manner,
            stage,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            stream: Stream::new(calls.clone(), tables, as_player(name)),
            sight: Sight::new(name),
            view: View::new(name),
            record: Record { player: name.to_owned(), ..Record::default() },
            errand: None,
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
                let heard = self.errand.is_none() && (self.view.last() >= last || !self.manner.notes);
                if heard || Instant::now() >= limit {
                    self.record.unknown += u64::from(self.errand.is_some());
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
                _ = self.stage.changed() => {}
                () = tokio::time::sleep_until(patience) => {}
            }
            if self.errand.is_none() {
                self.errand = self.next_errand();
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
            _ => {}
        }
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
        let (action, to) = choose(&turn.legal.unwrap_or_default(), &mut self.rng);
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

    /// Buys in again when broke, and sits in again after time-outs.
    fn come_back(&mut self) -> Option<Errand> {
        let out = self.sight.out.filter(|_| !self.sight.closing);
        let (Some(out), Some(seat)) = (out, self.sight.seat) else {
            self.came_back = false;
            return None;
        };
        if self.came_back || !matches!(out, SitOutReason::NoChips | SitOutReason::TimeOuts) {
            return None;
        }
        self.came_back = true;
        let calls = self.calls.clone();
        Some(match out {
            // New chips bring him back by themselves.
            SitOutReason::NoChips => {
                let request = self.asks().add_chips(self.manner.buy_in);
                Box::pin(async move {
                    let acks = Vec::from_iter(add_chips(&calls, &request, seat).await);
                    Record { acks, asked_for_chips: 1, ..Record::default() }
                })
            }
            _ => {
                let request = self.asks().sit_in();
                Box::pin(async move {
                    calls.ask(&request, |mut c, request| async move { c.tables.sit_in(request).await }).await;
                    Record::default()
                })
            }
        })
    }

    fn asks(&self) -> Asks<'_> {
        Asks { table_id: &self.table_id, player: &self.name }
    }
}

/// Waits for an errand; for ever if there is none.
async fn run(errand: &mut Option<Errand>) -> Record {
    match errand {
        Some(errand) => errand.await,
        None => std::future::pending().await,
    }
}

async fn add_chips(calls: &Calls, request: &AddChipsRequest, seat: u32) -> Option<Ack> {
    let called = calls.ask(request, |mut c, request| async move { c.tables.add_chips(request).await }).await;
    let answer = called.answer.ok()?;
    let deed = if answer.pending {
        Deed::Requested { amount: request.amount }
    } else {
        Deed::Added { amount: answer.added }
    };
    Some(Ack { sequence: answer.sequence, seat, deed })
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
