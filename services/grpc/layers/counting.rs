//! Calls, counted: how they end, how long they take, how many are at work. Who counts them is not known here.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::{HeaderMap, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use tonic::body::Body;
use tonic::{Code, Status};

use super::methods::{Kind, Method};
use crate::telemetry::codes::word;

/// Counts calls of the contract. Methods are paths of the contract or [`super::methods::UNKNOWN`], codes as gRPC spells them:
/// nothing of it is a caller's own words. It may not wait for anything.
pub trait Counting: Send + Sync + 'static {
    /// A unary call begins.
    fn unary_begun(&self);

    /// It has ended after so long; heard in the task, and the span, of the call.
    fn unary_ended(&self, method: &'static str, code: &'static str, took: Duration);

    /// A call of this class is turned away, for this reason: both words of this program.
    fn shed(&self, class: &'static str, why: &'static str);

    /// A stream begins.
    fn stream_begun(&self, method: &'static str);

    /// It has ended.
    fn stream_ended(&self, method: &'static str, code: &'static str);

    /// A connection is accepted.
    fn connection_begun(&self);

    /// It has ended, for this reason.
    fn connection_ended(&self, why: &'static str);

    /// The server's certificate ends at this second since the epoch.
    fn certificate_ends(&self, second: u64);

    /// The keys that tokens are verified with were read, or could not be; so many are held now.
    fn keys_read(&self, good: bool, held: usize);

    /// Callers are not asked who they are.
    fn insecure(&self);
}

impl fmt::Debug for dyn Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counting")
    }
}

/// A call that is counted until it ends. Whoever is dropped before was given up by his caller.
pub struct Counted {
    counting: Arc<dyn Counting>,
    method: Method,
    began: Instant,
    open: bool,
}

impl Counted {
    /// A call begins. Health and reflection are asked by machines, all the time, and are not counted.
    pub fn begin(counting: Option<&Arc<dyn Counting>>, method: Method) -> Option<Counted> {
        let counting = Arc::clone(counting?);
        match method.kind {
            Kind::Open => return None,
            Kind::Stream => counting.stream_begun(method.name),
            Kind::Unary | Kind::Unknown => counting.unary_begun(),
        }
        Some(Counted { counting, method, began: Instant::now(), open: true })
    }

    /// The response, which is counted at its end.
    pub fn response(mut self, response: Response<Body>) -> Response<Body> {
        let refused = code(response.headers());
        if self.method.kind == Kind::Stream && refused.is_none() {
            return response.map(|body| Body::new(CountedBody { body, counted: self }));
        }
        self.end(refused.unwrap_or(Code::Ok));
        response
    }

    fn end(&mut self, code: Code) {
        if !std::mem::take(&mut self.open) {
            return;
        }
        match self.method.kind {
            Kind::Stream => self.counting.stream_ended(self.method.name, word(code)),
            _ => self.counting.unary_ended(self.method.name, word(code), self.began.elapsed()),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.end(Code::Cancelled);
    }
}

/// A stream's messages, and at their end how it ended.
struct CountedBody {
    body: Body,
    counted: Counted,
}

impl HttpBody for CountedBody {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(code) = frame.trailers_ref().and_then(code) {
                    self.counted.end(code);
                }
            }
            Some(Err(status)) => {
                let code = status.code();
                self.counted.end(code);
            }
            None => self.counted.end(Code::Ok),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn code(headers: &HeaderMap) -> Option<Code> {
    headers.get(Status::GRPC_STATUS).map(|code| Code::from_bytes(code.as_bytes()))
}
