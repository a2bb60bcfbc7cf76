//! What is played: hands, decisions, clocks.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use rules::Millis;
use rules::event::{By, Event, Play as Played, PromptKind, StopScope};
use rules::table::Table;
use std::sync::atomic::AtomicU64;
use tables::Commit;

use super::labels::{OfOperator, Operator, Operators, Trace, game, limit};
use super::{Register, Traced, human_traced, observe};
use crate::telemetry::names;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfHands {
    operator: Operator,
    game: &'static str,
    limit: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfEnded {
    operator: Operator,
    game: &'static str,
    limit: &'static str,
    outcome: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfVoid {
    operator: Operator,
    reason: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfAction {
    game: &'static str,
    action: &'static str,
    by: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfGame {
    game: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfTurn {
    game: &'static str,
    kind: &'static str,
}

/// How late clocks may be.
const LATE: [f64; 9] = [0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0];
const REASONS: [&str; 3] = ["malfunction", "history_lost", "requested"];

/// What is played.
pub struct Play {
    started: Family<OfHands, Counter>,
    ended: Family<OfEnded, Counter>,
    voided: Family<OfVoid, Counter>,
    lasted: Family<OfGame, Traced, fn() -> Traced>,
    actions: Family<OfAction, Counter>,
    decisions: Family<OfTurn, Traced, fn() -> Traced>,
    timeouts: Family<OfTurn, Counter>,
    late: Histogram,
    banks: Family<OfGame, Counter<f64, AtomicU64>>,
    stopped: Family<OfOperator, Counter>,
    lost: Family<OfOperator, Counter>,
}

impl Play {
    pub(super) fn new(register: &mut Register, operators: &Operators) -> Play {
        let play = Play {
            started: Family::default(),
            ended: Family::default(),
            voided: Family::default(),
            lasted: Family::new_with_constructor(human_traced),
            actions: Family::default(),
            decisions: Family::new_with_constructor(human_traced),
            timeouts: Family::default(),
            late: Histogram::new(LATE),
            banks: Family::default(),
            stopped: Family::default(),
            lost: Family::default(),
        };
        for operator in operators.known() {
            let operator = operator.clone();
            for reason in REASONS {
                drop(play.voided.get_or_create(&OfVoid { operator: operator.clone(), reason }));
            }
            drop(play.stopped.get_or_create(&OfOperator { operator: operator.clone() }));
            drop(play.lost.get_or_create(&OfOperator { operator }));
        }
        register.enter(&names::HANDS_STARTED, play.started.clone());
        register.enter(&names::HANDS_ENDED, play.ended.clone());
        register.enter(&names::HANDS_VOIDED, play.voided.clone());
        register.enter(&names::HAND_SECONDS, play.lasted.clone());
        register.enter(&names::ACTIONS, play.actions.clone());
        register.enter(&names::DECISION_SECONDS, play.decisions.clone());
        register.enter(&names::TIMEOUTS, play.timeouts.clone());
        register.enter(&names::CLOCK_LATE_SECONDS, play.late.clone());
        register.enter(&names::TIME_BANK_SECONDS, play.banks.clone());
        register.enter(&names::STOPPED, play.stopped.clone());
        register.enter(&names::HISTORY_LOST, play.lost.clone());
        play
    }

    pub(super) fn stopped(&self, operator: Operator) {
        self.stopped.get_or_create(&OfOperator { operator }).inc();
    }

    /// How long the decisions of this commit took that the state before it waited for.
    pub(super) fn decided(&self, before: &Table, commit: &Commit, trace: impl Fn() -> Option<Trace>) {
        let Some(prompt) = before.running_hand().and_then(|hand| hand.prompt) else {
            return;
        };
        let game = game(before.config.game);
        for event in &commit.events {
            let (turn, by, kind) = match event {
                Event::Acted { turn, by, .. } => (*turn, *by, PromptKind::Act),
                Event::PivotPicked { turn, by, .. } => (*turn, *by, PromptKind::Pick),
                _ => continue,
            };
            // What the rules did at once for somebody absent was waited for by nobody.
            if turn == prompt.turn && by != By::Absence {
                let took = seconds(commit.stamped - prompt.at);
                let decisions = self.decisions.get_or_create(&OfTurn { game, kind: word(kind) });
                observe(&decisions, took, trace());
            }
        }
    }

    pub(super) fn committed(&self, operator: &Operator, commit: &Commit, trace: impl Fn() -> Option<Trace>) {
        if let Some(asked) = commit.not_before {
            self.late.observe(seconds(commit.stamped - asked));
        }
        for event in &commit.events {
            match event {
                Event::Acted { play, by, bank_used, .. } => {
                    self.acted(commit, action(*play), PromptKind::Act, *by, *bank_used);
                }
                Event::PivotPicked { by, .. } => {
                    self.acted(commit, "pick", PromptKind::Pick, *by, Millis::ZERO);
                }
                Event::HandStarted(_) => self.started(operator, commit),
                Event::HandSettled(_) => self.ended(operator, commit, "settled", trace()),
                Event::HandVoided { .. } => {
                    self.ended(operator, commit, "voided", trace());
                    let reason = reason(&commit.events);
                    self.voided.get_or_create(&OfVoid { operator: operator.clone(), reason }).inc();
                }
                Event::HistoryLost { .. } => {
                    self.lost.get_or_create(&OfOperator { operator: operator.clone() }).inc();
                }
                _ => {}
            }
        }
    }

    fn started(&self, operator: &Operator, commit: &Commit) {
        let config = &commit.table.config;
        let (operator, game, limit) = (operator.clone(), game(config.game), limit(config.limit));
        self.started.get_or_create(&OfHands { operator, game, limit }).inc();
    }

    fn ended(&self, operator: &Operator, commit: &Commit, outcome: &'static str, trace: Option<Trace>) {
        let config = &commit.table.config;
        let (operator, game, limit) = (operator.clone(), game(config.game), limit(config.limit));
        self.ended.get_or_create(&OfEnded { operator, game, limit, outcome }).inc();
        // Commits without a stamp happened when the store says; for those it is not known here.
        if let Some(hand) = commit.table.hand.as_ref().filter(|_| commit.stamped > Millis::ZERO) {
            let lasted = self.lasted.get_or_create(&OfGame { game });
            observe(&lasted, seconds(commit.stamped - hand.started_at), trace);
        }
    }

    fn acted(&self, commit: &Commit, action: &'static str, kind: PromptKind, by: By, bank: Millis) {
        let game = game(commit.table.config.game);
        let by_word = match by {
            By::Player => "player",
            By::TimeOut => "clock",
            By::Absence => "absence",
        };
        self.actions.get_or_create(&OfAction { game, action, by: by_word }).inc();
        if by == By::TimeOut {
            self.timeouts.get_or_create(&OfTurn { game, kind: word(kind) }).inc();
        }
        if bank > Millis::ZERO {
            self.banks.get_or_create(&OfGame { game }).inc_by(seconds(bank));
        }
    }
}

/// Why a commit voids its hand. A malfunction, and a loss of history, are declared in the same step.
fn reason(events: &[Event]) -> &'static str {
    let malfunction = |event: &Event| matches!(event, Event::Stopped { scope: StopScope::Malfunction, .. });
    let [by_malfunction, by_loss, by_request] = REASONS;
    if events.iter().any(|event| matches!(event, Event::HistoryLost { .. })) {
        by_loss
    } else if events.iter().any(malfunction) {
        by_malfunction
    } else {
        by_request
    }
}

const fn action(play: Played) -> &'static str {
    match play {
        Played::Fold => "fold",
        Played::Check => "check",
        Played::Call => "call",
        Played::Bet => "bet",
        Played::Raise => "raise",
    }
}

const fn word(kind: PromptKind) -> &'static str {
    match kind {
        PromptKind::Act => "act",
        PromptKind::Pick => "pick",
    }
}

/// Only for the eye: nothing is decided by it.
#[allow(clippy::cast_precision_loss)]
fn seconds(millis: Millis) -> f64 {
    millis.0 as f64 / 1000.0
}
