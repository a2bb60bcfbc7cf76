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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb::v1::{
        BlindPosted, Card as C, HandSeat, HandSettled, HandStarted, HandView, HoleCardsDealt, PlayerActed,
        PlayerSatOut, PlayerSeated, PlayerStoodUp, SeatView, StreetDealt, TableEvent,
    };

    fn heard(sight: &mut Sight, events: Vec<Event>, turn: Option<Turn>) {
        let events = events.into_iter().map(|event| TableEvent { event: Some(event) }).collect();
        sight.apply(&Update { events, turn, time: None });
    }

    fn seated(seat: u32, name: &str) -> Event {
        Event::PlayerSeated(PlayerSeated { seat, player_id: name.to_owned(), ..PlayerSeated::default() })
    }

    fn acted(seat: u32, action: Action, to: i64, put_in: i64) -> Event {
        Event::PlayerActed(PlayerActed { seat, action: action.into(), to, put_in, ..PlayerActed::default() })
    }

    fn dealt(seat: u32, cards: &[C]) -> Event {
        let cards = cards.iter().map(|card| (*card).into()).collect();
        Event::HoleCardsDealt(HoleCardsDealt { seat, count: 2, cards })
    }

    fn in_a_hand() -> Sight {
        let mut sight = Sight::new("mia");
        heard(&mut sight, vec![seated(1, "leo"), seated(2, "mia"), seated(3, "zoe")], None);
        let started = HandStarted { hand_number: 4, dealt_seats: vec![1, 2, 3], ..HandStarted::default() };
        let post = |seat, amount| Event::BlindPosted(BlindPosted { seat, amount, ..BlindPosted::default() });
        let events = vec![
            Event::HandStarted(started),
            post(1, 50),
            post(2, 100),
            dealt(1, &[]),
            dealt(2, &[C::AceOfHearts, C::KingOfClubs]),
            acted(3, Action::Raise, 300, 300),
            acted(1, Action::Fold, 50, 0),
        ];
        let turn = Turn { hand_number: 4, number: 3, seats: vec![2], ..Turn::default() };
        heard(&mut sight, events, Some(turn));
        sight
    }

    #[test]
    fn a_player_knows_the_pot_the_price_and_who_is_in() {
        let mut sight = in_a_hand();
        assert_eq!((sight.hand.pot, sight.hand.high, sight.hand.raises), (450, 300, 1));
        assert_eq!((sight.opponents(), sight.hand.cards.len()), (1, 2));
        assert!(sight.my_turn().is_some());

        let flop = StreetDealt { cards: vec![1, 2, 3], ..StreetDealt::default() };
        let other = Turn { seats: vec![3], ..Turn::default() };
        heard(&mut sight, vec![acted(2, Action::Call, 300, 200), Event::StreetDealt(flop)], Some(other));
        assert_eq!((sight.hand.pot, sight.hand.high, sight.hand.raises), (650, 0, 0));
        assert_eq!(sight.hand.board.len(), 3);
        assert!(sight.my_turn().is_none(), "it is another's turn");
    }

    #[test]
    fn only_hands_that_were_dealt_to_him_count_as_played() {
        let mut sight = in_a_hand();
        let end = || Event::HandSettled(HandSettled::default());
        heard(&mut sight, vec![end()], None);
        assert_eq!(sight.played, 1);
        let without = HandStarted { hand_number: 5, dealt_seats: vec![1, 3], ..HandStarted::default() };
        heard(&mut sight, vec![Event::HandStarted(without), end()], None);
        assert_eq!(sight.played, 1);
    }

    #[test]
    fn sitting_out_and_leaving_are_noticed() {
        let mut sight = in_a_hand();
        let out = |seat| {
            let reason = SitOutReason::NoChips.into();
            Event::PlayerSatOut(PlayerSatOut { seat, reason, since: None })
        };
        heard(&mut sight, vec![out(3)], None);
        assert_eq!(sight.out, None, "that was another player");
        heard(&mut sight, vec![out(2)], None);
        assert_eq!(sight.out, Some(SitOutReason::NoChips));
        let left =
            PlayerStoodUp { seat: 2, player_id: "mia".to_owned(), paid: 70, ..PlayerStoodUp::default() };
        heard(&mut sight, vec![Event::PlayerStoodUp(left)], None);
        assert_eq!((sight.seat, sight.paid), (None, Some(70)));
    }

    #[test]
    fn a_snapshot_tells_the_same() {
        let told = in_a_hand();
        let part = |seat, name: &str, bet, folded, cards: &[C]| HandSeat {
            seat,
            player_id: name.to_owned(),
            bet,
            folded,
            cards: cards.iter().map(|card| (*card).into()).collect(),
            ..HandSeat::default()
        };
        let hand = HandView {
            number: 4,
            running: true,
            pot_total: 450,
            seats: vec![
                part(1, "leo", 50, true, &[]),
                part(2, "mia", 100, false, &[C::AceOfHearts, C::KingOfClubs]),
                part(3, "zoe", 300, false, &[]),
            ],
            turn: told.turn.clone(),
            ..HandView::default()
        };
        let seat = SeatView { seat: 2, player_id: "mia".to_owned(), ..SeatView::default() };
        let mut sight = Sight::new("mia");
        sight.reset(&Table { seats: vec![seat], hand: Some(hand), ..Table::default() });
        assert_eq!((sight.seat, sight.opponents()), (told.seat, told.opponents()));
        assert_eq!((sight.hand.pot, sight.hand.high), (told.hand.pot, told.hand.high));
        assert!(sight.hand.cards == told.hand.cards && sight.my_turn() == told.my_turn());
    }
}
