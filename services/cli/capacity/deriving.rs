//! From what phases took to what one decision, one message, one table costs.

use super::measured::{Measured, Phase, RedisCosts, ServerCosts};
use super::model::followers;
use super::play::Played;
use crate::cli::failure::Failure;

/// Everything that was found, before it is taken apart.
#[derive(Default)]
pub struct Findings {
    /// One server at rest.
    pub alone: Rest,
    /// Two servers at rest, together.
    pub together: Rest,
    /// A look at a calendar: Redis' CPU, µs, and bytes.
    pub look: (f64, f64),
    /// One server, at several rates.
    pub rates: Vec<Played>,
    /// At the middle one of them, with more watchers.
    pub watched: Option<Played>,
    /// At the middle one, with two servers.
    pub shared: Option<Played>,
    /// Memory of a table: of Redis and of a server.
    pub redis_table: f64,
    pub server_table: f64,
    /// Memory of a watcher, and his CPU each second.
    pub server_watcher: f64,
    pub watcher_us: f64,
}

/// What is taken each second while nothing happens.
#[derive(Clone, Copy, Default, Debug)]
pub struct Rest {
    /// CPU of all servers, µs.
    pub server_us: f64,
    /// CPU of Redis, µs.
    pub redis_us: f64,
    /// Received and sent by Redis.
    pub redis_bytes: f64,
    /// Calls of scripts, and looks at calendars.
    pub scripts: f64,
    pub looks: f64,
    /// Memory of a server.
    pub server_bytes: f64,
}

/// Takes it apart.
///
/// # Errors
/// [`Failure::Failed`] if nothing was played in some phase.
pub fn derive(found: &Findings) -> Result<Measured, Failure> {
    let idle = || Failure::Failed("nothing was played: the machine is too busy to measure on it".to_owned());
    let middle = found.rates.get(found.rates.len() / 2).ok_or_else(idle)?;
    let (watched, shared) =
        (found.watched.as_ref().ok_or_else(idle)?, found.shared.as_ref().ok_or_else(idle)?);
    let all = || found.rates.iter().chain([watched, shared]);
    if all().any(|played| played.phase.actions <= 0.0 || played.phase.commits <= 0.0) {
        return Err(idle());
    }
    let (commits, hands, actions) = all().fold((0.0, 0.0, 0.0), |(commits, hands, actions), played| {
        (commits + played.phase.commits, hands + played.phase.hands, actions + played.phase.actions)
    });
    let busiest =
        all().max_by(|one, other| one.phase.hands.total_cmp(&other.phase.hands)).ok_or_else(idle)?;
    let mut measured = Measured {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        debug_build: cfg!(debug_assertions),
        cores: cores(),
        redis_version: String::new(),
        seats: 0,
        shards: 0,
        actions_of_a_hand: actions / hands.max(1.0),
        commits_of_an_action: commits / actions,
        server: server(found, middle, watched),
        redis: redis(found, middle),
        phases: all().map(|played| net(found, &played.phase)).collect(),
    };
    (measured.redis.bytes_per_commit_kept, measured.redis.bytes_per_hand_kept) =
        (busiest.bytes_per_commit_kept, busiest.bytes_per_hand_kept);
    tell_further(&mut measured, found, &shared.phase);
    Ok(measured)
}

/// What is done at rest is not told with a phase.
fn net(found: &Findings, phase: &Phase) -> Phase {
    let rest = if phase.servers > 1 { found.together } else { found.alone };
    Phase { scripts: at_least_0(phase.scripts - rest.scripts), ..phase.clone() }
}

fn server(found: &Findings, middle: &Played, watched: &Played) -> ServerCosts {
    let (us_per_action, us_per_message) = action_and_message(found.alone.server_us, middle, watched);
    ServerCosts {
        us_per_action,
        us_per_message,
        us_per_follower: 0.0,
        us_per_second: found.alone.server_us,
        us_per_second_of_a_watcher: at_least_0(found.watcher_us),
        bytes: found.alone.server_bytes,
        bytes_per_table: at_least_0(found.server_table),
        bytes_per_watcher: at_least_0(found.server_watcher),
        bytes_per_message: watched.bytes_per_message,
    }
}

/// A server that has much to begin with looks more often: what that costs grows with hands and falls with how many servers
/// share the shards out, and so is told apart from what decisions cost.
fn redis(found: &Findings, middle: &Played) -> RedisCosts {
    let (own, (us_per_look, bytes_per_look)) = (&middle.phase, found.look);
    let looks = at_least_0(own.looks - found.alone.looks);
    RedisCosts {
        us_per_action: at_least_0(own.redis_us - found.alone.redis_us - looks * us_per_look) / own.actions,
        us_per_look,
        looks_per_hand: looks / own.hands.max(f64::MIN_POSITIVE),
        us_per_follower: 0.0,
        us_per_second: found.alone.redis_us,
        us_per_second_of_a_server: at_least_0(found.together.redis_us - found.alone.redis_us),
        bytes_per_look,
        bytes_per_action: at_least_0(own.redis_bytes - found.alone.redis_bytes - looks * bytes_per_look)
            / own.actions,
        bytes_per_follower: 0.0,
        bytes_per_table: at_least_0(found.redis_table),
        bytes_per_commit_kept: 0.0,
        bytes_per_hand_kept: 0.0,
    }
}

/// With two servers each commit goes to as many others: what is not explained by anything else.
fn tell_further(measured: &mut Measured, found: &Findings, both: &Phase) {
    let others = both.commits * (followers(f64::from(both.servers), f64::from(both.watchers)) - 1.0);
    let Measured { server, redis, .. } = measured;
    let messages = both.commits * f64::from(both.watchers);
    let expected =
        found.together.server_us + server.us_per_action * both.actions + server.us_per_message * messages;
    server.us_per_follower = at_least_0(both.server_us - expected) / others;
    let looks = at_least_0(both.looks - found.together.looks);
    let expected = found.together.redis_us + redis.us_per_action * both.actions + redis.us_per_look * looks;
    redis.us_per_follower = at_least_0(both.redis_us - expected) / others;
    let expected =
        found.together.redis_bytes + redis.bytes_per_action * both.actions + redis.bytes_per_look * looks;
    redis.bytes_per_follower = at_least_0(both.redis_bytes - expected) / others;
}

/// What a decision costs, and what a message costs, out of two phases with few and with many watchers: two equations
/// for two unknown numbers.
fn action_and_message(rest: f64, few: &Played, many: &Played) -> (f64, f64) {
    let of = |played: &Played| {
        let phase = &played.phase;
        (at_least_0(phase.server_us - rest), phase.actions, phase.commits * f64::from(phase.watchers))
    };
    let ((cost, actions, messages), (more_cost, more_actions, more_messages)) = (of(few), of(many));
    let apart = actions * more_messages - more_actions * messages;
    let per_message =
        if apart > 0.0 { at_least_0(more_cost * actions - cost * more_actions) / apart } else { 0.0 };
    (at_least_0(cost - per_message * messages) / actions, per_message)
}

/// What differs by chance may seem to be less than nothing.
fn at_least_0(number: f64) -> f64 {
    number.max(0.0)
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A phase of a machine on which a decision costs 500 µs at the server and 60 at Redis, a message 10, a commit at a
    /// further server 40 and 5; at rest a server takes 5,000 a second, and Redis 10,000 for the first and 4,000 for
    /// another one.
    fn phase(servers: u32, watchers: u32, actions: f64) -> Played {
        let commits = actions * 1.25;
        let others = followers(f64::from(servers), f64::from(watchers)) - 1.0;
        let server_us = f64::from(servers) * 5_000.0
            + actions * 500.0
            + commits * f64::from(watchers) * 10.0
            + commits * others * 40.0;
        let looks = 2_560.0 + actions / 10.0 * 500.0;
        let redis_us = 10_000.0
            + f64::from(servers - 1) * 4_000.0
            + (looks - 2_560.0) * 2.0
            + actions * 60.0
            + commits * others * 5.0;
        let redis_bytes = 3_000.0 + (looks - 2_560.0) * 80.0 + actions * 2_500.0 + commits * others * 400.0;
        let phase = Phase {
            name: String::new(),
            servers,
            watchers,
            actions,
            commits,
            hands: actions / 10.0,
            server_us,
            redis_us,
            redis_bytes,
            scripts: 256.0 + commits,
            looks,
        };
        Played { phase, bytes_per_message: 300.0, bytes_per_commit_kept: 180.0, bytes_per_hand_kept: 800.0 }
    }

    fn found() -> Findings {
        let rest = |servers: f64, redis_us| Rest {
            server_us: servers * 5_000.0,
            redis_us,
            redis_bytes: 3_000.0,
            scripts: 256.0,
            looks: 2_560.0,
            server_bytes: 2e7,
        };
        Findings {
            alone: rest(1.0, 10_000.0),
            together: rest(2.0, 14_000.0),
            look: (2.0, 80.0),
            rates: [50.0, 200.0, 700.0].map(|actions| phase(1, 7, actions)).into(),
            watched: Some(phase(1, 23, 190.0)),
            shared: Some(phase(2, 7, 210.0)),
            redis_table: 3_100.0,
            server_table: 2_000.0,
            server_watcher: 9_000.0,
            watcher_us: -1.0,
        }
    }

    #[test]
    fn each_cost_is_found_again() {
        let measured = derive(&found()).unwrap();
        let near =
            |is: f64, wanted: f64| assert!((is - wanted).abs() < 1e-6 * wanted.max(1.0), "{is} {wanted}");
        let (server, redis) = (&measured.server, &measured.redis);
        near(server.us_per_action, 500.0);
        near(server.us_per_message, 10.0);
        near(server.us_per_follower, 40.0);
        near(server.us_per_second_of_a_watcher, 0.0);
        near(redis.us_per_action, 60.0);
        near(redis.looks_per_hand, 500.0);
        near(measured.phases[0].scripts, measured.phases[0].commits);
        near(redis.us_per_follower, 5.0);
        near(redis.us_per_second_of_a_server, 4_000.0);
        near(redis.bytes_per_action, 2_500.0);
        near(redis.bytes_per_follower, 400.0);
        near(measured.actions_of_a_hand, 10.0);
        near(measured.commits_of_an_action, 1.25);
    }

    #[test]
    fn where_nothing_was_played_nothing_is_concluded() {
        let mut silent = found();
        silent.shared = Some(phase(2, 7, 0.0));
        assert!(derive(&silent).is_err());
        assert!(derive(&Findings::default()).is_err());
    }
}
