//! Streams: a snapshot, then every commit once and in order, for one viewer; and every way in which they end.

use std::sync::Arc;
use std::time::Duration;

use fulcrum::grpc::ServeConfig;
use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use tables::{FeedLimits, MemoryStore};
use tonic::Code;
use tonic_types::StatusExt;

use super::harness::caller::eyes_of;
use super::harness::{Caller, Eyes, House, Setup, in_time, reason, texas};

/// Checks down to the river, reading on with each of these eyes.
async fn check_down(caller: &mut Caller, table: &str, hand: u64, eyes: &mut Eyes) -> v1::SettledHand {
    loop {
        let settled = eyes.events().any(
            |e| matches!(e, Event::HandSettled(s) if s.hand.as_ref().is_some_and(|h| h.hand_number == hand)),
        );
        if settled {
            return eyes.settled(hand).await;
        }
        let turn = eyes.turn_after(0).await;
        let player = ["", "ann", "bob"][turn.seats[0] as usize];
        let legal = turn.legal.expect("one player");
        let action = if legal.can_check { v1::Action::Check } else { v1::Action::Call };
        let answer = caller.act(table, player, &turn, action, 0).await.expect("a legal action");
        eyes.until(answer.sequence).await;
    }
}

#[tokio::test]
async fn each_viewer_sees_his_own_cards_and_the_same_numbers() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut all = Vec::new();
    for viewer in ["", "ann", "bob", "zoe"] {
        all.push((viewer, caller.watch(&table, viewer).await));
    }
    caller.begin(&table).await;
    let (_, spectator) = &mut all[0];
    spectator.turn_after(1).await;
    caller.pause(&table).await;
    check_down(&mut caller, &table, 1, spectator).await;
    let last = spectator.sequence();
    for (viewer, eyes) in &mut all {
        eyes.until(last).await;
        assert!(matches!(eyes.seen[0].content, Some(Content::Snapshot(_))), "{viewer}: a snapshot first");
        for pair in eyes.seen.windows(2) {
            assert_eq!(pair[1].sequence, pair[0].sequence + 1, "{viewer}: contiguous");
        }
        let dealt: Vec<(u32, usize)> = eyes
            .events()
            .filter_map(|e| match e {
                Event::HoleCardsDealt(dealt) => Some((dealt.seat, dealt.cards.len())),
                _ => None,
            })
            .collect();
        let own = |seat: u32| if *viewer == ["", "ann", "bob"][seat as usize] { 2 } else { 0 };
        assert_eq!(dealt, [(2, own(2)), (1, own(1))], "{viewer}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_stream_goes_on_where_another_one_ended() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut live = caller.watch(&table, "ann").await;
    caller.begin(&table).await;
    live.turn_after(1).await;
    check_down(&mut caller, &table, 1, &mut live).await;
    caller.pause(&table).await;
    let last = caller.prefer(&table, "ann").await;
    live.until(last).await;
    let timed = |message: &v1::TableMessage| match &message.content {
        Some(Content::Update(update)) => update.time.is_some(),
        _ => true,
    };
    assert!(live.seen.iter().all(timed), "each commit has its time, a preference too");
    let first = live.seen[0].sequence;
    for after in [first, first + 1, last - 2, last - 1] {
        let mut resumed = caller.watch_after(&table, "ann", Some(after)).await;
        resumed.until(last).await;
        let wanted: Vec<_> = live.seen.iter().filter(|m| m.sequence > after).cloned().collect();
        assert_eq!(resumed.seen, wanted, "after {after}: message for message as it was told live");
    }
    let mut from_the_start = caller.watch_after(&table, "", Some(0)).await;
    from_the_start.until(last).await;
    assert_eq!(from_the_start.seen.len() as u64, last);
    assert!(matches!(from_the_start.events().next(), Some(Event::TableOpened(_))));

    let mut up_to_date = caller.watch_after(&table, "", Some(last)).await;
    let next = caller.prefer(&table, "bob").await;
    let message = up_to_date.next().await.expect("what is new");
    assert_eq!(message.sequence, next);
    assert!(matches!(message.content, Some(Content::Update(_))), "no snapshot");
    house.close().await;
}

#[tokio::test]
async fn a_commit_of_which_nothing_may_be_seen_still_has_its_number() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    eyes.next().await;
    let before = eyes.sequence();
    for number in 1..=5 {
        assert_eq!(caller.prefer(&table, "ann").await, before + number);
        assert_eq!(eyes.next().await.expect("a message").sequence, before + number);
    }
    house.close().await;
}

#[tokio::test]
async fn a_resume_token_goes_on_after_its_message() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    eyes.next().await;
    for _ in 0..3 {
        caller.prefer(&table, "ann").await;
        eyes.next().await;
    }
    let last = eyes.sequence();
    for message in &eyes.seen {
        let mut resumed =
            caller.watch_with(&table, "", message.resume_token.clone()).await.expect("a stream");
        caller.prefer(&table, "ann").await;
        let newest = caller.table(&table, "").await.version;
        resumed.until(newest).await;
        let told: Vec<u64> = resumed.seen.iter().map(|m| m.sequence).collect();
        assert_eq!(told, (message.sequence + 1..=newest).collect::<Vec<_>>());
        assert!(newest > last);
    }
    house.close().await;
}

#[tokio::test]
async fn a_resume_token_that_is_none_is_refused_by_its_field() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    let other = caller.table_of(texas(), &["bob"]).await;
    let mut eyes = caller.watch(&other, "").await;
    let token = eyes.next().await.expect("a snapshot").resume_token;
    assert!(!token.is_empty());
    for wrong in [token, vec![0], vec![7; 48], vec![7; 10_000]] {
        let status = caller.watch_with(&table, "", wrong).await.err().expect("refused");
        assert_eq!(status.code(), Code::InvalidArgument);
        let details = status.get_details_bad_request().expect("fields");
        assert_eq!(details.field_violations[0].field, "resume_token");
    }
    // Nor may a place be named in two ways.
    let own = caller.watch(&table, "").await.next().await.expect("a snapshot").resume_token;
    let both = v1::WatchTableRequest {
        table_id: table.clone(),
        after_sequence: Some(1),
        resume_token: own,
        ..Default::default()
    };
    let status = in_time(caller.tables.watch_table(both)).await.expect_err("refused");
    assert_eq!(status.get_details_bad_request().expect("fields").field_violations[0].field, "resume_token");
    house.close().await;
}

#[tokio::test]
async fn history_that_is_gone_is_said_to_be_gone() {
    let store = Arc::new(MemoryStore::default().with_history(4));
    let house = House::with(Setup { store, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    for _ in 0..10 {
        caller.prefer(&table, "ann").await;
    }
    let version = caller.table(&table, "").await.version;
    // Too old, and never there.
    for after in [1, version + 100] {
        let mut eyes = caller.watch_after(&table, "", Some(after)).await;
        let first = eyes.next().await.expect("a word");
        assert_eq!(first.content, Some(Content::Compacted(v1::Compacted { after_sequence: after })));
        let second = eyes.next().await.expect("a snapshot");
        assert_eq!(second.sequence, version);
        assert!(matches!(second.content, Some(Content::Snapshot(_))));
    }
    let mut kept = caller.watch_after(&table, "", Some(version - 2)).await;
    kept.until(version).await;
    assert_eq!(kept.seen.iter().map(|m| m.sequence).collect::<Vec<_>>(), [version - 1, version]);
    house.close().await;
}

#[tokio::test]
async fn a_quiet_stream_has_a_heartbeat() {
    let config = ServeConfig { heartbeat: Duration::from_millis(50), ..ServeConfig::default() };
    let house = House::with(Setup { config, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let mut eyes = caller.watch(&table, "").await;
    eyes.next().await;
    let before = eyes.sequence();
    for _ in 0..3 {
        let beat = eyes.next().await.expect("a heartbeat");
        let Some(Content::Heartbeat(heart)) = beat.content else { panic!("{beat:?}") };
        assert!(heart.time.is_some_and(|time| time.seconds > 1_700_000_000));
        assert_eq!(beat.sequence, before, "that of the last message");
    }
    house.close().await;
}

#[tokio::test]
async fn a_stream_ends_after_its_table_was_closed() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let closed = caller.close_table(&table).await;
    assert_eq!(closed.state(), v1::TableState::Closed);
    while eyes.next().await.is_some() {}
    assert_eq!(eyes.sequence(), closed.sequence);
    let told: Vec<_> = eyes.events().cloned().collect();
    assert!(matches!(told.last(), Some(Event::TableClosed(_))), "{told:?}");
    assert!(told.iter().any(|e| matches!(e, Event::PlayerStoodUp(out) if out.paid == 10_000)));
    let mut late = caller.watch(&table, "").await;
    late.next().await.expect("a snapshot");
    assert_eq!(late.next().await, None);
    house.close().await;
}

#[tokio::test]
async fn many_tables_on_one_stream_end_after_the_last() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let mut tables = Vec::new();
    for _ in 0..3 {
        tables.push(caller.table_of(texas(), &["ann"]).await);
    }
    let watched = |tables: &[String]| -> Vec<v1::WatchedTable> {
        tables.iter().map(|id| v1::WatchedTable { table_id: id.clone(), ..Default::default() }).collect()
    };
    let request = v1::WatchTablesRequest { tables: watched(&tables), viewer: eyes_of("ann") };
    let mut stream = caller.tables.watch_tables(request).await.expect("a stream").into_inner();
    for table in &tables {
        caller.close_table(table).await;
    }
    let mut last = std::collections::HashMap::new();
    while let Some(response) = in_time(stream.message()).await.expect("messages") {
        let message = response.message.expect("a message");
        let before = last.insert(message.table_id.clone(), message.sequence);
        let snapshot = matches!(message.content, Some(Content::Snapshot(_)));
        assert_eq!(before.is_none(), snapshot);
        assert!(before.is_none_or(|before| message.sequence == before + 1));
    }
    assert_eq!(last.len(), 3);

    let stranger = uuid::Uuid::new_v4().to_string();
    let with_a_stranger =
        v1::WatchTablesRequest { tables: watched(&[tables[0].clone(), stranger]), viewer: None };
    let refused = caller.tables.watch_tables(with_a_stranger).await.unwrap_err();
    assert_eq!((refused.code(), reason(&refused)), (Code::NotFound, "TABLE_NOT_FOUND".into()));
    house.close().await;
}

#[tokio::test]
async fn a_reader_who_falls_behind_is_sent_away_and_misses_nothing() {
    let feed = FeedLimits { behind: 4, ..FeedLimits::default() };
    let settings = tables::Settings { feed, ..tables::Settings::default() };
    let house = House::with(Setup { settings, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann"]).await;
    let mut idle = Caller::narrow(house.address).await;
    let mut eyes = idle.watch(&table, "").await;
    eyes.next().await.expect("a snapshot");
    let mut last = 0;
    for _ in 0..300 {
        last = caller.prefer(&table, "ann").await;
    }
    while eyes.next().await.is_some() {}
    let away = eyes.seen.last().expect("messages").clone();
    let fell_behind = v1::GoAway { reason: v1::GoAwayReason::FellBehind.into() };
    assert_eq!(away.content, Some(Content::GoAway(fell_behind)));
    assert!(away.sequence < last, "he was not told everything");
    let mut resumed = caller.watch_after(&table, "", Some(away.sequence)).await;
    resumed.until(last).await;
    let updates = |eyes: &Eyes| {
        let numbers = eyes.seen.iter().filter(|m| matches!(m.content, Some(Content::Update(_))));
        numbers.map(|m| m.sequence).collect::<Vec<_>>()
    };
    let told = [updates(&eyes), updates(&resumed)].concat();
    assert_eq!(told, (last - 299..=last).collect::<Vec<_>>(), "nothing is missing and nothing comes twice");
    house.close().await;
}

#[tokio::test]
async fn there_are_as_many_watchers_as_may_be() {
    let feed = FeedLimits { watchers: 2, ..FeedLimits::default() };
    let settings = tables::Settings { feed, ..tables::Settings::default() };
    let house = House::with(Setup { settings, ..Setup::default() }).await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &[]).await;
    let first = caller.watch(&table, "").await;
    let _second = caller.watch(&table, "").await;
    let request = v1::WatchTableRequest { table_id: table.clone(), ..Default::default() };
    let third = caller.tables.watch_table(request.clone()).await.unwrap_err();
    assert_eq!((third.code(), reason(&third)), (Code::ResourceExhausted, "TOO_MANY_WATCHERS".into()));
    drop(first);
    let free = async {
        while caller.tables.watch_table(request.clone()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    in_time(free).await;
    house.close().await;
}
