//! The checks themselves are checked: each kind of leak is planted once and has to be found.

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use rules::Card;

use super::super::harness::{House, double, in_time, texas};
use super::book::Book;
use super::check::Checker;
use super::faces;
use super::hands::play;
use super::log::Log;
use super::report::{Course, Plant};
use super::{decks_in_clear, on_disk, patient};

fn events(message: &mut v1::TableMessage) -> impl Iterator<Item = &mut Event> {
    let update = match &mut message.content {
        Some(Content::Update(update)) => Some(update),
        _ => None,
    };
    update.into_iter().flat_map(|update| update.events.iter_mut().filter_map(|event| event.event.as_mut()))
}

/// Everybody's cards to everybody, as they are dealt.
fn holes(message: &mut v1::TableMessage, _: &str, book: &Book) {
    for event in events(message) {
        if let Event::HoleCardsDealt(dealt) = event
            && let Some((_, cards)) = book.now().holes.get(&dealt.seat)
        {
            dealt.cards.clone_from(cards);
        }
    }
}

/// One foreign card in a player's own hand.
fn foreign(message: &mut v1::TableMessage, viewer: &str, book: &Book) {
    let other = book.now().holes.values().find(|(player, _)| player != viewer);
    for event in events(message) {
        if let (Event::HoleCardsDealt(dealt), Some((_, cards))) = (event, other)
            && !dealt.cards.is_empty()
        {
            dealt.cards[0] = cards[0];
        }
    }
}

/// A card of the board that is not due.
fn board(message: &mut v1::TableMessage, _: &str, _: &Book) {
    for event in events(message) {
        if let Event::StreetDealt(dealt) = event {
            dealt.cards[0] = dealt.cards[0] % 52 + 1;
        }
    }
}

/// Which card another one picked.
fn pivot(message: &mut v1::TableMessage, viewer: &str, _: &Book) {
    for event in events(message) {
        if let Event::PivotPicked(picked) = event
            && viewer.is_empty()
        {
            picked.card_index = Some(0);
        }
    }
}

/// What a hidden hand was worth.
fn worth(message: &mut v1::TableMessage, viewer: &str, book: &Book) {
    for event in events(message) {
        if let Event::HandSettled(v1::HandSettled { hand: Some(hand) }) = event
            && viewer == "zoe"
        {
            for player in hand.players.iter_mut().filter(|p| !book.now().shown.contains(&p.seat)) {
                player.shown = Some(v1::ShownValue::default());
            }
        }
    }
}

/// A face in a text.
fn text(message: &mut v1::TableMessage, viewer: &str, _: &Book) {
    if let Some(Content::Update(update)) = &mut message.content
        && viewer == "bob"
    {
        let closing = v1::TableClosing { reason: "bad luck with Ah Kd".into() };
        update.events.push(v1::TableEvent { event: Some(Event::TableClosing(closing)) });
    }
}

/// Somebody else's cards, and his pivot, in a snapshot.
fn snapshot(message: &mut v1::TableMessage, viewer: &str, book: &Book) {
    let other = book.now().holes.iter().find(|(_, (player, _))| player != viewer);
    let dealt = events(message).any(|event| matches!(event, Event::HandStarted(_)));
    if let Some((seat, (_, cards))) = other.filter(|_| dealt) {
        let theirs = v1::HandSeat { seat: *seat, cards: cards.clone(), ..Default::default() };
        let hand = v1::HandView { seats: vec![theirs], ..Default::default() };
        let table = v1::Table { hand: Some(hand), ..Default::default() };
        message.content = Some(Content::Snapshot(Box::new(table)));
    }
}

#[tokio::test]
async fn whatever_is_planted_in_a_message_is_found() {
    let house = House::open().await;
    let checker = Checker::new();
    let plants: [(&str, Option<Plant>); 8] = [
        ("nothing", None),
        ("holes", Some(holes)),
        ("foreign", Some(foreign)),
        ("board", Some(board)),
        ("pivot", Some(pivot)),
        ("worth", Some(worth)),
        ("text", Some(text)),
        ("snapshot", Some(snapshot)),
    ];
    for (name, plant) in plants {
        let course = Course { config: patient(double()), hands: 6, seed: 3, timeouts: false, plant };
        let (report, _) = play(&house, &checker, course).await;
        assert_eq!(report.leaks.is_empty(), plant.is_none(), "{name}: {:?}", report.leaks);
    }
    house.close().await;
}

#[tokio::test]
async fn r6_6_a_hand_that_is_shown_against_the_rules_is_found() {
    let seat = |seat, player: &str| v1::SeatView { seat, player_id: player.into(), ..Default::default() };
    let table = v1::Table { seats: vec![seat(1, "ann"), seat(2, "bob")], ..Default::default() };
    let message =
        |sequence, content| v1::TableMessage { sequence, content: Some(content), ..Default::default() };
    let update = |events: Vec<Event>| {
        let events = events.into_iter().map(|event| v1::TableEvent { event: Some(event) }).collect();
        Content::Update(v1::Update { events, ..Default::default() })
    };
    let dealt_seats = vec![1, 2];
    let start = v1::HandStarted { hand_number: 1, button_seat: 1, dealt_seats, ..Default::default() };
    let fold = v1::PlayerActed { seat: 1, action: v1::Action::Fold.into(), ..Default::default() };
    let show = |seat| Event::HandShown(v1::HandShown { seat, ..Default::default() });
    for (shown, asked, faults) in [(1, false, 1), (2, false, 1), (2, true, 0), (1, true, 1)] {
        let mut book = Book::new(2);
        book.deck(1, rules::Deck::ordered());
        book.read(&message(1, Content::Snapshot(Box::new(table.clone()))));
        let begun = vec![Event::HandStarted(start.clone()), Event::PlayerActed(fold)];
        book.read(&message(2, update(begun)));
        if asked {
            book.asks_to_show(1, shown);
        }
        book.read(&message(3, update(vec![show(shown)])));
        assert_eq!(book.faults.len(), faults, "{shown} {asked}: {:?}", book.faults);
        let bob = &book.at(2).holes[&2].1;
        assert_eq!(*bob, [1, 3], "bob is left of the button: the first and the third card");
    }
}

#[tokio::test]
async fn a_card_in_a_log_is_found() {
    let card = Card::parse("Qd").expect("a card");
    let log = Log::default();
    let reading = log.read();
    tracing::trace!(seat = 3, "nothing to see");
    tracing::trace!(?card, "a card hides itself");
    assert_eq!(log.found().leaks, Vec::<String>::new());
    assert_eq!(log.found().own, 2);
    tracing::trace!("dealt {}", card.face());
    tracing::debug!(cards = ?[v1::Card::AceOfSpades], "dealt");
    tracing::info_span!("hand", holes = "AhKd").in_scope(|| ());
    let span = tracing::info_span!("hand", holes = tracing::field::Empty);
    span.record("holes", "2c Td");
    assert_eq!(log.found().leaks.len(), 4, "{:?}", log.found());
    drop(reading);
    tracing::trace!("dealt {}", card.face());
    assert_eq!(log.found().leaks.len(), 4);
}

#[tokio::test]
async fn a_secret_word_in_a_log_is_found() {
    let log = Log::without(&["hush-0123", "mum-4567"]);
    let _reading = log.read();
    tracing::trace!("hush");
    assert_eq!((log.found().own, log.found().leaks), (1, Vec::new()));
    tracing::trace!("authorization: Bearer hush-0123");
    tracing::debug!(token = ?"mum-4567", "a call");
    tracing::info_span!("call", token = "hush-0123").in_scope(|| ());
    let span = tracing::info_span!("call", token = tracing::field::Empty);
    span.record("token", "mum-4567");
    assert_eq!(log.found().leaks.len(), 4, "{:?}", log.found());
}

/// The search finds a deck of these hands wherever it lies, in any of the forms in which it might.
#[tokio::test]
async fn a_record_in_clear_is_found() {
    let (mut file, book) = on_disk(texas, 5).await;
    assert_eq!(decks_in_clear(&file, &book), [0; 3]);
    let deck = book.decks().nth(2).expect("a third hand").clone();
    let place = file.len() / 2;
    for (form, add) in [(0, 0), (1, 1)] {
        for (at, card) in deck.cards().iter().enumerate() {
            file[place + at] = card.index() + add;
        }
        let found = decks_in_clear(&file, &book);
        assert_eq!(found[form], 47, "each six of 52: {found:?}");
    }
    let faces: String = deck.cards().iter().map(|card| card.face().to_string()).collect();
    file.extend(faces.as_bytes());
    assert_eq!(decks_in_clear(&file, &book)[2], 49, "each four of 52");
}

/// What a `{:?}` of the service's own things says, whoever may write one into a log some day.
#[tokio::test]
async fn no_debug_of_events_and_tables_names_a_card() {
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let operator = tables::OperatorId::new("dev").expect("a name");
    let key = tables::TableKey { operator, table: tables::TableId(table.parse().expect("a UUID")) };
    let mut watcher = house.tables.watch(&key, None).await.expect("a watcher");
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    let turn = eyes.turn_after(begun).await;
    caller.pause(&table).await;
    let first = caller.act(&table, "ann", &turn, v1::Action::AllIn, 0).await.expect("all in");
    let turn = eyes.turn_after(first.sequence).await;
    let last = caller.act(&table, "bob", &turn, v1::Action::Call, 0).await.expect("a showdown").sequence;
    loop {
        let message = in_time(watcher.next()).await.expect("a message");
        let text = format!("{message:?}");
        assert_eq!(faces::find_but_seconds(&text), None, "{text}");
        if matches!(message, tables::Message::Commit { version, .. } if version == last) {
            break;
        }
    }
    drop(watcher);
    house.close().await;
}
