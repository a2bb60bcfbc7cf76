//! An answer that keeps its place until it has been read or given up.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tonic::body::Body;

/// The body of such an answer.
pub struct Held {
    body: Body,
    _place: Option<OwnedSemaphorePermit>,
}

impl Held {
    /// The answer, which gives up the place when it is dropped.
    pub fn body(body: Body, place: Option<OwnedSemaphorePermit>) -> Body {
        Body::new(Held { body, _place: place })
    }
}

impl HttpBody for Held {
    type Data = <Body as HttpBody>::Data;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
