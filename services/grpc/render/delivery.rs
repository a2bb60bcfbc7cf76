//! Settlement records on their way to consumers.

use rules::Millis;
use tables::books::{Backlog, Cursor};
use tables::{OperatorId, Parcel};

use super::{duration, settlement, timestamp};
use crate::grpc::parse::delivery::position;
use crate::pb::v1;
use crate::pb::v1::stream_settlements_response::Content;

/// What a stream tells.
pub fn parcel(operator: &OperatorId, parcel: &Parcel) -> Content {
    match parcel {
        Parcel::Record(place, record) => Content::Settlement(v1::DeliveredSettlement {
            settlement: Some(settlement::settlement(record)),
            position: position(operator, *place),
        }),
        Parcel::Gap { after, until } => Content::Gap(v1::DeliveryGap {
            after_position: after.map(|after| position(operator, after)).unwrap_or_default(),
            until_position: position(operator, *until),
        }),
    }
}

/// What is not acknowledged, at this time.
pub fn backlog(backlog: &Backlog, now: Millis) -> v1::Backlog {
    let age = backlog.oldest.map(|oldest| duration(now - oldest));
    v1::Backlog { depth: backlog.depth, oldest_age: age }
}

/// The stream is alive. What a store that is away does not tell is not told.
pub fn heartbeat(now: Option<Millis>, before: Option<&Backlog>, position: String) -> v1::DeliveryHeartbeat {
    v1::DeliveryHeartbeat {
        time: now.map(timestamp),
        backlog: before.zip(now).map(|(before, now)| backlog(before, now)),
        position,
    }
}

/// A consumer.
pub fn consumer(
    operator: &OperatorId,
    name: &str,
    cursor: &Cursor,
    before: &Backlog,
    now: Millis,
) -> v1::Consumer {
    v1::Consumer {
        name: name.to_owned(),
        position: cursor.position.map(|place| position(operator, place)).unwrap_or_default(),
        generation: cursor.generation,
        backlog: Some(backlog(before, now)),
    }
}
