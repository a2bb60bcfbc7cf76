//! Rules 4.4 and 6.4 to 6.6 as views: nobody sees a card that is neither his nor open. Pitfall 32.

use rules::view::{self, HandPlayerView, Seen, Viewer};
use rules::{Card, Event, PlayerId, Table};

use crate::play::{Play, play};
use crate::text::faces;

fn viewer(name: &str) -> Viewer {
    if name == "spectator" { Viewer::Spectator } else { Viewer::Player(PlayerId::new(name).expect("a name")) }
}

/// What a viewer sees of the hole cards: `1 AcAd2c, 2 -`.
fn seen(play: &Play, who: &str) -> String {
    let hand = view::table(&play.table, &viewer(who)).hand.expect("a hand");
    let cards = |p: &HandPlayerView| p.cards.map_or("-".to_owned(), |c| faces(c.cards()).replace(' ', ""));
    let text = hand.players.iter().map(|p| format!("{} {}", p.seat, cards(p)));
    text.collect::<Vec<_>>().join(", ")
}

const HAND: &str = "table texas nl 1/2
     seats 1:90 2:90 3:90
     cards 1:AcAd 2:QcQd 3:KcKd board:9s8h7s3c2d
     deal button 1";

#[test]
fn a_player_sees_his_own_cards_and_no_others() {
    let hand = play(HAND);
    assert_eq!(seen(&hand, "p1"), "2 -, 3 -, 1 AcAd");
    assert_eq!(seen(&hand, "p2"), "2 QcQd, 3 -, 1 -");
    assert_eq!(seen(&hand, "spectator"), "2 -, 3 -, 1 -");
    assert_eq!(seen(&hand, "stranger"), "2 -, 3 -, 1 -");
}

#[test]
fn r6_6_after_folds_and_a_win_without_showdown_all_stays_closed() {
    let mut hand = play(HAND);
    hand.more("1 raises 10 · 2 folds · 3 folds · over");
    assert_eq!(seen(&hand, "p2"), "2 QcQd, 3 -, 1 -");
    assert_eq!(seen(&hand, "spectator"), "2 -, 3 -, 1 -");
    hand.more("1 shows");
    assert_eq!(seen(&hand, "spectator"), "2 -, 3 -, 1 AcAd");
}

#[test]
fn r6_4_a_showdown_opens_what_was_shown_and_nothing_mucked() {
    let mut hand = play(HAND);
    hand.more(
        "1 calls 2 · 2 calls 1 · 3 checks · 2 checks · 3 checks · 1 checks · 2 checks · 3 checks · 1 checks
         2 checks · 3 checks · 1 bets 2 · 2 folds · 3 calls 2 · over",
    );
    assert_eq!(seen(&hand, "spectator"), "2 -, 3 -, 1 AcAd");
    assert_eq!(seen(&hand, "p3"), "2 -, 3 KcKd, 1 AcAd");
}

// His cards stay his when he has left, and are not those of the next in his seat.
#[test]
fn cards_belong_to_the_player_not_to_the_seat() {
    let mut hand = play(HAND);
    hand.more("1 raises 10 · 2 folds · 3 folds · 2 leaves · new buys 2 for 90");
    assert_eq!(seen(&hand, "new"), "2 -, 3 -, 1 -");
    assert_eq!(seen(&hand, "p2"), "2 QcQd, 3 -, 1 -");
}

#[test]
fn a_void_hand_stays_closed() {
    let mut hand = play(HAND);
    hand.more("1 raises 10 · void");
    assert_eq!(seen(&hand, "p1"), "2 -, 3 -, 1 AcAd");
    assert_eq!(seen(&hand, "spectator"), "2 -, 3 -, 1 -");
}

/// The faces that a viewer could read out of the events of a hand, in order.
fn read(log: &[Event], who: &str) -> Vec<Card> {
    let mut cards = Vec::new();
    for event in log {
        match view::event(event, &viewer(who)) {
            Seen::HoleDealt { cards: Some(own), .. } => cards.extend_from_slice(own.cards()),
            Seen::Public(public) => match public.get() {
                Event::StreetDealt { cards: board, .. } => cards.extend_from_slice(board),
                Event::HandShown { cards: shown, .. } => cards.extend_from_slice(shown.cards()),
                _ => {}
            },
            _ => {}
        }
    }
    cards
}

#[test]
fn a_stream_tells_its_viewer_no_more_than_the_table_does() {
    let mut hand = play(HAND);
    hand.more("1 all-in 90 · 2 folds · 3 calls 88 · over");
    assert_eq!(faces(&read(&hand.log, "spectator")), "Kc Kd Ac Ad 9s 8h 7s 3c 2d");
    assert_eq!(faces(&read(&hand.log, "p2")), "Qc Qd Kc Kd Ac Ad 9s 8h 7s 3c 2d");
    assert_eq!(faces(&read(&hand.log, "p1")), "Ac Ad Kc Kd Ac Ad 9s 8h 7s 3c 2d");
}

/// Every card's face as it would stand in a text.
fn leaks(text: &str) -> Vec<String> {
    let all = (0..52).filter_map(Card::from_index).map(|card| card.face().to_string());
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    all.filter(|face| words.contains(&face.as_str())).collect()
}

// What a log line could hold: state, events, views and commands written with Debug.
#[test]
fn debug_shows_no_card_anywhere() {
    let mut hand = play(
        "table double nl 1/2
         seats 1:90 2:90
         deal button 1
         1 calls 1 · 2 checks · 2 picks second",
    );
    hand.more("2 checks · 1 picks third · 1 bets 5");
    let text = format!(
        "{:?} {:?} {:?} {:?}",
        hand.table,
        hand.log,
        view::table(&hand.table, &viewer("p1")),
        hand.log.iter().map(|e| view::event(e, &viewer("p1"))).collect::<Vec<_>>(),
    );
    assert!(text.contains("Card(..)") && text.contains("Deck(..)") && text.contains("Pick(..)"));
    assert_eq!(leaks(&text), Vec::<String>::new());
    assert_eq!(leaks("Holes([Ah])"), ["Ah"], "the search finds a card");
}

#[test]
fn the_turn_and_what_is_legal_is_seen_by_everybody() {
    let hand = play(HAND);
    let of = |table: &Table, who: &str| view::table(table, &viewer(who)).hand.and_then(|h| h.turn);
    let turn = of(&hand.table, "spectator").expect("a turn");
    assert_eq!(of(&hand.table, "p1"), Some(turn));
    assert_eq!(view::turn(&hand.table), Some(turn));
    assert!(turn.legal.is_some_and(|legal| legal.raise.is_some()));
}
