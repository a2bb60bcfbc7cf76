//! Where the requests of a connection come in: each is told whose connection it is, and is counted until it has been read.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::Response;
use hyper::body::Incoming;
use hyper::service::Service;
use tonic::body::Body;

use super::activity::{Activity, Request};
use super::backlog::{Queue, Waiting};
use super::peer::Peer;
use crate::grpc::layers::held::Held;

/// What can be served: it answers every request, always.
pub trait Served:
    tower::Service<
        http::Request<Body>,
        Response = Response<Body>,
        Error = Infallible,
        Future: Future + Send + Unpin + 'static,
    > + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Served for S where
    S: tower::Service<
            http::Request<Body>,
            Response = Response<Body>,
            Error = Infallible,
            Future: Future + Send + Unpin + 'static,
        > + Clone
        + Send
        + Sync
        + 'static
{
}

/// The service, for one connection.
pub struct Entrance<S> {
    /// The service.
    pub service: S,
    /// Whose connection it is.
    pub peer: Peer,
    /// What goes on at it.
    pub activity: Arc<Activity>,
    /// What waits at it.
    pub queue: Arc<Queue>,
}

/// A request at work.
pub struct Work<S: Served> {
    work: S::Future,
    request: Option<Request>,
    /// Until it is looked at for the first time.
    waiting: Option<Waiting>,
}

impl<S: Served> Service<http::Request<Incoming>> for Entrance<S> {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Work<S>;

    fn call(&self, request: http::Request<Incoming>) -> Work<S> {
        let (counted, waiting) = (Activity::begin(&self.activity), Queue::enter(&self.queue));
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.peer.clone());
        // It is always ready: there is nothing in it that waits for room.
        let work = tower::Service::call(&mut self.service.clone(), request);
        Work { work, request: Some(counted), waiting: Some(waiting) }
    }
}

impl<S: Served> Future for Work<S> {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        drop(self.waiting.take());
        let Ok(response) = ready!(Pin::new(&mut self.work).poll(cx));
        let mut request = self.request.take();
        if let Some(request) = &mut request {
            request.answered();
        }
        Poll::Ready(Ok(response.map(|body| Held::body(body, request))))
    }
}
