//! An answer that keeps something, as its place, until it has been read or given up.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body as HttpBody, Frame, SizeHint};
use tonic::body::Body;

/// The body of such an answer.
pub struct Held<T> {
    body: Body,
    _kept: T,
}

impl<T: Send + Unpin + 'static> Held<T> {
    /// The answer, which drops what it keeps when it is dropped.
    pub fn body(body: Body, kept: T) -> Body {
        Body::new(Held { body, _kept: kept })
    }
}

impl<T: Unpin> HttpBody for Held<T> {
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
