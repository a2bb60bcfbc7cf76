//! The way of a call to the server that has its shard: looked up, tried again with a bound, looked up anew when Redis
//! says that it has moved.
//!
//! Our own, for all three kinds of installation, because a call touches one shard and so one server: the crate's
//! cluster connection dead-locks at the first move under load, and its sentinel client never looks again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use ::redis::{Cmd, Value, cmd};
use tokio::sync::Mutex as AsyncMutex;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tracing::Instrument;

use super::config::{Durability, Endpoint, RedisConfig, Topology};
use super::fault::{Fault, Remedy, first_fault, is_asked_elsewhere};
use super::keys::{INSTALLATION_FENCE, SLOTS, Shard, slot};
use super::link::Link;
use super::node::Node;
use super::script;
use super::time::StoreTime;
use super::topology::{Range, locate};
use super::traffic::Counts;
use super::trips;

/// Pauses between tries.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// The servers are not asked for their places more often.
const LOCATE_PAUSE: Duration = Duration::from_millis(50);

/// Where a call belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// To a shard.
    Shard(Shard),
    /// To the server that keeps what belongs to the whole installation.
    Installation,
}

impl Home {
    /// Written so that replicas have what was written before it on the server.
    pub(super) fn fence(self) -> String {
        match self {
            Home::Shard(shard) => shard.fence(),
            Home::Installation => INSTALLATION_FENCE.to_owned(),
        }
    }
}

/// What a call is, and so what may be done when its answer is lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It may be tried again whatever happened.
    Read,
    /// It may have been done: whoever called has to look. Waits for replicas where that is asked for.
    Commit,
}

/// Answers, none of which is an error, and who gave them.
pub(super) struct Reply {
    pub(super) values: Vec<Value>,
    pub(super) from: Arc<Node>,
}

/// A try that brought nothing.
struct Failed {
    fault: Fault,
    node: Option<Arc<Node>>,
    map: Option<Arc<Map>>,
}

/// A call of [`Router::each`] that is not answered yet: its place, its shard and its commands.
type Open = (usize, Shard, Vec<Cmd>);

/// Who has what, at one moment.
pub(super) struct Map {
    owners: Vec<Option<Arc<Node>>>,
    installation: Option<Arc<Node>>,
    /// Every primary that has a slot.
    pub(super) primaries: Vec<Arc<Node>>,
}

/// The servers of one installation.
pub(super) struct Router {
    topology: Topology,
    durability: Durability,
    patience: Duration,
    shards: u16,
    link: Arc<Link>,
    map: RwLock<Option<Arc<Map>>>,
    nodes: Mutex<HashMap<Endpoint, Arc<Node>>>,
    locating: AsyncMutex<Option<Instant>>,
    pub(super) time: StoreTime,
}

impl Router {
    pub(super) fn new(config: &RedisConfig, link: Link) -> Router {
        Router {
            topology: config.topology.clone(),
            durability: config.durability,
            patience: config.patience,
            shards: config.shards,
            link: Arc::new(link),
            map: RwLock::new(None),
            nodes: Mutex::default(),
            locating: AsyncMutex::new(None),
            time: StoreTime::new(),
        }
    }

    /// Sends the commands to the server that has their keys.
    pub(super) async fn call(&self, home: Home, commands: &[Cmd], kind: Kind) -> Result<Reply, Fault> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut asked = None;
        loop {
            let fault = match self.attempt(home, commands, kind, asked.take()).await {
                Ok(reply) => return Ok(reply),
                Err(Failed { fault, node, map }) => {
                    self.treat(fault, node.as_ref(), map.as_ref(), kind, &mut asked).await?
                }
            };
            if started.elapsed() + pause >= self.patience {
                return Err(fault);
            }
            if asked.is_none() {
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    async fn attempt(
        &self,
        home: Home,
        commands: &[Cmd],
        kind: Kind,
        asked: Option<Arc<Node>>,
    ) -> Result<Reply, Failed> {
        if let Some(node) = asked {
            return match self.send(&node, &with_asking(commands), kind).await {
                Ok(values) => {
                    Ok(Reply { values: values.into_iter().skip(1).step_by(2).collect(), from: node })
                }
                Err(fault) => Err(Failed { fault, node: Some(node), map: None }),
            };
        }
        let map = self.map().await.map_err(|fault| Failed { fault, node: None, map: None })?;
        let Some(node) = map.owner(home).cloned() else {
            return Err(Failed { fault: nobody(), node: None, map: Some(map) });
        };
        match self.send(&node, commands, kind).await {
            Ok(values) => Ok(Reply { values, from: node }),
            Err(fault) => Err(Failed { fault, node: Some(node), map: Some(map) }),
        }
    }

    /// Sends each shard its commands, those of one server together, and gives the answers in the order of the calls.
    pub(super) async fn each(
        self: &Arc<Router>,
        calls: Vec<(Shard, Vec<Cmd>)>,
    ) -> Result<Vec<Vec<Value>>, Fault> {
        let started = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut answers: Vec<Option<Vec<Value>>> = calls.iter().map(|_| None).collect();
        let mut open: Vec<(usize, Shard, Vec<Cmd>)> = calls
            .into_iter()
            .enumerate()
            .map(|(place, (shard, commands))| (place, shard, commands))
            .collect();
        while !open.is_empty() {
            let (failed, rest) = self.round(open, &mut answers).await;
            open = rest;
            if let Some(Failed { fault, node, map }) = failed {
                // Reads are not asked elsewhere while a slot moves: it will have moved soon.
                let fault = self.treat(fault, node.as_ref(), map.as_ref(), Kind::Read, &mut None).await?;
                if started.elapsed() + pause >= self.patience {
                    return Err(fault);
                }
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
        Ok(answers.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Sends what is open once; gives what is still open and why.
    async fn round(
        self: &Arc<Router>,
        open: Vec<Open>,
        answers: &mut [Option<Vec<Value>>],
    ) -> (Option<Failed>, Vec<Open>) {
        let map = match self.map().await {
            Ok(map) => map,
            Err(fault) => return (Some(Failed { fault, node: None, map: None }), open),
        };
        let mut failed = None;
        let mut rest = Vec::new();
        let mut groups: HashMap<Endpoint, (Arc<Node>, Vec<Open>)> = HashMap::new();
        for call in open {
            match map.owner(Home::Shard(call.1)) {
                Some(node) => {
                    let group =
                        groups.entry(node.endpoint.clone()).or_insert_with(|| (Arc::clone(node), Vec::new()));
                    group.1.push(call);
                }
                None => {
                    failed = Some(Failed { fault: nobody(), node: None, map: Some(Arc::clone(&map)) });
                    rest.push(call);
                }
            }
        }
        let mut sent = JoinSet::new();
        for (node, calls) in groups.into_values() {
            let trip = async move {
                let commands: Vec<Cmd> =
                    calls.iter().flat_map(|(_, _, commands)| commands).cloned().collect();
                let sent = node.link.counts.sent(Kind::Read);
                let values = node.send(&commands).await.inspect(|_| sent.answered());
                (node, calls, values)
            };
            sent.spawn(trip.in_current_span());
        }
        while let Some(Ok((node, calls, values))) = sent.join_next().await {
            let mut values = values.map(Vec::into_iter);
            for (place, shard, commands) in calls {
                let own = match &mut values {
                    Ok(values) => Ok(values.by_ref().take(commands.len()).collect::<Vec<_>>()),
                    Err(fault) => Err(fault.clone()),
                };
                match own.and_then(|own| first_fault(&own).map_or(Ok(own), Err)) {
                    Ok(own) => answers[place] = Some(own),
                    Err(fault) => {
                        failed = Some(Failed {
                            fault,
                            node: Some(Arc::clone(&node)),
                            map: Some(Arc::clone(&map)),
                        });
                        rest.push((place, shard, commands));
                    }
                }
            }
        }
        (failed, rest)
    }

    async fn send(&self, node: &Arc<Node>, commands: &[Cmd], kind: Kind) -> Result<Vec<Value>, Fault> {
        let sent = self.link.counts.sent(kind);
        let values = match (kind, self.durability) {
            (Kind::Commit, Durability::Replicated(replicas)) => {
                let trip = trips::trip(&node.endpoint, commands);
                let values = trip.run(node.group(replicas).send(commands)).await;
                trips::told(&trip, &values);
                values?
            }
            _ => node.send(commands).await?,
        };
        sent.answered();
        match first_fault(&values) {
            // Another server has nothing of what is still here, and would say that there is none.
            Some(Fault::Again(Remedy::Ask(_), why)) if !values.iter().all(is_asked_elsewhere) => {
                Err(Fault::Again(Remedy::Wait, why))
            }
            Some(fault) => Err(fault),
            None => Ok(values),
        }
    }

    /// Does what a fault calls for before the next try; gives the fault back if there is one, or ends with it.
    async fn treat(
        &self,
        fault: Fault,
        node: Option<&Arc<Node>>,
        map: Option<&Arc<Map>>,
        kind: Kind,
        asked: &mut Option<Arc<Node>>,
    ) -> Result<Fault, Fault> {
        let remedy = match &fault {
            Fault::Refused(_) => return Err(fault),
            Fault::Unknown(_) => {
                // The primary may be another one by now; whoever looks what became of it should look there.
                self.relocate(map).await;
                match kind {
                    Kind::Commit => return Err(fault),
                    Kind::Read => Remedy::Wait,
                }
            }
            Fault::Again(remedy, _) => remedy.clone(),
        };
        match remedy {
            Remedy::Wait => {}
            Remedy::Locate => self.relocate(map).await,
            // With one server there is no other one to look for: who comes while it is away is told at once.
            Remedy::Reach if matches!(self.topology, Topology::Single(_)) => return Err(fault),
            Remedy::Reach => self.relocate(map).await,
            Remedy::Ask(address) => {
                *asked = Endpoint::parse(&address, 0).map(|endpoint| self.node(&endpoint));
            }
            Remedy::Script => {
                if let Some(node) = node {
                    node.send(&script::loading()).await?;
                }
            }
        }
        Ok(fault)
    }

    /// The present map.
    pub(super) async fn map(&self) -> Result<Arc<Map>, Fault> {
        if let Some(map) = self.known() {
            return Ok(map);
        }
        self.locate(None).await
    }

    /// Looks anew who has what, unless somebody else has done so since this map was taken.
    async fn relocate(&self, seen: Option<&Arc<Map>>) {
        if let Err(fault) = self.locate(seen).await {
            tracing::debug!(why = fault.text(), "the primaries cannot be found at the moment");
        }
    }

    /// Looks who has what.
    pub(super) async fn locate(&self, seen: Option<&Arc<Map>>) -> Result<Arc<Map>, Fault> {
        let mut last = self.locating.lock().await;
        let known = self.known();
        if let Some(known) = &known
            && seen.is_none_or(|seen| !Arc::ptr_eq(seen, known))
        {
            return Ok(Arc::clone(known));
        }
        if let Some(last) = *last {
            let rest = LOCATE_PAUSE.saturating_sub(last.elapsed());
            sleep(rest).await;
        }
        let endpoints: Vec<Endpoint> =
            known.iter().flat_map(|map| &map.primaries).map(|node| node.endpoint.clone()).collect();
        let found = locate(&self.topology, &self.link, &endpoints).await;
        *last = Some(Instant::now());
        let map = Arc::new(self.draw(&found?));
        if known.is_none_or(|known| !known.same(&map)) {
            let primaries: Vec<_> = map.primaries.iter().map(|node| node.endpoint.to_string()).collect();
            tracing::info!(event = "redis_primaries", ?primaries, "Redis' primaries");
        }
        // Who has gone for good is not knocked at for ever.
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.retain(|endpoint, _| map.primaries.iter().any(|node| node.endpoint == *endpoint));
        drop(nodes);
        *self.map.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&map));
        Ok(map)
    }

    fn draw(&self, ranges: &[Range]) -> Map {
        let owner = |slot: u16| {
            let range = ranges.iter().find(|range| (range.first..=range.last).contains(&slot))?;
            Some(self.node(&range.primary))
        };
        let mut primaries: Vec<Arc<Node>> = Vec::new();
        for range in ranges.iter().filter(|range| range.first < SLOTS) {
            if primaries.iter().all(|node| node.endpoint != range.primary) {
                primaries.push(self.node(&range.primary));
            }
        }
        Map {
            owners: Shard::all(self.shards).map(|shard| owner(shard.slot())).collect(),
            installation: owner(slot("fulcrum")),
            primaries,
        }
    }

    fn known(&self) -> Option<Arc<Map>> {
        self.map.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn node(&self, endpoint: &Endpoint) -> Arc<Node> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let node = nodes.entry(endpoint.clone()).or_insert_with(|| Node::new(endpoint.clone(), &self.link));
        Arc::clone(node)
    }

    /// How often a server was reached anew. What one has told before another connection was made may be lost.
    pub(super) fn era(&self) -> u64 {
        self.link.made()
    }

    /// What goes to the servers.
    pub(super) fn counts(&self) -> &Counts {
        &self.link.counts
    }

    /// Whether the primaries can change without an error that tells of it.
    pub(super) fn moves(&self) -> bool {
        !matches!(self.topology, Topology::Single(_))
    }
}

impl Map {
    /// Who has it.
    pub(super) fn owner(&self, home: Home) -> Option<&Arc<Node>> {
        match home {
            Home::Shard(shard) => self.owners.get(usize::from(shard.0))?.as_ref(),
            Home::Installation => self.installation.as_ref(),
        }
    }

    fn same(&self, other: &Map) -> bool {
        let ends = |map: &Map| -> Vec<Option<Endpoint>> {
            map.owners.iter().map(|node| node.as_ref().map(|node| node.endpoint.clone())).collect()
        };
        ends(self) == ends(other)
    }
}

fn nobody() -> Fault {
    Fault::Again(Remedy::Locate, "no server has this shard at the moment".to_owned())
}

/// ASKING holds for the one command that follows it.
fn with_asking(commands: &[Cmd]) -> Vec<Cmd> {
    commands.iter().flat_map(|command| [cmd("ASKING"), command.clone()]).collect()
}
