//! The course of a simulation, step by step.

use std::collections::VecDeque;

use ::tables::clocks::AT_ONCE;

use super::house::{House, Work};
use super::lateness::Late;
use super::tables::{Event, Kind, Tables};
use super::{SECOND, STEP_MS, Script, Seen, Setting};
use crate::store::redis::spreading::{ALIVE, POLL, SIGN};

/// Steps between two looks at what is due.
const LOOK: u32 = POLL.0 as u32 / STEP_MS;
/// Steps until the others know that a server has died, at the most.
const NOTICED: u32 = (ALIVE.0 as u32 + SIGN.as_millis() as u32) / STEP_MS;
/// The server that dies.
const VICTIM: u32 = 0;
/// What is later than so many steps has piled up.
const PILED_UP: u32 = SECOND / 2;
/// So many steps are a short while.
const WHILE: u32 = SECOND / 10;

/// A simulation that goes on.
pub struct Course<'a> {
    setting: &'a Setting,
    script: Script,
    tables: Tables,
    house: House,
    /// What is asked again in the second after Redis is back, by steps.
    again: Vec<Vec<Work>>,
    /// By shard: whether it was looked after by the server that dies.
    orphaned: Vec<bool>,
    tally: Tally,
}

/// What is noted.
#[derive(Default)]
struct Tally {
    /// Commits of each short while.
    commits: Vec<u32>,
    clocks: Late,
    orphans: Late,
    decisions_after: Late,
    last_late: Option<u32>,
    used: (f64, f64, f64),
}

impl Course<'_> {
    pub fn new(setting: &Setting, script: Script) -> Course<'_> {
        let house = House::new(setting);
        let orphaned = house.owner.iter().map(|owner| *owner == VICTIM).collect();
        Course {
            setting,
            script,
            tables: Tables::new(setting),
            house,
            again: vec![Vec::new(); SECOND as usize],
            orphaned,
            tally: Tally::default(),
        }
    }

    pub fn run(mut self) -> Seen {
        let mut done = Vec::new();
        for now in 0..self.script.end {
            self.turn_the_page(now);
            for event in self.tables.take(now) {
                self.happens(now, event);
            }
            self.look(now);
            self.house.work(&self.tables.shards, !self.away(now), &mut done);
            self.tally.commits.push(done.len() as u32);
            for work in done.drain(..) {
                self.note(now, work);
                self.tables.done(now, work.event);
            }
        }
        self.told()
    }

    const fn away(&self, now: u32) -> bool {
        self.script.away <= now && now < self.script.back
    }

    /// What the script has for this step.
    fn turn_the_page(&mut self, now: u32) {
        let Script { begin, death, back, .. } = self.script;
        if now == begin {
            self.house.measure();
        }
        if now == death {
            self.tally.used = self.house.used(death - begin, self.setting);
            if self.setting.servers > 1 {
                for work in self.house.die(VICTIM) {
                    self.ask(work);
                }
            }
        }
        if now == death + NOTICED {
            self.take_over();
        }
        if now == back {
            self.credit(now);
        }
        if let Some(again) = now.checked_sub(back).and_then(|step| self.again.get_mut(step as usize)) {
            std::mem::take(again).into_iter().for_each(|work| self.ask(work));
        }
    }

    fn happens(&mut self, now: u32, event: Event) {
        let away = self.away(now);
        let due = if away { self.script.back } else { now };
        let work = Work { event, due };
        match event.kind {
            // Callers ask again, with pauses of up to a second.
            Kind::Decision if away => {
                let pause = self.tables.below(SECOND) as usize;
                if let Some(again) = self.again.get_mut(pause) {
                    again.push(work);
                }
            }
            Kind::Decision => self.ask(work),
            // The clock gets back what it has lost.
            Kind::TimeOut if away => self.tables.at(now + self.script.back - self.script.away, event),
            _ => self.is_due(work),
        }
    }

    /// A player's call, at any server that lives.
    fn ask(&mut self, work: Work) {
        let living = self.setting.servers - u32::from(self.house.dead.is_some());
        let number = self.tables.below(living);
        let dead = self.house.dead.is_some_and(|dead| number >= dead);
        self.house.ask(number + u32::from(dead), work, false);
    }

    fn shard(&self, work: &Work) -> usize {
        usize::from(self.tables.shards.get(work.event.table as usize).copied().unwrap_or_default())
    }

    fn is_due(&mut self, work: Work) {
        let owner = self.house.owner.get(self.shard(&work)).copied().unwrap_or_default();
        if let Some(server) = self.house.servers.get_mut(owner as usize) {
            server.fresh.push(work);
        }
    }

    /// Servers look at what is due, not all at the same moment, and begin with as much as they do at a time.
    fn look(&mut self, now: u32) {
        if self.away(now) {
            return;
        }
        for number in 0..self.setting.servers {
            if Some(number) == self.house.dead {
                continue;
            }
            let Some(server) = self.house.servers.get_mut(number as usize) else {
                continue;
            };
            if (now + number * 3).is_multiple_of(LOOK) {
                server.seen.extend(server.fresh.drain(..));
            }
            let room = AT_ONCE.saturating_sub(server.running).min(server.seen.len());
            let begun: Vec<Work> = server.seen.drain(..room).collect();
            begun.into_iter().for_each(|work| self.house.ask(number, work, true));
        }
    }

    /// The shards of the dead server fall to the others.
    fn take_over(&mut self) {
        let Some(dead) = self.house.dead.and_then(|dead| self.house.servers.get_mut(dead as usize)) else {
            return;
        };
        let left: Vec<Work> =
            std::mem::take(&mut dead.seen).into_iter().chain(dead.fresh.drain(..)).collect();
        self.house.share_out();
        left.into_iter().for_each(|work| self.is_due(work));
    }

    /// Redis is back: before anything else that is due, every running clock gets back what it has lost.
    fn credit(&mut self, now: u32) {
        let mut credits = vec![VecDeque::new(); self.house.servers.len()];
        for table in 0..self.setting.tables {
            let work = Work { event: Event { table, kind: Kind::Credit }, due: now };
            let owner = self.house.owner.get(self.shard(&work)).copied().unwrap_or_default();
            if let Some(credits) = credits.get_mut(owner as usize) {
                credits.push_back(work);
            }
        }
        for (server, mut credits) in self.house.servers.iter_mut().zip(credits) {
            credits.append(&mut server.seen);
            server.seen = credits;
        }
    }

    fn note(&mut self, now: u32, work: Work) {
        let Script { begin, death, back, .. } = self.script;
        let (late, clock) = (now - work.due.min(now), matches!(work.event.kind, Kind::TimeOut | Kind::Start));
        let orphaned = self.orphaned.get(self.shard(&work)).copied().unwrap_or_default();
        if clock && (begin..death).contains(&work.due) && now < death {
            self.tally.clocks.note(late);
        }
        // What the server had begun with when it died was due before.
        let without_it = death.saturating_sub(LOOK)..death + NOTICED;
        if clock && orphaned && now >= death && without_it.contains(&work.due) {
            self.tally.orphans.note(late);
        }
        if now < back {
            return;
        }
        if work.event.kind == Kind::Decision {
            self.tally.decisions_after.note(now - work.due.max(back).min(now));
        }
        if late > PILED_UP {
            self.tally.last_late = Some(now);
        }
    }

    fn told(self) -> Seen {
        let Script { begin, death, back, end, .. } = self.script;
        let Tally { commits, clocks, orphans, decisions_after, last_late, used } = self.tally;
        let sums = |from: u32, to: u32, steps: u32| {
            let all = commits.get(from as usize..to as usize).unwrap_or_default();
            let sums: Vec<u32> = all.chunks(steps as usize).map(|some| some.iter().sum()).collect();
            sums
        };
        let most = |sums: Vec<u32>, steps: u32| {
            f64::from(sums.into_iter().max().unwrap_or_default() * (SECOND / steps))
        };
        let mut of_shards = vec![0_u32; usize::from(self.setting.shards)];
        for shard in &self.tables.shards {
            if let Some(count) = of_shards.get_mut(usize::from(*shard)) {
                *count += 1;
            }
        }
        let ordinary: u32 = sums(begin, death, SECOND).iter().sum();
        // What was late half a second before the end is not over.
        let over = last_late.is_none_or(|last| last + PILED_UP < end);
        Seen {
            setting: self.setting.clone(),
            commits: f64::from(ordinary) * f64::from(SECOND) / f64::from(death - begin),
            most_in_a_second: most(sums(begin, death, SECOND), SECOND),
            most_in_100_ms: most(sums(begin, death, WHILE), WHILE),
            tables_of_fullest_shard: of_shards.iter().copied().max().unwrap_or_default(),
            tables_of_a_shard: f64::from(self.setting.tables) / f64::from(self.setting.shards.max(1)),
            redis_used: used.1,
            redis_uneven: used.2,
            servers_used: used.0,
            clocks: clocks.told(),
            orphans: orphans.told(),
            decisions_after: decisions_after.told(),
            most_after: most(sums(back, end, WHILE), WHILE),
            caught_up_ms: over.then(|| last_late.map_or(0, |last| last - back) * STEP_MS),
            course: sums(0, end, SECOND),
        }
    }
}
