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
use tonic::service::Routes;

use super::activity::{Activity, Request};
use super::peer::Peer;
use crate::grpc::layers::Fronted;
use crate::grpc::layers::held::Held;

/// The service, for one connection.
pub struct Entrance {
    /// The service.
    pub service: Fronted<Routes>,
    /// Whose connection it is.
    pub peer: Peer,
    /// What goes on at it.
    pub activity: Arc<Activity>,
}

/// A request at work.
pub struct Work {
    work: <Fronted<Routes> as tower::Service<http::Request<Body>>>::Future,
    request: Option<Request>,
}

impl Service<http::Request<Incoming>> for Entrance {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Work;

    fn call(&self, request: http::Request<Incoming>) -> Work {
        let counted = Activity::begin(&self.activity);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.peer.clone());
        // It is always ready: there is nothing in it that waits for room.
        let work = tower::Service::call(&mut self.service.clone(), request);
        Work { work, request: Some(counted) }
    }
}

impl Future for Work {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Ok(response) = ready!(self.work.as_mut().poll(cx));
        let mut request = self.request.take();
        if let Some(request) = &mut request {
            request.answered();
        }
        Poll::Ready(Ok(response.map(|body| Held::body(body, request))))
    }
}
