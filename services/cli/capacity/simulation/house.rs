//! Servers and machines for Redis: who has what to do, and how much of it is done in a step.

use std::collections::{BTreeSet, VecDeque};

use uuid::Uuid;

use super::tables::Event;
use super::{STEP_MS, Setting};
use crate::store::redis::spreading::{machine_of, owner_of};

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub event: Event,
    /// The step from which on it could have been done.
    pub due: u32,
}

/// A server.
#[derive(Default)]
pub struct Server {
    /// What is due in its shards and was not looked at yet.
    pub fresh: Vec<Work>,
    /// What it has seen and not begun with.
    pub seen: VecDeque<Work>,
    /// Of which so much is under way.
    pub running: usize,
    /// What waits for its cores.
    queue: VecDeque<(Work, bool)>,
    /// CPU that it may use in this step, µs; less than nothing if a piece of work takes longer.
    room: f64,
    /// CPU that it has used, µs.
    used: f64,
}

/// A machine for Redis.
#[derive(Default)]
struct Machine {
    /// What waits for its core, and which server's clocks have asked for it.
    queue: VecDeque<(Work, Option<u32>)>,
    room: f64,
    used: f64,
}

/// All of them.
pub struct House {
    pub servers: Vec<Server>,
    machines: Vec<Machine>,
    /// By shard: whose clocks, and on which machine.
    pub owner: Vec<u32>,
    machine: Vec<u32>,
    names: Vec<Uuid>,
    /// The server that has died.
    pub dead: Option<u32>,
    costs: (f64, f64),
    /// Room of a server and of a machine in a step, µs.
    rooms: (f64, f64),
}

impl House {
    pub fn new(setting: &Setting) -> House {
        let shards = setting.shards;
        // Any names: they only have to be far apart.
        let names: Vec<Uuid> = (1..=u128::from(setting.servers))
            .map(|number| Uuid::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)))
            .collect();
        let step = f64::from(STEP_MS) * 1e3;
        let part = f64::from(STEP_MS) / 1e3;
        let mut house = House {
            servers: names.iter().map(|_| Server::default()).collect(),
            machines: (0..setting.machines).map(|_| Machine::default()).collect(),
            owner: Vec::new(),
            machine: (0..shards).map(|shard| machine_of(shard, setting.machines)).collect(),
            names,
            dead: None,
            costs: (setting.server_us, setting.redis_us),
            rooms: (
                setting.cores * step - setting.server_rest_us * part,
                step - setting.redis_rest_us * part,
            ),
        };
        house.share_out();
        house
    }

    /// Shares the shards out among those who live.
    pub fn share_out(&mut self) {
        let alive: BTreeSet<Uuid> = (0_u32..)
            .zip(&self.names)
            .filter(|(number, _)| Some(*number) != self.dead)
            .map(|(_, name)| *name)
            .collect();
        let shards = u16::try_from(self.machine.len()).unwrap_or(u16::MAX);
        let owner = |shard: u16| {
            let owner = owner_of(shard, &alive);
            let number = self.names.iter().position(|name| Some(*name) == owner);
            number.unwrap_or_default() as u32
        };
        self.owner = (0..shards).map(owner).collect();
    }

    /// Gives a server something to do; its clocks ask for it if `clock`.
    pub fn ask(&mut self, server: u32, work: Work, clock: bool) {
        if let Some(server) = self.servers.get_mut(server as usize) {
            server.running += usize::from(clock);
            server.queue.push_back((work, clock));
        }
    }

    /// What servers do in a step, and Redis if it is there; `done` is what was.
    pub fn work(&mut self, shard_of: &[u16], redis: bool, done: &mut Vec<Work>) {
        for (number, server) in (0_u32..).zip(&mut self.servers) {
            // What was not used is gone; what was used too early is not there.
            server.room = server.room.min(0.0) + self.rooms.0;
            while server.room > 0.0
                && let Some((work, clock)) = server.queue.pop_front()
            {
                server.room -= self.costs.0;
                server.used += self.costs.0;
                let shard = shard_of.get(work.event.table as usize).copied().unwrap_or_default();
                let machine = self.machine.get(usize::from(shard)).copied().unwrap_or_default();
                if let Some(machine) = self.machines.get_mut(machine as usize) {
                    machine.queue.push_back((work, clock.then_some(number)));
                }
            }
        }
        if !redis {
            return;
        }
        for machine in &mut self.machines {
            machine.room = machine.room.min(0.0) + self.rooms.1;
            while machine.room > 0.0
                && let Some((work, clock)) = machine.queue.pop_front()
            {
                machine.room -= self.costs.1;
                machine.used += self.costs.1;
                if let Some(server) = clock.and_then(|number| self.servers.get_mut(number as usize)) {
                    server.running = server.running.saturating_sub(1);
                }
                done.push(work);
            }
        }
    }

    /// The server dies: what it had begun with is done by nobody, and asked of others by those who had asked.
    pub fn die(&mut self, number: u32) -> Vec<Work> {
        self.dead = Some(number);
        let Some(server) = self.servers.get_mut(number as usize) else {
            return Vec::new();
        };
        let queue = std::mem::take(&mut server.queue);
        server.running = 0;
        let (clocks, asked): (Vec<_>, Vec<_>) = queue.into_iter().partition(|(_, clock)| *clock);
        server.seen.extend(clocks.into_iter().map(|(work, _)| work));
        asked.into_iter().map(|(work, _)| work).collect()
    }

    /// Forgets what was used until now.
    pub fn measure(&mut self) {
        self.servers.iter_mut().for_each(|server| server.used = 0.0);
        self.machines.iter_mut().for_each(|machine| machine.used = 0.0);
    }

    /// Used in so many steps: all servers' cores, the core of the machine that has most to do, and how much more that is
    /// than on average; rest included, in parts of what there is.
    pub fn used(&self, steps: u32, setting: &Setting) -> (f64, f64, f64) {
        let us = f64::from(steps) * f64::from(STEP_MS) * 1e3;
        let servers: f64 = self.servers.iter().map(|server| server.used).sum();
        let most = self.machines.iter().map(|machine| machine.used).fold(0.0, f64::max);
        let all: f64 = self.machines.iter().map(|machine| machine.used).sum();
        let mean = all / self.machines.len().max(1) as f64;
        let servers = servers / (us * setting.cores * self.servers.len().max(1) as f64)
            + setting.server_rest_us / (setting.cores * 1e6);
        (servers, most / us + setting.redis_rest_us / 1e6, most / mean.max(f64::MIN_POSITIVE))
    }
}
