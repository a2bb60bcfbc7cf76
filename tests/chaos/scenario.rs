//! What all scenarios share: what they say, and how they end.

use crate::servers::Server;

/// How a scenario ended.
pub struct Verdict {
    /// What it saw.
    pub told: Vec<String>,
    /// What was wrong; nothing if it passed.
    pub faults: Vec<String>,
}

impl Verdict {
    pub fn of(told: Vec<String>, faults: Vec<String>) -> Verdict {
        Verdict { told, faults }
    }
}

/// How it goes, for whoever watches.
pub fn say(what: &str) {
    eprintln!("  {what}");
}

/// Settings for a run: histories are kept whole, so that the check at the end reads every hand.
pub fn settings(durability: &str) -> String {
    format!("history=1000000&durability={durability}")
}

/// The same Redis for each of so many servers.
pub fn one_url(redis: &Server, durability: &str, servers: u8) -> Vec<String> {
    let url = format!("redis://{}?{}", redis.endpoint(), settings(durability));
    vec![url; usize::from(servers)]
}
