//! Folding events into the state. This cannot fail, and needs no clock, no dealer and no judgement.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::TableConfig;
use crate::event::{Event, HandStart};
use crate::hand::Hand;
use crate::lost::Lost;
use crate::player::{Pending, PlayerId, Presence, Seat};
use crate::refusal::Refusal;
use crate::table::{Departed, Ledger, Life, Stop, Table};
use crate::terms::{By, LeaveReason};
use crate::{Chips, Millis, SeatNo};

/// How many players a table remembers for rules 9.2.
const DEPARTED_KEPT: usize = 64;

impl Table {
    /// A new table of these settings and the event that opens it. Errors: [`Refusal::BadConfig`].
    pub fn open(config: TableConfig, at: Millis) -> Result<(Table, Event), Refusal> {
        let faults = config.faults();
        if !faults.is_empty() {
            return Err(Refusal::BadConfig(faults));
        }
        let table = Table::empty(config.clone(), at);
        let config = Box::new(config);
        Ok((table, Event::Opened { config, at }))
    }

    /// The table that a first event makes; nothing if it is not an opening.
    #[must_use]
    pub fn from_opening(event: &Event) -> Option<Table> {
        match event {
            Event::Opened { config, at } => Some(Table::empty((**config).clone(), *at)),
            _ => None,
        }
    }

    fn empty(config: TableConfig, at: Millis) -> Table {
        Table {
            config,
            version: 1,
            config_version: 1,
            opened_at: at,
            life: Life::Open,
            stops: Vec::new(),
            seats: Default::default(),
            sessions: 0,
            positions: None,
            interrupted: false,
            hands: 0,
            next_hand_at: None,
            hand: None,
            past: Default::default(),
            ledger: Ledger::default(),
            departed: Vec::new(),
            credited_until: at,
            lost: None,
            payments: Vec::new(),
            payments_begun: 0,
        }
    }

    /// Folds the events of one commit; the version grows by one, or skips those that were lost.
    pub fn apply(&mut self, events: &[Event]) {
        for event in events {
            self.evolve(event);
        }
        self.version += 1;
    }

    /// Folds one event.
    pub fn evolve(&mut self, event: &Event) {
        match event {
            Event::Opened { .. } => {}
            Event::ConfigChanged { config } => self.configure(config),
            Event::Stopped { scope, reason, at } => {
                self.stops.retain(|stop| stop.scope != *scope);
                let (scope, reason, at) = (*scope, reason.clone(), *at);
                self.stops.push(Stop { scope, reason, at });
                self.next_hand_at = None;
            }
            Event::Resumed { scope, .. } => self.stops.retain(|stop| stop.scope != *scope),
            Event::ClosingAsked { reason } => {
                let reason = reason.clone();
                self.life = Life::Closing { reason };
                self.next_hand_at = None;
            }
            Event::Closed { reason, .. } => {
                let reason = reason.clone();
                self.life = Life::Closed { reason };
            }
            Event::HandScheduled { at } => self.next_hand_at = Some(*at),
            Event::PlayHalted => {
                self.interrupted = true;
                self.next_hand_at = None;
            }
            Event::ClocksShifted { from, to } => self.shift_clocks(*from, *to),
            Event::HistoryLost { last, until, hands, sessions, .. } => {
                self.lose(Lost { last: *last, until: *until }, *hands, *sessions);
            }
            Event::HandStarted(start) => self.start_hand(start),
            _ => self.evolve_seat(event),
        }
    }

    fn evolve_seat(&mut self, event: &Event) {
        match event {
            Event::PlayerSeated { seat, player, session, buy_in, post, .. } => {
                self.sessions = self.sessions.max(*session);
                self.ledger.bought_in += *buy_in;
                self.departed.retain(|d| d.player != *player);
                let newcomer = newcomer(player.clone(), *session, *buy_in, *post, &self.config);
                self.seats[seat.index()] = Some(newcomer);
            }
            Event::PlayerLeaving { seat, transaction } => self.with_seat(*seat, |s| {
                s.presence = Presence::Leaving;
                s.leaving_transaction = transaction.clone();
            }),
            Event::PlayerStoodUp { seat, player, paid, at, reason, .. } => {
                self.seats[seat.index()] = None;
                // A void must not put his debts on whoever takes the seat (rules 10.1).
                if let Some(hand) = self.hand.as_mut() {
                    hand.before.seats.retain(|(no, ..)| no != seat);
                }
                self.ledger.paid_out += *paid;
                self.remember_departed(player, *paid, *at, *reason);
            }
            Event::WishSet { seat, wish } => self.with_seat(*seat, |s| s.wish = *wish),
            Event::SatOut { seat, reason, at } => self.with_seat(*seat, |s| {
                let (since, reason) = (*at, *reason);
                s.presence = Presence::Out { since, reason };
                s.established = false;
                s.wish = None;
            }),
            Event::SatIn { seat, post } => self.with_seat(*seat, |s| {
                s.presence = Presence::In;
                s.post = *post;
                s.wish = None;
                s.timeouts = 0;
            }),
            Event::PlayerStopped { seat, reason, .. } => {
                self.with_seat(*seat, |s| s.stopped = reason.clone());
            }
            Event::PlayerResumed { seat, .. } => self.with_seat(*seat, |s| s.stopped.clear()),
            Event::PreferencesSet { seat, straddle, always_show } => self.with_seat(*seat, |s| {
                s.straddle = *straddle;
                s.always_show = *always_show;
            }),
            Event::ChipsRequested { seat, amount, transaction } => self.with_seat(*seat, |s| {
                let (amount, transaction) = (*amount, transaction.clone());
                s.pending = Some(Pending { amount, transaction });
            }),
            Event::ChipsAdded { seat, added, .. } => {
                self.ledger.bought_in += *added;
                self.with_seat(*seat, |s| {
                    s.stack += *added;
                    s.bought_in += *added;
                    s.pending = None;
                });
            }
            Event::TimeBankRefilled { seat, bank } => self.with_seat(*seat, |s| s.time_bank = *bank),
            _ => self.evolve_payment(event),
        }
    }

    pub(crate) fn with_seat(&mut self, seat: SeatNo, change: impl FnOnce(&mut Seat)) {
        if let Some(seat) = self.seat_mut(seat) {
            change(seat);
        }
    }

    fn configure(&mut self, config: &TableConfig) {
        self.config = config.clone();
        self.config_version += 1;
        let most = config.clocks.time_bank;
        for seat in self.seats.iter_mut().flatten() {
            seat.time_bank = seat.time_bank.min(most);
        }
    }

    fn remember_departed(&mut self, player: &PlayerId, stack: Chips, at: Millis, reason: LeaveReason) {
        let window = self.config.rathole;
        self.departed.retain(|d| d.at + window > at && d.player != *player);
        if window == Millis::ZERO || stack.is_zero() || reason == LeaveReason::TableClosed {
            return;
        }
        if self.departed.len() == DEPARTED_KEPT {
            self.departed.remove(0);
        }
        let player = player.clone();
        self.departed.push(Departed { player, stack, at });
    }

    /// Rules 8.4: each running clock gets back what it lost between the two times.
    fn shift_clocks(&mut self, from: Millis, to: Millis) {
        let lost_since = |start: Millis| to - start.max(from);
        if let Some(prompt) = self.hand.as_mut().and_then(|h| h.prompt.as_mut()) {
            let lost = lost_since(prompt.at);
            prompt.act_by = prompt.act_by + lost;
            prompt.bank_until = prompt.bank_until + lost;
        }
        for seat in self.seats.iter_mut().flatten() {
            if let Presence::Out { since, .. } = &mut seat.presence {
                *since = *since + lost_since(*since);
            }
        }
        let pause = self.config.clocks.between_hands;
        self.next_hand_at = self.next_hand_at.map(|at| at + lost_since(at - pause));
        self.credited_until = to;
    }

    fn start_hand(&mut self, start: &HandStart) {
        if let Some(last) = self.hand.take() {
            self.past = last.into_past();
        }
        self.hand = Some(Hand::begin(self, start));
        self.positions = Some(start.positions);
        self.interrupted = false;
        self.hands = start.number;
        self.next_hand_at = None;
        for (seat, debt) in &start.debts {
            self.with_seat(*seat, |s| s.debt = *debt);
        }
        for seat in start.dealt.iter() {
            self.with_seat(seat, |s| {
                s.established = true;
                s.newcomer = false;
                s.hands += 1;
            });
        }
    }

    /// Counts time-outs in a row (rules 8.3).
    pub(crate) fn count_timeout(&mut self, seat: SeatNo, by: By, same_turn: bool) {
        self.with_seat(seat, |s| match by {
            By::Player => s.timeouts = 0,
            By::TimeOut if !same_turn => s.timeouts = s.timeouts.saturating_add(1),
            By::TimeOut | By::Absence => {}
        });
    }
}

fn newcomer(player: PlayerId, session: u64, stack: Chips, post: bool, config: &TableConfig) -> Seat {
    Seat {
        player,
        session,
        stack,
        bought_in: stack,
        wagered: Chips::ZERO,
        won: Chips::ZERO,
        raked: Chips::ZERO,
        wallet: false,
        presence: Presence::In,
        established: false,
        newcomer: true,
        post,
        debt: Default::default(),
        wish: None,
        pending: None,
        leaving_transaction: String::new(),
        time_bank: config.clocks.time_bank,
        hands: 0,
        timeouts: 0,
        straddle: false,
        always_show: false,
        stopped: String::new(),
    }
}
