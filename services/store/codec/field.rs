//! How one field or one message goes into a record and comes out again. Both ways are written in one place, so that they
//! cannot drift apart.

use rules::hand::Holes;
use rules::player::PlayerId;
use rules::{Card, Chips, HandValue, Millis, Pick, SeatNo, SeatSet};
use uuid::Uuid;

use super::CodecError;

/// Something that is a field of a record.
pub(super) trait Field: Sized {
    /// What the generated code has for it.
    type Wire;

    fn put(&self) -> Self::Wire;

    /// `at` is the field's name for errors.
    fn take(wire: Self::Wire, at: &'static str) -> Result<Self, CodecError>;
}

/// Something that is a message of its own.
pub(super) trait Record: Sized {
    /// The generated message.
    type Wire;

    fn to_wire(&self) -> Self::Wire;

    fn from_wire(wire: Self::Wire) -> Result<Self, CodecError>;
}

/// Messages whose fields have the names of the rules: both ways from one list. A field that is missing on either side
/// does not compile.
macro_rules! records {
    ($($ours:ty => $message:ident { $($field:ident),* $(,)? })*) => {$(
        impl Record for $ours {
            type Wire = wire::$message;

            fn to_wire(&self) -> wire::$message {
                let Self { $($field),* } = self;
                wire::$message { $($field: Field::put($field)),* }
            }

            fn from_wire(message: wire::$message) -> Result<Self, CodecError> {
                let wire::$message { $($field),* } = message;
                Ok(Self {
                    $($field: Field::take(
                        $field,
                        concat!(stringify!($message), ".", stringify!($field)),
                    )?),*
                })
            }
        }
    )*};
}
pub(super) use records;

impl<T: Record> Field for T {
    type Wire = Option<T::Wire>;

    fn put(&self) -> Option<T::Wire> {
        Some(self.to_wire())
    }

    fn take(wire: Option<T::Wire>, at: &'static str) -> Result<T, CodecError> {
        T::from_wire(wire.ok_or(CodecError::Missing(at))?)
    }
}

impl<T: Record> Field for Option<T> {
    type Wire = Option<T::Wire>;

    fn put(&self) -> Option<T::Wire> {
        self.as_ref().map(Record::to_wire)
    }

    fn take(wire: Option<T::Wire>, _at: &'static str) -> Result<Option<T>, CodecError> {
        wire.map(T::from_wire).transpose()
    }
}

impl<T: Record> Field for Vec<T> {
    type Wire = Vec<T::Wire>;

    fn put(&self) -> Vec<T::Wire> {
        self.iter().map(Record::to_wire).collect()
    }

    fn take(wire: Vec<T::Wire>, _at: &'static str) -> Result<Vec<T>, CodecError> {
        wire.into_iter().map(T::from_wire).collect()
    }
}

/// Fields that are what they are.
macro_rules! plain {
    ($($ours:ty),*) => {$(
        impl Field for $ours {
            type Wire = $ours;

            fn put(&self) -> $ours {
                self.clone()
            }

            fn take(wire: $ours, _at: &'static str) -> Result<$ours, CodecError> {
                Ok(wire)
            }
        }
    )*};
}

plain! { bool, u32, u64, String }

/// Fields that are a smaller set of another type; and the same as optional fields.
macro_rules! narrowed {
    ($($ours:ty => $wire:ty, $put:expr, $take:expr;)*) => {$(
        impl Field for $ours {
            type Wire = $wire;

            fn put(&self) -> $wire {
                let put: fn(&$ours) -> $wire = $put;
                put(self)
            }

            fn take(wire: $wire, at: &'static str) -> Result<$ours, CodecError> {
                let take: fn($wire) -> Option<$ours> = $take;
                take(wire).ok_or(CodecError::Invalid(at))
            }
        }

        impl Field for Option<$ours> {
            type Wire = Option<$wire>;

            fn put(&self) -> Option<$wire> {
                self.as_ref().map(Field::put)
            }

            fn take(wire: Option<$wire>, at: &'static str) -> Result<Self, CodecError> {
                wire.map(|wire| Field::take(wire, at)).transpose()
            }
        }
    )*};
}

narrowed! {
    u8 => u32, |n| u32::from(*n), |n| u8::try_from(n).ok();
    u16 => u32, |n| u32::from(*n), |n| u16::try_from(n).ok();
    Chips => u64, |chips| chips.0, |n| Some(Chips(n));
    Millis => u64, |time| time.0, |n| Some(Millis(n));
    SeatNo => u32, |seat| u32::from(seat.number()), |n| SeatNo::new(u8::try_from(n).ok()?);
    SeatSet => u32, |seats| u32::from(seats.bits()), seats;
    Pick => u32, |pick| u32::from(pick.index()), |n| Pick::new(u8::try_from(n).ok()?);
    HandValue => u32, |value| value.bits(), HandValue::from_bits;
    PlayerId => String, |player| player.as_str().to_owned(), |name| PlayerId::new(&name);
    Uuid => Vec<u8>, |id| id.as_bytes().to_vec(), |bytes| Uuid::from_slice(&bytes).ok();
    [u8; 3] => String, currency_text, |text| text.into_bytes().try_into().ok();
    [u8; 16] => Vec<u8>, |id| id.to_vec(), |bytes| bytes.try_into().ok();
    [u8; 32] => Vec<u8>, |hash| hash.to_vec(), |bytes| bytes.try_into().ok();
    Vec<Card> => Vec<u8>, |cards| cards.iter().map(|card| card.index()).collect(), cards;
    Holes => Vec<u8>, |holes| holes.cards().iter().map(|card| card.index()).collect(),
        |bytes| Holes::from_cards(&cards(bytes)?);
}

impl Field for Vec<u64> {
    type Wire = Vec<u64>;

    fn put(&self) -> Vec<u64> {
        self.clone()
    }

    fn take(wire: Vec<u64>, _at: &'static str) -> Result<Vec<u64>, CodecError> {
        Ok(wire)
    }
}

/// Seats beyond the tenth would be lost silently.
fn seats(bits: u32) -> Option<SeatSet> {
    let bits = u16::try_from(bits).ok()?;
    let seats = SeatSet::from_bits(bits);
    (seats.bits() == bits).then_some(seats)
}

/// Cards that lie open; never more than a board.
fn cards(bytes: Vec<u8>) -> Option<Vec<Card>> {
    let fits = bytes.len() <= 5;
    fits.then(|| bytes.into_iter().map(Card::from_index).collect())?
}

/// A currency is three letters; what else a hand-made state may have there is kept readable, not exact.
fn currency_text(currency: &[u8; 3]) -> String {
    String::from_utf8_lossy(currency).into_owned()
}
