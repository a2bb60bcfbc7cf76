//! The secrets of a hand as bytes: deck, hole cards and pivots. Their length follows from what is not secret.

use rules::deck::{DECK_SIZE, Deck};
use rules::hand::{Accepted, Decision, Holes};
use rules::{Card, Pick, SeatNo};
use zeroize::Zeroizing;

use super::CodecError;
use super::scope::{NOTHING, Secret};
use crate::pb::store_v1 as wire;

/// Three hole cards and a pivot.
const SEAT_LEN: usize = 4;

/// One seat's secrets.
type SeatSecrets = (Option<Holes>, Option<Pick>);

/// All that is secret in a hand.
pub(super) struct HandSecrets {
    pub deck: Box<Deck>,
    seats: Vec<SeatSecrets>,
    picks: Vec<Pick>,
}

impl HandSecrets {
    /// What stands for the secrets where nobody may see them: no hole cards, any deck, any pivots.
    pub fn unknown(accepted: &[wire::Accepted]) -> Option<HandSecrets> {
        let picks = unknown_picks(accepted)?;
        Some(HandSecrets { deck: Box::new(Deck::ordered()), seats: Vec::new(), picks })
    }

    /// The hole cards and the pivot of a seat.
    pub fn seat(&self, seat: SeatNo) -> SeatSecrets {
        self.seats.get(seat.index()).copied().unwrap_or_default()
    }

    /// The accepted pivots, in their order.
    pub fn picks(&self) -> &[Pick] {
        &self.picks
    }

    /// Whether a seat has secrets that is not `known`.
    pub fn has_others(&self, known: impl Fn(SeatNo) -> bool) -> bool {
        SeatNo::all().any(|seat| !known(seat) && self.seat(seat) != (None, None))
    }
}

/// The bytes of a hand's secrets; `seats` by index, all ten.
pub(super) fn hand_bytes(
    deck: &Deck,
    seats: impl Iterator<Item = SeatSecrets>,
    accepted: &[Accepted],
) -> Secret {
    let len = DECK_SIZE + SEAT_LEN * usize::from(SeatNo::MAX) + accepted.len();
    let mut bytes = Zeroizing::new(Vec::with_capacity(len));
    bytes.extend_from_slice(&*deck_bytes(deck));
    for (holes, pick) in seats {
        let holes = holes.as_ref().map_or([NOTHING; 3], holes_bytes);
        bytes.extend_from_slice(&holes);
        bytes.push(pick.map_or(NOTHING, Pick::index));
    }
    bytes.extend_from_slice(&picks_bytes(accepted));
    bytes
}

/// Reads what [`hand_bytes`] made.
pub(super) fn read_hand(bytes: &Secret) -> Option<HandSecrets> {
    let (deck, rest) = bytes.split_at_checked(DECK_SIZE)?;
    let (seats, picks) = rest.split_at_checked(SEAT_LEN * usize::from(SeatNo::MAX))?;
    Some(HandSecrets {
        deck: Box::new(read_deck(deck)?),
        seats: seats.chunks(SEAT_LEN).map(read_seat).collect::<Option<_>>()?,
        picks: read_picks(picks)?,
    })
}

fn read_seat(bytes: &[u8]) -> Option<SeatSecrets> {
    let [holes @ .., pick] = bytes else {
        return None;
    };
    let holes = match holes {
        [NOTHING, NOTHING, NOTHING] => None,
        holes => Some(read_holes(holes)?),
    };
    let pick = match *pick {
        NOTHING => None,
        pick => Some(Pick::new(pick)?),
    };
    Some((holes, pick))
}

pub(super) fn deck_bytes(deck: &Deck) -> Zeroizing<[u8; DECK_SIZE]> {
    Zeroizing::new(deck.cards().map(Card::index))
}

pub(super) fn read_deck(bytes: &[u8]) -> Option<Deck> {
    let cards = bytes.iter().map(|index| Card::from_index(*index));
    let cards: Vec<Card> = cards.collect::<Option<_>>()?;
    Deck::new(cards.try_into().ok()?).ok()
}

/// Always three bytes, whatever the game.
pub(super) fn holes_bytes(holes: &Holes) -> [u8; 3] {
    let mut bytes = [NOTHING; 3];
    for (byte, card) in bytes.iter_mut().zip(holes.cards()) {
        *byte = card.index();
    }
    bytes
}

pub(super) fn read_holes(bytes: &[u8]) -> Option<Holes> {
    let given = match bytes {
        [given @ .., NOTHING] => given,
        given => given,
    };
    let cards: Vec<Card> = given.iter().map(|index| Card::from_index(*index)).collect::<Option<_>>()?;
    Holes::from_cards(&cards)
}

/// A pivot for each that was picked, which it is not.
pub(super) fn unknown_picks(accepted: &[wire::Accepted]) -> Option<Vec<Pick>> {
    let picked = |one: &&wire::Accepted| matches!(one.decision, Some(wire::accepted::Decision::Picked(_)));
    accepted.iter().filter(picked).map(|_| Pick::new(0)).collect()
}

/// The pivots among accepted decisions, one byte each.
pub(super) fn picks_bytes(accepted: &[Accepted]) -> Secret {
    let picks = accepted.iter().filter_map(|accepted| match accepted.decision {
        Decision::Picked(pick) => Some(pick.index()),
        Decision::Acted { .. } => None,
    });
    Zeroizing::new(picks.collect())
}

pub(super) fn read_picks(bytes: &[u8]) -> Option<Vec<Pick>> {
    bytes.iter().map(|index| Pick::new(*index)).collect()
}

/// Hands out pivots to accepted decisions; all of them have to be used.
pub(super) struct Picks<'a>(pub std::slice::Iter<'a, Pick>);

impl Picks<'_> {
    pub fn next(&mut self) -> Result<Pick, CodecError> {
        let pick = self.0.next();
        pick.copied().ok_or(CodecError::Missing("Accepted.picked"))
    }

    pub fn finish(self) -> Result<(), CodecError> {
        match self.0.as_slice() {
            [] => Ok(()),
            _ => Err(CodecError::Invalid("Accepted.picked")),
        }
    }
}
