//! Calls with a deadline, timed, and repeated over all connections until they have an answer, or for [`PATIENCE`].

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tonic::{Code, Request, Response, Status};
use tonic_types::StatusExt;

use super::connections::Connections;
use super::meter::Meter;
use crate::cli::client::{Client, again, reason};
use crate::pb::v1::ErrorReason;

/// How long a try may take.
const TRY: Duration = Duration::from_secs(5);
/// How long a call is repeated.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The first pause before a call is repeated; each one is twice as long as the one before, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Makes calls.
#[derive(Clone)]
pub struct Calls {
    /// Where they go.
    pub connections: Arc<Connections>,
    /// What is measured of them.
    pub meter: Arc<Meter>,
    /// A stream on which nothing happens for so long is opened again elsewhere: its server may have lost touch.
    pub quiet: Duration,
}

/// What became of a call.
pub struct Called<T> {
    /// The last answer.
    pub answer: Result<T, Status>,
    /// How long it took, repetitions included.
    pub took: Duration,
    /// A try before may have been done, though nobody said so.
    pub in_doubt: bool,
}

impl Calls {
    /// Makes a call, each try at the next connection, until it is answered or refused for good, or for [`PATIENCE`].
    pub async fn ask<M, T, C, F>(&self, message: &M, call: C) -> Called<T>
    where
        M: Clone,
        C: Fn(Client, Request<M>) -> F,
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let begun = Instant::now();
        let mut pause = FIRST_PAUSE;
        let mut in_doubt = false;
        loop {
            let tried = Instant::now();
            let mut request = Request::new(message.clone());
            request.set_timeout(TRY);
            let answer = call(self.connections.next(), request).await.map(Response::into_inner);
            self.meter.call(tried.elapsed(), answer.as_ref().err());
            match answer {
                Err(status) if again(&status) && begun.elapsed() < PATIENCE => {
                    in_doubt |= !untouched(&status);
                    sleep(asked_pause(&status).unwrap_or(pause)).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                answer => return Called { answer, took: begun.elapsed(), in_doubt },
            }
        }
    }
}

/// The service says that nothing was changed.
fn untouched(status: &Status) -> bool {
    use ErrorReason::{
        Draining, OperatorRate, OperatorShare, Overloaded, PlayerRate, ServerBusy, StoreUnavailable,
    };
    matches!(
        reason(status),
        Some(
            StoreUnavailable | Overloaded | Draining | ServerBusy | OperatorRate | OperatorShare | PlayerRate
        )
    )
}

/// The pause that a server asks for. Another one may answer at once, so it is kept short, but not where it is the caller who is
/// over his limits: that he is at the others, too.
pub fn asked_pause(status: &Status) -> Option<Duration> {
    let asked = status.get_details_retry_info()?.retry_delay?;
    let longest = if status.code() == Code::ResourceExhausted { TRY } else { LONGEST_PAUSE };
    Some(asked.min(longest))
}
