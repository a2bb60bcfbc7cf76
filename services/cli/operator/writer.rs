//! The one writer: a thread that takes whatever waits into one transaction of the file, makes it durable, and then
//! answers all. So the disk's time is shared, and a busy wallet is not slower than a quiet one.

use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use tables::{Clock, SystemClock};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::booking::{Decision, Order, Refusal};
use super::books::{Books, Fault};
use crate::cli::failure::Failure;

/// So many jobs may wait; whoever comes then waits to wait.
const QUEUE: usize = 1024;
/// So many jobs are taken into one transaction.
const BATCH: usize = 256;

/// Something to be written.
enum Job {
    Movement { id: Uuid, order: Order, reply: Reply<Result<Decision, Refusal>> },
    Settlements { records: Vec<(Uuid, Vec<u8>)>, gaps: u64, reply: Reply<()> },
}

/// Where the answer goes. Whoever does not wait any more will ask again.
type Reply<T> = oneshot::Sender<Result<T, Broken>>;

/// What is answered as soon as all is durable.
type Answer = Box<dyn FnOnce(Result<(), Broken>) + Send>;

/// The books cannot be written any more: why.
#[derive(Clone, Debug)]
pub struct Broken(pub String);

/// The way to the writer. When it goes, what waits is written first.
pub struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    broken: Arc<OnceLock<Broken>>,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`Failure`] if the system gives none.
    pub fn start(books: Arc<Books>) -> Result<Writer, Failure> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let broken = Arc::new(OnceLock::new());
        let desk = Desk { books, clock: SystemClock::default(), broken: Arc::clone(&broken) };
        let thread = thread::Builder::new()
            .name("books-writer".to_owned())
            .spawn(move || desk.work(jobs))
            .map_err(|error| Failure::Failed(format!("cannot start the writer of the books: {error}")))?;
        Ok(Writer { queue: Some(queue), thread: Some(thread), broken })
    }

    /// Books a movement; it is done even if nobody waits for its answer.
    ///
    /// # Errors
    /// [`Broken`]; the inner one is the wallet's own word.
    pub async fn book(&self, id: Uuid, order: Order) -> Result<Result<Decision, Refusal>, Broken> {
        let (reply, answer) = oneshot::channel();
        self.give(Job::Movement { id, order, reply }).await?;
        answer.await.map_err(|_| self.why())?
    }

    /// Books settlement records, each once, and how often others were missing.
    ///
    /// # Errors
    /// [`Broken`]
    pub async fn settle(&self, records: Vec<(Uuid, Vec<u8>)>, gaps: u64) -> Result<(), Broken> {
        let (reply, answer) = oneshot::channel();
        self.give(Job::Settlements { records, gaps, reply }).await?;
        answer.await.map_err(|_| self.why())?
    }

    /// Whether all is well.
    ///
    /// # Errors
    /// [`Broken`]
    pub fn check(&self) -> Result<(), Broken> {
        self.broken.get().map_or(Ok(()), |broken| Err(broken.clone()))
    }

    async fn give(&self, job: Job) -> Result<(), Broken> {
        let queue = self.queue.as_ref().ok_or_else(|| self.why())?;
        queue.send(job).await.map_err(|_| self.why())
    }

    fn why(&self) -> Broken {
        self.broken.get().cloned().unwrap_or_else(|| Broken("the writer of the books has stopped".to_owned()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // If it broke down, its callers have been told.
            let _ = thread.join();
        }
    }
}

struct Desk {
    books: Arc<Books>,
    clock: SystemClock,
    broken: Arc<OnceLock<Broken>>,
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
            let mut answers = Vec::with_capacity(batch.len());
            let done = self.write(batch, &mut answers).map_err(|fault| Broken(fault.to_string()));
            if let Err(broken) = &done {
                tracing::error!(why = broken.0, "nothing more is booked");
                // Only the first failure is the cause.
                let _ = self.broken.set(broken.clone());
            }
            answers.into_iter().for_each(|answer| answer(done.clone()));
            if done.is_err() {
                // What waits, and whoever comes, learns it from the closed queue.
                return;
            }
        }
    }

    /// One transaction. What was not tried is dropped, which its callers notice.
    fn write(&self, jobs: Vec<Job>, answers: &mut Vec<Answer>) -> Result<(), Fault> {
        let batch = self.books.begin()?;
        let now = self.clock.now().0;
        for job in jobs {
            match job {
                Job::Movement { id, order, reply } => {
                    let outcome = batch.book(id, &order, now)?;
                    answers.push(answer(reply, outcome));
                }
                Job::Settlements { records, gaps, reply } => {
                    batch.settle(&records, gaps)?;
                    answers.push(answer(reply, ()));
                }
            }
        }
        batch.finish()
    }
}

/// Sends the outcome once it is durable.
fn answer<T: Send + 'static>(reply: Reply<T>, outcome: T) -> Answer {
    Box::new(move |done| {
        let _ = reply.send(done.map(|()| outcome));
    })
}
