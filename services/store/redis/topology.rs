//! Which server is responsible for which shard, asked of the servers themselves.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ::redis::{Cmd, Pipeline, Value, cmd};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::config::{Endpoint, Topology};
use super::fault::{Fault, Remedy, first_fault};
use super::link::Link;

/// A sentinel or a cluster node that takes longer is passed over.
const PATIENCE: Duration = Duration::from_millis(600);

/// Slots and the primary that has them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) primary: Endpoint,
}

/// Asks which primaries there are. `known` are servers that were primaries a moment ago.
pub(super) async fn locate(
    topology: &Topology,
    link: &Arc<Link>,
    known: &[Endpoint],
) -> Result<Vec<Range>, Fault> {
    let whole = |primary| vec![Range { first: 0, last: u16::MAX, primary }];
    match topology {
        Topology::Single(endpoint) => Ok(whole(endpoint.clone())),
        Topology::Sentinel { name, sentinels } => Ok(whole(primary(name, sentinels, link).await?)),
        Topology::Cluster(seeds) => slots(seeds, link, known).await,
    }
}

/// The primary that most sentinels name and that says itself that it is one.
async fn primary(name: &str, sentinels: &[Endpoint], link: &Arc<Link>) -> Result<Endpoint, Fault> {
    let mut asked = JoinSet::new();
    for sentinel in sentinels {
        let (sentinel, link, name) = (sentinel.clone(), Arc::clone(link), name.to_owned());
        asked.spawn(async move { timeout(PATIENCE, ask_sentinel(&link, &sentinel, &name)).await });
    }
    let mut votes: HashMap<Endpoint, usize> = HashMap::new();
    let mut why = "no sentinel answers".to_owned();
    while let Some(answer) = asked.join_next().await {
        match answer {
            Ok(Ok(Ok(endpoint))) => {
                let count = votes.entry(endpoint).or_default();
                *count += 1;
                // The rest need not be waited for: one of them may be silent.
                if *count > sentinels.len() / 2 {
                    break;
                }
            }
            Ok(Ok(Err(fault))) => why = fault.text(),
            _ => {}
        }
    }
    let mut named: Vec<(Endpoint, usize)> = votes.into_iter().collect();
    named.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (endpoint, _) in named {
        match timeout(PATIENCE, role(link, &endpoint)).await {
            Ok(Ok(role)) if role == "master" => return Ok(endpoint),
            Ok(Ok(role)) => why = format!("{endpoint} is named as the primary, but its role is {role}"),
            Ok(Err(fault)) => why = fault.text(),
            Err(_) => why = format!("{endpoint} does not answer"),
        }
    }
    Err(Fault::Again(Remedy::Locate, format!("the sentinels show no primary {name:?}: {why}")))
}

async fn ask_sentinel(link: &Link, sentinel: &Endpoint, name: &str) -> Result<Endpoint, Fault> {
    let live = link.connect_sentinel(sentinel).await?;
    let mut command = cmd("SENTINEL");
    command.arg("GET-MASTER-ADDR-BY-NAME").arg(name);
    let unknown =
        || Fault::Again(Remedy::Locate, format!("the sentinel {sentinel} knows no primary {name:?}"));
    let answer = once(live, command).await?;
    let [host, port] = answer.as_sequence().ok_or_else(unknown)? else {
        return Err(unknown());
    };
    let (host, port) = (text(host).ok_or_else(unknown)?, text(port).ok_or_else(unknown)?);
    Ok(Endpoint { host, port: port.parse().map_err(|_| unknown())? })
}

/// What a server says that it is: `master` or `slave`.
pub(super) async fn role(link: &Link, endpoint: &Endpoint) -> Result<String, Fault> {
    let live = link.connect_to_look(endpoint).await?;
    let answer = once(live, cmd("ROLE")).await?;
    let role = answer.as_sequence().and_then(|parts| text(parts.first()?));
    role.ok_or_else(|| Fault::Refused(format!("{endpoint} does not tell its role")))
}

/// The slots as most of the nodes tell them: one that is cut off from the others may be asked first, and believes what was
/// so before. Whoever is silent is not waited for once more than half of them agree.
async fn slots(seeds: &[Endpoint], link: &Arc<Link>, known: &[Endpoint]) -> Result<Vec<Range>, Fault> {
    let nodes: BTreeSet<&Endpoint> = known.iter().chain(seeds).collect();
    let mut asked = JoinSet::new();
    for node in &nodes {
        let (node, link) = ((*node).clone(), Arc::clone(link));
        asked.spawn(async move {
            let told = timeout(PATIENCE, ask_node(&link, &node)).await;
            told.unwrap_or_else(|_| Err(Fault::Again(Remedy::Locate, format!("{node} does not answer"))))
        });
    }
    let mut fault = Fault::Again(Remedy::Locate, "no node of the cluster is known".to_owned());
    let mut votes: Vec<(Vec<Range>, usize)> = Vec::new();
    while let Some(Ok(answer)) = asked.join_next().await {
        let ranges = match answer {
            Ok(ranges) => ranges,
            Err(why) => {
                fault = why;
                continue;
            }
        };
        let place = votes.iter().position(|(other, _)| *other == ranges).unwrap_or_else(|| {
            votes.push((ranges, 0));
            votes.len() - 1
        });
        votes[place].1 += 1;
        if votes[place].1 > nodes.len() / 2 {
            return Ok(votes.swap_remove(place).0);
        }
    }
    // Of two views that as many have, the one that came first.
    let most = votes.iter().map(|(_, count)| *count).max();
    votes.into_iter().find(|(_, count)| Some(*count) == most).map(|(ranges, _)| ranges).ok_or(fault)
}

async fn ask_node(link: &Link, endpoint: &Endpoint) -> Result<Vec<Range>, Fault> {
    let live = link.connect_to_look(endpoint).await?;
    let mut command = cmd("CLUSTER");
    command.arg("SLOTS");
    let answer = once(live, command).await?;
    let mut ranges = ranges(&answer, endpoint)
        .ok_or_else(|| Fault::Refused(format!("{endpoint} tells its slots in an unknown way")))?;
    if ranges.is_empty() {
        return Err(Fault::Again(Remedy::Locate, format!("{endpoint} knows no slots yet")));
    }
    ranges.sort_by_key(|range| range.first);
    Ok(ranges)
}

/// Reads the answer to CLUSTER SLOTS. A node that does not know its own address says none, and is then the one asked.
fn ranges(answer: &Value, asked: &Endpoint) -> Option<Vec<Range>> {
    let number = |value: &Value| match value {
        Value::Int(number) => u16::try_from(*number).ok(),
        _ => None,
    };
    let range = |entry: &Value| {
        let [first, last, primary, ..] = entry.as_sequence()? else {
            return None;
        };
        let [host, port, ..] = primary.as_sequence()? else {
            return None;
        };
        let host = text(host).filter(|host| !host.is_empty()).unwrap_or_else(|| asked.host.clone());
        let primary = Endpoint { host, port: number(port)? };
        Some(Range { first: number(first)?, last: number(last)?, primary })
    };
    answer.as_sequence()?.iter().map(range).collect()
}

async fn once(mut live: super::link::Live, command: Cmd) -> Result<Value, Fault> {
    let mut pipeline = Pipeline::with_capacity(1);
    pipeline.add_command(command);
    let values = live.connection.send_packed_commands(&pipeline, 0, 1).await;
    let mut values = values.map_err(|error| Fault::Again(Remedy::Reach, error.to_string()))?;
    match first_fault(&values) {
        Some(fault) => Err(fault),
        None => Ok(values.pop().unwrap_or(Value::Nil)),
    }
}

/// A text, however Redis sends it.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes.clone()).ok(),
        Value::SimpleString(text) => Some(text.clone()),
        Value::VerbatimString { text, .. } => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_node_without_an_address_is_the_one_that_was_asked() {
        let asked = Endpoint { host: "seed".to_owned(), port: 7000 };
        let node = |host: &str, port| {
            Value::Array(vec![Value::BulkString(host.as_bytes().to_vec()), Value::Int(port), Value::Nil])
        };
        let entry = |first, last, host, port| {
            Value::Array(vec![Value::Int(first), Value::Int(last), node(host, port), node("replica", 1)])
        };
        let answer = Value::Array(vec![entry(0, 5460, "", 7000), entry(5461, 16_383, "other", 7001)]);
        let read = ranges(&answer, &asked).unwrap();
        assert_eq!(read[0], Range { first: 0, last: 5460, primary: asked.clone() });
        assert_eq!(read[1].primary, Endpoint { host: "other".to_owned(), port: 7001 });
        assert_eq!(ranges(&Value::Array(vec![Value::Int(1)]), &asked), None);
    }
}
