//! Accepted decisions in records. Which pivot was picked stays with the secrets of the hand.

use rules::command::Action;
use rules::hand::{Accepted, Decision, PastHand};
use rules::player::PlayerId;
use rules::{Chips, Pick, SeatNo};

use super::CodecError;
use super::field::{Field, Record};
use super::scope::Scope;
use super::secrets::{Picks, picks_bytes, read_picks, unknown_picks};
use crate::pb::store_v1 as wire;
use crate::store::seal::Purpose;
use wire::accepted::Decision as WireDecision;

impl Record for Action {
    type Wire = wire::Action;

    fn to_wire(&self) -> wire::Action {
        use wire::ActionKind as Kind;
        let (kind, to) = match self {
            Action::Fold => (Kind::Fold, Chips::ZERO),
            Action::Check => (Kind::Check, Chips::ZERO),
            Action::Call => (Kind::Call, Chips::ZERO),
            Action::Bet(to) => (Kind::Bet, *to),
            Action::Raise(to) => (Kind::Raise, *to),
            Action::AllIn => (Kind::AllIn, Chips::ZERO),
        };
        wire::Action { kind: kind.into(), to: to.0 }
    }

    fn from_wire(action: wire::Action) -> Result<Action, CodecError> {
        use wire::ActionKind as Kind;
        let to = Chips(action.to);
        let kind = Kind::try_from(action.kind).map_err(|_| CodecError::Invalid("Action.kind"))?;
        match kind {
            Kind::Bet => Ok(Action::Bet(to)),
            Kind::Raise => Ok(Action::Raise(to)),
            Kind::Unspecified => Err(CodecError::Missing("Action.kind")),
            _ if !to.is_zero() => Err(CodecError::Invalid("Action.to")),
            Kind::Fold => Ok(Action::Fold),
            Kind::Check => Ok(Action::Check),
            Kind::Call => Ok(Action::Call),
            Kind::AllIn => Ok(Action::AllIn),
        }
    }
}

pub(super) fn put_all(accepted: &[Accepted]) -> Vec<wire::Accepted> {
    accepted.iter().map(put).collect()
}

fn put(accepted: &Accepted) -> wire::Accepted {
    let Accepted { turn, seat, decision, version } = accepted;
    let decision = match decision {
        Decision::Acted { asked, play, to, added, all_in } => WireDecision::Acted(wire::AcceptedAct {
            asked: asked.put(),
            play: play.put(),
            to: to.put(),
            added: added.put(),
            all_in: all_in.put(),
        }),
        Decision::Picked(_) => WireDecision::Picked(wire::AcceptedPick {}),
    };
    wire::Accepted { turn: turn.put(), seat: seat.put(), version: version.put(), decision: Some(decision) }
}

/// Reads decisions, and gives each pivot among them its pick.
pub(super) fn take_all(accepted: Vec<wire::Accepted>, picks: &[Pick]) -> Result<Vec<Accepted>, CodecError> {
    let mut picks = Picks(picks.iter());
    let taken = accepted.into_iter().map(|one| take(one, &mut picks));
    let taken = taken.collect::<Result<_, _>>()?;
    picks.finish()?;
    Ok(taken)
}

fn take(accepted: wire::Accepted, picks: &mut Picks<'_>) -> Result<Accepted, CodecError> {
    let decision = match accepted.decision {
        Some(WireDecision::Acted(act)) => Decision::Acted {
            asked: Field::take(act.asked, "AcceptedAct.asked")?,
            play: Field::take(act.play, "AcceptedAct.play")?,
            to: Chips(act.to),
            added: Chips(act.added),
            all_in: act.all_in,
        },
        Some(WireDecision::Picked(wire::AcceptedPick {})) => Decision::Picked(picks.next()?),
        None => return Err(CodecError::Missing("Accepted.decision")),
    };
    Ok(Accepted {
        turn: accepted.turn,
        seat: Field::take(accepted.seat, "Accepted.seat")?,
        decision,
        version: accepted.version,
    })
}

pub(super) fn put_past(past: &PastHand, scope: Scope<'_>) -> Result<wire::PastHand, CodecError> {
    let PastHand { number, players, accepted } = past;
    let picks = picks_bytes(accepted);
    let picks = if picks.is_empty() { None } else { scope.seal(Purpose::PastPicks, *number, 0, &picks)? };
    Ok(wire::PastHand { number: number.put(), players: players.put(), accepted: put_all(accepted), picks })
}

/// Without a scope the secrets stay closed; see [`super::blind`].
pub(super) fn take_past(past: wire::PastHand, scope: Option<Scope<'_>>) -> Result<PastHand, CodecError> {
    const AT: &str = "PastHand.picks";
    let picks = match (past.picks, scope) {
        (_, None) => unknown_picks(&past.accepted),
        (None, _) => Some(Vec::new()),
        (sealed, Some(scope)) => read_picks(&scope.open(Purpose::PastPicks, past.number, 0, sealed, AT)?),
    };
    let picks = picks.ok_or(CodecError::Invalid(AT))?;
    Ok(PastHand {
        number: past.number,
        players: <Vec<(SeatNo, PlayerId)>>::take(past.players, "PastHand.players")?,
        accepted: take_all(past.accepted, &picks)?,
    })
}
