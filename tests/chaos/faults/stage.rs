//! Where a fault happens: Redis, the servers, the balancer and the bots.

use std::thread::sleep;
use std::time::Duration;

use fulcrum::store::redis::{Endpoint, Topology};
use tables::{Clock, SystemClock};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::Fault;
use crate::arguments::Size;
use crate::balancer::Balancer;
use crate::fleet::Fleet;
use crate::load::{Finished, Game, Load};
use crate::proxy::Proxy;
use crate::scenario::settings;
use crate::servers::Installation;

/// Everything that runs. It is ended when this goes, the bots first.
pub struct Stage {
    pub load: Load,
    pub proxy: Option<Proxy>,
    pub redis: Installation,
    _balancer: Balancer,
    fleet: Fleet,
    _folder: TempDir,
}

impl Stage {
    pub fn set(fault: &Fault, size: &Size, runtime: &Runtime, seed: u64) -> Stage {
        let folder = tempfile::tempdir().expect("a folder");
        let redis = (fault.redis)();
        let mut urls = vec![url(&redis.topology, fault.durability); usize::from(size.replicas)];
        let proxy = fault.proxied.then(|| runtime.block_on(Proxy::before(&redis.servers[0].endpoint())));
        if let Some(proxy) = &proxy {
            urls[0] = url(&Topology::Single(proxy.endpoint()), fault.durability);
        }
        let fleet = Fleet::start(folder.path(), &urls);
        let balancer = Balancer::before(runtime, fleet.ports());
        let game = Game { games: "mix", absent: "0.5%", last_hands: "60s", seed };
        let load = Load::start(folder.path(), &balancer.address, size, &game);
        Stage { load, proxy, redis, _balancer: balancer, fleet, _folder: folder }
    }

    /// Lets the bots come to their end; also tells what is wrong with the servers.
    pub fn end(self) -> (Finished, Vec<String>) {
        let Stage { load, proxy, redis, _balancer, mut fleet, _folder } = self;
        let finished = load.finish();
        let faults = fleet.faults();
        drop((proxy, redis));
        (finished, faults)
    }
}

/// Now, ms since the epoch, as the bots' timeline has it.
pub fn now() -> u64 {
    SystemClock::default().now().0
}

/// Lets time pass.
pub fn wait(seconds: u64) {
    sleep(Duration::from_secs(seconds));
}

fn url(topology: &Topology, durability: &str) -> String {
    let list = |hosts: &[Endpoint]| {
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        hosts.join(",")
    };
    let place = match topology {
        Topology::Single(host) => format!("redis://{host}"),
        Topology::Sentinel { name, sentinels } => format!("redis-sentinel://{}/{name}", list(sentinels)),
        Topology::Cluster(nodes) => format!("redis-cluster://{}", list(nodes)),
    };
    format!("{place}?{}", settings(durability))
}
