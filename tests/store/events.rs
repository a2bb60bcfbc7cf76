//! One event of each kind. The golden files hold exactly these values, as they hold those of `fixtures.rs`.

use rules::blinds::Debt;
use rules::command::{Action, Wish};
use rules::event::{By, Event, HandStart, LeaveReason, Play, PromptKind, SatOutReason, StopScope};
use rules::hand::Street;
use rules::{Chips, Millis, PostKind, SeatNo};

use crate::fixtures::{AT, card, config, deck, pick, player, positions, result, seat, seats, three};
use crate::payments::payment_events;

fn table_events() -> Vec<(&'static str, Event)> {
    let reason = || "a reason".to_owned();
    vec![
        ("opened", Event::Opened { config: Box::new(config()), at: AT }),
        ("config_changed", Event::ConfigChanged { config: Box::new(config()) }),
        ("stopped", Event::Stopped { scope: StopScope::Service, reason: reason(), at: AT }),
        ("resumed", Event::Resumed { scope: StopScope::Game, at: AT }),
        ("closing_asked", Event::ClosingAsked { reason: reason() }),
        ("closed", Event::Closed { reason: reason(), at: AT }),
        ("hand_scheduled", Event::HandScheduled { at: AT }),
        ("play_halted", Event::PlayHalted),
        (
            "history_lost",
            Event::HistoryLost { last: 70, until: (1 << 20) - 1, hands: 1005, sessions: 1012, at: AT },
        ),
        ("clocks_shifted", Event::ClocksShifted { from: AT, to: AT + Millis(5000) }),
    ]
}

fn seat_events() -> Vec<(&'static str, Event)> {
    let (seat, player, transaction) = (seat(3), player("alice"), "tx-1".to_owned());
    let buy_in = Chips(10_000);
    vec![
        ("player_seated", {
            let (player, transaction) = (player.clone(), transaction.clone());
            Event::PlayerSeated { seat, player, session: 4, buy_in, post: true, transaction, at: AT }
        }),
        ("player_leaving", Event::PlayerLeaving { seat, transaction: transaction.clone() }),
        ("player_stood_up", {
            let (player, transaction) = (player.clone(), transaction.clone());
            let reason = LeaveReason::SatOutTooLong;
            Event::PlayerStoodUp { seat, player, session: 4, paid: Chips(1), reason, transaction, at: AT }
        }),
        ("wish_set", Event::WishSet { seat, wish: Some(Wish::NextHand) }),
        ("sat_out", Event::SatOut { seat, reason: SatOutReason::NoChips, at: AT }),
        ("sat_in", Event::SatIn { seat, post: true }),
        ("player_stopped", Event::PlayerStopped { seat, reason: "a limit".to_owned(), at: AT }),
        ("player_resumed", Event::PlayerResumed { seat, at: AT }),
        ("preferences_set", Event::PreferencesSet { seat, straddle: true, always_show: true }),
        ("chips_requested", {
            Event::ChipsRequested { seat, amount: Chips(5), transaction: transaction.clone() }
        }),
        ("chips_added", {
            let (added, returned) = (Chips(4), Chips(1));
            Event::ChipsAdded { seat, player, session: 4, added, returned, transaction, at: AT }
        }),
        ("time_bank_refilled", Event::TimeBankRefilled { seat, bank: Millis(30_000) }),
    ]
}

fn hand_events() -> Vec<(&'static str, Event)> {
    let start = HandStart {
        number: 42,
        at: AT,
        deck: deck(),
        positions: positions(),
        dealt: seats(&[1, 2, 7]),
        debts: vec![(seat(1), Debt::NONE), (seat(9), Debt::BOTH)],
        bring_in: Chips(200),
        first_after: seat(7),
    };
    let (seat, player) = (seat(2), player("bob"));
    let cards = three(["Ah", "Kd", "2c"]);
    let refunds = vec![(seat, Chips(300))];
    let (reason, requester) = ("a mistake".to_owned(), "floor".to_owned());
    vec![
        ("hand_started", Event::HandStarted(Box::new(start))),
        ("posted", Event::Posted { seat, kind: PostKind::DeadSmallBlind, amount: Chips(50) }),
        ("hole_dealt", Event::HoleDealt { seat, player: player.clone(), cards }),
        ("prompted", prompted()),
        ("pivot_picked", Event::PivotPicked { turn: 3, seat, player, pick: pick(1), by: By::TimeOut }),
        ("acted", acted(seat)),
        ("street_dealt", {
            Event::StreetDealt { street: Street::Flop, cards: ["7s", "8s", "9h"].map(card).to_vec() }
        }),
        ("uncalled_returned", Event::UncalledReturned { seat, amount: Chips(7) }),
        ("hand_shown", Event::HandShown { seat, cards, pick: Some(pick(2)) }),
        ("hand_mucked", Event::HandMucked { seat }),
        ("hand_settled", Event::HandSettled(Box::new(result()))),
        ("hand_voided", Event::HandVoided { reason, requester, refunds, at: AT }),
    ]
}

fn prompted() -> Event {
    let (act_by, bank_until) = (AT + Millis(15_000), AT + Millis(45_000));
    Event::Prompted { turn: 3, seats: seats(&[1, 2]), kind: PromptKind::Act, at: AT, act_by, bank_until }
}

fn acted(seat: SeatNo) -> Event {
    Event::Acted {
        turn: 4,
        seat,
        play: Play::Bet,
        to: Chips(300),
        added: Chips(250),
        all_in: true,
        by: By::Player,
        asked: Some(Action::Bet(Chips(300))),
        bank_used: Millis(1234),
    }
}

/// One event of each kind, by the name of its field in `event.proto`.
pub fn events() -> Vec<(&'static str, Event)> {
    [table_events(), seat_events(), hand_events(), payment_events()].concat()
}
