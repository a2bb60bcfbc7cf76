//! The running hand in records.

use rules::SeatNo;
use rules::blinds::Positions;
use rules::hand::{Before, Betting, End, Hand, HandPlayer, Prompt};

use super::CodecError;
use super::accepted;
use super::field::{Field, Record, records};
use super::player::{BySeat, place};
use super::scope::Scope;
use super::secrets::{HandSecrets, hand_bytes, read_hand};
use crate::pb::store_v1 as wire;
use crate::store::seal::Purpose;

records! {
    Positions => Positions { button, small, big }
    Betting => Betting { level, full_raise, base, raises, live_at_start }
    Prompt => Prompt { turn, seats, kind, at, act_by, bank_until }
    Before => Before { positions, interrupted, seats }
}

/// Debt, established and newcomer of a seat.
impl Record for (SeatNo, rules::blinds::Debt, bool, bool) {
    type Wire = wire::SeatBefore;

    fn to_wire(&self) -> wire::SeatBefore {
        let (seat, debt, established, newcomer) = self;
        wire::SeatBefore {
            seat: seat.put(),
            debt: debt.put(),
            established: *established,
            newcomer: *newcomer,
        }
    }

    fn from_wire(before: wire::SeatBefore) -> Result<Self, CodecError> {
        Ok((
            Field::take(before.seat, "SeatBefore.seat")?,
            Field::take(before.debt, "SeatBefore.debt")?,
            before.established,
            before.newcomer,
        ))
    }
}

impl Record for End {
    type Wire = wire::End;

    fn to_wire(&self) -> wire::End {
        match self {
            End::Settled { uncontested } => wire::End {
                kind: wire::EndKind::Settled.into(),
                uncontested: uncontested.put(),
                reason: String::new(),
            },
            End::Voided { reason } => {
                wire::End { kind: wire::EndKind::Voided.into(), uncontested: None, reason: reason.put() }
            }
        }
    }

    fn from_wire(end: wire::End) -> Result<End, CodecError> {
        match wire::EndKind::try_from(end.kind) {
            Ok(wire::EndKind::Settled) => {
                Ok(End::Settled { uncontested: Field::take(end.uncontested, "End.uncontested")? })
            }
            Ok(wire::EndKind::Voided) => Ok(End::Voided { reason: end.reason }),
            Ok(wire::EndKind::Unspecified) => Err(CodecError::Missing("End.kind")),
            Err(_) => Err(CodecError::Invalid("End.kind")),
        }
    }
}

fn put_players(players: &BySeat<HandPlayer>) -> Vec<wire::HandPlayer> {
    let put = |(no, player): (SeatNo, &Option<HandPlayer>)| {
        // Cards and pivot are left to the hand's secrets.
        let HandPlayer {
            player,
            stack_before,
            bet,
            live,
            dead,
            returned,
            folded,
            acted,
            holes: _,
            pick: _,
            pick_timed_out,
            shown,
        } = player.as_ref()?;
        Some(wire::HandPlayer {
            seat: no.put(),
            player: player.put(),
            stack_before: stack_before.put(),
            bet: bet.put(),
            live: live.put(),
            dead: dead.put(),
            returned: returned.put(),
            folded: folded.put(),
            acted: acted.put(),
            pick_timed_out: pick_timed_out.put(),
            shown: shown.put(),
        })
    };
    SeatNo::all().zip(players).filter_map(put).collect()
}

fn take_players(
    players: Vec<wire::HandPlayer>,
    secrets: &HandSecrets,
) -> Result<BySeat<HandPlayer>, CodecError> {
    const AT: &str = "HandPlayer.seat";
    let mut taken = BySeat::default();
    for player in players {
        let (holes, pick) = secrets.seat(Field::take(player.seat, AT)?);
        let value = HandPlayer {
            player: Field::take(player.player, "HandPlayer.player")?,
            stack_before: Field::take(player.stack_before, "HandPlayer.stack_before")?,
            bet: Field::take(player.bet, "HandPlayer.bet")?,
            live: Field::take(player.live, "HandPlayer.live")?,
            dead: Field::take(player.dead, "HandPlayer.dead")?,
            returned: Field::take(player.returned, "HandPlayer.returned")?,
            folded: player.folded,
            acted: player.acted,
            holes,
            pick,
            pick_timed_out: player.pick_timed_out,
            shown: player.shown,
        };
        place(&mut taken, player.seat, value, AT)?;
    }
    if secrets.has_others(|seat| taken[seat.index()].is_some()) {
        return Err(CodecError::Invalid("Hand.secrets"));
    }
    Ok(taken)
}

pub(super) fn put(hand: &Hand, scope: Scope<'_>) -> Result<wire::Hand, CodecError> {
    let Hand {
        number,
        started_at,
        positions,
        dealt,
        deck,
        used,
        street,
        board,
        players,
        bring_in,
        next_from,
        betting,
        aggressor,
        prompt,
        turns,
        accepted,
        end,
        before,
    } = hand;
    let of_seats = players.iter().map(|player| {
        let player = player.as_ref();
        (player.and_then(|p| p.holes), player.and_then(|p| p.pick))
    });
    let secrets = hand_bytes(deck, of_seats, accepted);
    Ok(wire::Hand {
        number: number.put(),
        started_at: started_at.put(),
        positions: positions.put(),
        dealt: dealt.put(),
        secrets: scope.seal(Purpose::Hand, *number, 0, &secrets)?,
        used: used.put(),
        street: street.put(),
        board: board.put(),
        players: put_players(players),
        bring_in: bring_in.put(),
        next_from: next_from.put(),
        betting: betting.put(),
        aggressor: aggressor.put(),
        prompt: prompt.put(),
        turns: turns.put(),
        accepted: accepted::put_all(accepted),
        end: end.put(),
        before: before.put(),
    })
}

/// Without a scope the secrets stay closed; see [`super::blind`].
pub(super) fn take(hand: wire::Hand, scope: Option<Scope<'_>>) -> Result<Hand, CodecError> {
    const AT: &str = "Hand.secrets";
    let secrets = match scope {
        Some(scope) => read_hand(&scope.open(Purpose::Hand, hand.number, 0, hand.secrets, AT)?),
        None => HandSecrets::unknown(&hand.accepted),
    };
    let secrets = secrets.ok_or(CodecError::Invalid(AT))?;
    Ok(Hand {
        number: hand.number,
        started_at: Field::take(hand.started_at, "Hand.started_at")?,
        positions: Field::take(hand.positions, "Hand.positions")?,
        dealt: Field::take(hand.dealt, "Hand.dealt")?,
        used: Field::take(hand.used, "Hand.used")?,
        street: Field::take(hand.street, "Hand.street")?,
        board: Field::take(hand.board, "Hand.board")?,
        players: take_players(hand.players, &secrets)?,
        bring_in: Field::take(hand.bring_in, "Hand.bring_in")?,
        next_from: Field::take(hand.next_from, "Hand.next_from")?,
        betting: Field::take(hand.betting, "Hand.betting")?,
        aggressor: Field::take(hand.aggressor, "Hand.aggressor")?,
        prompt: Field::take(hand.prompt, "Hand.prompt")?,
        turns: hand.turns,
        accepted: accepted::take_all(hand.accepted, secrets.picks())?,
        end: Field::take(hand.end, "Hand.end")?,
        before: Field::take(hand.before, "Hand.before")?,
        deck: secrets.deck,
    })
}
