//! Scenario: the servers are made to commit without the check that nobody else came first. The run has to fail in the
//! checker of `fulcrum load`; one that cannot fail would prove nothing in the other scenarios.

use tokio::runtime::Runtime;

use crate::arguments::{Arguments, Size};
use crate::balancer::Balancer;
use crate::fleet::Fleet;
use crate::load::{Game, Load};
use crate::proxy::Proxy;
use crate::scenario::{Verdict, settings};
use crate::servers::Server;

/// Many hands at once, and bots that do not think: two servers often decide on the same state.
const SIZE: Size = Size { replicas: 4, tables: 8, seats: 6, seconds: 6, think: "0ms", connections: 8 };

const SCRIPT: &str = include_str!("../../services/store/redis/commit.lua");
/// What the proxy changes along with it, since it has the same words. Nobody is stopped here.
const STOPS: &str = include_str!("../../services/store/redis/stops.lua");
/// The check, and what the proxy puts in its place. The stream of events takes no number twice and would be a check of
/// its own, which is why its refusals are passed over as well.
const LIES: [(&str, &str); 2] = [
    ("if current ~= A[1] then", "if current == nil  then"),
    ("local K, A, call = KEYS, ARGV, redis.call", "local K,A,call = KEYS, ARGV, redis.pcall "),
];

pub fn run(runtime: &Runtime, arguments: &Arguments) -> Verdict {
    let size = arguments.size(&SIZE);
    let folder = tempfile::tempdir().expect("a folder");
    let redis = Server::start();
    let proxy = runtime.block_on(Proxy::lying(&redis.endpoint(), lies()));
    let url = format!("redis://{}?{}", proxy.endpoint(), settings("memory"));
    let urls = vec![url; usize::from(size.replicas)];
    let fleet = Fleet::start(folder.path(), &urls);
    let balancer = Balancer::before(runtime, fleet.ports());
    // Tables that nobody checks may never come to an end.
    let game = Game { games: "double", absent: "0.5%", last_hands: "5s", seed: arguments.seed };
    let finished = Load::start(folder.path(), &balancer.address, &size, &game).finish();
    let report = &finished.report;
    let mut found = report.contradictions();
    found.extend((report.lost > 0).then_some(("acknowledged actions lost", report.lost)));
    let mut faults = Vec::new();
    if report.actions_acked == 0 {
        faults.push("not one action: there was nothing to check".to_owned());
    }
    // Hands that stand still would be seen without a check of the history.
    if !found.iter().any(|(what, _)| *what != "hands that did not end") || finished.code != 1 {
        faults.push(format!(
            "commits were not checked, and the load does not notice: it ended with {}, {found:?}",
            finished.code
        ));
    }
    let told = found.iter().map(|(what, count)| format!("noticed: {count} {what}"));
    let acked = format!("{} hands, {} actions", report.hands, report.actions_acked);
    Verdict::of(std::iter::once(acked).chain(told).collect(), faults)
}

fn lies() -> Vec<(Vec<u8>, Vec<u8>)> {
    let hash = |script: &str| redis::Script::new(script).get_hash().as_bytes().to_vec();
    for (truth, _) in LIES {
        let times = SCRIPT.matches(truth).count();
        assert_eq!(times, 1, "the commit script has changed: {truth:?} is not there once");
    }
    let hashes = [SCRIPT, STOPS].map(|script| {
        let wrong = LIES.iter().fold(script.to_owned(), |script, (truth, lie)| script.replace(truth, lie));
        (hash(script), hash(&wrong))
    });
    let mut lies: Vec<_> =
        LIES.iter().map(|(truth, lie)| (truth.as_bytes().to_vec(), lie.as_bytes().to_vec())).collect();
    lies.extend(hashes);
    lies
}
