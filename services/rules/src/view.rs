//! What a viewer may see. A card leaves the rules only through here (rules 4.4, 6.4 to 6.6).

use alloc::string::String;
use alloc::vec::Vec;

use crate::blinds::{Debt, Positions};
use crate::config::{PivotOrder, TableConfig};
use crate::event::Event;
use crate::hand::{Hand, HandPlayer, Holes, Prompt, Street};
use crate::legal::Legal;
use crate::pivot::Pick;
use crate::player::{PlayerId, Presence, Seat};
use crate::pots::Pot;
use crate::table::{Life, Stop, Table};
use crate::terms::{By, PromptKind, Wish};
use crate::{Card, Chips, Millis, SeatNo, SeatSet};

/// Who looks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Viewer {
    /// A player: sees his own cards and what lies open.
    Player(PlayerId),
    /// Anybody else: sees what lies open.
    Spectator,
}

impl Viewer {
    /// Whether this is that player.
    #[must_use]
    pub fn is(&self, player: &PlayerId) -> bool {
        matches!(self, Viewer::Player(me) if me == player)
    }
}

/// A table as a viewer sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableView {
    /// The version, also the sequence of the last message to watchers.
    pub version: u64,
    /// When it was opened, ms since the epoch.
    pub opened_at: Millis,
    /// The settings.
    pub config: TableConfig,
    /// How many settings the table has had.
    pub config_version: u64,
    /// Open, closing or closed.
    pub life: Life,
    /// Soft stops in force.
    pub stops: Vec<Stop>,
    /// The occupied seats.
    pub seats: Vec<SeatView>,
    /// Button and blinds of the last hand.
    pub positions: Option<Positions>,
    /// How many hands have begun.
    pub hands: u64,
    /// When the next hand is due.
    pub next_hand_at: Option<Millis>,
    /// The running hand, or the last one until the next is dealt.
    pub hand: Option<HandView>,
}

/// An occupied seat as everybody sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeatView {
    /// Its number.
    pub seat: SeatNo,
    /// Who sits there.
    pub player: PlayerId,
    /// His session at this table.
    pub session: u64,
    /// His chips outside of pots, in minor units.
    pub stack: Chips,
    /// Whether he takes part.
    pub presence: Presence,
    /// He has been dealt in since he came or came back.
    pub established: bool,
    /// He posts to enter at once.
    pub post: bool,
    /// Blinds he owes.
    pub debt: Debt,
    /// When he wishes to sit out.
    pub wish: Option<Wish>,
    /// Chips that wait for the end of the hand.
    pub pending: Chips,
    /// His time bank.
    pub time_bank: Millis,
    /// He straddles when he may.
    pub straddle: bool,
    /// He shows where he could muck.
    pub always_show: bool,
    /// Why he is not dealt in (rules 9.4); empty if he may be.
    pub stopped: String,
}

/// A hand as a viewer sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandView {
    /// Its number.
    pub number: u64,
    /// When it began, ms since the epoch.
    pub started_at: Millis,
    /// Button and blinds.
    pub positions: Positions,
    /// Who was dealt in.
    pub dealt: SeatSet,
    /// The street.
    pub street: Street,
    /// The community cards.
    pub board: Vec<Card>,
    /// The pots of the streets before; this street's bets are still before the players.
    pub pots: Vec<Pot>,
    /// Everything in the middle and before the players.
    pub total: Chips,
    /// The players.
    pub players: Vec<HandPlayerView>,
    /// Who has to decide, and what is legal.
    pub turn: Option<TurnView>,
    /// Whether it still runs.
    pub running: bool,
    /// Why it is void, if it is.
    pub voided: Option<String>,
}

/// A player's part in a hand as a viewer sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandPlayerView {
    /// The seat.
    pub seat: SeatNo,
    /// The player.
    pub player: PlayerId,
    /// His bet on this street.
    pub bet: Chips,
    /// What he has put in, dead chips included, without what came back.
    pub contributed: Chips,
    /// He has folded.
    pub folded: bool,
    /// He has no chips left to bet.
    pub all_in: bool,
    /// He has picked his pivot; which one only he sees (rules 4.4).
    pub picked: bool,
    /// His cards, for himself or when they lie open.
    pub cards: Option<Holes>,
    /// His pivot, likewise.
    pub pick: Option<Pick>,
    /// His cards lie open to everybody.
    pub shown: bool,
}

/// A turn and what is legal in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TurnView {
    /// The prompt.
    pub prompt: Prompt,
    /// What the player to act may do; nothing while pivots are picked.
    pub legal: Option<Legal>,
    /// Folding is legal: at every turn (rules 5.11) but where all pick at once (rules 4.5).
    pub can_fold: bool,
}

/// An event that holds nothing secret; made only here.
#[derive(Clone, Copy, Debug)]
pub struct PublicEvent<'a>(&'a Event);

impl<'a> PublicEvent<'a> {
    /// The event.
    #[must_use]
    pub const fn get(self) -> &'a Event {
        self.0
    }
}

/// An event as a viewer sees it.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    /// Nothing in it is hidden.
    Public(PublicEvent<'a>),
    /// A hand began; the deck stays hidden.
    HandStarted {
        /// Its number.
        number: u64,
        /// When, ms since the epoch.
        at: Millis,
        /// Button and blinds.
        positions: Positions,
        /// Who is dealt in.
        dealt: SeatSet,
    },
    /// A seat got its cards.
    HoleDealt {
        /// The seat.
        seat: SeatNo,
        /// The cards, for their owner.
        cards: Option<Holes>,
        /// How many.
        count: usize,
    },
    /// A pivot was picked.
    PivotPicked {
        /// In which turn.
        turn: u32,
        /// By which seat.
        seat: SeatNo,
        /// Which, for its owner.
        pick: Option<Pick>,
        /// Who decided.
        by: By,
    },
}

/// The event as the viewer sees it.
#[must_use]
pub fn event<'a>(event: &'a Event, viewer: &Viewer) -> Seen<'a> {
    match event {
        Event::HandStarted(start) => Seen::HandStarted {
            number: start.number,
            at: start.at,
            positions: start.positions,
            dealt: start.dealt,
        },
        Event::HoleDealt { seat, player, cards } => Seen::HoleDealt {
            seat: *seat,
            cards: viewer.is(player).then_some(*cards),
            count: cards.cards().len(),
        },
        Event::PivotPicked { turn, seat, player, pick, by } => {
            Seen::PivotPicked { turn: *turn, seat: *seat, pick: viewer.is(player).then_some(*pick), by: *by }
        }
        other => Seen::Public(PublicEvent(other)),
    }
}

/// The table as the viewer sees it.
#[must_use]
pub fn table(table: &Table, viewer: &Viewer) -> TableView {
    TableView {
        version: table.version,
        opened_at: table.opened_at,
        config: table.config.clone(),
        config_version: table.config_version,
        life: table.life.clone(),
        stops: table.stops.clone(),
        seats: table.occupied().map(|(no, s)| seat(no, s)).collect(),
        positions: table.positions,
        hands: table.hands,
        next_hand_at: table.next_hand_at,
        hand: table.hand.as_ref().map(|h| hand(table, h, viewer)),
    }
}

/// Who has to decide now, and what is legal.
#[must_use]
pub fn turn(table: &Table) -> Option<TurnView> {
    let prompt = table.running_hand()?.prompt?;
    let together = prompt.kind == PromptKind::Pick && table.config.pivot_order == PivotOrder::Simultaneous;
    Some(TurnView { prompt, legal: table.legal_now(), can_fold: !together })
}

fn seat(no: SeatNo, seat: &Seat) -> SeatView {
    SeatView {
        seat: no,
        player: seat.player.clone(),
        session: seat.session,
        stack: seat.stack,
        presence: seat.presence,
        established: seat.established,
        post: seat.post,
        debt: seat.debt,
        wish: seat.wish,
        pending: seat.pending.as_ref().map_or(Chips::ZERO, |p| p.amount),
        time_bank: seat.time_bank,
        straddle: seat.straddle,
        always_show: seat.always_show,
        stopped: seat.stopped.clone(),
    }
}

fn hand(table: &Table, hand: &Hand, viewer: &Viewer) -> HandView {
    let players = hand
        .dealt
        .clockwise_after(hand.positions.button)
        .filter_map(|no| Some(player(table, no, hand.player(no)?, viewer)))
        .collect();
    HandView {
        number: hand.number,
        started_at: hand.started_at,
        positions: hand.positions,
        dealt: hand.dealt,
        street: hand.street,
        board: hand.board.clone(),
        pots: crate::pots::in_the_middle(hand),
        total: crate::pots::total(hand),
        players,
        turn: turn(table).filter(|_| hand.is_running()),
        running: hand.is_running(),
        voided: match &hand.end {
            Some(crate::hand::End::Voided { reason }) => Some(reason.clone()),
            _ => None,
        },
    }
}

fn player(table: &Table, no: SeatNo, player: &HandPlayer, viewer: &Viewer) -> HandPlayerView {
    let visible = player.shown || viewer.is(&player.player);
    let same = |seat: &&Seat| seat.player == player.player;
    HandPlayerView {
        seat: no,
        player: player.player.clone(),
        bet: player.bet,
        contributed: player.live + player.dead,
        folded: player.folded,
        all_in: !player.folded && table.seat(no).filter(same).is_some_and(|s| s.stack.is_zero()),
        picked: player.pick.is_some(),
        cards: player.holes.filter(|_| visible),
        pick: player.pick.filter(|_| visible),
        shown: player.shown,
    }
}
