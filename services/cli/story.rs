//! A hand as a spectator heard it, from the deal to the pots.

use std::collections::BTreeMap;

use rules::Card;

use super::cards::{card, known};
use super::money::Currency;
use super::paint::Tone;
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{
    ActedBy, Action, BlindKind, BlindPosted, HandMucked, HandShown, HandStarted, HandVoided, PivotPicked,
    PlayerActed, SettledHand, Street,
};

/// A hand.
#[derive(Default)]
pub struct Story {
    /// Its number.
    pub number: u64,
    /// The seats of button, small blind and big blind.
    pub positions: [u32; 3],
    /// The players dealt in, by seat.
    pub names: BTreeMap<u32, String>,
    /// What happened, street by street; the first has no cards.
    pub streets: Vec<StreetStory>,
    /// The hands that were shown, in their order.
    pub shown: Vec<Shown>,
    /// The seats that mucked.
    pub mucked: Vec<u32>,
    /// How it was paid.
    pub settled: Option<SettledHand>,
    /// Why it was voided, and who got back what.
    pub voided: Option<HandVoided>,
}

/// What happened on a street.
#[derive(Default)]
pub struct StreetStory {
    /// Which.
    pub street: Street,
    /// The cards that opened it.
    pub cards: Vec<Card>,
    /// What was done.
    pub deeds: Vec<Deed>,
}

/// Something that was done.
pub struct Deed {
    /// In words: `Ada calls 4.00`.
    pub text: String,
    /// How much it matters.
    pub tone: Tone,
}

/// A hand that lies open.
pub struct Shown {
    /// Whose.
    pub seat: u32,
    /// The cards: left, pivot, right once a pivot is picked.
    pub cards: Vec<Card>,
    /// The pivot.
    pub pivot: Option<Card>,
}

impl Story {
    /// A hand that begins.
    #[must_use]
    pub fn begin(started: &HandStarted, names: BTreeMap<u32, String>) -> Story {
        Story {
            number: started.hand_number,
            positions: [started.button_seat, started.small_blind_seat, started.big_blind_seat],
            names,
            streets: vec![StreetStory { street: Street::PreFlop, ..StreetStory::default() }],
            ..Story::default()
        }
    }

    /// The name of who was dealt in there.
    #[must_use]
    pub fn name(&self, seat: u32) -> &str {
        self.names.get(&seat).map_or("somebody", String::as_str)
    }

    /// Hears an event.
    pub fn note(&mut self, event: &Event, currency: &Currency) {
        match event {
            Event::BlindPosted(posted) => self.post(posted, currency),
            Event::PivotPicked(picked) => self.pick(picked),
            Event::PlayerActed(acted) => self.act(acted, currency),
            Event::StreetDealt(dealt) => self.streets.push(StreetStory {
                street: dealt.street(),
                cards: known(&dealt.cards),
                deeds: Vec::new(),
            }),
            Event::UncalledBetReturned(back) => {
                let text = format!("{} goes back to {}", currency.amount(back.amount), self.name(back.seat));
                self.deed(text, Tone::Faint);
            }
            Event::HandShown(shown) => self.show(shown),
            Event::HandMucked(HandMucked { seat }) => self.mucked.push(*seat),
            Event::HandSettled(settled) => self.settled.clone_from(&settled.hand),
            Event::HandVoided(voided) => self.voided = Some(voided.clone()),
            _ => {}
        }
    }

    fn deed(&mut self, text: String, tone: Tone) {
        if let Some(street) = self.streets.last_mut() {
            street.deeds.push(Deed { text, tone });
        }
    }

    fn post(&mut self, posted: &BlindPosted, currency: &Currency) {
        let what = match posted.kind() {
            BlindKind::Ante => "antes",
            BlindKind::BigBlindAnte => "antes for the table",
            BlindKind::SmallBlind => "small blind",
            BlindKind::BigBlind => "big blind",
            BlindKind::Straddle => "straddles",
            BlindKind::Entry => "posts",
            BlindKind::DeadSmallBlind => "posts dead",
            BlindKind::Unspecified => "puts in",
        };
        let text = format!("{} {what} {}", self.name(posted.seat), currency.amount(posted.amount));
        self.deed(text, Tone::Faint);
    }

    fn pick(&mut self, picked: &PivotPicked) {
        let text = format!("{} picks{}", self.name(picked.seat), because(picked.by()));
        self.deed(text, Tone::Pivot);
    }

    fn act(&mut self, acted: &PlayerActed, currency: &Currency) {
        let name = self.name(acted.seat);
        let (to, put_in) = (currency.amount(acted.to), currency.amount(acted.put_in));
        let (what, tone) = match acted.action() {
            Action::Fold => ("folds".to_owned(), Tone::Faint),
            Action::Check => ("checks".to_owned(), Tone::Plain),
            Action::Call => (format!("calls {put_in}"), Tone::Plain),
            Action::Bet => (format!("bets {to}"), Tone::Bold),
            Action::Raise => (format!("raises to {to}"), Tone::Bold),
            Action::AllIn | Action::Unspecified => (format!("puts in {put_in}"), Tone::Bold),
        };
        let all_in = if acted.all_in { " and is all-in" } else { "" };
        let text = format!("{name} {what}{all_in}{}", because(acted.by()));
        self.deed(text, if acted.all_in { Tone::Bold } else { tone });
    }

    fn show(&mut self, shown: &HandShown) {
        let open = Shown { seat: shown.seat, cards: known(&shown.cards), pivot: card(shown.pivot) };
        self.shown.retain(|other| other.seat != shown.seat);
        self.shown.push(open);
    }
}

const fn because(by: ActedBy) -> &'static str {
    match by {
        ActedBy::TimeOut => " (out of time)",
        ActedBy::Absent => " (away)",
        ActedBy::Player | ActedBy::Unspecified => "",
    }
}
