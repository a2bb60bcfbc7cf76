//! What a player at a table sees, folded from his own stream. It holds nothing that the stream did not show him.

use std::collections::BTreeSet;

use rules::{Card, Pick};

use super::cards::known;
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{Action, SitOutReason, Table, TableConfig, TableState, Turn, Update};

/// What a player sees.
#[derive(Default)]
pub struct Sight {
    me: String,
    /// The table's settings.
    pub config: TableConfig,
    /// His seat while he has one.
    pub seat: Option<u32>,
    /// Why he sits out, while he does.
    pub out: Option<SitOutReason>,
    /// The running or last hand.
    pub hand: HandSight,
    /// The open turn.
    pub turn: Option<Turn>,
    /// The table closes after the hand, or is closed.
    pub closing: bool,
    /// How many hands he was dealt that are over.
    pub played: u64,
    /// What he was paid when he left, in minor units.
    pub paid: Option<i64>,
}

/// What he sees of a hand.
#[derive(Default)]
pub struct HandSight {
    /// His own cards in the order dealt.
    pub cards: Vec<Card>,
    /// His pivot.
    pub pick: Option<Pick>,
    /// The board.
    pub board: Vec<Card>,
    /// All chips in the pots and before the players, in minor units.
    pub pot: i64,
    /// The highest bet of the street, in minor units.
    pub high: i64,
    /// Bets and raises on this street, blinds not counted.
    pub raises: u32,
    live: BTreeSet<u32>,
    mine: bool,
}

impl Sight {
    /// The sight of a player who has seen nothing yet.
    #[must_use]
    pub fn new(me: &str) -> Sight {
        Sight { me: me.to_owned(), ..Sight::default() }
    }

    /// The open turn, if he is to answer it.
    #[must_use]
    pub fn my_turn(&self) -> Option<&Turn> {
        let seat = self.seat?;
        self.turn.as_ref().filter(|turn| turn.seats.contains(&seat))
    }

    /// How many others are still in the hand.
    #[must_use]
    pub fn opponents(&self) -> usize {
        self.hand.live.iter().filter(|seat| Some(**seat) != self.seat).count()
    }

    /// The whole table anew.
    pub fn reset(&mut self, table: &Table) {
        let mine = table.seats.iter().find(|seat| seat.player_id == self.me);
        self.seat = mine.map(|seat| seat.seat);
        self.out = mine.filter(|seat| seat.sitting_out_since.is_some()).map(|seat| seat.sit_out_reason());
        self.config = table.config.clone().unwrap_or_default();
        self.closing = matches!(table.state(), TableState::Closing | TableState::Closed);
        self.turn = None;
        self.hand = HandSight::default();
        let Some(hand) = &table.hand else {
            return;
        };
        self.turn.clone_from(&hand.turn);
        let own = hand.seats.iter().find(|seat| seat.player_id == self.me);
        self.hand = HandSight {
            cards: own.map(|seat| known(&seat.cards)).unwrap_or_default(),
            pick: own.and_then(|seat| pick(seat.pivot_index)),
            board: known(&hand.board),
            pot: hand.pot_total,
            high: hand.seats.iter().map(|seat| seat.bet).max().unwrap_or_default(),
            raises: 0,
            live: hand.seats.iter().filter(|seat| !seat.folded).map(|seat| seat.seat).collect(),
            mine: own.is_some() && hand.running,
        };
    }

    /// One commit.
    pub fn apply(&mut self, update: &Update) {
        for event in update.events.iter().filter_map(|event| event.event.as_ref()) {
            self.note_seat(event);
            self.note_hand(event);
        }
        self.turn.clone_from(&update.turn);
    }

    fn note_seat(&mut self, event: &Event) {
        let mine = |seat: u32| self.seat == Some(seat);
        match event {
            Event::ConfigChanged(changed) => self.config = changed.config.clone().unwrap_or_default(),
            Event::TableClosing(_) | Event::TableClosed(_) => self.closing = true,
            Event::PlayerSeated(seated) if seated.player_id == self.me => {
                self.seat = Some(seated.seat);
                self.out = None;
            }
            Event::PlayerStoodUp(left) if left.player_id == self.me => {
                self.seat = None;
                self.paid = Some(left.paid);
            }
            Event::PlayerSatOut(out) if mine(out.seat) => self.out = Some(out.reason()),
            Event::PlayerSatIn(back) if mine(back.seat) => self.out = None,
            _ => {}
        }
    }

    fn note_hand(&mut self, event: &Event) {
        let hand = &mut self.hand;
        match event {
            Event::HandStarted(started) => {
                *hand = HandSight {
                    live: started.dealt_seats.iter().copied().collect(),
                    mine: self.seat.is_some_and(|seat| started.dealt_seats.contains(&seat)),
                    ..HandSight::default()
                };
            }
            Event::BlindPosted(posted) => {
                hand.pot += posted.amount;
                hand.high = hand.high.max(posted.amount);
            }
            Event::HoleCardsDealt(dealt) if self.seat == Some(dealt.seat) => hand.cards = known(&dealt.cards),
            Event::PivotPicked(picked) if self.seat == Some(picked.seat) => {
                hand.pick = pick(picked.card_index)
            }
            Event::PlayerActed(acted) => {
                hand.pot += acted.put_in;
                hand.high = hand.high.max(acted.to);
                match acted.action() {
                    Action::Fold => _ = hand.live.remove(&acted.seat),
                    Action::Bet | Action::Raise => hand.raises += 1,
                    _ => {}
                }
            }
            Event::StreetDealt(dealt) => {
                hand.board.extend(known(&dealt.cards));
                (hand.high, hand.raises) = (0, 0);
            }
            Event::UncalledBetReturned(back) => hand.pot -= back.amount,
            Event::HandSettled(_) | Event::HandVoided(_) => {
                self.played += u64::from(hand.mine);
                hand.mine = false;
            }
            _ => {}
        }
    }
}

fn pick(index: Option<u32>) -> Option<Pick> {
    Pick::new(u8::try_from(index?).ok()?)
}
