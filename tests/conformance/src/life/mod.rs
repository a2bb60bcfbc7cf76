//! A table's whole life at random: players come, go, sit out, rebuy and run out of time; hands are played, voided and
//! stopped; settings change; and among it all come requests that must be refused. The same seed lives the same life.

mod around;
mod payout;
mod settings;
mod tally;
mod turn;
mod views;
mod watch;
mod wrong;

use rules::event::Event;
use rules::{Ask, Command, Due, Millis, PlayerId, SeatNo, Table};

use crate::deals::Deals;
use crate::player::{Temper, decision, shuffled};

pub use tally::Tally;
pub use watch::Watch;

/// What has to become of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It is accepted.
    Accepted,
    /// It is refused for this reason.
    Refused(&'static str),
    /// Either: it depends on what is not looked at here.
    Open,
}

/// A table and everything that happens to it.
pub struct Life {
    /// The table as it is.
    pub table: Table,
    random: Deals,
    temper: Temper,
    now: Millis,
    /// How many players have ever come.
    players: usize,
    /// How many should play.
    company: usize,
}

/// Steps without a hand after which a life is over; a table with nobody to play is revived long before.
const IDLE_STEPS: usize = 2_000;

/// Lives the life of this seed up to so many hands, or until the table is closed. What happened is added to the tally.
///
/// # Errors
/// What went against the rules first.
pub fn live(seed: u64, hands: u64, tally: &mut Tally) -> Result<(), String> {
    let (mut life, opening) = Life::begin(seed)?;
    let mut watch = Watch::of(&opening)?;
    let mut idle = 0;
    while life.table.hands < hands && idle < IDLE_STEPS && !life.is_closed() {
        let (command, fate) = life.next();
        let before = life.table.hands;
        life.take(&command, fate, &mut watch, tally)
            .map_err(|fault| format!("version {}: {fault}\n  after {command:?}", life.table.version))?;
        idle = if life.table.hands > before { 0 } else { idle + 1 };
    }
    tally.hands += life.table.hands;
    if idle == IDLE_STEPS { Err(format!("no hand any more in {IDLE_STEPS} steps")) } else { Ok(()) }
}

impl Life {
    fn begin(seed: u64) -> Result<(Life, Event), String> {
        let mut random = Deals::from_seed(seed);
        let config = settings::random(&mut random);
        let now = Millis(1_700_000_000_000);
        let temper = Temper::ALL[random.below(Temper::ALL.len())];
        let mut any = || 2 + random.below(usize::from(config.seats) - 1);
        let company = any().max(any());
        let (table, opening) = Table::open(config, now).map_err(|refusal| format!("{refusal:?}"))?;
        Ok((Life { table, random, temper, now, players: 0, company }, opening))
    }

    fn is_closed(&self) -> bool {
        matches!(self.table.life, rules::table::Life::Closed { .. })
    }

    /// Asks, and looks at what comes of it.
    fn take(
        &mut self,
        command: &Command,
        fate: Fate,
        watch: &mut Watch,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let again = self.table.decide(command);
        match self.table.step(command) {
            Ok((events, after)) => {
                if let Fate::Refused(reason) = fate {
                    return Err(format!("accepted, but it is to be refused: {reason}"));
                }
                if again.as_ref() != Ok(&events) {
                    return Err("decided otherwise the second time".to_owned());
                }
                watch.commit(command, &events, &after)?;
                tally.events(&events);
                self.table = after;
            }
            Err(refusal) => {
                if fate == Fate::Accepted {
                    return Err(format!("refused, but it is legal: {refusal:?}"));
                }
                if matches!(fate, Fate::Refused(reason) if reason != refusal.reason()) {
                    return Err(format!("{fate:?}, but it is refused with {refusal:?}"));
                }
                if again != Err(refusal.clone()) {
                    return Err("refused otherwise the second time".to_owned());
                }
                tally.refusal(&refusal);
            }
        }
        Ok(())
    }

    /// What is asked of the table next.
    fn next(&mut self) -> (Command, Fate) {
        let roll = self.random.below(1000);
        let special = match roll {
            0..100 => self.wrong(),
            100..140 => self.around().map(|ask| (self.at_now(ask), Fate::Open)),
            _ => None,
        };
        special.unwrap_or_else(|| self.onward())
    }

    fn at_now(&self, ask: Ask) -> Command {
        Command { at: self.now, ask }
    }

    /// What brings the hand, or the table to its next hand.
    fn onward(&mut self) -> (Command, Fate) {
        let prompt = self.table.running_hand().and_then(|hand| hand.prompt);
        if let Some(prompt) = prompt {
            let last = prompt.bank_until + self.table.config.clocks.grace;
            let thinks = self.thinking(prompt.act_by - prompt.at, last - prompt.act_by);
            if self.random.below(1000) >= 30 && self.now + thinks <= last {
                self.now = self.now + thinks;
                if let Some(ask) = decision(&self.table, &mut self.random, self.temper) {
                    return (self.at_now(ask), Fate::Accepted);
                }
            }
        }
        let wanted = self.table.able_to_play().len() < self.company;
        let due = self.table.due();
        match due.filter(|_| prompt.is_some() || !wanted || self.random.below(4) == 0) {
            Some((at, due)) => {
                self.now = self.now.max(at);
                let ask = match due {
                    Due::Expire => Ask::Expire,
                    Due::StartHand => self.start_hand(),
                    Due::Payments => Ask::TakePayments { until: self.now },
                };
                (self.at_now(ask), Fate::Accepted)
            }
            None => {
                let ask = self.revive();
                (self.at_now(ask), Fate::Open)
            }
        }
    }

    /// Mostly well within the clock, now and then in the time bank or the grace.
    fn thinking(&mut self, clock: Millis, after: Millis) -> Millis {
        let bound = match self.random.below(20) {
            0 => clock + after,
            1 => clock,
            _ => Millis(clock.0 / 8),
        };
        Millis(self.random.below(bound.0 as usize + 1) as u64)
    }

    fn start_hand(&mut self) -> Ask {
        let deck = Box::new(shuffled(&mut self.random));
        Ask::StartHand { deck, draw: self.random.below(usize::MAX) as u64 }
    }

    /// The name of the player who was the n-th to come.
    fn name(n: usize) -> PlayerId {
        // A word and a number are a legal name.
        PlayerId::new(&format!("p{n}")).unwrap_or_else(|| unreachable!("p{n} is a name"))
    }

    /// Anybody who sits at the table.
    fn anybody(&mut self) -> Option<(SeatNo, PlayerId)> {
        let seated: Vec<_> = self.table.occupied().map(|(no, seat)| (no, seat.player.clone())).collect();
        if seated.is_empty() { None } else { Some(seated[self.random.below(seated.len())].clone()) }
    }
}
