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
use super::script::{self, Answer, Arguments, Verdict};
use super::startup::{StartError, asked};
use super::topology::text;
use crate::store::{CodecError, Place, Purpose, SealError, Sealed};

/// An operator that cannot be one, for the probe table.
const PROBE: &str = "~probe";

/// Where the check belongs: to no operator and no table.
const CHECK: Place<'static> =
    Place { operator: "", subject: Uuid::nil(), hand: 0, seat: 0, purpose: Purpose::Check };

impl RedisStore {
    /// Runs the real script, with everything that a commit can have, on a table that is no table, and listens to its
    /// channel: an ACL that lacks a right would else show after the first write of the first commit.
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
        let keys: Vec<String> = ["s", "e", "tm", "ob", "si", "ix", "rq"].map(key).to_vec();
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
        asked(node, &[script::beat(&key("hb"), 1000, 1000)]).await.map_err(refused)?;
        let mut clean = cmd("UNLINK");
        clean.arg(key("hb"));
        asked(node, &[clean]).await.map_err(refused)?;
        self.probe_channel(node, &key("c")).await.map_err(refused)
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

    /// What was fixed when the installation was new: the number of shards, and which keys seal its cards.
    pub(super) async fn check_installation(&self) -> Result<(), StartError> {
        let failed = |error: StoreError| StartError::Unreachable(error.to_string());
        let check = self.seal_check().map_err(|error| StartError::Keys(error.to_string()))?;
        let shards = self.config.shards.to_string();
        let set = |field: &str, value: &[u8]| {
            let mut command = cmd("HSETNX");
            command.arg(INSTALLATION).arg(field).arg(value);
            command
        };
        let mut get = cmd("HMGET");
        get.arg(INSTALLATION).arg("shards").arg("check");
        let commands = [set("shards", shards.as_bytes()), set("check", &check), get];
        let reply = self.router.call(Home::Installation, &commands, Kind::Read).await;
        let mut values = reply.map_err(|fault| failed(fault.unavailable()))?.values;
        let stored = values.pop();
        // Who has set the number of shards has made the installation.
        self.check_format(values.first() == Some(&Value::Int(1))).await?;
        let stored = stored.and_then(|value| value.into_sequence().ok()).unwrap_or_default();
        let number = stored.first().and_then(text).and_then(|text| text.parse().ok());
        let strange =
            |why: &str| StartError::Strange { server: INSTALLATION.to_owned(), why: why.to_owned() };
        let stored_shards: u16 = number.ok_or_else(|| strange("the stored number of shards is none"))?;
        if stored_shards != self.config.shards {
            return Err(StartError::Shards { stored: stored_shards, configured: self.config.shards });
        }
        let check = stored
            .into_iter()
            .nth(1)
            .and_then(script::bytes)
            .ok_or_else(|| strange("the key check is missing"))?;
        self.open_check(&check)
    }

    /// A new installation gets the newest format; of another one the format has to be known.
    async fn check_format(&self, new: bool) -> Result<(), StartError> {
        let failed = |error: StoreError| StartError::Unreachable(error.to_string());
        let known = self.codec.newest_format();
        if new {
            let fixed = self.router.call(Home::Installation, &[formats::begin(known)], Kind::Read).await;
            fixed.map_err(|fault| failed(fault.unavailable()))?;
        }
        let installed = self.format().await.map_err(failed)?;
        if installed > known {
            return Err(StartError::Format { installed, known });
        }
        self.codec.begin_with(installed);
        Ok(())
    }

    /// Something sealed, so that a later process can try its keys: its name, the nonce and the rest.
    fn seal_check(&self) -> Result<Vec<u8>, SealError> {
        let Sealed { key_id, nonce, ciphertext } = self.codec.keys().seal(&CHECK, b"fulcrum")?;
        let length = u8::try_from(key_id.len()).unwrap_or(u8::MAX);
        Ok([&[length], key_id.as_bytes(), &nonce[..], &ciphertext[..]].concat())
    }

    fn open_check(&self, stored: &[u8]) -> Result<(), StartError> {
        let split = || {
            let (length, rest) = stored.split_first()?;
            let (key_id, rest) = rest.split_at_checked(usize::from(*length))?;
            let (nonce, ciphertext) = rest.split_at_checked(crate::store::seal::NONCE_LEN)?;
            let key_id = String::from_utf8(key_id.to_vec()).ok()?;
            Some(Sealed { key_id, nonce: nonce.to_vec(), ciphertext: ciphertext.to_vec() })
        };
        let sealed = split().ok_or_else(|| StartError::Keys("the stored check is none".to_owned()))?;
        let opened = self.codec.keys().open(&CHECK, &sealed);
        opened.map(|_| ()).map_err(|error| StartError::Keys(CodecError::from(error).to_string()))
    }
}
