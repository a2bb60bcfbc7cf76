//! The one writer: a thread that takes whatever waits into one transaction, makes it durable, and then answers all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use redb::Durability;
use rules::Millis;
use tables::time::Clock;
use tables::{Outcome, StoreError};
use tokio::sync::{mpsc, oneshot};

use super::batch::{Batch, Prepared, failed};
use super::fault::Fault;
use super::read::Reader;

/// So many jobs may wait; whoever comes then waits to wait.
const QUEUE: usize = 1024;
/// So many jobs are taken into one transaction.
const BATCH: usize = 256;

/// Something to be written.
pub(super) enum Job {
    Commit(Box<Prepared>, oneshot::Sender<Result<Outcome, StoreError>>),
    Heartbeat(Millis, oneshot::Sender<Result<(), StoreError>>),
    Other(Deed),
}

/// Something else that is written, in the batch that it gets; or it is told why there is none. Fails only if the file does.
type Deed = Box<dyn FnOnce(Result<&Batch<'_>, StoreError>) -> Result<Told, Fault> + Send>;
/// Tells whoever waits for it how its batch ended.
type Told = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A job that has been written, but is not yet durable.
enum Written {
    Commit(Box<Prepared>, Result<Outcome, StoreError>, oneshot::Sender<Result<Outcome, StoreError>>),
    Heartbeat(oneshot::Sender<Result<(), StoreError>>),
    Other(Told),
    /// Whoever waits for it knows that nothing was done.
    Refused,
}

/// What the file failed with, once it has. After that nothing it shows can be trusted: what failed to be written may
/// be there after the next start, so nothing is read or written any more.
#[derive(Clone, Default)]
pub(super) struct Health(Arc<OnceLock<String>>);

impl Health {
    pub fn check(&self) -> Result<(), StoreError> {
        match self.0.get() {
            None => Ok(()),
            Some(why) => Err(StoreError::Unavailable(why.clone())),
        }
    }

    fn fail(&self, why: &str) {
        let text = format!("the store file failed ({why}): restart the service once the cause is gone");
        // Only the first failure is the cause.
        if self.0.set(text).is_ok() {
            tracing::error!(event = "store_failed", why, "the store file failed; nothing is served any more");
        }
    }
}

/// The way to the writer. Dropping it ends the writer, which first does what waits.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(
        reader: Arc<Reader>,
        clock: Arc<dyn Clock>,
        history: u64,
        health: Health,
    ) -> std::io::Result<Writer> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let desk = Desk { reader, clock, history, health };
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(move || desk.work(jobs))?;
        Ok(Writer { queue: Some(queue), thread: Some(thread) })
    }

    /// Hands over a job; it is done even if nobody waits for its answer.
    pub async fn give(&self, job: Job) -> Result<(), StoreError> {
        let closed = || StoreError::Unavailable("the writer of the store has stopped".to_owned());
        let queue = self.queue.as_ref().ok_or_else(closed)?;
        queue.send(job).await.map_err(|_| closed())
    }

    /// Writes something and gives what that came to once it is durable. What fails with a record must not have written
    /// anything that is only half of something.
    ///
    /// # Errors
    /// [`StoreError`]: it may have been done all the same.
    pub async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(&Batch<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        // Whoever has gone away finds out by reading.
        let deed = move |batch: Result<&Batch<'_>, StoreError>| -> Result<Told, Fault> {
            let written = match batch.map(write) {
                Ok(Ok(value)) => Ok(value),
                Ok(Err(Fault::Record(error))) => Err(error),
                Ok(Err(fault)) => {
                    let _ = reply.send(Err(batch_failed()));
                    return Err(fault);
                }
                Err(why) => Err(why),
            };
            Ok(Box::new(move |ended: Result<(), StoreError>| {
                let _ = reply.send(ended.and(written));
            }))
        };
        self.give(Job::Other(Box::new(deed))).await?;
        let stopped = |_| StoreError::Unknown("the writer of the store stopped".to_owned());
        answer.await.map_err(stopped)?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // It catches its own panics.
            let _ = thread.join();
        }
    }
}

/// What the writer works with.
struct Desk {
    reader: Arc<Reader>,
    clock: Arc<dyn Clock>,
    history: u64,
    health: Health,
}

impl Desk {
    fn work(&self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut batch = vec![first];
            while batch.len() < BATCH
                && let Ok(job) = jobs.try_recv()
            {
                batch.push(job);
            }
            // Whoever waits for a batch that panicked learns from the dropped channel that nothing is known.
            let done = catch_unwind(AssertUnwindSafe(|| self.group(batch)));
            if done.is_err() {
                self.health.fail("the writer panicked");
            }
        }
    }

    /// One transaction.
    fn group(&self, batch: Vec<Job>) {
        if let Err(error) = self.health.check() {
            batch.into_iter().for_each(|job| job.refuse(&error));
            return;
        }
        let mut written = Vec::with_capacity(batch.len());
        match self.write(batch, &mut written) {
            Ok(()) => written.into_iter().for_each(|job| self.answer(job)),
            Err((fault, maybe_done)) => {
                let why = StoreError::from(fault).to_string();
                self.health.fail(&why);
                written.into_iter().for_each(|job| job.fail(&why, maybe_done));
            }
        }
    }

    /// Writes a batch and makes it durable. The failure tells whether it may be done all the same.
    fn write(&self, batch: Vec<Job>, written: &mut Vec<Written>) -> Result<(), (Fault, bool)> {
        let not_done = |fault: Fault| (fault, false);
        let transaction = self.reader.database.begin_write();
        let mut jobs = batch.into_iter();
        let mut transaction = match transaction {
            Ok(transaction) => transaction,
            Err(error) => {
                written.extend(jobs.map(Written::not_tried));
                return Err(not_done(error.into()));
            }
        };
        // Immediate is redb's own default; here it is a promise.
        let durable = transaction.set_durability(Durability::Immediate);
        debug_assert!(durable.is_ok(), "only savepoints stand against it");
        let mut books = Batch::new(&transaction, &self.reader, self.clock.now(), self.history);
        for job in jobs.by_ref() {
            match job.write(&mut books) {
                Ok(job) => written.push(job),
                Err((job, fault)) => {
                    written.push(job);
                    written.extend(jobs.map(Written::not_tried));
                    return Err(not_done(fault));
                }
            }
        }
        if !books.dirty {
            return transaction.abort().map_err(|error| not_done(error.into()));
        }
        books.forget_requests().map_err(not_done)?;
        transaction.commit().map_err(|error| (error.into(), true))
    }

    fn answer(&self, job: Written) {
        // Whoever has gone away finds out by reading.
        match job {
            Written::Heartbeat(reply) => {
                let _ = reply.send(Ok(()));
            }
            Written::Other(told) => told(Ok(())),
            Written::Refused => {}
            Written::Commit(commit, outcome, reply) => {
                if let Ok(Outcome::Committed { .. }) = &outcome {
                    self.reader.recent.put(&commit.key, commit.stored);
                }
                let _ = reply.send(outcome);
            }
        }
    }
}

impl Job {
    /// Writes the job. Fails only if the file does.
    fn write(self, batch: &mut Batch<'_>) -> Result<Written, (Written, Fault)> {
        match self {
            Job::Heartbeat(now, reply) => match batch.heartbeat(now) {
                Ok(()) => Ok(Written::Heartbeat(reply)),
                Err(fault) => Err((Written::Heartbeat(reply), fault)),
            },
            Job::Other(deed) => {
                batch.dirty = true;
                match deed(Ok(batch)) {
                    Ok(told) => Ok(Written::Other(told)),
                    Err(fault) => Err((Written::Refused, fault)),
                }
            }
            Job::Commit(commit, reply) => match batch.commit(&commit) {
                Ok(outcome) => Ok(Written::Commit(commit, Ok(outcome), reply)),
                Err(Fault::Record(error)) => Ok(Written::Commit(commit, Err(error), reply)),
                Err(fault) => Err((Written::not_tried(Job::Commit(commit, reply)), fault)),
            },
        }
    }

    fn refuse(self, error: &StoreError) {
        match self {
            Job::Commit(_, reply) => {
                let _ = reply.send(Err(error.clone()));
            }
            Job::Heartbeat(_, reply) => {
                let _ = reply.send(Err(error.clone()));
            }
            Job::Other(deed) => {
                if let Ok(told) = deed(Err(error.clone())) {
                    told(Ok(()));
                }
            }
        }
    }
}

/// What is told of a job whose batch failed before its turn, or in it.
fn batch_failed() -> StoreError {
    StoreError::Unavailable("the batch failed".to_owned())
}

impl Written {
    /// A job of a batch that failed before its turn.
    fn not_tried(job: Job) -> Written {
        match job {
            Job::Commit(commit, reply) => Written::Commit(commit, Err(batch_failed()), reply),
            Job::Heartbeat(_, reply) => Written::Heartbeat(reply),
            other @ Job::Other(_) => {
                other.refuse(&batch_failed());
                Written::Refused
            }
        }
    }

    fn fail(self, why: &str, maybe_done: bool) {
        match self {
            Written::Commit(_, outcome, reply) => {
                let _ = reply.send(Err(failed(&outcome, why, maybe_done)));
            }
            Written::Heartbeat(reply) => {
                let _ = reply.send(Err(StoreError::Unavailable(why.to_owned())));
            }
            Written::Other(told) if maybe_done => told(Err(StoreError::Unknown(why.to_owned()))),
            Written::Other(told) => told(Err(StoreError::Unavailable(why.to_owned()))),
            Written::Refused => {}
        }
    }
}
