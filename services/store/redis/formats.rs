//! The installation's format of records: found at the start, followed while the service runs, raised by an operator.

use ::redis::{Cmd, Value, cmd};
use tables::StoreError;
use uuid::Uuid;

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::INSTALLATION;
use super::route::{Home, Kind, Router};
use super::topology::text;
use crate::store::codec::FIRST_FORMAT;

/// The field of the installation that has it. Without the field it is the first one.
const FIELD: &str = "format";

/// Only upwards, whoever else raises it at the same moment.
const RAISE: &str = "\
local format = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or ARGV[3])
if tonumber(ARGV[2]) > format then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return format";

/// The read of the format.
pub(super) fn get() -> Cmd {
    let mut command = cmd("HGET");
    command.arg(INSTALLATION).arg(FIELD);
    command
}

/// Makes the installation if there is none, with this number of shards and in the newest format, and tells what its shards
/// and its format are. One step: whoever dies half-way through would leave a new installation in the first format.
const MAKE: &str = "\
if redis.call('HSETNX', KEYS[1], 'shards', ARGV[1]) == 1 then redis.call('HSET', KEYS[1], ARGV[2], ARGV[3]) end
return redis.call('HMGET', KEYS[1], 'shards', ARGV[2])";

/// Calls it.
pub(super) fn make(shards: u16, newest: u32) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(MAKE).arg(1).arg(INSTALLATION).arg(shards).arg(FIELD).arg(newest);
    command
}

/// The answer to [`get`].
pub(super) fn read(answer: Option<&Value>) -> Result<u32, StoreError> {
    match answer {
        None | Some(Value::Nil) => Ok(FIRST_FORMAT),
        Some(format) => text(format)
            .and_then(|format| format.parse().ok())
            .ok_or_else(|| strange("the format of the installation")),
    }
}

/// Where a process signs with the newest format that it knows; gone with it. Versions that know only the first format do
/// not sign here.
pub(super) fn signature(process: Uuid) -> String {
    format!("{{fulcrum}}:process:{process}")
}

/// The installation's format, as Redis has it now.
pub(super) async fn get_format(router: &Router) -> Result<u32, StoreError> {
    let reply = router.call(Home::Installation, &[get()], Kind::Read).await;
    read(reply.map_err(Fault::unavailable)?.values.first())
}

/// The raise; answers with what the format was.
pub(super) fn raise(to: u32) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(RAISE).arg(1).arg(INSTALLATION).arg(FIELD).arg(to).arg(FIRST_FORMAT);
    command
}

impl RedisStore {
    /// Writes the installation's format from now on; nothing at all once that is one which this version does not know.
    pub(super) fn follow(&self, installed: u32) {
        if !self.codec.follow(installed) {
            return;
        }
        match self.codec.written_format() {
            Ok(format) => tracing::info!(
                event = "format_raised",
                format,
                "records are written in a newer format from now on"
            ),
            Err(error) => {
                tracing::error!(event = "format_unknown", %error, "nothing can be written any more")
            }
        }
    }
}
