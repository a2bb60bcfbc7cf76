//! The course of a hand: who decides next, when a street is over, when the cards open (rules 3, 4, 6.5).

use alloc::vec::Vec;

use crate::config::{Game, PivotOrder};
use crate::draft::Draft;
use crate::event::Event;
use crate::hand::{Hand, Street};
use crate::pivot::auto_pick;
use crate::player::Presence;
use crate::pots::uncalled;
use crate::table::Table;
use crate::terms::{By, Play, PromptKind};
use crate::{Chips, Holes, Millis, Pick, SeatNo, SeatSet};

/// What a hand waits for next.
enum Next {
    Act(SeatNo),
    Pick(SeatNo),
    PickTogether(SeatSet),
    StreetOver,
    Uncontested,
}

impl Table {
    fn next(&self, hand: &Hand) -> Next {
        let live = hand.live();
        if live.len() == 1 {
            return Next::Uncontested;
        }
        let unpicked = self.unpicked(hand);
        if self.config.pivot_order == PivotOrder::Simultaneous && !unpicked.is_empty() {
            return Next::PickTogether(unpicked);
        }
        for seat in live.clockwise_from(hand.next_from) {
            if unpicked.contains(seat) {
                return Next::Pick(seat);
            }
            if self.facing(seat).is_some_and(|facing| facing.must_act()) {
                return Next::Act(seat);
            }
        }
        Next::StreetOver
    }

    /// Live players who still have to pick their pivot (rules 4.1, 4.3).
    fn unpicked(&self, hand: &Hand) -> SeatSet {
        if self.config.game != Game::DoubleHoldem || hand.street != Street::Flop {
            return SeatSet::EMPTY;
        }
        let unpicked = |seat: &SeatNo| hand.player(*seat).is_some_and(|p| p.pick.is_none());
        hand.live().iter().filter(unpicked).collect()
    }

    fn presence(&self, seat: SeatNo) -> Presence {
        self.seat(seat).map_or(Presence::Leaving, |s| s.presence)
    }

    pub(crate) fn pick_at_timeout(&self, seat: SeatNo) -> Option<Pick> {
        match self.hand.as_ref()?.player(seat)?.holes? {
            Holes::Three(cards) => Some(auto_pick(&cards)),
            Holes::Two(_) => None,
        }
    }
}

impl Table {
    /// What the running hand does by itself from here, as one commit, and the table after it: prompts, cards, the
    /// settlement. Every command does this itself; it is for hands whose beginning was folded from events by hand,
    /// such as recorded ones with posts that no settings of a table bring about.
    #[must_use]
    pub fn carry_on(&self, at: Millis) -> (Vec<Event>, Table) {
        let mut draft = Draft::new(self, at);
        draft.go_on();
        draft.finish()
    }
}

impl Draft {
    /// Carries the hand on until somebody has to decide or it is over.
    pub(crate) fn go_on(&mut self) {
        while let Some(hand) = self.table.running_hand() {
            if hand.prompt.is_some() {
                return;
            }
            let turn = hand.turns + 1;
            match self.table.next(hand) {
                Next::Uncontested => {
                    self.return_uncalled();
                    self.settle();
                }
                Next::StreetOver => self.end_street(),
                Next::Act(seat) => self.ask_bet(turn, seat),
                Next::Pick(seat) => self.ask_pick(turn, seat),
                Next::PickTogether(seats) => self.ask_picks(turn, seats),
            }
        }
    }

    fn ask_bet(&mut self, turn: u32, seat: SeatNo) {
        match self.table.presence(seat) {
            Presence::In => self.prompt(turn, SeatSet::from_iter([seat]), PromptKind::Act),
            Presence::Leaving => self.fold(turn, seat, By::Absence),
            Presence::Out { .. } => self.default_bet(turn, seat, By::Absence, Millis::ZERO),
        }
    }

    fn ask_pick(&mut self, turn: u32, seat: SeatNo) {
        match self.table.presence(seat) {
            Presence::In => self.prompt(turn, SeatSet::from_iter([seat]), PromptKind::Pick),
            Presence::Leaving => self.leave_at_pick(turn, seat),
            Presence::Out { .. } => self.default_pick(turn, seat, By::Absence),
        }
    }

    fn ask_picks(&mut self, turn: u32, seats: SeatSet) {
        let absent = |seat: &SeatNo| self.table.presence(*seat) != Presence::In;
        let away: SeatSet = seats.iter().filter(absent).collect();
        if away.is_empty() {
            return self.prompt(turn, seats, PromptKind::Pick);
        }
        for seat in away.iter() {
            self.default_pick(turn, seat, By::Absence);
        }
    }

    fn prompt(&mut self, turn: u32, seats: SeatSet, kind: PromptKind) {
        let clocks = self.table.config.clocks;
        let bank = seats.iter().next().and_then(|seat| self.table.seat(seat));
        let (clock, bank) = match kind {
            PromptKind::Act => (clocks.action, bank.map_or(Millis::ZERO, |s| s.time_bank)),
            PromptKind::Pick => (clocks.pivot, Millis::ZERO),
        };
        let at = self.at;
        self.emit(Event::Prompted {
            turn,
            seats,
            kind,
            at,
            act_by: at + clock,
            bank_until: at + clock + bank,
        });
    }

    /// What becomes of the turn of a player who has just left (rules 9.1).
    pub(crate) fn leave_turn(&mut self, seat: SeatNo) {
        let Some(prompt) = self.table.running_hand().and_then(|h| h.prompt) else {
            return;
        };
        if !prompt.seats.contains(seat) {
            return;
        }
        match prompt.kind {
            PromptKind::Act => self.fold(prompt.turn, seat, By::Absence),
            PromptKind::Pick if self.table.config.pivot_order == PivotOrder::InTurn => {
                self.leave_at_pick(prompt.turn, seat);
            }
            PromptKind::Pick => self.default_pick(prompt.turn, seat, By::Absence),
        }
    }

    /// One who has left folds when his turn comes; without a bet to decide on he stays, and picks at once (rules 4.6,
    /// 9.1).
    fn leave_at_pick(&mut self, turn: u32, seat: SeatNo) {
        if self.table.facing(seat).is_some_and(|facing| facing.must_act()) {
            self.fold(turn, seat, By::Absence);
        } else {
            self.default_pick(turn, seat, By::Absence);
        }
    }

    pub(crate) fn default_pick(&mut self, turn: u32, seat: SeatNo, by: By) {
        let player = self.table.hand.as_ref().and_then(|h| h.player(seat));
        let (Some(player), Some(pick)) = (player, self.table.pick_at_timeout(seat)) else {
            return;
        };
        let player = player.player.clone();
        self.emit(Event::PivotPicked { turn, seat, player, pick, by });
    }

    /// Check if it is free, else fold (rules 5.9).
    pub(crate) fn default_bet(&mut self, turn: u32, seat: SeatNo, by: By, bank_used: Millis) {
        let free = self.table.facing(seat).is_some_and(|f| f.legal().can_check());
        let play = if free { Play::Check } else { Play::Fold };
        self.decide_for(turn, seat, play, by, bank_used);
    }

    fn fold(&mut self, turn: u32, seat: SeatNo, by: By) {
        self.decide_for(turn, seat, Play::Fold, by, Millis::ZERO);
    }

    fn decide_for(&mut self, turn: u32, seat: SeatNo, play: Play, by: By, bank_used: Millis) {
        let player = self.table.hand.as_ref().and_then(|h| h.player(seat));
        let to = player.map_or(Chips::ZERO, |p| p.bet);
        self.emit(Event::Acted {
            turn,
            seat,
            play,
            to,
            added: Chips::ZERO,
            all_in: false,
            by,
            asked: None,
            bank_used,
        });
    }

    fn return_uncalled(&mut self) {
        let Some(hand) = self.table.running_hand() else {
            return;
        };
        let bets: Vec<(SeatNo, Chips)> =
            hand.dealt.iter().filter_map(|seat| Some((seat, hand.player(seat)?.bet))).collect();
        // Who folded has given his bet up: it stays in the layers that he reached (rules 6.1).
        let stays_in = |(seat, _): &(SeatNo, Chips)| hand.live().contains(*seat);
        if let Some((seat, amount)) = uncalled(&bets).filter(stays_in) {
            self.emit(Event::UncalledReturned { seat, amount });
        }
    }

    fn end_street(&mut self) {
        self.return_uncalled();
        self.open_if_decided();
        let Some(hand) = self.table.running_hand() else {
            return;
        };
        match hand.street.next() {
            Some(street) => self.deal_street(street),
            None => self.settle(),
        }
    }

    /// All live hands open once a player is all-in and neither a bet nor a pivot can come any more (rules 6.5).
    fn open_if_decided(&mut self) {
        let Some(hand) = self.table.running_hand() else {
            return;
        };
        let picks_to_come = self.table.config.game == Game::DoubleHoldem && hand.street == Street::PreFlop;
        if picks_to_come || self.table.with_chips(hand).len() > 1 {
            return;
        }
        let order: Vec<SeatNo> = hand.live().clockwise_after(hand.positions.button).collect();
        self.open(&order);
    }

    /// Lays the hands of these seats open, those that are not yet.
    pub(crate) fn open(&mut self, seats: &[SeatNo]) {
        for seat in seats {
            let player = self.table.hand.as_ref().and_then(|h| h.player(*seat));
            let Some(player) = player.filter(|p| !p.shown) else {
                continue;
            };
            let Some(cards) = player.holes else {
                continue;
            };
            let pick = player.pick;
            let seat = *seat;
            self.emit(Event::HandShown { seat, cards, pick });
        }
    }
}
