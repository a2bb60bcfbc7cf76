//! What one player was told by his own stream: the same as everybody, and besides that only his own cards.

use super::told::{self, Told};
use super::{Fault, Findings, Kind};
use crate::pb::v1::table_event::Event;
use crate::pb::v1::table_message::Content;
use crate::pb::v1::{TableMessage, Update};

/// A player's view.
#[derive(Default)]
pub struct View {
    player: String,
    seat: Option<u32>,
    told: Told,
    secrets: Vec<Fault>,
}

impl View {
    /// The view of a player who has heard nothing yet.
    #[must_use]
    pub fn new(player: &str) -> View {
        View { player: player.to_owned(), ..View::default() }
    }

    /// Hears a message of the player's stream.
    pub fn hear(&mut self, message: &TableMessage) {
        match &message.content {
            Some(Content::Snapshot(table)) => {
                let own = table.seats.iter().find(|seat| seat.player_id == self.player);
                self.seat = own.map(|seat| seat.seat);
                self.told.hear(message, None);
            }
            Some(Content::Update(update)) => {
                self.sit(update);
                self.secrets.extend(not_for(self.seat, message.sequence, update));
                self.told.hear(message, public(update).as_ref());
            }
            _ => self.told.hear(message, None),
        }
    }

    /// The last sequence that was heard.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.told.last().unwrap_or_default()
    }

    /// Where the player sits. A seat that he leaves stays his until the end of the commit: it tells of his last cards.
    fn sit(&mut self, update: &Update) {
        for event in update.events.iter().filter_map(|told| told.event.as_ref()) {
            if let Event::PlayerSeated(seated) = event
                && seated.player_id == self.player
            {
                self.seat = Some(seated.seat);
            }
        }
    }

    /// Holds it against the log.
    pub fn compare(&self, log: &Told, found: &mut Findings) {
        told::compare(&self.player, &self.told, log, found);
        found.take(&self.secrets);
    }
}

/// Cards and picks in an update that whoever sits in this seat may not see.
pub fn not_for(seat: Option<u32>, sequence: u64, update: &Update) -> Vec<Fault> {
    let foreign = |told: &Event| match told {
        Event::HoleCardsDealt(dealt) if !dealt.cards.is_empty() && seat != Some(dealt.seat) => {
            Some(format!("the hole cards of seat {} were told to somebody else", dealt.seat))
        }
        Event::PivotPicked(picked) if picked.card_index.is_some() && seat != Some(picked.seat) => {
            Some(format!("the pick of seat {} was told to somebody else", picked.seat))
        }
        _ => None,
    };
    let events = update.events.iter().filter_map(|told| told.event.as_ref());
    events.filter_map(foreign).map(|what| Fault { kind: Kind::View, sequence, what }).collect()
}

/// The update without hole cards and picks; `None` if it has none.
fn public(update: &Update) -> Option<Update> {
    let private = |event: &Event| match event {
        Event::HoleCardsDealt(dealt) => !dealt.cards.is_empty(),
        Event::PivotPicked(picked) => picked.card_index.is_some(),
        _ => false,
    };
    if !update.events.iter().filter_map(|told| told.event.as_ref()).any(private) {
        return None;
    }
    let mut public = update.clone();
    for event in public.events.iter_mut().filter_map(|told| told.event.as_mut()) {
        match event {
            Event::HoleCardsDealt(dealt) => dealt.cards.clear(),
            Event::PivotPicked(picked) => picked.card_index = None,
            _ => {}
        }
    }
    Some(public)
}
