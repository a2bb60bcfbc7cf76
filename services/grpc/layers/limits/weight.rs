//! What is being read of requests, in bytes. Each may be as large as a message may be, but not all at once: what is more
//! than a little comes out of a room for all, of which each operator has a part.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use http_body::{Body as HttpBody, Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;

use super::Shed;

/// So much is read of every request, in bytes: nearly all are smaller.
const LITTLE: usize = 16 * 1024;
/// The room for what is more, in bytes.
pub const ROOM: usize = 64 << 20;

/// A room for bytes.
pub struct Scales {
    taken: AtomicUsize,
    most: usize,
}

/// The rooms that a call takes its bytes from.
#[derive(Clone)]
pub struct Weights {
    /// That of all.
    pub all: Arc<Scales>,
    /// The operator's part.
    pub own: Option<Arc<Scales>>,
}

impl Scales {
    /// For so many bytes.
    #[must_use]
    pub fn new(most: usize) -> Arc<Scales> {
        Arc::new(Scales { taken: AtomicUsize::new(0), most })
    }

    fn take(&self, bytes: usize) -> bool {
        let step = |taken: usize| taken.checked_add(bytes).filter(|taken| *taken <= self.most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).is_ok()
    }

    fn give(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// How much is taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Weights {
    fn take(&self, bytes: usize) -> Result<(), Shed> {
        if self.own.as_ref().is_some_and(|own| !own.take(bytes)) {
            return Err(Shed::OperatorShare);
        }
        if self.all.take(bytes) {
            return Ok(());
        }
        self.own.iter().for_each(|own| own.give(bytes));
        Err(Shed::Full)
    }

    fn give(&self, bytes: usize) {
        self.all.give(bytes);
        self.own.iter().for_each(|own| own.give(bytes));
    }
}

/// A request's message, which takes room as it comes and gives it back when it is read or given up.
pub struct Weighed {
    body: Body,
    weights: Weights,
    read: usize,
    taken: usize,
}

impl Weighed {
    /// This one.
    pub fn body(body: Body, weights: Weights) -> Body {
        Body::new(Weighed { body, weights, read: 0, taken: 0 })
    }

    /// So many more bytes.
    fn weigh(&mut self, bytes: usize) -> Result<(), Status> {
        self.read = self.read.saturating_add(bytes);
        let more = self.read.saturating_sub(LITTLE).saturating_sub(self.taken);
        if more > 0 {
            self.weights.take(more).map_err(Shed::status)?;
            self.taken += more;
        }
        Ok(())
    }
}

impl Drop for Weighed {
    fn drop(&mut self) {
        self.weights.give(self.taken);
    }
}

impl HttpBody for Weighed {
    type Data = <Body as HttpBody>::Data;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let bytes = match &frame {
            Some(Ok(frame)) => frame.data_ref().map_or(0, |data| data.len()),
            _ => 0,
        };
        Poll::Ready(match self.weigh(bytes) {
            Ok(()) => frame,
            Err(status) => Some(Err(status)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    fn weighed(weights: &Weights) -> Weighed {
        Weighed { body: Body::empty(), weights: weights.clone(), read: 0, taken: 0 }
    }

    #[test]
    fn a_little_is_free_and_what_is_more_is_taken_until_it_is_read() {
        let (all, own) = (Scales::new(100_000), Scales::new(50_000));
        let alpha = Weights { all: Arc::clone(&all), own: Some(Arc::clone(&own)) };
        let beta = Weights { all: Arc::clone(&all), own: Some(Scales::new(80_000)) };
        let taken = || (all.taken(), own.taken());
        let mut one = weighed(&alpha);
        one.weigh(LITTLE).unwrap();
        assert_eq!(taken(), (0, 0));
        one.weigh(1).unwrap();
        one.weigh(29_999).unwrap();
        assert_eq!(taken(), (30_000, 30_000));

        let mut other = weighed(&alpha);
        let refused = other.weigh(LITTLE + 20_001).unwrap_err();
        assert_eq!(refused.code(), Code::ResourceExhausted, "his part is too small");
        let mut third = weighed(&beta);
        third.weigh(LITTLE + 70_000).unwrap();
        let refused = third.weigh(1).unwrap_err();
        assert_eq!(refused.code(), Code::Unavailable, "all of it is taken");
        assert_eq!(taken(), (100_000, 30_000), "who is refused takes nothing");
        drop((one, other));
        assert_eq!(taken(), (70_000, 0));
        drop(third);
        assert_eq!(taken(), (0, 0));
    }
}
