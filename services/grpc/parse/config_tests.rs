//! Settings: defaults, bounds, and faults of both kinds at once.

use rules::config::{Clocks, Limit, Rake};
use rules::{Ante, Chips, Millis};
use tonic_types::StatusExt;

use super::*;
use crate::grpc::render;

fn message() -> v1::TableConfig {
    v1::TableConfig {
        currency: "EUR".into(),
        game: v1::Game::DoubleHoldem.into(),
        limit: v1::Limit::NoLimit.into(),
        seats: 6,
        stakes: Some(v1::Stakes { small_blind: 50, big_blind: 100, ..Default::default() }),
        ..Default::default()
    }
}

fn read_all(message: &v1::TableConfig) -> Result<TableConfig, Vec<(String, String)>> {
    let mut fields = Fields::default();
    let config = config(&mut fields, Some(message));
    fields.done(config).map_err(|status| {
        let details = status.get_error_details();
        let faults = details.bad_request().expect("fields").field_violations.clone();
        faults.into_iter().map(|f| (f.field, f.description)).collect()
    })
}

fn faults(message: &v1::TableConfig) -> Vec<String> {
    read_all(message).expect_err("this is wrong").into_iter().map(|(field, _)| field).collect()
}

#[test]
fn what_is_unset_gets_its_default() {
    let config = read_all(&message()).unwrap();
    assert_eq!(config.stakes.min_buy_in, Chips(4_000));
    assert_eq!(config.stakes.max_buy_in, Chips(10_000));
    assert_eq!(config.stakes.small_bet, Chips(100));
    assert_eq!(config.stakes.big_bet, Chips(200));
    assert_eq!(config.stakes.ante, Ante::None);
    assert_eq!(config.rake, Rake::NONE);
    assert_eq!(config.clocks, Clocks::default());
    assert_eq!(config.rathole, Millis::minutes(60));
    assert!(config.faults().is_empty());
    let large = v1::Stakes { big_blind: 100, min_buy_in: 50_000, ..Default::default() };
    let config = read_all(&v1::TableConfig { stakes: Some(large), ..message() }).unwrap();
    assert_eq!(config.stakes.max_buy_in, Chips(50_000), "the least buy-in, as that is more");
}

#[test]
fn settings_come_back_as_they_were_understood() {
    let full = v1::TableConfig {
        display_name: "Täble".into(),
        limit: v1::Limit::FixedLimit.into(),
        stakes: Some(v1::Stakes {
            ante: Some(v1::Ante { kind: Some(v1::ante::Kind::BigBlind(7)) }),
            ..message().stakes.unwrap()
        }),
        rake: Some(v1::Rake { basis_points: 500, cap_2: Some(0), cap_5_plus: Some(9), ..Default::default() }),
        clocks: Some(v1::Clocks {
            action: Some(prost_types::Duration { seconds: 1, nanos: 500_000_000 }),
            refill: Some(v1::TimeBankRefill {
                amount: Some(prost_types::Duration { seconds: 5, nanos: 0 }),
                every_hands: 10,
            }),
            ..Default::default()
        }),
        pivot_order: v1::PivotOrder::Simultaneous.into(),
        rathole_window: Some(prost_types::Duration::default()),
        ..message()
    };
    let config = read_all(&full).unwrap();
    assert_eq!(config.limit, Limit::FixedLimit);
    assert_eq!(config.clocks.action, Millis(1500));
    assert_eq!(config.rake.cap_two, Some(Chips::ZERO), "no rake heads-up");
    assert_eq!(config.rake.cap_three_or_four, None, "no cap");
    assert_eq!(config.rathole, Millis::ZERO, "switched off");
    let shown = render::config::config(&config);
    assert_eq!(read_all(&shown).unwrap(), config, "what is shown can be sent back");
}

#[test]
fn faults_of_form_and_of_sense_are_told_together() {
    let wrong = v1::TableConfig {
        currency: "euro".into(),
        game: 0,
        seats: 300,
        stakes: Some(v1::Stakes { small_blind: 200, big_blind: 100, min_buy_in: -5, ..Default::default() }),
        clocks: Some(v1::Clocks {
            action: Some(prost_types::Duration { seconds: 0, nanos: 50_000_000 }),
            grace: Some(prost_types::Duration { seconds: -1, nanos: 0 }),
            pivot: Some(prost_types::Duration { seconds: i64::MAX, nanos: 0 }),
            time_bank: Some(prost_types::Duration { seconds: 1, nanos: 1 }),
            timeouts_to_sit_out: 256,
            ..Default::default()
        }),
        ..message()
    };
    let mut found = faults(&wrong);
    found.sort();
    let all = [
        "config.clocks.action",
        "config.clocks.grace",
        "config.clocks.pivot",
        "config.clocks.time_bank",
        "config.clocks.timeouts_to_sit_out",
        "config.currency",
        "config.game",
        "config.seats",
        "config.stakes.min_buy_in",
        "config.stakes.small_blind",
    ];
    assert_eq!(found, all);
}

#[test]
fn nothing_at_all_is_told_what_is_needed() {
    let found = faults(&v1::TableConfig::default());
    for field in ["config.currency", "config.game", "config.limit", "config.seats", "config.stakes"] {
        assert!(found.contains(&field.to_owned()), "{field}: {found:?}");
    }
    let mut fields = Fields::default();
    assert!(config(&mut fields, None).is_none());
}

#[test]
fn sense_alone_is_left_to_the_rules() {
    let odd = v1::TableConfig { seats: 11, ..message() };
    let config = read_all(&odd).unwrap();
    assert_eq!(config.faults().len(), 1);
}

#[test]
fn the_largest_amounts_do_not_overflow() {
    let most = 1_000_000_000_000_000;
    let stakes = v1::Stakes { small_blind: most, big_blind: most, small_bet: most, ..Default::default() };
    let config = read_all(&v1::TableConfig { stakes: Some(stakes), ..message() }).unwrap();
    assert!(!config.faults().is_empty(), "the default buy-in is beyond what a command may name");
    let beyond = v1::Stakes { big_blind: i64::MAX, ..Default::default() };
    let found = faults(&v1::TableConfig { stakes: Some(beyond), ..message() });
    assert!(found.contains(&"config.stakes.big_blind".to_owned()), "{found:?}");
}
