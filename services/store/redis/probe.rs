//! What only a try shows: whether the user may do everything that a commit does, and whether this installation is the one
//! that the configuration means.

use std::sync::Arc;

use ::redis::{Cmd, Value, cmd};
use tables::{StoreError, Token};
use uuid::Uuid;

use super::RedisStore;
use super::fault::Fault;
use super::formats;
use super::keys::{INSTALLATION, Shard};
use super::node::Node;
use super::route::{Home, Kind, Map};
use super::script::{self, Answer, Arguments, StopArguments, Verdict};
use super::startup::{StartError, asked};
use super::topology::text;

/// An operator that cannot be one, for the probe table.
const PROBE: &str = "~probe";

impl RedisStore {
    /// Runs the real scripts, with everything that a commit and a change of stops can have, on keys of nobody, and listens to
    /// a channel: an ACL that lacks a right would else show after the first write of the first commit.
    pub(super) async fn probe(&self, map: &Arc<Map>, node: &Arc<Node>) -> Result<(), StartError> {
        let shard = Shard::all(self.shards()).find(|shard| {
            map.owner(Home::Shard(*shard)).is_some_and(|owner| owner.endpoint == node.endpoint)
        });
        let Some(shard) = shard else {
            return Ok(());
        };
        let server = node.endpoint.to_string();
        let name = format!("{PROBE}/{}", Uuid::new_v4());
        let key = |what: &str| format!("{{s{:03}}}:{what}:{name}", shard.0);
        let keys: Vec<String> = ["s", "e", "tm", "ob", "si", "ac", "an", "ix", "rq"].map(key).to_vec();
        let arguments = Arguments {
            keys: keys.clone(),
            expected: None,
            token: Token { version: 1, nonce: 1 },
            state: b"probe",
            entry: b"probe",
            history: 1,
            due: Some(1),
            name: name.clone(),
            not_before: Some(0),
            not_after: None,
            channel: key("c"),
            keeps_state: true,
            request: Some(b"probe".to_vec()),
            request_kept: 1000,
            settlements: vec![(Uuid::nil(), b"probe".to_vec())],
            accounts: vec![(b"probe".to_vec(), "probe", 1)],
        };
        let refused = |fault: Fault| StartError::of(&server, fault);
        let load: Vec<Cmd> = script::loading().to_vec();
        asked(node, &load).await.map_err(refused)?;
        let answer = asked(node, &[arguments.command()]).await.map_err(refused);
        let mut clean = cmd("UNLINK");
        clean.arg(&keys);
        let cleaned = asked(node, &[clean]).await.map_err(refused);
        let answer = Answer::read(answer?.pop());
        cleaned?;
        match answer {
            Ok(Answer { verdict: Verdict::Done, .. }) => {}
            other => return Err(StartError::Strange { server, why: format!("the probe gives {other:?}") }),
        }
        self.probe_stops(node, &key).await.map_err(refused)?;
        asked(node, &[script::beat(&key("hb"), 1000, 1000)]).await.map_err(refused)?;
        let mut clean = cmd("UNLINK");
        clean.arg(key("hb"));
        asked(node, &[clean]).await.map_err(refused)?;
        self.probe_channel(node, &key("c")).await.map_err(refused)
    }

    async fn probe_stops(&self, node: &Arc<Node>, key: &impl Fn(&str) -> String) -> Result<(), Fault> {
        let keys: Vec<String> = ["v", "s", "a", "rq"].map(key).to_vec();
        let arguments = StopArguments {
            keys: keys.clone(),
            expected: None,
            token: Token { version: 1, nonce: 1 },
            audit: Some(b"probe".to_vec()),
            request: Some(b"probe".to_vec()),
            request_kept: 1000,
            put: vec![("probe".to_owned(), b"probe".to_vec())],
            remove: vec!["probe".to_owned()],
        };
        let changed = asked(node, &[arguments.command()]).await;
        let mut clean = cmd("UNLINK");
        clean.arg(&keys);
        asked(node, &[clean]).await?;
        changed.map(|_| ())
    }

    async fn probe_channel(&self, node: &Arc<Node>, channel: &str) -> Result<(), Fault> {
        let mut live = node.link.connect_listening(&node.endpoint, Box::new(|_| ())).await?;
        let mut listen = cmd("SSUBSCRIBE");
        listen.arg(channel);
        match live.connection.send_packed_command(&listen).await {
            Ok(Value::ServerError(error)) => Err(super::fault::of_server(&error)),
            Ok(_) => Ok(()),
            Err(error) => Err(Fault::Refused(error.to_string())),
        }
    }

    /// What was fixed when the installation was new: the number of shards, and by which keys seal its cards; gives
    /// the warnings.
    pub(super) async fn check_installation(&self) -> Result<Vec<String>, StartError> {
        let failed = |error: StoreError| StartError::Unreachable(error.to_string());
        let known = self.codec.newest_format();
        let make = formats::make(self.config.shards, known);
        let reply = self.router.call(Home::Installation, &[make], Kind::Read).await;
        let answer = reply.map_err(|fault| failed(fault.unavailable()))?.values.pop();
        let fields = answer.and_then(|answer| answer.into_sequence().ok()).unwrap_or_default();
        let number = fields.first().and_then(text).and_then(|text| text.parse().ok());
        let strange =
            |why: &str| StartError::Strange { server: INSTALLATION.to_owned(), why: why.to_owned() };
        let stored: u16 = number.ok_or_else(|| strange("the stored number of shards is none"))?;
        let installed = formats::read(fields.get(1)).map_err(failed)?;
        if installed > known {
            return Err(StartError::Format { installed, known });
        }
        self.codec.begin_with(installed);
        if stored != self.config.shards {
            return Err(StartError::Shards { stored, configured: self.config.shards });
        }
        self.check_keys().await
    }
}
