//! How a hand is written down for people.

use rules::Card;

use super::money::Currency;
use super::paint::{Paint, Tone};
use super::room::{Moves, Room};
use super::story::{Shown, Story, StreetStory};
use crate::pb::v1::{Game, HandValue, Limit, SettledHand, SettledPot, ShownValue, Street, TableConfig};

/// What a table plays, as `no limit 1.00/2.00 EUR`.
#[must_use]
pub fn stakes(config: &TableConfig, currency: &Currency) -> String {
    let limit = match config.limit() {
        Limit::PotLimit => "pot limit",
        Limit::FixedLimit => "fixed limit",
        Limit::NoLimit | Limit::Unspecified => "no limit",
    };
    let stakes = config.stakes.unwrap_or_default();
    let (small, big) = (currency.amount(stakes.small_blind), currency.amount(stakes.big_blind));
    format!("{limit} {small}/{big} {}", currency.code())
}

/// The name of a game.
#[must_use]
pub const fn game(game: Game) -> &'static str {
    match game {
        Game::DoubleHoldem => "Double Hold'em",
        Game::TexasHoldem => "Texas Hold'em",
        Game::Unspecified => "an unknown game",
    }
}

/// A hand that has ended, in a room that has settled it.
#[must_use]
pub fn hand(room: &Room, story: &Story, paint: Paint) -> String {
    let mut page = heading(room, &format!("hand {}", story.number), paint);
    page.push_str(&moves(&room.moves, &room.currency, paint));
    page.push_str(&paint.entry("dealt", &dealt(story), ", "));
    for street in &story.streets {
        page.push_str(&street_line(street, paint));
    }
    page.push_str(&showdown(story, paint));
    if let Some(voided) = &story.voided {
        let reason = format!("the hand is void, everybody has his chips back: {}", voided.reason);
        page.push_str(&paint.entry("void", &[paint.tone(Tone::Bad, &reason)], ""));
    }
    if let Some(settled) = &story.settled {
        page.push_str(&pots(story, settled, &room.currency, paint));
        page.push_str(&paint.entry("rake", &[room.currency.amount(settled.rake)], ""));
    }
    page.push_str(&paint.entry("stacks", &stacks(room, story, paint), ", "));
    page.push_str(&paint.entry("chips", &[account(room)], ""));
    page
}

/// What is left to say of a table at the end.
#[must_use]
pub fn ending(room: &Room, paint: Paint) -> String {
    let hands = if room.hands == 1 { "hand" } else { "hands" };
    let mut page = heading(room, &format!("after {} {hands}", room.hands), paint);
    page.push_str(&moves(&room.moves, &room.currency, paint));
    let (largest, number) = room.largest;
    if number > 0 {
        let pot = format!("{} in hand {number}", room.currency.amount(largest));
        page.push_str(&paint.entry("largest pot", &[pot], ""));
    }
    page.push_str(&paint.entry("results", &results(room, paint), ", "));
    page.push_str(&paint.entry("chips", &[account(room)], ""));
    page
}

fn heading(room: &Room, what: &str, paint: Paint) -> String {
    let name = paint.tone(Tone::Title, &room.config.display_name);
    let kind = format!("{}, {}", game(room.config.game()), stakes(&room.config, &room.currency));
    let what = paint.tone(Tone::Bold, what);
    format!("{}\n", paint.heading(&format!("{name}: {what} ({kind})")))
}

fn moves(moves: &Moves, currency: &Currency, paint: Paint) -> String {
    let mut lines = String::new();
    for (label, who) in
        [("sat down", &moves.sat_down), ("bought in", &moves.added), ("paid out", &moves.left)]
    {
        let who: Vec<String> =
            who.iter().map(|(name, amount)| format!("{name} {}", currency.amount(*amount))).collect();
        if !who.is_empty() {
            lines.push_str(&paint.entry(label, &who, ", "));
        }
    }
    lines
}

fn dealt(story: &Story) -> Vec<String> {
    let [button, small, big] = story.positions;
    let role = |seat: u32| match seat {
        // Heads-up the button posts the small blind (rules 2.2).
        seat if seat == button && seat == small => " (button, small blind)",
        seat if seat == button => " (button)",
        seat if seat == small => " (small blind)",
        seat if seat == big => " (big blind)",
        _ => "",
    };
    story.names.iter().map(|(seat, name)| format!("{name}{}", role(*seat))).collect()
}

fn street_line(street: &StreetStory, paint: Paint) -> String {
    let label = match street.street {
        Street::PreFlop | Street::Unspecified => "pre-flop",
        Street::Flop => "flop",
        Street::Turn => "turn",
        Street::River => "river",
    };
    let mut pieces: Vec<String> = street.deeds.iter().map(|deed| paint.tone(deed.tone, &deed.text)).collect();
    if street.cards.is_empty() {
        return paint.entry(label, &pieces, ", ");
    }
    let cards = paint.cards(&street.cards);
    match pieces.first_mut() {
        Some(first) => *first = format!("{cards}  {first}"),
        None => pieces.push(cards),
    }
    paint.entry(label, &pieces, ", ")
}

fn showdown(story: &Story, paint: Paint) -> String {
    let width = story.names.values().map(|name| name.chars().count()).max().unwrap_or_default();
    let mut lines = String::new();
    let mut label = "showdown";
    let mut line = |text: String| {
        lines.push_str(&paint.entry(label, &[text], ""));
        label = "";
    };
    for shown in &story.shown {
        let value = shown_value(story, shown.seat)
            .map(|value| format!("   {}", in_words(&value)))
            .unwrap_or_default();
        line(format!("{:<width$}  {}{value}", story.name(shown.seat), open_cards(shown, paint)));
    }
    for seat in &story.mucked {
        line(format!("{:<width$}  {}", story.name(*seat), paint.tone(Tone::Faint, "mucks")));
    }
    lines
}

/// The cards, the pivot between brackets.
fn open_cards(shown: &Shown, paint: Paint) -> String {
    let one = |card: &Card| match shown.pivot {
        Some(pivot) if pivot == *card => {
            let (open, close) = (paint.tone(Tone::Pivot, "["), paint.tone(Tone::Pivot, "]"));
            format!("{open}{}{close}", paint.card(*card))
        }
        _ => paint.card(*card),
    };
    let cards: Vec<String> = shown.cards.iter().map(one).collect();
    cards.join(" ")
}

fn shown_value(story: &Story, seat: u32) -> Option<ShownValue> {
    let players = &story.settled.as_ref()?.players;
    players.iter().find(|player| player.seat == seat)?.shown.clone()
}

/// What a hand was worth, and in Double Hold'em which of the two hands it was.
fn in_words(value: &ShownValue) -> String {
    let same = |hand: &Option<HandValue>| match (hand, &value.best) {
        (Some(hand), Some(best)) => hand.category == best.category && hand.ranks == best.ranks,
        _ => false,
    };
    let which = match (&value.second, same(&value.first), same(&value.second)) {
        (None, ..) => "",
        (_, true, true) => " (both hands)",
        (_, true, false) => " (hand 1: pivot and left)",
        _ => " (hand 2: pivot and right)",
    };
    let best = value.best.as_ref().map(|best| best.description.as_str()).unwrap_or_default();
    format!("{best}{which}")
}

fn pots(story: &Story, settled: &SettledHand, currency: &Currency, paint: Paint) -> String {
    let mut lines = String::new();
    for (index, pot) in settled.pots.iter().enumerate() {
        let label = if index == 0 { "main pot".to_owned() } else { format!("side pot {index}") };
        lines.push_str(&paint.entry(&label, &pot_pieces(story, pot, currency, paint), ", "));
    }
    lines
}

fn pot_pieces(story: &Story, pot: &SettledPot, currency: &Currency, paint: Paint) -> Vec<String> {
    let raked =
        if pot.rake > 0 { format!(" less {} rake", currency.amount(pot.rake)) } else { String::new() };
    let winner = |seat: u32, amount| format!("{} wins {}", story.name(seat), currency.amount(amount));
    let mut pieces: Vec<String> =
        pot.winners.iter().map(|won| paint.tone(Tone::Good, &winner(won.seat, won.amount))).collect();
    let amount = format!("{}{raked}: ", currency.amount(pot.amount));
    match pieces.first_mut() {
        Some(first) => first.insert_str(0, &amount),
        None => pieces.push(amount),
    }
    pieces
}

fn stacks(room: &Room, story: &Story, paint: Paint) -> Vec<String> {
    let players = story.settled.as_ref().map(|settled| settled.players.as_slice()).unwrap_or_default();
    let one = |(seat, chair): (&u32, &super::room::Chair)| {
        let stack = format!("{} {}", chair.name, room.currency.amount(chair.stack));
        let player = players.iter().find(|player| player.seat == *seat);
        match player.map_or(0, |player| player.stack_after - player.stack_before) {
            0 => stack,
            result => format!("{stack} ({})", change(result, room, paint)),
        }
    };
    room.chairs.iter().map(one).collect()
}

fn results(room: &Room, paint: Paint) -> Vec<String> {
    let mut has = room.paid.clone();
    for chair in room.chairs.values() {
        *has.entry(chair.name.clone()).or_default() += chair.stack;
    }
    let one = |(name, brought): (&String, &i64)| {
        let result = has.get(name).copied().unwrap_or_default() - brought;
        format!("{name} {}", change(result, room, paint))
    };
    room.brought.iter().map(one).collect()
}

fn change(amount: i64, room: &Room, paint: Paint) -> String {
    let tone = match amount {
        1.. => Tone::Good,
        0 => Tone::Faint,
        _ => Tone::Bad,
    };
    paint.tone(tone, &room.currency.change(amount))
}

fn account(room: &Room) -> String {
    let (stacks, brought, paid) = room.chips();
    let amount = |minor| room.currency.amount(minor);
    let left = if paid > 0 { format!(" + {} paid out", amount(paid)) } else { String::new() };
    format!(
        "{} on the table{left} + {} raked = {} bought in",
        amount(stacks),
        amount(room.raked),
        amount(brought)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb::v1::table_event::Event;
    use crate::pb::v1::{
        ActedBy, Action, BlindKind, BlindPosted, Card as C, HandCategory, HandMucked, HandSettled, HandShown,
        HandStarted, PivotPicked, PlayerActed, PlayerSeated, SeatAmount, SettledPlayer, Stakes, StreetDealt,
        UncalledBetReturned,
    };

    fn acted(seat: u32, action: Action, to: i64, put_in: i64, by: ActedBy) -> Event {
        let (action, by) = (action.into(), by.into());
        Event::PlayerActed(PlayerActed {
            seat,
            action,
            to,
            put_in,
            by,
            all_in: to == 900,
            ..PlayerActed::default()
        })
    }

    fn posted(seat: u32, kind: BlindKind, amount: i64) -> Event {
        Event::BlindPosted(BlindPosted { seat, kind: kind.into(), amount })
    }

    fn picked(seat: u32, by: ActedBy) -> Event {
        Event::PivotPicked(PivotPicked { seat, by: by.into(), ..PivotPicked::default() })
    }

    fn value(description: &str, rank: i32) -> Option<HandValue> {
        let category = HandCategory::Pair.into();
        Some(HandValue { category, ranks: vec![rank], description: description.to_owned() })
    }

    fn settled() -> Event {
        let account = |seat, before, after, shown| SettledPlayer {
            seat,
            stack_before: before,
            stack_after: after,
            shown,
            ..SettledPlayer::default()
        };
        let best = value("pair, kings", 12);
        let shown = ShownValue { first: value("pair, deuces", 1), second: best.clone(), best };
        let pot = SettledPot {
            amount: 2000,
            rake: 100,
            winners: vec![SeatAmount { seat: 1, amount: 1900 }],
            ..SettledPot::default()
        };
        Event::HandSettled(HandSettled {
            hand: Some(SettledHand {
                hand_number: 1,
                pots: vec![pot],
                players: vec![account(1, 1000, 1900, Some(shown)), account(2, 1000, 0, None)],
                rake: 100,
                ..SettledHand::default()
            }),
        })
    }

    fn played() -> Vec<Event> {
        let by = ActedBy::Player;
        let seated = |seat, name: &str| {
            let player_id = name.to_owned();
            Event::PlayerSeated(PlayerSeated { seat, player_id, buy_in: 1000, ..PlayerSeated::default() })
        };
        let street = |street: Street, cards: &[C]| {
            let cards = cards.iter().map(|card| (*card).into()).collect();
            Event::StreetDealt(StreetDealt { street: street.into(), cards })
        };
        vec![
            seated(1, "Ada"),
            seated(2, "Boris"),
            Event::HandStarted(HandStarted {
                hand_number: 1,
                button_seat: 1,
                small_blind_seat: 1,
                big_blind_seat: 2,
                dealt_seats: vec![1, 2],
                ..HandStarted::default()
            }),
            posted(1, BlindKind::SmallBlind, 50),
            posted(2, BlindKind::BigBlind, 100),
            acted(1, Action::Call, 100, 50, by),
            acted(2, Action::Check, 100, 0, by),
            street(Street::Flop, &[C::TwoOfClubs, C::KingOfDiamonds, C::NineOfSpades]),
            picked(2, ActedBy::TimeOut),
            acted(2, Action::Bet, 900, 900, by),
            picked(1, by),
            acted(1, Action::Call, 900, 900, by),
            Event::UncalledBetReturned(UncalledBetReturned { seat: 1, amount: 25 }),
            Event::HandShown(HandShown {
                seat: 1,
                cards: vec![C::TwoOfHearts.into(), C::AceOfHearts.into(), C::KingOfClubs.into()],
                pivot: C::AceOfHearts.into(),
            }),
            Event::HandMucked(HandMucked { seat: 2 }),
            settled(),
        ]
    }

    #[test]
    fn a_hand_is_written_down_as_it_was_played() {
        let stakes = Some(Stakes { small_blind: 50, big_blind: 100, ..Stakes::default() });
        let mut room = Room { currency: Currency::new("EUR"), ..Room::default() };
        room.config = TableConfig {
            display_name: "Emerald".to_owned(),
            game: Game::DoubleHoldem.into(),
            stakes,
            ..TableConfig::default()
        };
        let stories: Vec<Story> = played().iter().filter_map(|event| room.note(event)).collect();
        let [story] = stories.as_slice() else {
            panic!("{} hands", stories.len());
        };
        let expected = "\
-- Emerald: hand 1 (Double Hold'em, no limit 0.50/1.00 EUR) ----------------------------------------
  sat down    Ada 10.00, Boris 10.00
  dealt       Ada (button, small blind), Boris (big blind)
  pre-flop    Ada small blind 0.50, Boris big blind 1.00, Ada calls 0.50, Boris checks
  flop        2c Kd 9s  Boris picks (out of time), Boris bets 9.00 and is all-in, Ada picks,
              Ada calls 9.00 and is all-in, 0.25 goes back to Ada
  showdown    Ada    2h [Ah] Kc   pair, kings (hand 2: pivot and right)
              Boris  mucks
  main pot    20.00 less 1.00 rake: Ada wins 19.00
  rake        1.00
  stacks      Ada 19.00 (+9.00), Boris 0.00 (-10.00)
  chips       19.00 on the table + 1.00 raked = 20.00 bought in
";
        assert_eq!(hand(&room, story, Paint::PLAIN), expected);
        assert!(hand(&room, story, Paint::rich(80)).contains("A♥"));
    }
}
