//! A table as its teller follows it, with a spectator's eyes: who sits there, what was bought in, paid and raked, and
//! the hand that is being played.

use std::collections::BTreeMap;

use super::money::Currency;
use super::story::Story;
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{SettledHand, Table, TableConfig};

/// A table.
#[derive(Default)]
pub struct Room {
    /// Its settings.
    pub config: TableConfig,
    /// The currency of its amounts.
    pub currency: Currency,
    /// Who sits where.
    pub chairs: BTreeMap<u32, Chair>,
    /// What came and went since the last hand was told.
    pub moves: Moves,
    /// All that was brought to the table, by player, in minor units.
    pub brought: BTreeMap<String, i64>,
    /// All that was paid out, by player, in minor units.
    pub paid: BTreeMap<String, i64>,
    /// All that was raked, in minor units.
    pub raked: i64,
    /// How many hands were told.
    pub hands: u64,
    /// The largest sum of pots so far, in minor units, and its hand.
    pub largest: (i64, u64),
    /// The hand that is played.
    pub story: Option<Story>,
    /// The table is closed.
    pub closed: bool,
}

/// A taken seat.
#[derive(Clone, Default)]
pub struct Chair {
    /// Who sits there.
    pub name: String,
    /// His stack, in minor units; between hands.
    pub stack: i64,
}

/// What came and went between two tellings: names and amounts in minor units.
#[derive(Default)]
pub struct Moves {
    /// Who sat down, with what.
    pub sat_down: Vec<(String, i64)>,
    /// Who added chips, how many.
    pub added: Vec<(String, i64)>,
    /// Who left, with what.
    pub left: Vec<(String, i64)>,
}

impl Room {
    /// The whole table anew. Chips that are there already count as brought; a running hand is not told, since its
    /// beginning was not heard.
    pub fn reset(&mut self, table: &Table) {
        self.config = table.config.clone().unwrap_or_default();
        self.currency = Currency::new(&self.config.currency);
        self.story = None;
        let hand = table.hand.as_ref().filter(|hand| hand.running);
        self.chairs = BTreeMap::new();
        self.brought = BTreeMap::new();
        self.paid = BTreeMap::new();
        self.raked = 0;
        for seat in &table.seats {
            let in_pot = hand.and_then(|hand| hand.seats.iter().find(|part| part.seat == seat.seat));
            let has = seat.stack + in_pot.map_or(0, |part| part.contributed);
            *self.brought.entry(seat.player_id.clone()).or_default() += has;
            self.chairs.insert(seat.seat, Chair { name: seat.player_id.clone(), stack: seat.stack });
        }
    }

    /// One event. Returns the hand if it ended one.
    pub fn note(&mut self, event: &Event) -> Option<Story> {
        self.note_seat(event);
        if let Event::HandStarted(started) = event {
            let name = |seat: &u32| (*seat, self.name(*seat));
            self.story = Some(Story::begin(started, started.dealt_seats.iter().map(name).collect()));
        }
        if let Some(story) = &mut self.story {
            story.note(event, &self.currency);
        }
        match event {
            Event::HandSettled(settled) => self.settle(settled.hand.as_ref()),
            Event::HandVoided(_) => self.hands += 1,
            _ => return None,
        }
        self.story.take()
    }

    /// The name of who sits there.
    #[must_use]
    pub fn name(&self, seat: u32) -> String {
        self.chairs.get(&seat).map_or_else(|| format!("seat {seat}"), |chair| chair.name.clone())
    }

    /// The chips in front of the players, what was brought in all and what was paid out in all, in minor units. Between
    /// hands the first and the rake make up the difference of the others (rules 10.3).
    #[must_use]
    pub fn chips(&self) -> (i64, i64, i64) {
        let stacks = self.chairs.values().map(|chair| chair.stack).sum();
        (stacks, self.brought.values().sum(), self.paid.values().sum())
    }

    fn note_seat(&mut self, event: &Event) {
        match event {
            Event::ConfigChanged(changed) => self.config = changed.config.clone().unwrap_or_default(),
            Event::PlayerSeated(seated) => {
                let name = seated.player_id.clone();
                *self.brought.entry(name.clone()).or_default() += seated.buy_in;
                self.moves.sat_down.push((name.clone(), seated.buy_in));
                self.chairs.insert(seated.seat, Chair { name, stack: seated.buy_in });
            }
            Event::ChipsAdded(added) if added.added > 0 => {
                let name = self.name(added.seat);
                if let Some(chair) = self.chairs.get_mut(&added.seat) {
                    chair.stack += added.added;
                }
                *self.brought.entry(name.clone()).or_default() += added.added;
                self.moves.added.push((name, added.added));
            }
            Event::PlayerStoodUp(left) => {
                *self.paid.entry(left.player_id.clone()).or_default() += left.paid;
                self.moves.left.push((left.player_id.clone(), left.paid));
                self.chairs.remove(&left.seat);
            }
            Event::TableClosed(_) => self.closed = true,
            _ => {}
        }
    }

    fn settle(&mut self, hand: Option<&SettledHand>) {
        let Some(hand) = hand else {
            return;
        };
        self.hands += 1;
        self.raked += hand.rake;
        for player in &hand.players {
            if let Some(chair) = self.chairs.get_mut(&player.seat) {
                chair.stack = player.stack_after;
            }
        }
        let pots: i64 = hand.pots.iter().map(|pot| pot.amount).sum();
        if pots > self.largest.0 {
            self.largest = (pots, hand.hand_number);
        }
    }
}
