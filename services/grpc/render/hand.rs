//! A hand as one viewer sees it, and the turn that is open in it.

use rules::event::{By, Play, PromptKind};
use rules::hand::{Accepted, Decision, Prompt, Street};
use rules::view::{self, HandPlayerView, HandView, TurnView, Viewer};
use rules::{Game, Millis, Table};

use super::{amount, cards, number, numbers, timestamp};
use crate::pb::v1;

/// A hand of this game.
pub fn hand(game: Game, h: &HandView) -> v1::HandView {
    let pot = |pot: &rules::pots::Pot| v1::Pot {
        amount: amount(pot.amount),
        eligible_seats: numbers(pot.eligible),
    };
    v1::HandView {
        number: h.number,
        started: Some(timestamp(h.started_at)),
        running: h.running,
        street: street(h.street).into(),
        board: cards::cards(&h.board),
        button_seat: number(h.positions.button),
        small_blind_seat: number(h.positions.small),
        big_blind_seat: number(h.positions.big),
        pot_total: amount(h.total),
        pots: h.pots.iter().map(pot).collect(),
        seats: h.players.iter().map(|p| player(game, p)).collect(),
        turn: h.turn.as_ref().map(|open| turn(h.number, open)),
        void_reason: h.voided.clone().unwrap_or_default(),
    }
}

fn player(game: Game, p: &HandPlayerView) -> v1::HandSeat {
    let layout = if p.shown { cards::open } else { cards::closed };
    let (cards, pivot_index) = p.cards.map_or((Vec::new(), None), |holes| layout(&holes, p.pick));
    v1::HandSeat {
        seat: number(p.seat),
        player_id: p.player.as_str().to_owned(),
        bet: amount(p.bet),
        contributed: amount(p.contributed),
        folded: p.folded,
        all_in: p.all_in,
        picked: p.picked,
        card_count: u32::try_from(game.hole_cards()).unwrap_or_default(),
        cards,
        pivot_index,
        shown: p.shown,
    }
}

/// The turn that is open in this hand.
pub fn turn(hand: u64, open: &TurnView) -> v1::Turn {
    let Prompt { turn, seats, kind, at, act_by, bank_until } = open.prompt;
    v1::Turn {
        hand_number: hand,
        number: turn,
        kind: self::kind(kind).into(),
        seats: numbers(seats),
        started: Some(timestamp(at)),
        act_by: Some(timestamp(act_by)),
        bank_until: Some(timestamp(bank_until)),
        legal: legal(open),
    }
}

/// What the one player asked may do. Before a pick a fold is the only action (rules 4.5).
fn legal(open: &TurnView) -> Option<v1::LegalActions> {
    let fold = v1::LegalActions { can_fold: open.can_fold, ..Default::default() };
    let Some(now) = &open.legal else {
        return open.can_fold.then_some(fold);
    };
    let range = now.raise.as_ref();
    Some(v1::LegalActions {
        can_check: now.can_check(),
        call_amount: amount(now.call),
        can_bet: range.is_some_and(|r| r.is_bet),
        can_raise: range.is_some_and(|r| !r.is_bet),
        min_to: range.map_or(0, |r| amount(r.min_to)),
        max_to: range.map_or(0, |r| amount(r.max_to)),
        can_all_in: now.all_in,
        ..fold
    })
}

/// A street.
pub fn street(street: Street) -> v1::Street {
    match street {
        Street::PreFlop => v1::Street::PreFlop,
        Street::Flop => v1::Street::Flop,
        Street::Turn => v1::Street::Turn,
        Street::River => v1::Street::River,
    }
}

/// What a turn asks for.
pub fn kind(kind: PromptKind) -> v1::TurnKind {
    match kind {
        PromptKind::Act => v1::TurnKind::Act,
        PromptKind::Pick => v1::TurnKind::Pick,
    }
}

/// What a player did.
pub fn play(play: Play) -> v1::Action {
    match play {
        Play::Fold => v1::Action::Fold,
        Play::Check => v1::Action::Check,
        Play::Call => v1::Action::Call,
        Play::Bet => v1::Action::Bet,
        Play::Raise => v1::Action::Raise,
    }
}

/// Who decided.
pub fn by(by: By) -> v1::ActedBy {
    match by {
        By::Player => v1::ActedBy::Player,
        By::TimeOut => v1::ActedBy::TimeOut,
        By::Absence => v1::ActedBy::Absent,
    }
}

/// The answer to an action; `None` if a pivot was accepted.
pub fn acted(hand: u64, accepted: &Accepted) -> Option<v1::ActResponse> {
    let Decision::Acted { play, to, added, all_in, .. } = accepted.decision else {
        return None;
    };
    let action = v1::AcceptedAction {
        hand_number: hand,
        turn: accepted.turn,
        seat: number(accepted.seat),
        action: self::play(play).into(),
        to: amount(to),
        put_in: amount(added),
        all_in,
    };
    Some(v1::ActResponse { action: Some(action), sequence: accepted.version })
}

/// The answer to a pick, for its player; `None` if an action was accepted.
pub fn picked(hand: u64, accepted: &Accepted) -> Option<v1::SelectPivotResponse> {
    let Decision::Picked(pick) = accepted.decision else {
        return None;
    };
    Some(v1::SelectPivotResponse {
        hand_number: hand,
        turn: accepted.turn,
        seat: number(accepted.seat),
        card_index: u32::from(pick.index()),
        by: v1::ActedBy::Player.into(),
        sequence: accepted.version,
    })
}

/// Whose turn it is, and whether it is the viewer's.
pub fn whose_turn(table: &Table, viewer: &Viewer, now: Millis) -> v1::GetTurnResponse {
    let open = view::turn(table);
    let asked = open.as_ref().zip(table.running_hand()).is_some_and(|(open, hand)| match viewer {
        Viewer::Player(player) => hand.seat_of(player).is_some_and(|seat| open.prompt.seats.contains(seat)),
        Viewer::Spectator => false,
    });
    v1::GetTurnResponse {
        turn: open.as_ref().map(|open| turn(table.hands, open)),
        viewer_to_act: asked,
        sequence: table.version,
        time: Some(timestamp(now)),
    }
}
