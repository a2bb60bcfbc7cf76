//! Coming, leaving, sitting out and adding chips (rules 1.5, 2.4, 8.3, 9).

use alloc::string::{String, ToString};

use crate::draft::{Draft, Step};
use crate::event::Event;
use crate::payment::Purpose;
use crate::player::{PlayerId, Presence};
use crate::refusal::Refusal;
use crate::table::{Life, Table};
use crate::terms::{LeaveReason, SatOutReason, Wish};
use crate::{Chips, SeatNo, SeatSet};

impl Table {
    /// The seats that nobody holds.
    #[must_use]
    pub fn free_seats(&self) -> SeatSet {
        let held = |no: SeatNo| self.seat(no).is_some() || self.reserved().any(|payment| payment.seat == no);
        SeatNo::all().take(usize::from(self.config.seats)).filter(|no| !held(*no)).collect()
    }
}

impl Draft {
    /// The player's seat. Errors: he has none, or is leaving it.
    fn staying(&self, player: &PlayerId) -> Result<SeatNo, Refusal> {
        let seat = self.table.seat_of(player).ok_or(Refusal::NotSeated)?;
        match self.table.seat(seat).map(|s| s.presence) {
            Some(Presence::Leaving) => Err(Refusal::Leaving),
            _ => Ok(seat),
        }
    }

    pub(crate) fn seat(
        &mut self,
        player: &PlayerId,
        wanted: Option<SeatNo>,
        buy_in: Chips,
        post: bool,
        transaction: &str,
    ) -> Step {
        let seat = self.may_sit(player, wanted, buy_in)?;
        self.emit(Event::PlayerSeated {
            seat,
            player: player.clone(),
            session: self.table.sessions + 1,
            buy_in,
            post,
            transaction: transaction.to_string(),
            at: self.at,
        });
        self.schedule();
        Ok(())
    }

    /// The seat that he may take with this buy-in.
    pub(crate) fn may_sit(
        &self,
        player: &PlayerId,
        wanted: Option<SeatNo>,
        buy_in: Chips,
    ) -> Result<SeatNo, Refusal> {
        if self.table.life != Life::Open {
            return Err(Refusal::TableClosed);
        }
        let seat = self.choose_seat(player, wanted)?;
        self.check_buy_in(player, buy_in)?;
        Ok(seat)
    }

    fn choose_seat(&self, player: &PlayerId, wanted: Option<SeatNo>) -> Result<SeatNo, Refusal> {
        let seats = self.table.config.seats;
        let free = self.table.free_seats();
        if let Some(wanted) = wanted {
            if wanted.number() > seats {
                return Err(Refusal::NoSuchSeat { seats });
            }
            let holder = self.table.seat(wanted).map(|s| &s.player);
            let reserved = || self.table.reserved().find(|p| p.seat == wanted).map(|p| &p.player);
            if holder.or_else(reserved).is_some_and(|holder| holder != player) {
                return Err(Refusal::SeatTaken { free });
            }
        }
        let reserved = || self.table.reserved().find(|p| p.player == *player).map(|p| p.seat);
        if let Some(seat) = self.table.seat_of(player).or_else(reserved) {
            return Err(Refusal::AlreadySeated { seat });
        }
        let lowest = free.iter().next().ok_or(Refusal::TableFull)?;
        Ok(wanted.unwrap_or(lowest))
    }

    fn check_buy_in(&self, player: &PlayerId, buy_in: Chips) -> Step {
        let (min, max) = (self.table.config.stakes.min_buy_in, self.table.config.stakes.max_buy_in);
        let window = self.table.config.rathole;
        let mut departed = self.table.departed.iter();
        let left = departed.find(|d| d.player == *player && d.at + window > self.at);
        let least = left.map_or(Chips::ZERO, |d| d.stack);
        if let Some(left) = left.filter(|_| buy_in < least) {
            let until = left.at + window;
            return Err(Refusal::BuyInBelowLeft { least, until });
        }
        let (min, max) = (min.max(least), max.max(least));
        if buy_in < min || buy_in > max {
            return Err(Refusal::BuyInOutOfRange { min, max });
        }
        Ok(())
    }

    pub(crate) fn stand_up(&mut self, player: &PlayerId, transaction: &str) -> Step {
        let seat = self.staying(player)?;
        let transaction = transaction.to_string();
        self.emit(Event::PlayerLeaving { seat, transaction });
        if self.table.in_running_hand(seat) {
            self.leave_turn(seat);
            self.go_on();
        } else {
            self.pay_out(seat, LeaveReason::Asked);
            self.schedule();
        }
        Ok(())
    }

    /// Pays a seat out; chips that still wait go back with it.
    pub(crate) fn pay_out(&mut self, seat: SeatNo, reason: LeaveReason) {
        self.settle_pending(seat, true);
        let Some(who) = self.table.seat(seat).cloned() else {
            return;
        };
        self.emit(Event::PlayerStoodUp {
            seat,
            player: who.player.clone(),
            session: who.session,
            paid: who.stack,
            reason,
            transaction: match reason {
                LeaveReason::Asked => who.leaving_transaction.clone(),
                _ => String::new(),
            },
            at: self.at,
        });
        if who.wallet {
            self.owe(Purpose::CashOut, who.player, seat, who.session, who.stack);
        }
    }

    pub(crate) fn sit_out(&mut self, player: &PlayerId, wish: Wish) -> Step {
        let seat = self.staying(player)?;
        let presence = self.table.seat(seat).map(|s| s.presence);
        if matches!(presence, Some(Presence::Out { .. })) {
            return Err(Refusal::AlreadySittingOut);
        }
        if wish == Wish::NextHand && !self.table.in_running_hand(seat) {
            self.sit_out_now(seat, SatOutReason::Asked);
            self.schedule();
        } else {
            let wish = Some(wish);
            self.emit(Event::WishSet { seat, wish });
        }
        Ok(())
    }

    pub(crate) fn sit_out_now(&mut self, seat: SeatNo, reason: SatOutReason) {
        let at = self.at;
        self.emit(Event::SatOut { seat, reason, at });
    }

    pub(crate) fn sit_in(&mut self, player: &PlayerId, post: bool) -> Step {
        let no = self.staying(player)?;
        let seat = self.table.seat(no).ok_or(Refusal::NotSeated)?;
        let out = matches!(seat.presence, Presence::Out { .. });
        let waits = !seat.established && seat.post != post;
        if !out && seat.wish.is_none() && !waits {
            return Err(Refusal::NotSittingOut);
        }
        let in_hand = self.table.in_running_hand(no);
        if out && seat.stack.is_zero() && !in_hand {
            return Err(Refusal::NoChips);
        }
        self.emit(Event::SatIn { seat: no, post });
        self.schedule();
        Ok(())
    }

    /// Rules 9.4: the running hand is played to its end, then he is not dealt in. The reason is kept; a stop without
    /// one is kept under the word for that.
    pub(crate) fn stop_player(&mut self, player: &PlayerId, reason: &str) -> Step {
        let seat = self.staying(player)?;
        let reason = if reason.is_empty() { "stopped" } else { reason }.to_string();
        let at = self.at;
        self.emit(Event::PlayerStopped { seat, reason, at });
        self.schedule();
        Ok(())
    }

    pub(crate) fn resume_player(&mut self, player: &PlayerId) -> Step {
        let seat = self.staying(player)?;
        if self.table.seat(seat).is_none_or(|s| s.stopped.is_empty()) {
            return Err(Refusal::NotStopped);
        }
        let at = self.at;
        self.emit(Event::PlayerResumed { seat, at });
        self.schedule();
        Ok(())
    }

    pub(crate) fn prefer(&mut self, player: &PlayerId, straddle: bool, always_show: bool) -> Step {
        let seat = self.staying(player)?;
        self.emit(Event::PreferencesSet { seat, straddle, always_show });
        Ok(())
    }

    pub(crate) fn add_chips(&mut self, player: &PlayerId, amount: Chips, transaction: &str) -> Step {
        let no = self.may_add(player, amount)?;
        if self.table.seat(no).is_some_and(|seat| seat.wallet) {
            return Err(Refusal::OtherFunds);
        }
        let transaction = transaction.to_string();
        self.emit(Event::ChipsRequested { seat: no, amount, transaction });
        if !self.table.in_running_hand(no) {
            self.settle_pending(no, false);
            self.schedule();
        }
        Ok(())
    }

    /// The seat of a player who may add so many chips.
    pub(crate) fn may_add(&self, player: &PlayerId, amount: Chips) -> Result<SeatNo, Refusal> {
        if self.table.life != Life::Open {
            return Err(Refusal::TableClosed);
        }
        let no = self.staying(player)?;
        let seat = self.table.seat(no).ok_or(Refusal::NotSeated)?;
        if let Some(pending) = &seat.pending {
            let pending = pending.amount;
            return Err(Refusal::ChipsPending { pending });
        }
        let stakes = &self.table.config.stakes;
        let in_hand = self.table.in_running_hand(no);
        let held = if in_hand { Chips::ZERO } else { seat.stack };
        // In a hand the stack is not known yet: what does not fit afterwards comes back (rules 9.2).
        let min = if in_hand { Chips(1) } else { stakes.min_buy_in.saturating_sub(held).max(Chips(1)) };
        let max = stakes.max_buy_in.saturating_sub(held);
        if amount < min || amount > max {
            return Err(Refusal::BuyInOutOfRange { min, max });
        }
        Ok(no)
    }

    /// Adds the chips that waited, as far as the maximum buy-in lets them in; `all_back` when the player leaves.
    pub(crate) fn settle_pending(&mut self, no: SeatNo, all_back: bool) {
        let Some(seat) = self.table.seat(no).cloned() else {
            return;
        };
        let Some(pending) = seat.pending.clone() else {
            return;
        };
        let stakes = &self.table.config.stakes;
        let room = stakes.max_buy_in.saturating_sub(seat.stack);
        let fits = pending.amount.min(room);
        let enough = seat.stack + fits >= stakes.min_buy_in;
        let added = if all_back || !enough { Chips::ZERO } else { fits };
        let returned = pending.amount - added;
        let back_in = matches!(seat.presence, Presence::Out { reason: SatOutReason::NoChips, .. });
        self.emit(Event::ChipsAdded {
            seat: no,
            player: seat.player.clone(),
            session: seat.session,
            added,
            returned,
            transaction: pending.transaction,
            at: self.at,
        });
        if seat.wallet {
            self.owe(Purpose::Returned, seat.player, no, seat.session, returned);
        }
        // One who sat out only because he had no chips plays again with them.
        if back_in && !added.is_zero() {
            self.emit(Event::SatIn { seat: no, post: false });
        }
    }
}
