//! Statuses that the transport made by itself, before a handler saw the call: they get the reasons of the contract,
//! and a broken message is the caller's fault, not ours.

use http::Response;
use tonic::body::Body;
use tonic::{Code, Status};

use crate::grpc::status;

/// The response, with a reason if it is a refusal without one.
#[must_use]
pub fn complete(response: Response<Body>, message_limit: usize) -> Response<Body> {
    let made = Status::from_header_map(response.headers());
    let bare = made.filter(|status| status.code() != Code::Ok && status.details().is_empty());
    let Some(bare) = bare else {
        return response;
    };
    let whole = match bare.code() {
        Code::OutOfRange | Code::ResourceExhausted => status::message_too_large(message_limit),
        // Ours has details; what has none is a message that could not be read.
        Code::Internal | Code::Unknown => status::message_malformed(),
        Code::Unimplemented if bare.message().is_empty() => status::not_implemented("there is no such call"),
        Code::Unimplemented => status::not_implemented(bare.message()),
        _ => return response,
    };
    tracing::debug!(code = ?bare.code(), message = bare.message(), "the transport refused a call");
    whole.into_http()
}
