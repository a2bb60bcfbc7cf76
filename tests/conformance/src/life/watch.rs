//! What must hold after every commit, whatever has happened. The table is made once more from the events alone, and
//! each event is looked at where it happens.

use rules::event::{By, Event, HandStart};
use rules::player::Presence;
use rules::{Ask, Chips, Command, Limit, Millis, PostKind, SeatNo, SeatSet, Street, Table, invariant};

use super::{payout, turn, views};

/// Follows a table.
pub struct Watch {
    /// The table made from the events alone.
    table: Table,
    /// Chips that came, by the events.
    brought: Chips,
    /// Chips that went, by the events: paid out or raked.
    gone: Chips,
    /// The big blind of the last hand that counted.
    big: Option<SeatNo>,
    hand: Watched,
}

/// What the events have said about the running or last hand.
#[derive(Default)]
struct Watched {
    start: Option<HandStart>,
    open: SeatSet,
    mucked: SeatSet,
    picked: SeatSet,
    turn: u32,
    street: Option<Street>,
    over: bool,
}

pub(super) fn ensure(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.to_owned()) }
}

impl Watch {
    /// Begins with the event that opened the table.
    ///
    /// # Errors
    /// If that opens none.
    pub fn of(opening: &Event) -> Result<Watch, String> {
        let table = Table::from_opening(opening).ok_or("not an opening")?;
        let hand = Watched { over: true, ..Watched::default() };
        Ok(Watch { table, brought: Chips::ZERO, gone: Chips::ZERO, big: None, hand })
    }

    /// Looks at a commit: the command, its events and the table that they are said to make.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn commit(&mut self, command: &Command, events: &[Event], after: &Table) -> Result<(), String> {
        ensure(!events.is_empty(), "a commit without an event")?;
        let repeated = self.table.repeated(command);
        ensure(repeated.is_none(), "a repetition before the decision")?;
        for event in events {
            self.event(command, event).map_err(|what| format!("{what}, at {event:?}\n  of {events:?}"))?;
            self.table.evolve(event);
        }
        self.table.version += 1;
        ensure(self.table == *after, "the events make another table")?;
        invariant::check(after).map_err(|broken| format!("invariant {broken:?}"))?;
        self.check_chips()?;
        match after.running_hand() {
            Some(hand) => turn::check(after, hand)?,
            None => ensure(self.hand.over, "the hand is gone")?,
        }
        check_repetition(command, after)?;
        views::check(events, after, self.hand.open)
    }

    /// Looks at an event, before it is folded.
    fn event(&mut self, command: &Command, event: &Event) -> Result<(), String> {
        let table = &self.table;
        match event {
            Event::PlayerSeated { buy_in, .. } => self.brought += *buy_in,
            Event::ChipsAdded { seat, added, .. } => {
                self.brought += *added;
                let stack = table.seat(*seat).map_or(Chips::ZERO, |s| s.stack) + *added;
                let fits = added.is_zero() || stack <= table.config.stakes.max_buy_in;
                ensure(fits && !table.in_running_hand(*seat), "chips added that do not fit")?;
            }
            Event::PlayerStoodUp { seat, paid, .. } => {
                self.gone += *paid;
                ensure(!table.in_running_hand(*seat), "paid out in a hand")?;
            }
            Event::HandStarted(start) => return self.hand_started(start),
            Event::HandSettled(result) => {
                self.gone += result.rake;
                self.big = table.positions.map(|positions| positions.big);
                ensure(!self.hand.over, "a hand ended twice")?;
                self.hand.over = true;
                payout::check(table, result, self.hand.mucked)?;
            }
            Event::HandVoided { refunds, .. } => {
                ensure(!self.hand.over, "a hand ended twice")?;
                self.hand.over = true;
                check_refunds(table, refunds)?;
            }
            Event::Acted { seat, by, bank_used, .. } => {
                check_decision(table, command, *seat, *by)?;
                if *by == By::Player {
                    turn::check_bank(table, command, *bank_used)?;
                }
            }
            Event::PivotPicked { seat, by, .. } => check_decision(table, command, *seat, *by)?,
            Event::Prompted { seats, .. } => {
                let here = |seat: SeatNo| table.seat(seat).is_some_and(|s| s.presence == Presence::In);
                ensure(seats.iter().all(here), "one who is away is asked")?;
            }
            _ => {}
        }
        self.hand.event(event, table)
    }

    fn hand_started(&mut self, start: &HandStart) -> Result<(), String> {
        let table = &self.table;
        ensure(self.hand.over, "a hand in a hand")?;
        let open = table.life == rules::table::Life::Open && table.stops.is_empty();
        ensure(open, "a hand at a table that is stopped or closing (rules 9.4)")?;
        let positions = start.positions;
        ensure(start.dealt.len() >= 2 && start.dealt.contains(positions.big), "too few, or no big blind")?;
        ensure(Some(positions.big) != self.big, "the same big blind twice in a row (rules 2.1)")?;
        ensure(positions.button != positions.big, "the button is the big blind")?;
        let heads_up = start.dealt.len() == 2;
        ensure(
            !heads_up || positions.button == positions.small,
            "heads-up the button is not the small blind",
        )?;
        let able = start.dealt.iter().all(|seat| table.seat(seat).is_some_and(|s| s.can_play()));
        ensure(able, "one is dealt in who cannot play")?;
        self.hand = Watched { start: Some(start.clone()), ..Watched::default() };
        Ok(())
    }

    /// Rules 10.3, counted from the events.
    fn check_chips(&self) -> Result<(), String> {
        let stacks: Chips = self.table.occupied().map(|(_, seat)| seat.stack).sum();
        let players = self.table.running_hand().into_iter().flat_map(|hand| hand.players.iter().flatten());
        let in_pots: Chips = players.map(|player| player.live + player.dead).sum();
        let accounted = stacks + in_pots + self.gone;
        ensure(accounted == self.brought, &format!("brought {}, accounted {accounted}", self.brought))
    }
}

impl Watched {
    fn event(&mut self, event: &Event, table: &Table) -> Result<(), String> {
        match event {
            Event::Prompted { turn, .. } => {
                ensure(!self.over && *turn > self.turn, "a turn out of order")?;
                ensure(self.open.is_empty(), "a turn after hands were opened (rules 6.5)")?;
                self.turn = *turn;
            }
            Event::Acted { turn, .. } => {
                ensure(!self.over && *turn >= self.turn, "an action out of order")?;
                self.turn = *turn;
            }
            Event::PivotPicked { seat, turn, .. } => {
                ensure(self.street == Some(Street::Flop) && *turn >= self.turn, "a pivot out of order")?;
                ensure(!self.picked.contains(*seat), "a second pivot (rules 4.2)")?;
                self.picked.insert(*seat);
                self.turn = *turn;
            }
            Event::StreetDealt { street, cards } => {
                let next = self.street.map_or(Some(Street::Flop), Street::next);
                ensure(next == Some(*street), "a street skipped")?;
                self.street = Some(*street);
                self.check_cards(*street, cards, table)?;
            }
            Event::Posted { amount, kind, .. } => {
                let straddle = *kind == PostKind::Straddle;
                ensure(!straddle || table.config.limit != Limit::FixedLimit, "a straddle in fixed limit")?;
                ensure(!amount.is_zero(), "a post of nothing")?;
            }
            Event::HandShown { seat, cards, .. } => {
                ensure(!self.open.contains(*seat), "shown twice")?;
                ensure(cards.cards().len() == table.config.game.hole_cards(), "cards shown")?;
                self.open.insert(*seat);
            }
            Event::HandMucked { seat } => self.mucked.insert(*seat),
            _ => {}
        }
        Ok(())
    }

    /// A burn before each street, and the next cards of the deck (rules 1.4).
    fn check_cards(&self, street: Street, cards: &[rules::Card], table: &Table) -> Result<(), String> {
        let start = self.start.as_ref().ok_or("no hand")?;
        let holes = start.dealt.len() * table.config.game.hole_cards();
        let (from, count) = match street {
            Street::Flop => (holes + 1, 3),
            Street::Turn => (holes + 5, 1),
            _ => (holes + 7, 1),
        };
        ensure(start.deck.cards()[from..from + count] == *cards, "other cards than the deck's")
    }
}

/// Who decides: the player who is asked, the clock of one who is asked, or the rules for one who is away.
fn check_decision(table: &Table, command: &Command, seat: SeatNo, by: By) -> Result<(), String> {
    let prompt = table.running_hand().and_then(|hand| hand.prompt);
    let asked = prompt.filter(|prompt| prompt.seats.contains(seat));
    let away = table.seat(seat).is_none_or(|s| s.presence != Presence::In);
    match by {
        By::Player => ensure(asked.is_some(), "a decision of one who is not asked"),
        By::Absence => ensure(away, "decided for one who is there"),
        By::TimeOut => {
            // Rules 8.2: never early.
            let last =
                asked.ok_or("a time-out of one who is not asked")?.bank_until + table.config.clocks.grace;
            ensure(command.at > last, "a time-out too early")
        }
    }
}

/// Rules 10.1: everybody has what he had before the hand.
fn check_refunds(table: &Table, refunds: &[(SeatNo, Chips)]) -> Result<(), String> {
    let hand = table.running_hand().ok_or("no hand to void")?;
    for seat in hand.dealt.iter() {
        let player = hand.player(seat).ok_or("no player")?;
        let back: Chips = refunds.iter().filter(|(to, _)| *to == seat).map(|(_, amount)| *amount).sum();
        let stack = table.seat(seat).map_or(Chips::ZERO, |s| s.stack);
        ensure(stack + back == player.stack_before, "a refund")?;
    }
    let mut void = table.clone();
    let (reason, requester, at) = (String::new(), String::new(), Millis::ZERO);
    void.evolve(&Event::HandVoided { reason, requester, refunds: refunds.to_vec(), at });
    ensure(void.positions == hand.before.positions, "button and blinds as before")
}

/// A player's decision that comes again is known, another one for the same turn is not.
fn check_repetition(command: &Command, after: &Table) -> Result<(), String> {
    let (Ask::Act { player, hand, turn, .. } | Ask::Pick { player, hand, turn, .. }) = &command.ask else {
        return Ok(());
    };
    let accepted = after.repeated(command).ok_or("its repetition is unknown")?;
    ensure(accepted.version == after.version, "its repetition has another version")?;
    let (player, hand, turn) = (player.clone(), *hand, *turn);
    let action = rules::Action::Raise(Chips(u64::MAX));
    let other = Command { at: command.at, ask: Ask::Act { player, hand, turn, action } };
    ensure(after.repeated(&other).is_none(), "another decision is taken for its repetition")
}
