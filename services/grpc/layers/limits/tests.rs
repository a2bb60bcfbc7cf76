//! The limits of a server together, without a server.

use std::sync::LazyLock;

use super::*;
use crate::config::Settings;
use crate::grpc::layers::methods::Methods;

static METHODS: LazyLock<Methods> = LazyLock::new(|| Methods::of_contract().unwrap());

fn method(name: &str) -> Method {
    METHODS.find(&format!("/fulcrum.v1.{name}"))
}

fn operator(name: &str) -> OperatorId {
    OperatorId::new(name).unwrap()
}

fn admit(limits: &Admission, call: &str, of: &str) -> Result<Admitted, Shed> {
    limits.admit(method(call), Some(&operator(of)), &mut Extensions::new())
}

/// Lets calls in until one is turned away.
fn fill(limits: &Admission, call: &str, of: &str) -> (Vec<Admitted>, Shed) {
    let mut places = Vec::new();
    loop {
        match admit(limits, call, of) {
            Ok(place) => places.push(place),
            Err(shed) => return (places, shed),
        }
    }
}

const ACT: &str = "ActionService/Act";
const LIST: &str = "TableService/ListTables";
const SEAT: &str = "TableService/SeatPlayer";
const GET: &str = "TableService/GetTable";

#[test]
fn a_full_room_turns_lists_away_first_and_play_last() {
    let limits = Admission::new(100, LimitSettings::default());
    let mut held = Vec::new();
    for (call, most) in [(LIST, 50), ("TableService/WatchTable", 50), (GET, 70), (SEAT, 85), (ACT, 100)] {
        let (places, shed) = fill(&limits, call, "a");
        held.extend(places);
        assert_eq!((held.len(), shed), (most, Shed::Full), "{call}");
    }
    drop(held);
    assert_eq!(limits.room.at_work(), 0);
}

#[test]
fn one_operators_flood_leaves_the_others_their_room_and_himself_his_play() {
    let settings = LimitSettings { operator_share: 50, ..LimitSettings::default() };
    let limits = Admission::new(100, settings);
    let (lists, shed) = fill(&limits, LIST, "flood");
    assert_eq!((lists.len(), shed), (25, Shed::OperatorShare), "half of his half");
    let (seats, _) = fill(&limits, SEAT, "flood");
    let (acts, shed) = fill(&limits, ACT, "flood");
    assert_eq!(shed, Shed::OperatorShare);
    assert_eq!((lists.len() + seats.len(), acts.len()), (43, 7));
    let (others, shed) = fill(&limits, ACT, "other");
    assert_eq!((others.len(), shed), (50, Shed::Full));
    assert_eq!(admit(&limits, ACT, "third").err(), Some(Shed::Full), "the hard bound");
    drop(seats);
    assert!(admit(&limits, ACT, "third").is_ok());
    assert_eq!(admit(&limits, SEAT, "third").err(), None, "82 at work");
    assert_eq!(admit(&limits, GET, "third").err(), Some(Shed::Full));
}

#[test]
fn an_operators_bucket_is_his_and_his_players_are_found_beside_the_call() {
    let rate = |calls| Rate::new(calls, 1);
    let settings = LimitSettings { operator: rate(3), player: rate(2), ..LimitSettings::default() };
    let limits = Admission::new(100, settings);
    let mut extensions = Extensions::new();
    limits.admit(method(ACT), Some(&operator("a")), &mut extensions).map(drop).unwrap();
    assert!(player(&extensions, "ann").is_ok() && player(&extensions, "ann").is_ok());
    let status = player(&extensions, "ann").unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(turned_away(&status), Some("player_rate"));
    let wait = status.get_details_retry_info().and_then(|info| info.retry_delay).unwrap();
    assert!(wait > Duration::ZERO && wait <= Duration::from_millis(500), "{wait:?}");
    assert!(player(&extensions, "bob").is_ok());
    let (_, shed) = fill(&limits, ACT, "a");
    assert!(matches!(shed, Shed::OperatorRate(_)), "{shed:?}");
    assert!(admit(&limits, ACT, "b").is_ok());
    assert!(player(&Extensions::new(), "ann").is_ok(), "an administrator's call has no players");
}

#[test]
fn who_has_spent_his_calls_on_lists_still_plays_and_play_has_its_own_bound() {
    let settings =
        LimitSettings { operator: Rate::new(3, 1), player: Rate::new(2, 1), ..LimitSettings::default() };
    let limits = Admission::new(100, settings);
    let (_, shed) = fill(&limits, LIST, "a");
    assert!(matches!(shed, Shed::OperatorRate(_)), "{shed:?}");
    assert!(admit(&limits, SEAT, "a").is_err(), "everything but play is one");
    let beside = |call| {
        let mut extensions = Extensions::new();
        limits.admit(method(call), Some(&operator("b")), &mut extensions).map(drop).unwrap();
        extensions
    };
    let (read, act) = (beside(GET), beside(ACT));
    while player(&read, "ann").is_ok() {}
    assert!(player(&act, "ann").is_ok(), "who is looked at too often still acts");
    assert!(admit(&limits, ACT, "a").is_ok());
    let (_, shed) = fill(&limits, ACT, "a");
    assert!(matches!(shed, Shed::OperatorRate(_)), "{shed:?}");
}

#[test]
fn whoever_is_late_turns_cheap_calls_away_and_not_play() {
    let settings = LimitSettings { late: Some(Duration::from_millis(100)), ..LimitSettings::default() };
    let limits = Admission::new(100, settings);
    for _ in 0..2 {
        limits.pressure.note(Duration::from_millis(150));
    }
    assert_eq!(admit(&limits, LIST, "a").err(), Some(Shed::Late));
    assert!(admit(&limits, GET, "a").is_ok() && admit(&limits, ACT, "a").is_ok());
    assert_eq!(limits.operator(&operator("a")).room.at_work(), 0, "who is turned away holds nothing");
}

#[test]
fn operators_who_have_nothing_at_work_are_forgotten_when_there_are_too_many() {
    let limits = Admission::new(100_000, LimitSettings::default());
    let held = admit(&limits, ACT, "held").unwrap();
    for number in 0..10_000 {
        admit(&limits, ACT, &format!("o{number}")).map(drop).unwrap();
    }
    let operators = limits.operators.read().unwrap();
    assert!(operators.len() <= OPERATORS && operators.contains_key(&operator("held")));
    drop(held);
}

#[test]
fn those_who_find_the_server_busy_do_not_all_come_again_at_once() {
    let waits: std::collections::BTreeSet<Duration> = (0..100).map(|_| retry()).collect();
    assert!(waits.len() > 10);
    assert!(waits.iter().all(|wait| (100..300).contains(&wait.as_millis())), "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn keeping_ends_with_the_server() {
    let limits = Arc::new(Admission::new(1, LimitSettings::default()));
    let keeping = tokio::spawn(keep(Arc::downgrade(&limits)));
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(!keeping.is_finished());
    drop(limits);
    tokio::time::timeout(Duration::from_secs(1), keeping).await.expect("it ends").unwrap();
}

#[test]
fn by_default_one_operators_flood_leaves_room_for_what_is_cheap() {
    let settings = Settings::load(None, vec![("store", "memory".into())]).unwrap();
    assert!(settings.limits.operator_share < Class::Cheap.ceiling());
}
