//! Events in records. Those that hold secrets, or a message of their own, are written out; the others are lists of fields.

use rules::event::{Event, HandStart};
use rules::hand::Holes;
use rules::pivot::Pick;
use rules::player::PlayerId;
use rules::result::HandResult;
use rules::{Deck, SeatNo};

use super::CodecError;
use super::field::Field;
use super::scope::Scope;
use super::secrets::{deck_bytes, holes_bytes, read_deck, read_holes};
use crate::pb::store_v1 as wire;
use crate::store::seal::Purpose;
use wire::event::Kind;

/// Both ways of all events without secrets. An event that is in neither list does not compile.
macro_rules! events {
    (
        plain { $($name:ident { $($field:ident),* })* }
        others { $($other:ident),* }
    ) => {
        /// The record of an event without secrets.
        fn put_plain(event: &Event) -> Option<Kind> {
            match event {
                $(Event::$name { $($field),* } => Some(Kind::$name(wire::$name {
                    $($field: Field::put($field)),*
                })),)*
                $(Event::$other { .. })|* => None,
            }
        }

        fn name_of(kind: &Kind) -> &'static str {
            match kind {
                $(Kind::$name(_) => stringify!($name),)*
                $(Kind::$other(_) => stringify!($other),)*
            }
        }

        /// An event without secrets, or the record of another one.
        fn take_plain(kind: Kind) -> Result<Result<Event, Kind>, CodecError> {
            match kind {
                $(Kind::$name(wire::$name { $($field),* }) => Ok(Ok(Event::$name {
                    $($field: Field::take(
                        $field,
                        concat!(stringify!($name), ".", stringify!($field)),
                    )?),*
                })),)*
                other @ ($(Kind::$other(_))|*) => Ok(Err(other)),
            }
        }
    };
}

events! {
    plain {
        Opened { config, at }
        ConfigChanged { config }
        Stopped { scope, reason, at }
        Resumed { scope, at }
        ClosingAsked { reason }
        Closed { reason, at }
        PlayerSeated { seat, player, session, buy_in, post, transaction, at }
        PlayerLeaving { seat, transaction }
        PlayerStoodUp { seat, player, session, paid, reason, transaction, at }
        WishSet { seat, wish }
        SatOut { seat, reason, at }
        SatIn { seat, post }
        PlayerStopped { seat, reason, at }
        PlayerResumed { seat, at }
        PreferencesSet { seat, straddle, always_show }
        ChipsRequested { seat, amount, transaction }
        ChipsAdded { seat, player, session, added, returned, transaction, at }
        HandScheduled { at }
        PlayHalted { }
        ClocksShifted { from, to }
        HistoryLost { last, until, hands, sessions, at }
        TimeBankRefilled { seat, bank }
        Posted { seat, kind, amount }
        Prompted { turn, seats, kind, at, act_by, bank_until }
        Acted { turn, seat, play, to, added, all_in, by, asked, bank_used }
        StreetDealt { street, cards }
        UncalledReturned { seat, amount }
        HandShown { seat, cards, pick }
        HandMucked { seat }
        HandVoided { reason, requester, refunds, at }
        PaymentBegun { payment }
        PaymentMoved { number, phase, error, next_at, at }
        PaymentTried { number, error, next_at }
        PaymentsTaken { numbers, until }
        PaymentProposed { number, resolution, by, reason, at }
        PaymentNoted { number, note }
        PaymentEnded { number, ending, at }
        SeatReleased { seat, player, session }
    }
    others { HandStarted, HoleDealt, PivotPicked, HandSettled }
}

/// What kind of event it is, in the words of the records.
pub(super) fn name(event: &wire::Event) -> Option<&'static str> {
    event.kind.as_ref().map(name_of)
}

/// The record of an event of this hand.
pub(super) fn put(event: &Event, hand: u64, scope: Scope<'_>) -> Result<wire::Event, CodecError> {
    let kind = match event {
        Event::HandStarted(start) => put_start(start, hand, scope)?,
        Event::HoleDealt { seat, player, cards } => put_holes(*seat, player, cards, hand, scope)?,
        Event::PivotPicked { turn, seat, player, pick, by } => Kind::PivotPicked(wire::PivotPicked {
            turn: *turn,
            seat: seat.put(),
            player: player.put(),
            pick: scope.seal(Purpose::Pick, hand, seat.number(), &[pick.index()])?,
            by: by.put(),
        }),
        Event::HandSettled(result) => Kind::HandSettled(wire::HandSettled { result: result.put() }),
        plain => put_plain(plain).ok_or(CodecError::Missing("Event.kind"))?,
    };
    Ok(wire::Event { kind: Some(kind) })
}

/// The event of this hand.
pub(super) fn take(event: wire::Event, hand: u64, scope: Scope<'_>) -> Result<Event, CodecError> {
    let kind = event.kind.ok_or(CodecError::Missing("Event.kind"))?;
    match take_plain(kind)? {
        Ok(event) => Ok(event),
        Err(Kind::HandStarted(start)) => take_start(start, hand, scope),
        Err(Kind::HoleDealt(holes)) => take_holes(holes, hand, scope),
        Err(Kind::PivotPicked(picked)) => take_picked(picked, hand, scope),
        Err(Kind::HandSettled(settled)) => take_settled(settled),
        Err(_) => Err(CodecError::Invalid("Event.kind")),
    }
}

/// The event for somebody who must not see cards: without keys, so that deck, hole cards and pivots are any, and not even
/// the number of hole cards is that of the game.
pub(super) fn take_blind(event: wire::Event) -> Result<Event, CodecError> {
    let kind = event.kind.ok_or(CodecError::Missing("Event.kind"))?;
    match take_plain(kind)? {
        Ok(event) => Ok(event),
        Err(Kind::HandStarted(start)) => started(start, Deck::ordered()),
        Err(Kind::HoleDealt(holes)) => {
            let [first, second, ..] = *Deck::ordered().cards();
            Ok(Event::HoleDealt {
                seat: Field::take(holes.seat, "HoleDealt.seat")?,
                player: Field::take(holes.player, "HoleDealt.player")?,
                cards: Holes::Two([first, second]),
            })
        }
        Err(Kind::PivotPicked(picked)) => {
            let seat = Field::take(picked.seat, "PivotPicked.seat")?;
            let any = Pick::new(0).ok_or(CodecError::Invalid("PivotPicked.pick"))?;
            self::picked(picked, seat, any)
        }
        Err(Kind::HandSettled(settled)) => take_settled(settled),
        Err(_) => Err(CodecError::Invalid("Event.kind")),
    }
}

fn take_settled(settled: wire::HandSettled) -> Result<Event, CodecError> {
    let result = HandResult::take(settled.result, "HandSettled.result")?;
    Ok(Event::HandSettled(Box::new(result)))
}

fn put_start(start: &HandStart, hand: u64, scope: Scope<'_>) -> Result<Kind, CodecError> {
    let HandStart { number, at, deck, positions, dealt, debts, bring_in, first_after } = start;
    Ok(Kind::HandStarted(wire::HandStarted {
        number: *number,
        at: at.put(),
        deck: scope.seal(Purpose::Deck, hand, 0, &*deck_bytes(deck))?,
        positions: positions.put(),
        dealt: dealt.put(),
        debts: debts.put(),
        bring_in: bring_in.put(),
        first_after: first_after.put(),
    }))
}

fn take_start(mut start: wire::HandStarted, hand: u64, scope: Scope<'_>) -> Result<Event, CodecError> {
    const AT: &str = "HandStarted.deck";
    let deck = scope.open(Purpose::Deck, hand, 0, start.deck.take(), AT)?;
    started(start, read_deck(&deck).ok_or(CodecError::Invalid(AT))?)
}

fn started(start: wire::HandStarted, deck: Deck) -> Result<Event, CodecError> {
    Ok(Event::HandStarted(Box::new(HandStart {
        number: start.number,
        at: Field::take(start.at, "HandStarted.at")?,
        deck,
        positions: Field::take(start.positions, "HandStarted.positions")?,
        dealt: Field::take(start.dealt, "HandStarted.dealt")?,
        debts: Field::take(start.debts, "HandStarted.debts")?,
        bring_in: Field::take(start.bring_in, "HandStarted.bring_in")?,
        first_after: Field::take(start.first_after, "HandStarted.first_after")?,
    })))
}

fn put_holes(
    seat: SeatNo,
    player: &PlayerId,
    cards: &Holes,
    hand: u64,
    scope: Scope<'_>,
) -> Result<Kind, CodecError> {
    Ok(Kind::HoleDealt(wire::HoleDealt {
        seat: seat.put(),
        player: player.put(),
        cards: scope.seal(Purpose::Holes, hand, seat.number(), &holes_bytes(cards))?,
    }))
}

fn take_holes(holes: wire::HoleDealt, hand: u64, scope: Scope<'_>) -> Result<Event, CodecError> {
    const AT: &str = "HoleDealt.cards";
    let seat: SeatNo = Field::take(holes.seat, "HoleDealt.seat")?;
    let cards = scope.open(Purpose::Holes, hand, seat.number(), holes.cards, AT)?;
    Ok(Event::HoleDealt {
        seat,
        player: Field::take(holes.player, "HoleDealt.player")?,
        cards: read_holes(&cards).ok_or(CodecError::Invalid(AT))?,
    })
}

fn take_picked(mut picked: wire::PivotPicked, hand: u64, scope: Scope<'_>) -> Result<Event, CodecError> {
    const AT: &str = "PivotPicked.pick";
    let seat: SeatNo = Field::take(picked.seat, "PivotPicked.seat")?;
    let pick = scope.open(Purpose::Pick, hand, seat.number(), picked.pick.take(), AT)?;
    let pick = match pick.as_slice() {
        [index] => Pick::new(*index),
        _ => None,
    };
    self::picked(picked, seat, pick.ok_or(CodecError::Invalid(AT))?)
}

fn picked(picked: wire::PivotPicked, seat: SeatNo, pick: Pick) -> Result<Event, CodecError> {
    Ok(Event::PivotPicked {
        turn: picked.turn,
        seat,
        player: Field::take(picked.player, "PivotPicked.player")?,
        pick,
        by: Field::take(picked.by, "PivotPicked.by")?,
    })
}
