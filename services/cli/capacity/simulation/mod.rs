//! A simulation of many tables, in steps of 10 ms: when players decide, what is due at which clock, who has it to do, and
//! what waits where. First all goes well, then a server dies, then Redis is away for a while. One seed, one course.
//!
//! What it does not know: networks, connections, and what a process does besides. It is about queues: how much more comes
//! at its peak than on average, how uneven it is, and how long it takes until what has piled up is done.

mod course;
mod house;
mod lateness;
mod tables;

use serde::Serialize;

use self::course::Course;
pub use self::lateness::Lateness;

/// A step, ms.
pub const STEP_MS: u32 = 10;
/// Steps of a second.
pub const SECOND: u32 = 1000 / STEP_MS;

/// What is simulated.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Setting {
    /// Tables, at all of which is played.
    pub tables: u32,
    /// Servers.
    pub servers: u32,
    /// Machines for Redis.
    pub machines: u32,
    /// Shards of the installation.
    pub shards: u16,
    /// Cores of a server.
    pub cores: f64,
    /// CPU of a server for each commit with all that comes of it, µs.
    pub server_us: f64,
    /// The same of Redis.
    pub redis_us: f64,
    /// What a server, and a machine for Redis, has to do besides, each second, µs.
    pub server_rest_us: f64,
    pub redis_rest_us: f64,
    /// How long a player thinks, on average, s.
    pub think: f64,
    /// Decisions of a hand, on average.
    pub decisions: f64,
    /// Drives all that is left to chance.
    pub seed: u64,
}

/// When what happens, in steps: after a while in which all comes to its course.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// What is measured begins.
    pub begin: u32,
    /// A server dies.
    pub death: u32,
    /// Redis goes away, and comes back.
    pub away: u32,
    pub back: u32,
    /// All is over.
    pub end: u32,
}

impl Script {
    /// The one that is played.
    pub const USUAL: Script = Script {
        begin: 20 * SECOND,
        death: 40 * SECOND,
        away: 50 * SECOND,
        back: 60 * SECOND,
        end: 90 * SECOND,
    };
}

/// What was seen.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Seen {
    /// Of what.
    pub setting: Setting,
    /// While all goes well: commits a second, on average, and at most in a second and, as a rate, in 100 ms.
    pub commits: f64,
    pub most_in_a_second: f64,
    pub most_in_100_ms: f64,
    /// Tables in the fullest shard, and in an average one.
    pub tables_of_fullest_shard: u32,
    pub tables_of_a_shard: f64,
    /// Of the machine for Redis that has most to do: how much of its one core, and by how much more than an average one.
    pub redis_used: f64,
    pub redis_uneven: f64,
    /// How much of their cores servers use.
    pub servers_used: f64,
    /// How late clocks were while all went well.
    pub clocks: Lateness,
    /// How late those were that fell to the server that died, from its death on until they were applied again.
    pub orphans: Lateness,
    /// How late decisions were, from when Redis was back on.
    pub decisions_after: Lateness,
    /// Commits a second, at most in 100 ms, from then on.
    pub most_after: f64,
    /// After so long what had piled up was done, ms; nothing if it was not by the end.
    pub caught_up_ms: Option<u32>,
    /// Commits of each second of the whole.
    pub course: Vec<u32>,
}

/// Simulates.
#[must_use]
pub fn run(setting: &Setting) -> Seen {
    Course::new(setting, Script::USUAL).run()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting() -> Setting {
        Setting {
            tables: 2_000,
            servers: 4,
            machines: 2,
            shards: 256,
            cores: 2.0,
            server_us: 1_000.0,
            redis_us: 100.0,
            server_rest_us: 5_000.0,
            redis_rest_us: 20_000.0,
            think: 6.0,
            decisions: 12.0,
            seed: 7,
        }
    }

    #[test]
    fn one_seed_is_one_course() {
        let once = run(&setting());
        assert_eq!(once, run(&setting()));
        assert_ne!(once.course, run(&Setting { seed: 8, ..setting() }).course);
    }

    #[test]
    fn tables_do_what_was_asked_for() {
        let seen = run(&setting());
        // A hand is 12 decisions of 6 s and a pause of 5 s, and 13 commits.
        let expected = 2_000.0 * 13.0 / (12.0 * 6.0 + 5.0);
        assert!((seen.commits / expected - 1.0).abs() < 0.06, "{} {expected}", seen.commits);
        assert!(seen.most_in_a_second >= seen.commits && seen.most_in_100_ms >= seen.most_in_a_second);
        let used = seen.commits * 1_000.0 / (4.0 * 2e6);
        assert!((seen.servers_used - used).abs() < 0.01, "{} {used}", seen.servers_used);
        assert_eq!(seen.course.len(), 90);
    }

    #[test]
    fn clocks_are_late_by_a_look_and_longer_where_somebody_died() {
        let seen = run(&setting());
        assert!(seen.clocks.count > 100 && seen.clocks.p99 <= 150, "{:?}", seen.clocks);
        assert!(seen.orphans.count > 0 && seen.orphans.max <= 1_100, "{:?}", seen.orphans);
        assert!(seen.orphans.p99 > seen.clocks.p99, "{:?} {:?}", seen.orphans, seen.clocks);
    }

    #[test]
    fn who_has_room_catches_up_and_who_has_none_does_not() {
        let seen = run(&setting());
        assert!(seen.caught_up_ms.is_some_and(|ms| ms < 10_000), "{:?}", seen.caught_up_ms);
        assert!(seen.most_after > seen.most_in_100_ms, "what has piled up comes at once");
        let full = run(&Setting { server_us: 30_000.0, ..setting() });
        assert_eq!(full.caught_up_ms, None, "{full:?}");
        assert!(full.servers_used > 0.95, "{}", full.servers_used);
    }
}
