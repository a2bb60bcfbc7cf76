//! The table on which a recorded hand is played, and how it comes to the hand's start.

use rules::blinds::Positions;
use rules::event::{Event, HandStart};
use rules::{
    Ante, Ask, Chips, Clocks, Command, Deck, Game, Limit, Millis, PivotOrder, PlayerId, PostKind, Rake,
    Refusal, SeatNo, Stakes, Table, TableConfig,
};

use crate::card_deck::{card_deck, holes};
use crate::hand::{HandRecord, Variant};

/// When everything happens: the clocks play no part in records.
pub const NOW: Millis = Millis(1_700_000_000_000);

/// One player of a record at the table.
#[derive(Clone, Debug)]
pub struct Place {
    /// His seat: player 0 has seat 1.
    pub seat: SeatNo,
    /// His name.
    pub player: PlayerId,
    /// His stack before the forced bets.
    pub stack: Chips,
    /// He straddles.
    pub straddle: bool,
}

/// What has to be set up for a recorded hand.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The table's settings.
    pub config: TableConfig,
    /// The players.
    pub places: Vec<Place>,
    /// A player in the next seat, for whom the small blind's place stays empty (rules 2.1): the hand before is played
    /// with him as big blind, everybody folds, and he leaves.
    pub leaver: Option<Place>,
    /// The deck.
    pub deck: Deck,
}

impl Setup {
    /// Reads the table out of a record.
    ///
    /// # Errors
    /// What no settings of a table can express.
    pub fn of(record: &HandRecord) -> Result<Setup, String> {
        let config = config(record)?;
        let mut places = Vec::new();
        for player in 0..record.n {
            places.push(place(record, player).ok_or_else(|| format!("no player {player}"))?);
        }
        let leaver = record.small_blind_absent().then(|| leaver(record.n)).flatten();
        if record.small_blind_absent() && leaver.is_none() {
            return Err("no seat is left for the absent small blind".to_owned());
        }
        let deck = card_deck(&holes(record), &record.board).ok_or("a card is there twice")?;
        Ok(Setup { config, places, leaver, deck })
    }

    /// A table with the players seated, just before the recorded hand.
    ///
    /// # Errors
    /// The refusal of a command that should have been accepted.
    pub fn seated(&self) -> Result<Table, Refusal> {
        // In the hand before nobody loses a chip.
        let mut config = self.config.clone();
        if self.leaver.is_some() {
            config.stakes.ante = Ante::None;
        }
        let (mut table, _) = Table::open(config, NOW)?;
        for place in self.places.iter().chain(&self.leaver) {
            table = does(&table, place.sit_down())?;
            let player = place.player.clone();
            if place.straddle {
                table = does(&table, Ask::Prefer { player, straddle: true, always_show: false })?;
            }
        }
        match &self.leaver {
            Some(leaver) => self.after_leaver(table, leaver),
            None => Ok(table),
        }
    }

    /// The hand before: the last of the players posts a small blind of nothing, the leaver the big blind.
    fn after_leaver(&self, table: Table, leaver: &Place) -> Result<Table, Refusal> {
        let deck = Box::new(Deck::ordered());
        let before_last = self.places.len() as u64 - 2;
        let mut table = does(&table, Ask::StartHand { deck, draw: before_last })?;
        while let Some(prompt) = table.running_hand().and_then(|hand| hand.prompt) {
            let asked = prompt.seats.iter().next();
            let Some(place) = self.places.iter().find(|place| Some(place.seat) == asked) else {
                break;
            };
            let (hand, turn) = (table.hands, prompt.turn);
            let player = place.player.clone();
            table = does(&table, Ask::Act { player, hand, turn, action: rules::Action::Fold })?;
        }
        let transaction = "leaves".to_owned();
        table = does(&table, Ask::StandUp { player: leaver.player.clone(), transaction })?;
        does(&table, Ask::Configure { config: Box::new(self.config.clone()) })
    }

    /// The command that begins the recorded hand, at the table that [`Setup::seated`] gives.
    #[must_use]
    pub fn start(&self) -> Ask {
        // The button of a first hand is drawn from the seats in order: the last one gets it.
        Ask::StartHand { deck: Box::new(self.deck.clone()), draw: self.places.len() as u64 - 1 }
    }

    /// Begins the hand: the events of it and the table after them.
    ///
    /// # Errors
    /// The refusal, if the hand cannot begin.
    pub fn begin(&self, record: &HandRecord) -> Result<(Vec<Event>, Table), Refusal> {
        let seated = self.seated()?;
        let (events, table) = seated.step(&Command { at: NOW, ask: self.start() })?;
        if record.begins_by_command() {
            return Ok((events, table));
        }
        let mut events = self.as_recorded(record, &events);
        let mut table = seated;
        table.apply(&events);
        let (more, table) = table.carry_on(NOW);
        events.extend(more);
        Ok((events, table))
    }

    /// The events up to the deal, with the straddles and the first to act that the record asks for.
    fn as_recorded(&self, record: &HandRecord, events: &[Event]) -> Vec<Event> {
        let mut changed = Vec::new();
        let mut stacks: Vec<Chips> = self.places.iter().map(|place| place.stack).collect();
        for event in events {
            match event {
                Event::HandStarted(start) => {
                    let (bring_in, last) = record.bring_in();
                    let first_after = self.places[last].seat;
                    let start = HandStart { bring_in: Chips(bring_in), first_after, ..(**start).clone() };
                    changed.push(Event::HandStarted(Box::new(start)));
                }
                Event::Posted { kind: PostKind::Straddle, .. } => {}
                Event::Posted { seat, amount, .. } => {
                    stacks[seat.index()] -= *amount;
                    changed.push(event.clone());
                }
                Event::UncalledReturned { seat, amount } => {
                    stacks[seat.index()] += *amount;
                    changed.push(event.clone());
                }
                Event::HoleDealt { .. } => break,
                _ => changed.push(event.clone()),
            }
        }
        let kind = PostKind::Straddle;
        for (player, owed) in record.straddles() {
            let amount = Chips(owed).min(stacks[player]);
            if !amount.is_zero() {
                changed.push(Event::Posted { seat: self.places[player].seat, kind, amount });
            }
        }
        changed.extend(events.iter().filter(|event| matches!(event, Event::HoleDealt { .. })).cloned());
        changed
    }

    /// Where button and blinds have to lie in the recorded hand.
    #[must_use]
    pub fn positions(&self) -> Option<Positions> {
        let seat = |player: usize| self.places.get(player).map(|place| place.seat);
        let last = self.places.len() - 1;
        Some(match (&self.leaver, last) {
            (Some(leaver), _) => Positions { button: seat(last)?, small: leaver.seat, big: seat(0)? },
            (None, 1) => Positions { button: seat(1)?, small: seat(1)?, big: seat(0)? },
            (None, _) => Positions { button: seat(last)?, small: seat(0)?, big: seat(1)? },
        })
    }
}

impl Place {
    /// The command that seats him.
    #[must_use]
    pub fn sit_down(&self) -> Ask {
        Ask::Seat {
            player: self.player.clone(),
            seat: Some(self.seat),
            buy_in: self.stack,
            post: false,
            transaction: format!("buy-in of {}", self.player),
        }
    }
}

fn does(table: &Table, ask: Ask) -> Result<Table, Refusal> {
    Ok(table.step(&Command { at: NOW, ask })?.1)
}

fn place(record: &HandRecord, player: usize) -> Option<Place> {
    Some(Place {
        seat: SeatNo::new(u8::try_from(player).ok()? + 1)?,
        player: PlayerId::new(&format!("player-{player}"))?,
        stack: Chips(*record.starting_stacks.get(player)?),
        straddle: record.straddles().any(|(straddler, _)| straddler == player),
    })
}

fn leaver(n: usize) -> Option<Place> {
    Some(Place {
        seat: SeatNo::new(u8::try_from(n).ok()? + 1)?,
        player: PlayerId::new("leaver")?,
        stack: Chips(1_000_000),
        straddle: false,
    })
}

fn config(record: &HandRecord) -> Result<TableConfig, String> {
    let (small, big) = record.blinds();
    let straddles = straddles(record)?;
    let limit = match record.variant {
        Variant::NoLimit => Limit::NoLimit,
        Variant::PotLimit => Limit::PotLimit,
        Variant::FixedLimit => Limit::FixedLimit,
    };
    let (bring_in, _) = record.bring_in();
    if limit != Limit::FixedLimit && (record.min_bet, record.pf_min_raise) != (big, Some(bring_in)) {
        return Err(
            "bets from the flop on are not the big blind, or first raises not the bring-in".to_owned()
        );
    }
    let stakes = Stakes {
        small_blind: Chips(small),
        big_blind: Chips(big),
        ante: ante(record)?,
        straddles,
        small_bet: Chips(record.small_bet.unwrap_or_default()),
        big_bet: Chips(record.big_bet.unwrap_or_default()),
        min_buy_in: Chips(1),
        max_buy_in: Chips::MAX,
    };
    Ok(TableConfig {
        display_name: record.id.clone(),
        currency: *b"USD",
        game: Game::TexasHoldem,
        limit,
        seats: SeatNo::MAX,
        stakes,
        rake: Rake::NONE,
        clocks: Clocks { between_hands: Millis::ZERO, ..Clocks::default() },
        pivot_order: PivotOrder::InTurn,
        limit_cap_heads_up: record.has("fl_cap_heads_up"),
        show_all: false,
        rathole: Millis::ZERO,
    })
}

fn ante(record: &HandRecord) -> Result<Ante, String> {
    let most = record.antes.iter().copied().max().unwrap_or_default();
    let payers = record.antes.iter().filter(|ante| **ante == most).count();
    let others = record.antes.iter().any(|ante| *ante != most && *ante != 0);
    if most == 0 {
        Ok(Ante::None)
    } else if record.ante_dead && payers == 1 && !others && record.antes[record.big_blind_player()] == most {
        Ok(Ante::BigBlind(Chips(most)))
    } else if !record.ante_dead && payers == record.n {
        Ok(Ante::PerPlayer(Chips(most)))
    } else {
        Err("antes that no table has".to_owned())
    }
}

/// How many straddles: left of the big blind, each twice the bet before it (rules 2.6).
fn straddles(record: &HandRecord) -> Result<u8, String> {
    let (_, big) = record.blinds();
    let mut count = 0;
    for (player, owed) in record.straddles() {
        count += 1;
        if player != usize::from(count) + 1 || owed != big << count || count > 2 {
            return Err("posts that are no straddles".to_owned());
        }
    }
    Ok(count)
}
