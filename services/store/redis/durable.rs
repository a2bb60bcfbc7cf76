//! Commits that count only when replicas have them. WAIT holds up everything behind it on its connection, so these have
//! connections of their own, and many commits share one WAIT.

use std::sync::{Arc, Weak};
use std::time::Duration;

use ::redis::{Cmd, Pipeline, Value, cmd};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::Instant;

use super::fault::{Fault, Remedy, first_fault};
use super::link::Live;
use super::node::Node;

/// So many commits share a WAIT at most.
const TOGETHER: usize = 64;
/// So many may stand in line for it.
const LINE: usize = 1024;
/// So long one WAIT lasts.
const WAIT: Duration = Duration::from_millis(300);
/// After so long without enough replicas the commits are told that nothing is known.
const LONGEST_WAIT: Duration = Duration::from_millis(1500);
/// One group is written while the other one waits.
const WORKERS: usize = 2;

type Answer = Result<Vec<Value>, Fault>;

struct Job {
    commands: Vec<Cmd>,
    answer: oneshot::Sender<Answer>,
}

/// The line for one server.
pub(super) struct Group {
    line: mpsc::Sender<Job>,
}

struct Worker {
    node: Weak<Node>,
    replicas: u8,
    line: Arc<Mutex<mpsc::Receiver<Job>>>,
    live: Option<Live>,
}

impl Group {
    pub(super) fn start(node: &Arc<Node>, replicas: u8) -> Group {
        let (sender, receiver) = mpsc::channel(LINE);
        let line = Arc::new(Mutex::new(receiver));
        for _ in 0..WORKERS {
            let worker = Worker { node: Arc::downgrade(node), replicas, line: Arc::clone(&line), live: None };
            tokio::spawn(worker.run());
        }
        Group { line: sender }
    }

    /// Sends commands and waits until enough replicas have what they wrote.
    pub(super) async fn send(&self, commands: &[Cmd]) -> Answer {
        let (answer, answered) = oneshot::channel();
        let job = Job { commands: commands.to_vec(), answer };
        if self.line.try_send(job).is_err() {
            return Err(Fault::Again(Remedy::Reach, "too many commits wait for replicas".to_owned()));
        }
        answered.await.unwrap_or_else(|_| Err(Fault::Unknown("the commits' task is gone".to_owned())))
    }
}

impl Worker {
    async fn run(mut self) {
        loop {
            let mut jobs = Vec::new();
            // The other worker takes the next group as soon as this one is complete.
            let taken = self.line.lock().await.recv_many(&mut jobs, TOGETHER).await;
            let Some(node) = self.node.upgrade().filter(|_| taken > 0) else {
                return;
            };
            self.work(&node, jobs).await;
        }
    }

    async fn work(&mut self, node: &Arc<Node>, jobs: Vec<Job>) {
        let live = match self.live(node).await {
            Ok(live) => live,
            Err(fault) => return tell(jobs, |_| Err(fault.clone())),
        };
        let mut pipeline = Pipeline::new();
        for command in jobs.iter().flat_map(|job| &job.commands) {
            pipeline.add_command(command.clone());
        }
        pipeline.add_command(self.wait());
        let count = pipeline.len();
        let answer = live.clone().connection.send_packed_commands(&pipeline, 0, count).await;
        let mut values = match node.judge(&live, answer) {
            Ok(values) => values,
            Err(fault) => return tell(jobs, |_| Err(fault.clone())),
        };
        let reached = count_of(values.pop());
        let enough = reached >= i64::from(self.replicas) || self.insist(node, &live).await;
        let mut values = values.into_iter();
        let needed = self.replicas;
        tell(jobs, |commands| {
            let own: Vec<Value> = values.by_ref().take(commands).collect();
            match first_fault(&own) {
                None if !enough => Err(Fault::Unknown(format!(
                    "fewer than {needed} replicas have it after {LONGEST_WAIT:?}"
                ))),
                _ => Ok(own),
            }
        });
    }

    /// Waits on for the replicas: what was written on this connection does not go away by waiting.
    async fn insist(&mut self, node: &Arc<Node>, live: &Live) -> bool {
        let started = Instant::now();
        while started.elapsed() < LONGEST_WAIT {
            let mut pipeline = Pipeline::with_capacity(1);
            pipeline.add_command(self.wait());
            let answer = live.clone().connection.send_packed_commands(&pipeline, 0, 1).await;
            match node.judge(live, answer) {
                Ok(mut values) => {
                    if count_of(values.pop()) >= i64::from(self.replicas) {
                        return true;
                    }
                }
                Err(_) => return false,
            }
        }
        tracing::error!(event = "replicas_missing", server = %node.endpoint, "commits do not reach enough replicas");
        false
    }

    fn wait(&self) -> Cmd {
        let mut command = cmd("WAIT");
        command.arg(self.replicas).arg(u64::try_from(WAIT.as_millis()).unwrap_or(u64::MAX));
        command
    }

    async fn live(&mut self, node: &Arc<Node>) -> Result<Live, Fault> {
        node.check_up()?;
        if let Some(live) = self.live.as_ref().filter(|live| !live.is_closed()) {
            return Ok(live.clone());
        }
        let live = node.link.connect_patient(&node.endpoint, node.link.response_time + WAIT).await;
        match live {
            Ok(live) => {
                if self.live.is_some() {
                    node.link.counts.reconnected();
                }
                Ok(self.live.insert(live).clone())
            }
            Err(fault) => {
                node.down(fault.clone().text());
                Err(fault)
            }
        }
    }
}

fn count_of(value: Option<Value>) -> i64 {
    match value {
        Some(Value::Int(count)) => count,
        _ => 0,
    }
}

/// Tells each job its answer, in order; one that is not waited for any more does not mind.
fn tell(jobs: Vec<Job>, mut answer: impl FnMut(usize) -> Answer) {
    for job in jobs {
        let told = answer(job.commands.len());
        let _ = job.answer.send(told);
    }
}
