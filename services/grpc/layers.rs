//! What every call passes before it reaches a service: name, span, credentials, admission, deadline; and on the way
//! back the net for panics and for statuses that the transport made by itself.
//!
//! One layer with one future, not a tower of them: the order is the code's.

pub mod complete;
pub mod counting;
pub mod deadline;
pub mod held;
pub mod limits;
pub mod methods;
mod span;

use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use http::{Request, Response};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};
use tracing::Instrument;

use super::identity::credentials::{Presented, Stranger};
use super::identity::{Caller, Credentials, RoleName};
use super::serving::peer::Peer;
use super::status;
use crate::telemetry::conventions::OPERATOR;
use crate::telemetry::traces::sampling::Sampling;
use counting::{Counted, Counting};
use deadline::Deadline;
use held::Held;
use limits::{Admission, Admitted};
use methods::{Kind, Method, Methods};
use span::Told;

/// What the layer needs to know.
pub struct Front {
    /// Who may call.
    pub credentials: Credentials,
    /// The calls of the contract.
    pub methods: Methods,
    /// The longest that a unary call, or the beginning of a stream, may take.
    pub longest: Duration,
    /// The largest message that is read, in bytes.
    pub message: usize,
    /// Which calls are let in when not all can be.
    pub limits: Arc<Admission>,
    /// Which calls are told; without it that is decided with each call's span.
    pub sampling: Option<Sampling>,
    /// True when the server is being shut down.
    pub drain: watch::Receiver<bool>,
    /// Who counts the calls.
    pub counting: Option<Arc<dyn Counting>>,
}

impl Front {
    /// Lets a call in, and notes whose it is.
    fn admit(
        &self,
        method: Method,
        request: &mut Request<Body>,
        caller: Result<Caller, Stranger>,
    ) -> Result<Place, Status> {
        if method.kind == Kind::Open {
            let room = request.extensions().get::<Peer>().map(|peer| Arc::clone(&peer.open));
            let place = room.and_then(|room| room.try_acquire_owned().ok());
            let full =
                || status::overloaded("the connection has as many calls of this kind at work as it may");
            return place.map(Place::Open).ok_or_else(full);
        }
        let caller = caller.map_err(|stranger| match stranger {
            Stranger::Unknown => status::unauthenticated(),
            Stranger::KeysAway => status::keys_unavailable(),
        })?;
        if let Some(operator) = &caller.operator {
            tracing::Span::current().record(OPERATOR, operator.as_str());
        }
        permitted(method, caller.role.name())?;
        let operator = caller.operator.clone();
        request.extensions_mut().insert(caller);
        // Calls are answered as long as they come: whoever still sends them here does not know of another server yet.
        if method.kind == Kind::Stream && *self.drain.borrow() {
            return Err(status::draining());
        }
        let admitted = self.limits.admit(method, operator.as_ref(), request.extensions_mut());
        admitted.map(Place::Limited).map_err(|shed| {
            self.shed(method, shed.word());
            shed.status()
        })
    }

    fn shed(&self, method: Method, why: &'static str) {
        if let Some(counting) = &self.counting {
            counting.shed(method.class.word(), why);
        }
    }

    /// What comes of an answer that is a refusal.
    fn refused(&self, method: Method, response: Response<Body>) -> Response<Body> {
        let response = complete::complete(response, self.message);
        let status = response.headers().get(Status::GRPC_STATUS);
        let code = status.map(|code| Code::from_bytes(code.as_bytes()));
        if matches!(code, Some(Code::ResourceExhausted | Code::Unavailable))
            && let Some(why) =
                Status::from_header_map(response.headers()).as_ref().and_then(limits::turned_away)
        {
            self.shed(method, why);
        }
        response
    }

    /// Who calls. Health and reflection are for everybody, and nobody is asked.
    async fn caller(&self, kind: Kind, presented: Presented) -> Result<Caller, Stranger> {
        match kind {
            Kind::Open => Err(Stranger::Unknown),
            _ => self.credentials.caller(presented).await,
        }
    }

    /// When the call has to be answered. Of a stream this is the time to its beginning; after that it lasts as long
    /// as both sides like.
    fn deadline(&self, method: Method, request: &Request<Body>) -> Option<Deadline> {
        let limited = matches!(method.kind, Kind::Unary | Kind::Stream);
        limited.then(|| deadline::of(request.headers(), self.longest))
    }

    async fn pass<S>(
        self: Arc<Self>,
        (method, deadline): (Method, Option<Deadline>),
        told: Told,
        mut request: Request<Body>,
        mut inner: S,
    ) -> Response<Body>
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    {
        let certificate = request.extensions().get::<Peer>().and_then(|peer| peer.certificate.clone());
        let presented = Presented::take(request.headers_mut(), certificate);
        let Some(caller) = deadline::within(deadline, self.caller(method.kind, presented)).await else {
            return overdue(deadline);
        };
        told.begin(caller.is_ok());
        let place = match self.admit(method, &mut request, caller) {
            Ok(place) => place,
            Err(status) => return status.into_http(),
        };
        if let Place::Limited(admitted) = &place {
            request = request.map(|body| admitted.weighed(body));
        }
        let work = AssertUnwindSafe(inner.call(request)).catch_unwind();
        let answer = deadline::within(deadline, work).await;
        match answer {
            None => overdue(deadline),
            Some(Err(_)) => status::internal(&format_args!("{} panicked", method.name)).into_http(),
            Some(Ok(Ok(response))) => match place {
                Place::Open(place) => response.map(|body| Held::body(body, place)),
                Place::Limited(_) if response.headers().contains_key(Status::GRPC_STATUS) => {
                    self.refused(method, response)
                }
                // Nearly every call: no status among the headers, as it comes after the message. Who does not read his
                // answers holds their places: they lie here all the while.
                Place::Limited(place) if method.kind == Kind::Unary => {
                    response.map(|body| Held::body(body, place))
                }
                Place::Limited(_) => response,
            },
        }
    }
}

/// What a call holds while it is at work.
enum Place {
    /// Of health and reflection, until its answer has been read.
    Open(OwnedSemaphorePermit),
    /// Of the contract, until its answer has been read or, if it is a stream, has begun.
    Limited(Admitted),
}

/// Whether the role may make the call. What is not in the contract has no rights; that there is no such call is said by
/// who would answer it.
fn permitted(method: Method, role: RoleName) -> Result<(), Status> {
    match role {
        _ if method.roles.contains(&role) => Ok(()),
        // An administrator has no tables: whatever else he calls would be somebody else's.
        RoleName::Administrator => Err(status::not_for_administrators()),
        _ if method.kind == Kind::Unknown => Ok(()),
        _ => Err(status::role_not_allowed(role.word(), method.name)),
    }
}

fn overdue(deadline: Option<Deadline>) -> Response<Body> {
    match deadline {
        Some(deadline) if deadline.callers => status::late().into_http(),
        _ => status::deadline_exceeded().into_http(),
    }
}

/// Puts a [`Front`] before the services.
#[derive(Clone)]
pub struct FrontLayer(pub Arc<Front>);

impl<S> Layer<S> for FrontLayer {
    type Service = Fronted<S>;

    fn layer(&self, inner: S) -> Fronted<S> {
        Fronted { front: Arc::clone(&self.0), inner }
    }
}

/// Services behind a [`Front`].
#[derive(Clone)]
pub struct Fronted<S> {
    front: Arc<Front>,
    inner: S,
}

impl<S> Service<Request<Body>> for Fronted<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // The clone that was polled ready is the one to be called.
        let next = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, next);
        let method = self.front.methods.find(request.uri().path());
        // Taken now and not at the first poll: the caller's clock runs already.
        let deadline = self.front.deadline(method, &request);
        let told = Told::of(self.front.sampling.as_ref(), request.headers());
        let span = span::of(method, &told);
        let front = Arc::clone(&self.front);
        let counted = Counted::begin(front.counting.as_ref(), method);
        let work = async move {
            let unanswered = span::Unanswered::default();
            let response = front.pass((method, deadline), told, request, inner).await;
            unanswered.answered(&response);
            Ok(match counted {
                Some(counted) => counted.response(response),
                None => response,
            })
        };
        Box::pin(work.instrument(span))
    }
}
