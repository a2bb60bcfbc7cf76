//! Seats and the players in them in records.

use rules::blinds::Debt;
use rules::player::{Pending, PlayerId, Presence, Seat};
use rules::{Chips, Millis, SeatNo};

use super::CodecError;
use super::field::{Field, Record, records};
use crate::pb::store_v1 as wire;

/// Something of each seat, by the seat's index.
pub(super) type BySeat<T> = [Option<T>; SeatNo::MAX as usize];

records! {
    Seat => Seat {
        player, session, stack, bought_in, presence, established, newcomer, post, debt, wish, pending,
        leaving_transaction, time_bank, hands, timeouts, straddle, always_show, stopped, wagered, won, raked,
        wallet,
    }
    Debt => Debt { big, small }
    Pending => Pending { amount, transaction }
}

impl Record for Presence {
    type Wire = wire::Presence;

    fn to_wire(&self) -> wire::Presence {
        use wire::PresenceKind as Kind;
        let (kind, since, reason) = match self {
            Presence::In => (Kind::In, Millis::ZERO, None),
            Presence::Out { since, reason } => (Kind::Out, *since, Some(*reason)),
            Presence::Leaving => (Kind::Leaving, Millis::ZERO, None),
        };
        wire::Presence { kind: kind.into(), since: since.put(), reason: reason.put() }
    }

    fn from_wire(presence: wire::Presence) -> Result<Presence, CodecError> {
        use wire::PresenceKind as Kind;
        let wire::Presence { kind, since, reason } = presence;
        match Kind::try_from(kind) {
            Ok(Kind::In) => Ok(Presence::In),
            Ok(Kind::Out) => Ok(Presence::Out {
                since: Field::take(since, "Presence.since")?,
                reason: Field::take(reason, "Presence.reason")?,
            }),
            Ok(Kind::Leaving) => Ok(Presence::Leaving),
            Ok(Kind::Unspecified) => Err(CodecError::Missing("Presence.kind")),
            Err(_) => Err(CodecError::Invalid("Presence.kind")),
        }
    }
}

/// Pairs and the messages that they are.
macro_rules! at_seats {
    ($($value:ty => $message:ident . $field:ident)*) => {$(
        impl Record for (SeatNo, $value) {
            type Wire = wire::$message;

            fn to_wire(&self) -> wire::$message {
                wire::$message { seat: self.0.put(), $field: self.1.put() }
            }

            fn from_wire(message: wire::$message) -> Result<Self, CodecError> {
                let wire::$message { seat, $field } = message;
                Ok((
                    Field::take(seat, concat!(stringify!($message), ".seat"))?,
                    Field::take($field, concat!(stringify!($message), ".", stringify!($field)))?,
                ))
            }
        }
    )*};
}

at_seats! {
    PlayerId => PlayerAt.player
    Debt => DebtAt.debt
    Chips => ChipsAt.amount
}

/// The occupied seats.
impl Field for BySeat<Seat> {
    type Wire = Vec<wire::SeatAt>;

    fn put(&self) -> Vec<wire::SeatAt> {
        let occupied = SeatNo::all().zip(self).filter_map(|(no, seat)| Some((no, seat.as_ref()?)));
        occupied.map(|(no, seat)| wire::SeatAt { seat: no.put(), occupant: seat.put() }).collect()
    }

    fn take(seats: Vec<wire::SeatAt>, at: &'static str) -> Result<Self, CodecError> {
        let mut taken = BySeat::default();
        for wire::SeatAt { seat, occupant } in seats {
            place(&mut taken, seat, Field::take(occupant, "SeatAt.occupant")?, at)?;
        }
        Ok(taken)
    }
}

/// Puts something at the seat of that number, where nothing may be yet.
pub(super) fn place<T>(
    seats: &mut BySeat<T>,
    seat: u32,
    value: T,
    at: &'static str,
) -> Result<SeatNo, CodecError> {
    let no: SeatNo = Field::take(seat, at)?;
    match seats[no.index()].replace(value) {
        None => Ok(no),
        Some(_) => Err(CodecError::Invalid(at)),
    }
}
