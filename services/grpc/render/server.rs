//! The server itself.

use rules::Millis;
use tables::RecordFormats;

use super::{duration, timestamp};
use crate::pb::v1;
use crate::telemetry::binary::{BUILD, Binary, State, digits};

/// What a client may count on, and what he has to keep to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest message, in bytes.
    pub message: usize,
    /// The most entries of a page.
    pub page: usize,
    /// The longest unary call.
    pub call: Millis,
    /// Calls and streams of a connection.
    pub streams: u32,
    /// The time until a heartbeat.
    pub heartbeat: Millis,
    /// How long request ids are remembered.
    pub requests: Millis,
    /// How long settlement records are kept.
    pub settlements: Millis,
}

/// All of it.
pub fn info(binary: &Binary, formats: Option<RecordFormats>, limits: Limits) -> v1::GetServerInfoResponse {
    v1::GetServerInfoResponse {
        version: BUILD.version.to_owned(),
        build: Some(v1::ServerBuild {
            revision: BUILD.revision.to_owned(),
            compiler: BUILD.compiler.to_owned(),
            profile: BUILD.profile.to_owned(),
            target: BUILD.target.to_owned(),
        }),
        start_time: Some(timestamp(binary.started())),
        binary: Some(file(binary)),
        record_format: formats
            .map(|formats| v1::RecordFormat { installed: formats.installed, newest: formats.newest }),
        limits: Some(bounds(limits)),
    }
}

fn file(binary: &Binary) -> v1::ServerBinary {
    let known = binary.known();
    let state = match known.state {
        State::Unknown => v1::BinaryState::Unspecified,
        State::Unchanged => v1::BinaryState::Unchanged,
        State::Changed => v1::BinaryState::Changed,
        State::Unreadable => v1::BinaryState::Unreadable,
    };
    v1::ServerBinary {
        sha256: known.hash.as_ref().map(digits).unwrap_or_default(),
        check_time: known.at.map(timestamp),
        state: state.into(),
    }
}

fn bounds(limits: Limits) -> v1::ServerLimits {
    v1::ServerLimits {
        largest_message_bytes: limits.message as u64,
        largest_page: u32::try_from(limits.page).unwrap_or(u32::MAX),
        longest_call: Some(duration(limits.call)),
        streams_per_connection: limits.streams,
        heartbeat: Some(duration(limits.heartbeat)),
        request_retention: Some(duration(limits.requests)),
        settlement_retention: Some(duration(limits.settlements)),
    }
}
