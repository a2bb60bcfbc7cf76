//! The model: how much n tables need, out of what one decision, one message and one table cost. Nothing here looks at a
//! clock, a file or a network.

use serde::Serialize;

use super::measured::Measured;
use super::spread::fullest;

/// More servers, or machines of a cluster, are not looked for.
pub const MOST_SERVERS: u32 = 4096;
const SECONDS_OF_AN_HOUR: f64 = 3600.0;

/// What is to be served, and on what.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Wanted {
    /// Tables, at all of which is played.
    pub tables: f64,
    /// Hands an hour, at each table.
    pub hands_per_hour: f64,
    /// Streams of each table: players, spectators, the operator's own.
    pub watchers_per_table: f64,
    /// The part of CPU, memory and network that stays free.
    pub headroom: f64,
    /// Hours a day in which a table is played.
    pub hours_per_day: f64,
    /// How long settlements are kept.
    pub settlement_days: f64,
    /// Commits of each table that are kept for watchers who come back.
    pub history: f64,
    /// Shards of the installation.
    pub shards: u16,
    /// A server's cores, memory in bytes, network in bytes a second each way, and the most watchers it takes.
    pub server: Machine,
    /// A machine for Redis: of its cores Redis uses one.
    pub redis: Machine,
    /// The setting `limits.watchers`.
    pub watchers_of_a_server: f64,
    /// The setting `limits.recent_tables`.
    pub recent_tables: f64,
}

/// A machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Machine {
    /// Cores.
    pub cores: f64,
    /// Bytes of memory.
    pub memory: f64,
    /// Bytes a second.
    pub network: f64,
}

/// What can run out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// Time of cores.
    Cpu,
    /// Memory.
    Memory,
    /// Bytes a second.
    Network,
    /// The bound of open streams.
    Watchers,
}

/// How many of something a resource asks for; nothing if no number is enough.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Need {
    /// Of what.
    pub resource: Resource,
    /// So many servers, or machines for Redis.
    pub count: Option<u32>,
    /// How much of it one of them uses then, 1 being all.
    pub used: f64,
}

/// What n tables need.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Plan {
    /// Tables.
    pub tables: f64,
    /// Decisions a second.
    pub actions: f64,
    /// Commits a second.
    pub commits: f64,
    /// Open streams.
    pub watchers: f64,
    /// Messages to them a second.
    pub messages: f64,
    /// Servers, for each resource.
    pub servers: Vec<Need>,
    /// Machines for Redis, replicas not counted, for each resource.
    pub redis: Vec<Need>,
}

/// How many servers follow a table with so many watchers, each of whom is at any of them.
#[must_use]
pub fn followers(servers: f64, watchers: f64) -> f64 {
    servers * (1.0 - (1.0 - 1.0 / servers.max(1.0)).powf(watchers))
}

impl Resource {
    /// For people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Resource::Cpu => "CPU",
            Resource::Memory => "memory",
            Resource::Network => "network",
            Resource::Watchers => "watchers",
        }
    }
}

impl Plan {
    /// What is needed.
    #[must_use]
    pub fn of(costs: &Measured, wanted: &Wanted) -> Plan {
        let load = Load::of(costs, wanted);
        let servers = [Resource::Cpu, Resource::Memory, Resource::Network, Resource::Watchers]
            .map(|resource| need(resource, MOST_SERVERS, |count| load.of_a_server(resource, count)));
        let count = most(&servers).unwrap_or(MOST_SERVERS);
        let machines = u32::from(wanted.shards);
        let redis = [Resource::Cpu, Resource::Memory, Resource::Network].map(|resource| {
            need(resource, machines, |machines| load.of_a_redis(resource, machines, f64::from(count)))
        });
        Plan {
            tables: wanted.tables,
            actions: load.actions,
            commits: load.commits,
            watchers: load.watchers,
            messages: load.commits * wanted.watchers_per_table,
            servers: servers.into(),
            redis: redis.into(),
        }
    }

    /// Servers, or nothing if no number is enough. One alone is none: it has to be restarted one day.
    #[must_use]
    pub fn servers(&self) -> Option<u32> {
        most(&self.servers).map(|servers| servers.max(2))
    }

    /// Machines for Redis, or nothing if no number is enough with these shards.
    #[must_use]
    pub fn machines(&self) -> Option<u32> {
        most(&self.redis)
    }

    /// The same where memory does not matter.
    #[must_use]
    pub fn machines_for_play(&self) -> Option<u32> {
        let play: Vec<Need> =
            self.redis.iter().copied().filter(|need| need.resource != Resource::Memory).collect();
        most(&play)
    }
}

/// What asks for most; of two that ask for as many the one of which more is used.
#[must_use]
pub fn binding(needs: &[Need]) -> Option<Need> {
    let order = |need: &Need| (need.count.unwrap_or(u32::MAX), (need.used * 1e6) as u64);
    needs.iter().copied().max_by_key(order)
}

fn most(needs: &[Need]) -> Option<u32> {
    needs.iter().map(|need| need.count).try_fold(0, |most, count| Some(most.max(count?)))
}

/// The least number at which what one of them uses is not more than all of it. Not every larger one is enough, too: a
/// cluster's machines do not have equally many shards.
fn need(resource: Resource, most: u32, used: impl Fn(u32) -> f64) -> Need {
    let fits = (1..=most.max(1)).find(|count| used(*count) <= 1.0);
    Need { resource, count: fits, used: used(fits.unwrap_or(most.max(1))) }
}

/// What tables do each second, and what that costs.
struct Load<'a> {
    costs: &'a Measured,
    wanted: &'a Wanted,
    hands: f64,
    actions: f64,
    commits: f64,
    watchers: f64,
}

impl Load<'_> {
    fn of<'a>(costs: &'a Measured, wanted: &'a Wanted) -> Load<'a> {
        let hands = wanted.tables * wanted.hands_per_hour / SECONDS_OF_AN_HOUR;
        let actions = hands * costs.actions_of_a_hand;
        let commits = actions * costs.commits_of_an_action;
        Load { costs, wanted, hands, actions, commits, watchers: wanted.tables * wanted.watchers_per_table }
    }

    /// How much of a resource a server uses of what it may, if there are so many servers.
    fn of_a_server(&self, resource: Resource, count: u32) -> f64 {
        let (costs, wanted, servers) = (&self.costs.server, self.wanted, f64::from(count));
        let may = 1.0 - wanted.headroom;
        match resource {
            Resource::Cpu => {
                let others = followers(servers, wanted.watchers_per_table) - 1.0;
                let all = self.actions * costs.us_per_action
                    + self.commits * wanted.watchers_per_table * costs.us_per_message
                    + self.commits * others.max(0.0) * costs.us_per_follower
                    + self.watchers * costs.us_per_second_of_a_watcher;
                (all / servers + costs.us_per_second) / (wanted.server.cores * may * 1e6)
            }
            Resource::Memory => {
                let known = wanted.tables.min(wanted.recent_tables);
                let bytes = costs.bytes
                    + known * costs.bytes_per_table
                    + self.watchers / servers * costs.bytes_per_watcher;
                bytes / (wanted.server.memory * may)
            }
            Resource::Network => {
                let told = self.commits * wanted.watchers_per_table * costs.bytes_per_message;
                let followed = followers(servers, wanted.watchers_per_table) * self.commits;
                let asked = self.actions * self.costs.redis.bytes_per_action
                    + followed * self.costs.redis.bytes_per_follower;
                (told + asked) / servers / (wanted.server.network * may)
            }
            // A bound, not a load: it has to be enough when one of them is away.
            Resource::Watchers => {
                self.watchers / wanted.watchers_of_a_server / (servers - 1.0).max(f64::MIN_POSITIVE)
            }
        }
    }

    /// The same of the machine with the most shards, of so many for Redis, with so many servers.
    fn of_a_redis(&self, resource: Resource, machines: u32, servers: f64) -> f64 {
        let (costs, wanted) = (&self.costs.redis, self.wanted);
        let may = 1.0 - wanted.headroom;
        let part = f64::from(fullest(wanted.shards, machines)) / f64::from(wanted.shards.max(1));
        let others = self.commits * (followers(servers, wanted.watchers_per_table) - 1.0).max(0.0);
        let all = match resource {
            Resource::Cpu => {
                let decided = self.actions * costs.us_per_action + others * costs.us_per_follower;
                (decided + rest_of_redis(self.costs, wanted, self.hands, servers)) / 1e6
            }
            Resource::Memory => wanted.tables * self.bytes_of_a_table() / wanted.redis.memory,
            Resource::Network => {
                let looks = looks(self.costs, wanted, self.hands, servers);
                let bytes = self.actions * costs.bytes_per_action
                    + others * costs.bytes_per_follower
                    + looks * costs.bytes_per_look;
                bytes / wanted.redis.network
            }
            Resource::Watchers => 0.0,
        };
        all * part / may
    }

    /// Memory of Redis for a table that is played every day.
    fn bytes_of_a_table(&self) -> f64 {
        let (costs, wanted) = (&self.costs.redis, self.wanted);
        let hands = wanted.hands_per_hour * wanted.hours_per_day * wanted.settlement_days;
        costs.bytes_per_table
            + wanted.history * costs.bytes_per_commit_kept
            + hands * costs.bytes_per_hand_kept
    }
}

/// Looks at calendars that so many hands a second bring about, where so many servers share the shards out.
fn looks(costs: &Measured, wanted: &Wanted, hands: f64, servers: f64) -> f64 {
    hands * costs.redis.looks_per_hand / servers.max(1.0) * shards(costs, wanted)
}

/// As many more shards as were measured with.
fn shards(costs: &Measured, wanted: &Wanted) -> f64 {
    f64::from(wanted.shards) / f64::from(costs.shards.max(1))
}

/// CPU of Redis that is no decision's, µs a second: signs of life, looks at what is due.
#[must_use]
pub fn rest_of_redis(costs: &Measured, wanted: &Wanted, hands: f64, servers: f64) -> f64 {
    let redis = &costs.redis;
    let rest = redis.us_per_second + (servers - 1.0).max(0.0) * redis.us_per_second_of_a_server;
    rest * shards(costs, wanted) + looks(costs, wanted, hands, servers) * redis.us_per_look
}

/// How many tables one server and one machine for Redis hold, for each resource: the least is what gives way first.
#[must_use]
pub fn room(costs: &Measured, wanted: &Wanted) -> Vec<(&'static str, Resource, f64)> {
    let server = [Resource::Cpu, Resource::Memory, Resource::Network, Resource::Watchers];
    let redis = [Resource::Cpu, Resource::Memory, Resource::Network];
    let holds = |resource, used: &dyn Fn(&Load, Resource) -> f64| {
        let fits = |tables: u64| {
            let wanted = Wanted { tables: tables as f64, ..wanted.clone() };
            used(&Load::of(costs, &wanted), resource) <= 1.0
        };
        greatest(&fits) as f64
    };
    // The bound of watchers counts with two servers, of which one is away.
    let of_server = |load: &Load, resource: Resource| match resource {
        Resource::Watchers => load.of_a_server(resource, 2),
        _ => load.of_a_server(resource, 1),
    };
    // With as many servers as these tables need.
    let of_redis = |load: &Load, resource: Resource| {
        let servers = Plan::of(costs, load.wanted).servers().unwrap_or(MOST_SERVERS);
        load.of_a_redis(resource, 1, f64::from(servers))
    };
    let servers = server.map(|resource| ("a server", resource, holds(resource, &of_server)));
    let redis = redis.map(|resource| ("a Redis", resource, holds(resource, &of_redis)));
    servers.into_iter().chain(redis).collect()
}

/// The greatest number that fits, where each smaller one does; 2^40 if all seem to.
fn greatest(fits: &dyn Fn(u64) -> bool) -> u64 {
    let (mut low, mut high): (u64, u64) = (0, 1 << 40);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::capacity::measured::{RedisCosts, ServerCosts};

    fn costs() -> Measured {
        Measured {
            version: String::new(),
            debug_build: false,
            cores: 2,
            redis_version: String::new(),
            seats: 6,
            shards: 256,
            actions_of_a_hand: 10.0,
            commits_of_an_action: 1.25,
            server: ServerCosts {
                us_per_action: 500.0,
                us_per_message: 10.0,
                us_per_follower: 40.0,
                us_per_second: 5_000.0,
                us_per_second_of_a_watcher: 0.0,
                bytes: 50e6,
                bytes_per_table: 2_000.0,
                bytes_per_watcher: 10_000.0,
                bytes_per_message: 300.0,
            },
            redis: RedisCosts {
                us_per_action: 50.0,
                us_per_look: 2.0,
                looks_per_hand: 512.0,
                us_per_follower: 0.0,
                us_per_second: 20_000.0,
                us_per_second_of_a_server: 5_000.0,
                bytes_per_look: 80.0,
                bytes_per_action: 2_500.0,
                bytes_per_follower: 0.0,
                bytes_per_table: 3_000.0,
                bytes_per_commit_kept: 200.0,
                bytes_per_hand_kept: 800.0,
            },
            phases: Vec::new(),
        }
    }

    /// At 3,600 tables 10 hands, 100 decisions and 125 commits a second.
    fn wanted(tables: f64) -> Wanted {
        Wanted {
            tables,
            hands_per_hour: 10.0,
            watchers_per_table: 8.0,
            headroom: 0.5,
            hours_per_day: 24.0,
            settlement_days: 14.0,
            history: 250.0,
            shards: 256,
            server: Machine { cores: 1.0, memory: 4e9, network: 125e6 },
            redis: Machine { cores: 1.0, memory: 20e9, network: 125e6 },
            watchers_of_a_server: 20_000.0,
            recent_tables: 10_000.0,
        }
    }

    fn count(needs: &[Need], resource: Resource) -> u32 {
        needs.iter().find(|need| need.resource == resource).and_then(|need| need.count).unwrap()
    }

    #[test]
    fn the_load_follows_from_tables_and_hands() {
        let plan = Plan::of(&costs(), &wanted(3_600.0));
        let load = (plan.actions, plan.commits, plan.watchers, plan.messages);
        assert_eq!(load, (100.0, 125.0, 28_800.0, 1_000.0));
    }

    #[test]
    fn servers_are_as_many_as_the_dearest_resource_asks_for() {
        let mut costs = costs();
        costs.server.us_per_follower = 0.0;
        // 100 decisions and 1,000 messages are 60 ms of CPU a second: 6 s for a hundred times as many tables. Half a core
        // is to be used, less 5 ms at rest: 6 / 0.495 are 12.1.
        let plan = Plan::of(&costs, &wanted(360_000.0));
        assert_eq!(count(&plan.servers, Resource::Cpu), 13);
        // 2.88 million watchers of 10 kB, each server with 2 GB less 50 MB and 20 MB for 10,000 tables: 14.9.
        assert_eq!(count(&plan.servers, Resource::Memory), 15);
        // 20,000 at each of 144, and one that may be away.
        assert_eq!(count(&plan.servers, Resource::Watchers), 145);
        // 100,000 messages of 300 B, and 2,500 B to and from Redis for 10,000 decisions: 55 MB a second.
        assert_eq!(count(&plan.servers, Resource::Network), 1);
        assert_eq!(plan.servers(), Some(145));
        assert_eq!(binding(&plan.servers).map(|need| need.resource), Some(Resource::Watchers));
    }

    #[test]
    fn every_server_with_a_watcher_of_a_table_hears_of_its_commits() {
        assert_eq!((followers(1.0, 8.0), followers(2.0, 1.0), followers(5.0, 0.0)), (1.0, 1.0, 0.0));
        assert!((followers(2.0, 7.0) - 1.984_375).abs() < 1e-9);
        assert!((followers(1000.0, 8.0) - 8.0).abs() < 0.05, "with many servers each watcher has his own");
        let dearer = Plan::of(&costs(), &wanted(360_000.0));
        // 12,500 commits, told to 6.6 others of 21: 3.2 s more.
        let cpu = count(&dearer.servers, Resource::Cpu);
        assert!((18..=20).contains(&cpu), "{cpu}");
    }

    #[test]
    fn redis_is_bound_by_one_core_by_settlements_and_by_its_fullest_machine() {
        let plan = Plan::of(&costs(), &wanted(3_600.0));
        assert_eq!(count(&plan.redis, Resource::Cpu), 1);
        // 3,360 hands of 800 B, 250 commits of 200 B and the table: 2.74 MB each, 9.9 GB of 10.
        assert_eq!(count(&plan.redis, Resource::Memory), 1);
        let used = plan.redis.iter().find(|need| need.resource == Resource::Memory).unwrap().used;
        assert!((used - 3_600.0 * 2_741_000.0 / 10e9).abs() < 1e-6, "{used}");
        // Ten would be enough for ten times as many if all had equally many shards.
        assert!(fullest(256, 10) > 26);
        let machines = count(&Plan::of(&costs(), &wanted(36_000.0)).redis, Resource::Memory);
        assert!((11..=20).contains(&machines), "{machines}");
    }

    #[test]
    fn what_does_not_fit_on_as_many_machines_as_there_are_shards_does_not_fit() {
        let few = Wanted { shards: 4, ..wanted(360_000.0) };
        let plan = Plan::of(&costs(), &few);
        assert_eq!(plan.machines(), None);
        assert_eq!(binding(&plan.redis).map(|need| need.resource), Some(Resource::Memory));
    }

    #[test]
    fn what_one_machine_holds_is_the_inverse_of_what_is_needed() {
        let room = room(&costs(), &wanted(1.0));
        let holds = |of: &str, resource: Resource| {
            room.iter().find(|(what, which, _)| *what == of && *which == resource).unwrap().2
        };
        assert_eq!(holds("a server", Resource::Watchers), 2_500.0);
        // 495 ms for 16.67 µs of CPU a second each.
        assert_eq!(holds("a server", Resource::Cpu), 29_700.0);
        assert_eq!(holds("a Redis", Resource::Memory), (10e9_f64 / 2_741_000.0).floor());
        // 1.389 µs of CPU a second each, and what many servers ask for beside that: less than 345,600 for half a core.
        let tables = holds("a Redis", Resource::Cpu);
        assert!((100_000.0..345_600.0).contains(&tables), "{tables}");
    }

    #[test]
    fn looks_at_what_is_due_grow_with_hands_and_are_shared_out() {
        let (costs, wanted) = (costs(), wanted(3_600.0));
        let rest = |hands, servers| rest_of_redis(&costs, &wanted, hands, servers);
        assert_eq!(rest(0.0, 1.0), 20_000.0);
        assert_eq!(rest(10.0, 1.0), 20_000.0 + 10.0 * 512.0 * 2.0);
        assert_eq!(rest(10.0, 4.0), 35_000.0 + 10.0 * 512.0 * 2.0 / 4.0);
        let finer = Wanted { shards: 1024, ..wanted.clone() };
        assert_eq!(rest_of_redis(&costs, &finer, 10.0, 1.0), 4.0 * rest(10.0, 1.0));
    }

    #[test]
    fn one_server_is_none() {
        let plan = Plan::of(&costs(), &Wanted { watchers_per_table: 0.0, ..wanted(10.0) });
        assert_eq!(plan.servers(), Some(2));
    }
}
