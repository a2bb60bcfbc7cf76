//! What happened, as one viewer is told.

use rules::event::Event;
use rules::stakes::PostKind;
use rules::view::{self, Seen, Viewer};
use rules::{Millis, Table};

use super::{amount, cards, config, duration, hand, number, numbers, settlement, table, timestamp};
use crate::pb::v1;
use crate::pb::v1::table_event::Event as Kind;

/// One commit: its events for these eyes, and the turn that is open after it. `at` is its time where no event tells one.
pub fn update(events: &[Event], at: Option<Millis>, after: &Table, viewer: &Viewer) -> v1::Update {
    let told = events.iter().filter_map(|event| kind(view::event(event, viewer), after));
    v1::Update {
        events: told.map(|kind| v1::TableEvent { event: Some(kind) }).collect(),
        turn: view::turn(after).map(|open| hand::turn(after.hands, &open)),
        time: events.iter().filter_map(time).max().or(at).map(timestamp),
    }
}

/// When it happened, where the event itself says so.
fn time(event: &Event) -> Option<Millis> {
    match event {
        Event::Opened { at, .. }
        | Event::Stopped { at, .. }
        | Event::Resumed { at, .. }
        | Event::Closed { at, .. }
        | Event::PlayerSeated { at, .. }
        | Event::PlayerStoodUp { at, .. }
        | Event::SatOut { at, .. }
        | Event::ChipsAdded { at, .. }
        | Event::HistoryLost { at, .. }
        | Event::Prompted { at, .. }
        | Event::HandVoided { at, .. } => Some(*at),
        Event::HandStarted(start) => Some(start.at),
        Event::HandSettled(result) => Some(result.settled_at),
        _ => None,
    }
}

fn kind(seen: Seen<'_>, after: &Table) -> Option<Kind> {
    Some(match seen {
        Seen::Public(event) => return public(event.get(), after),
        Seen::HandStarted { number: hand_number, at, positions, dealt } => {
            Kind::HandStarted(v1::HandStarted {
                hand_number,
                button_seat: number(positions.button),
                small_blind_seat: number(positions.small),
                big_blind_seat: number(positions.big),
                dealt_seats: numbers(dealt),
                started: Some(timestamp(at)),
            })
        }
        Seen::HoleDealt { seat, cards, count } => Kind::HoleCardsDealt(v1::HoleCardsDealt {
            seat: number(seat),
            count: u32::try_from(count).unwrap_or_default(),
            cards: cards.map(|holes| cards::cards(holes.cards())).unwrap_or_default(),
        }),
        Seen::PivotPicked { turn, seat, pick, by } => Kind::PivotPicked(v1::PivotPicked {
            seat: number(seat),
            turn,
            card_index: pick.map(|pick| u32::from(pick.index())),
            by: hand::by(by).into(),
        }),
    })
}

/// Events without a secret. Those with one are never public, and are told above or not at all.
fn public(event: &Event, after: &Table) -> Option<Kind> {
    match event {
        Event::HandStarted(..) | Event::HoleDealt { .. } | Event::PivotPicked { .. } => None,
        Event::Opened { .. }
        | Event::ConfigChanged { .. }
        | Event::Stopped { .. }
        | Event::Resumed { .. }
        | Event::ClosingAsked { .. }
        | Event::Closed { .. }
        | Event::HandScheduled { .. }
        | Event::PlayHalted
        | Event::ClocksShifted { .. }
        | Event::HistoryLost { .. } => of_table(event, after),
        Event::PlayerSeated { .. }
        | Event::PlayerLeaving { .. }
        | Event::PlayerStoodUp { .. }
        | Event::WishSet { .. }
        | Event::SatOut { .. }
        | Event::SatIn { .. }
        | Event::PreferencesSet { .. }
        | Event::ChipsRequested { .. }
        | Event::ChipsAdded { .. }
        | Event::TimeBankRefilled { .. } => of_seat(event),
        // Nobody's business at the table: it may be a limit that the player has set himself.
        Event::PlayerStopped { .. } | Event::PlayerResumed { .. } => None,
        Event::PaymentBegun { payment } if payment.reserves() => Some(Kind::SeatReserved(v1::SeatReserved {
            seat: number(payment.seat),
            player_id: payment.player.as_str().to_owned(),
            session: payment.session,
        })),
        Event::SeatReleased { seat, player, session } => Some(Kind::SeatReleased(v1::SeatReleased {
            seat: number(*seat),
            player_id: player.as_str().to_owned(),
            session: *session,
        })),
        // Between the player, the operator's wallet and whoever looks into it.
        Event::PaymentMoved { .. }
        | Event::PaymentTried { .. }
        | Event::PaymentsTaken { .. }
        | Event::PaymentProposed { .. }
        | Event::PaymentNoted { .. }
        | Event::PaymentBegun { .. }
        | Event::PaymentEnded { .. } => None,
        Event::Posted { .. }
        | Event::Prompted { .. }
        | Event::Acted { .. }
        | Event::StreetDealt { .. }
        | Event::UncalledReturned { .. }
        | Event::HandShown { .. }
        | Event::HandMucked { .. }
        | Event::HandSettled(..)
        | Event::HandVoided { .. } => of_hand(event, after),
    }
}

fn of_table(event: &Event, after: &Table) -> Option<Kind> {
    Some(match event {
        Event::Opened { config, .. } => {
            Kind::TableOpened(Box::new(v1::TableOpened { config: Some(config::config(config)) }))
        }
        Event::ConfigChanged { config } => Kind::ConfigChanged(Box::new(v1::ConfigChanged {
            config: Some(config::config(config)),
            config_version: after.config_version,
        })),
        Event::Stopped { scope, reason, at } => Kind::TableStopped(v1::TableStopped {
            stop: Some(v1::Stop {
                scope: table::scope(*scope).into(),
                reason: reason.clone(),
                since: Some(timestamp(*at)),
            }),
        }),
        Event::Resumed { scope, .. } => {
            Kind::TableResumed(v1::TableResumed { scope: table::scope(*scope).into() })
        }
        Event::ClosingAsked { reason } => Kind::TableClosing(v1::TableClosing { reason: reason.clone() }),
        Event::Closed { reason, .. } => Kind::TableClosed(v1::TableClosed { reason: reason.clone() }),
        Event::HandScheduled { at } => Kind::HandScheduled(v1::HandScheduled { at: Some(timestamp(*at)) }),
        Event::PlayHalted => Kind::PlayHalted(v1::PlayHalted {}),
        Event::HistoryLost { last, until, .. } => {
            Kind::HistoryLost(v1::HistoryLost { last_sequence: *last, until_sequence: *until })
        }
        Event::ClocksShifted { from, to } => {
            Kind::ClocksShifted(v1::ClocksShifted { by: Some(duration(*to - *from)) })
        }
        _ => return None,
    })
}

fn of_seat(event: &Event) -> Option<Kind> {
    Some(match event {
        Event::PlayerSeated { seat, player, session, buy_in, post, .. } => {
            Kind::PlayerSeated(v1::PlayerSeated {
                seat: number(*seat),
                player_id: player.as_str().to_owned(),
                session: *session,
                buy_in: amount(*buy_in),
                entry: table::entry(*post).into(),
            })
        }
        Event::PlayerLeaving { seat, .. } => Kind::PlayerLeaving(v1::PlayerLeaving { seat: number(*seat) }),
        Event::PlayerStoodUp { seat, player, session, paid, reason, .. } => {
            Kind::PlayerStoodUp(v1::PlayerStoodUp {
                seat: number(*seat),
                player_id: player.as_str().to_owned(),
                session: *session,
                paid: amount(*paid),
                reason: table::leave_reason(*reason).into(),
            })
        }
        Event::WishSet { seat, wish } => Kind::SitOutRequested(v1::SitOutRequested {
            seat: number(*seat),
            from: table::wish(*wish).into(),
        }),
        Event::SatOut { seat, reason, at } => Kind::PlayerSatOut(v1::PlayerSatOut {
            seat: number(*seat),
            reason: table::sit_out_reason(*reason).into(),
            since: Some(timestamp(*at)),
        }),
        Event::SatIn { seat, post } => {
            Kind::PlayerSatIn(v1::PlayerSatIn { seat: number(*seat), entry: table::entry(*post).into() })
        }
        Event::PreferencesSet { seat, straddle, always_show } => Kind::PreferencesSet(v1::PreferencesSet {
            seat: number(*seat),
            preferences: Some(v1::Preferences { straddle: *straddle, always_show: *always_show }),
        }),
        Event::ChipsRequested { seat, amount: chips, .. } => {
            Kind::ChipsRequested(v1::ChipsRequested { seat: number(*seat), amount: amount(*chips) })
        }
        Event::ChipsAdded { seat, added, returned, .. } => Kind::ChipsAdded(v1::ChipsAdded {
            seat: number(*seat),
            added: amount(*added),
            returned: amount(*returned),
        }),
        Event::TimeBankRefilled { seat, bank } => Kind::TimeBankRefilled(v1::TimeBankRefilled {
            seat: number(*seat),
            time_bank_left: Some(duration(*bank)),
        }),
        _ => return None,
    })
}

fn of_hand(event: &Event, after: &Table) -> Option<Kind> {
    Some(match event {
        Event::Posted { seat, kind, amount: chips } => Kind::BlindPosted(v1::BlindPosted {
            seat: number(*seat),
            kind: blind(*kind).into(),
            amount: amount(*chips),
        }),
        Event::Prompted { turn, seats, kind, at, act_by, bank_until } => Kind::TurnStarted(v1::TurnStarted {
            turn: *turn,
            kind: hand::kind(*kind).into(),
            seats: numbers(*seats),
            started: Some(timestamp(*at)),
            act_by: Some(timestamp(*act_by)),
            bank_until: Some(timestamp(*bank_until)),
        }),
        Event::Acted { turn, seat, play, to, added, all_in, by, bank_used, .. } => {
            Kind::PlayerActed(v1::PlayerActed {
                seat: number(*seat),
                turn: *turn,
                action: hand::play(*play).into(),
                to: amount(*to),
                put_in: amount(*added),
                all_in: *all_in,
                by: hand::by(*by).into(),
                bank_used: Some(duration(*bank_used)),
            })
        }
        Event::StreetDealt { street, cards } => Kind::StreetDealt(v1::StreetDealt {
            street: hand::street(*street).into(),
            cards: cards::cards(cards),
        }),
        Event::UncalledReturned { seat, amount: chips } => {
            Kind::UncalledBetReturned(v1::UncalledBetReturned { seat: number(*seat), amount: amount(*chips) })
        }
        Event::HandShown { seat, cards: holes, pick } => {
            let (cards, at) = cards::open(holes, *pick);
            let pivot = at.and_then(|at| cards.get(at as usize).copied()).unwrap_or_default();
            Kind::HandShown(v1::HandShown { seat: number(*seat), cards, pivot })
        }
        Event::HandMucked { seat } => Kind::HandMucked(v1::HandMucked { seat: number(*seat) }),
        Event::HandSettled(result) => {
            Kind::HandSettled(v1::HandSettled { hand: Some(settlement::hand(result)) })
        }
        Event::HandVoided { reason, refunds, .. } => Kind::HandVoided(v1::HandVoided {
            // Only a running hand can be voided (rules 10.1), and it stays until the next is dealt. How many began is another
            // number where history was lost with it.
            hand_number: after.hand.as_ref().map_or(after.hands, |hand| hand.number),
            reason: reason.clone(),
            refunds: settlement::seat_amounts(refunds),
        }),
        _ => return None,
    })
}

fn blind(kind: PostKind) -> v1::BlindKind {
    match kind {
        PostKind::Ante => v1::BlindKind::Ante,
        PostKind::BigBlindAnte => v1::BlindKind::BigBlindAnte,
        PostKind::SmallBlind => v1::BlindKind::SmallBlind,
        PostKind::BigBlind => v1::BlindKind::BigBlind,
        PostKind::Straddle => v1::BlindKind::Straddle,
        PostKind::Entry => v1::BlindKind::Entry,
        PostKind::DeadSmallBlind => v1::BlindKind::DeadSmallBlind,
    }
}
