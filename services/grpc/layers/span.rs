//! A call's span: what it is called, whose it is, how it ended. That of a stream is over when the stream has begun: one that
//! lasts for hours would be told when nobody looks for it any more, and hold up all that is below it.
//!
//! Nothing of the message and no credentials are in it: a span is read by more people than a message is.

use http::{HeaderMap, Response};
use opentelemetry::trace::SpanContext;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::StatusExt;
use tracing::Span;
use tracing::field::Empty;

use super::methods::{Kind, Method};
use crate::telemetry::codes::word;
use crate::telemetry::conventions::{
    ERROR_REASON, ERROR_TYPE, GRPC, OPERATOR, RPC_METHOD, RPC_STATUS, RPC_SYSTEM, SPAN_KIND, SPAN_NAME,
    SPAN_STATUS,
};
use crate::telemetry::spans::{self, TARGET, current};
use crate::telemetry::traces::sampling::{Prospect, Sampling};

/// What the conventions call a method that a service does not have.
const OTHER: &str = "_OTHER";

/// The trace of a call that is about to be let in.
pub(super) struct Told {
    parent: Option<SpanContext>,
    prospect: Prospect,
}

impl Told {
    /// As its headers say.
    pub fn of(sampling: Option<&Sampling>, headers: &HeaderMap) -> Told {
        let parent = spans::parent(headers);
        let prospect = sampling.map_or(Prospect::Open, |sampling| sampling.prospect(parent.as_ref()));
        Told { parent, prospect }
    }

    /// The current span belongs to it. `known`: the caller has shown who he is.
    pub fn begin(self, known: bool) {
        spans::begin(self.parent, self.prospect, known);
    }
}

/// The span of a call. That of a probe, or of one that is not told, is for the log only.
pub(super) fn of(method: Method, told: &Told) -> Span {
    let name = match method.kind {
        Kind::Unknown => OTHER,
        _ => method.name.trim_start_matches('/'),
    };
    if method.kind == Kind::Open {
        return tracing::error_span!("rpc", { RPC_METHOD } = name, { RPC_STATUS } = Empty);
    }
    if told.prospect == Prospect::None {
        return tracing::error_span!(
            "rpc",
            { RPC_METHOD } = name,
            { RPC_STATUS } = Empty,
            { ERROR_TYPE } = Empty,
            { OPERATOR } = Empty,
        );
    }
    tracing::error_span!(
        target: TARGET,
        "rpc",
        { SPAN_NAME } = name,
        { SPAN_KIND } = "server",
        { SPAN_STATUS } = Empty,
        { RPC_SYSTEM } = GRPC,
        { RPC_METHOD } = name,
        { RPC_STATUS } = Empty,
        { ERROR_TYPE } = Empty,
        { OPERATOR } = Empty,
        { ERROR_REASON } = Empty,
    )
}

/// A call that has no answer yet. Dropped, it never gets one: the caller has gone away.
#[derive(Default)]
pub(super) struct Unanswered(bool);

impl Unanswered {
    /// Says how it ended.
    pub(super) fn answered(mut self, response: &Response<Body>) {
        self.0 = true;
        let status = response.headers().get(Status::GRPC_STATUS);
        let code = status.map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()));
        let span = Span::current();
        span.record(RPC_STATUS, word(code));
        if code == Code::Ok {
            return;
        }
        if is_fault(code) {
            span.record(ERROR_TYPE, word(code));
            span.record(SPAN_STATUS, "ERROR");
        }
        if current().is_some_and(|current| current.sampled)
            && let Some(status) = Status::from_header_map(response.headers())
            && let Some(info) = status.get_details_error_info()
        {
            span.record(ERROR_REASON, info.reason.as_str());
        }
    }
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if !self.0 {
            Span::current().record(RPC_STATUS, word(Code::Cancelled));
        }
    }
}

/// Whether it is the service's fault, as the conventions see it for servers.
const fn is_fault(code: Code) -> bool {
    matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    )
}
