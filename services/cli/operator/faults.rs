//! Misbehaviour on demand: what a wallet is told to do wrong, and how a call goes through it.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use tonic::Status;

use super::line::Scissors;
use crate::cli::any_seed;
use crate::cli::failure::Failure;
use crate::cli::share::Share;

/// The file of faults is read anew so often.
const LOOK: Duration = Duration::from_millis(200);

/// The calls of the contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// GetBalance.
    Balance,
    /// Debit.
    Debit,
    /// Credit.
    Credit,
    /// Cancel.
    Cancel,
    /// GetTransaction.
    Find,
}

/// What is done wrong. Before the booking and after it are different things: only after it has money moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Slow(Duration),
    Hang,
    Fail,
    Drop,
    Twice,
    Late(Duration),
    HangAfter,
    FailAfter,
    DropAfter,
}

/// A fault: what, how often, and in which calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    kind: Kind,
    share: Share,
    call: Option<Call>,
}

impl FromStr for Fault {
    type Err = String;

    /// `KIND[=TIME][:SHARE][@CALL]`
    fn from_str(text: &str) -> Result<Fault, String> {
        let (rest, call) = match text.split_once('@') {
            Some((rest, call)) => (rest, Some(call.parse()?)),
            None => (text, None),
        };
        let (rest, share) = match rest.split_once(':') {
            Some((rest, share)) => (rest, share.parse()?),
            None => (rest, Share::ALL),
        };
        let (name, time) = match rest.split_once('=') {
            Some((name, time)) => {
                let time = humantime::parse_duration(time).map_err(|_| format!("{time:?} is no time"))?;
                (name, Some(time))
            }
            None => (rest, None),
        };
        Ok(Fault { kind: kind(name, time)?, share, call })
    }
}

fn kind(name: &str, time: Option<Duration>) -> Result<Kind, String> {
    let timed = |kind: fn(Duration) -> Kind| {
        time.map(kind).ok_or_else(|| format!("{name} needs a time, as {name}=500ms"))
    };
    let kind = match name {
        "slow" => return timed(Kind::Slow),
        "late" => return timed(Kind::Late),
        "hang" => Kind::Hang,
        "fail" => Kind::Fail,
        "drop" => Kind::Drop,
        "twice" => Kind::Twice,
        "hang-after" => Kind::HangAfter,
        "fail-after" => Kind::FailAfter,
        "drop-after" => Kind::DropAfter,
        _ => {
            return Err(format!(
                "{name:?} is no fault: slow=TIME, hang, fail, drop, twice, late=TIME, hang-after, fail-after or drop-after"
            ));
        }
    };
    if time.is_some() { Err(format!("{name} takes no time")) } else { Ok(kind) }
}

impl FromStr for Call {
    type Err = String;

    fn from_str(text: &str) -> Result<Call, String> {
        match text {
            "balance" => Ok(Call::Balance),
            "debit" => Ok(Call::Debit),
            "credit" => Ok(Call::Credit),
            "cancel" => Ok(Call::Cancel),
            "find" => Ok(Call::Find),
            _ => Err(format!("{text:?} is no call: balance, debit, credit, cancel or find")),
        }
    }
}

/// The end of a call that is not answered as it should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Hang,
    Fail,
    Drop,
}

/// What one call meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Course {
    slow: Duration,
    before: Option<End>,
    twice: bool,
    late: Duration,
    after: Option<End>,
}

impl Course {
    fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Slow(time) => self.slow += time,
            Kind::Late(time) => self.late += time,
            Kind::Twice => self.twice = true,
            Kind::Hang => self.before = Some(End::Hang),
            Kind::Fail => self.before = Some(End::Fail),
            Kind::Drop => self.before = Some(End::Drop),
            Kind::HangAfter => self.after = Some(End::Hang),
            Kind::FailAfter => self.after = Some(End::Fail),
            Kind::DropAfter => self.after = Some(End::Drop),
        }
    }
}

/// All that the wallet does wrong now.
pub struct Faults {
    given: Vec<Fault>,
    file: Option<PathBuf>,
    from_file: Mutex<FromFile>,
    rng: Mutex<Xoshiro256PlusPlus>,
}

/// What the file said when it was looked at last, and the faults of the last text that could be understood.
#[derive(Default)]
struct FromFile {
    text: String,
    faults: Vec<Fault>,
}

impl Faults {
    /// These, and those of the file.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the file cannot be understood.
    pub fn new(given: Vec<Fault>, file: Option<PathBuf>) -> Result<Arc<Faults>, Failure> {
        let rng = Mutex::new(Xoshiro256PlusPlus::seed_from_u64(any_seed()));
        let faults = Faults { given, file, from_file: Mutex::default(), rng };
        faults.look().map_err(Failure::Usage)?;
        Ok(Arc::new(faults))
    }

    /// Looks at the file; one that is not there says nothing. What cannot be understood changes nothing.
    fn look(&self) -> Result<(), String> {
        let text = self.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        let mut known = self.from_file.lock().unwrap_or_else(PoisonError::into_inner);
        if known.text != text {
            let found = read(&text);
            known.text = text;
            known.faults = found?;
        }
        Ok(())
    }

    /// Follows the file, for ever.
    pub async fn follow(self: Arc<Self>) -> Infallible {
        loop {
            tokio::time::sleep(LOOK).await;
            if let Err(why) = self.look() {
                tracing::warn!("the faults stay as they were: {why}");
            }
        }
    }

    fn draw(&self, call: Call) -> Course {
        let mut all = self.given.clone();
        all.extend(&self.from_file.lock().unwrap_or_else(PoisonError::into_inner).faults);
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let mut course = Course::default();
        for fault in all {
            if fault.call.is_none_or(|only| only == call) && fault.share.hits(&mut rng) {
                course.add(fault.kind);
            }
        }
        course
    }

    /// Does a call's work, with what goes wrong before and after it. The work goes on when the caller has gone away: a
    /// booking may come to pass long after nobody waits for it any more.
    ///
    /// # Errors
    /// The work's own; UNAVAILABLE where that is the fault.
    pub async fn through<T, W, F>(
        &self,
        call: Call,
        line: Option<Arc<Scissors>>,
        work: W,
    ) -> Result<T, Status>
    where
        T: Send + 'static,
        W: Fn() -> F + Send + 'static,
        F: Future<Output = Result<T, Status>> + Send + 'static,
    {
        let course = self.draw(call);
        let ended = tokio::spawn(async move {
            tokio::time::sleep(course.slow).await;
            end(course.before, line.as_deref()).await?;
            let answer = if course.twice { tokio::join!(work(), work()).1 } else { work().await };
            tokio::time::sleep(course.late).await;
            end(course.after, line.as_deref()).await?;
            answer
        });
        ended.await.map_err(|error| Status::internal(format!("the call broke down: {error}")))?
    }
}

/// Ends a call as the fault wants it.
async fn end(end: Option<End>, line: Option<&Scissors>) -> Result<(), Status> {
    match end {
        None => Ok(()),
        Some(End::Fail) => Err(Status::unavailable("told to fail")),
        Some(End::Hang) => pending().await,
        Some(End::Drop) => {
            if let Some(line) = line {
                line.cut();
            }
            pending().await
        }
    }
}

/// A fault a line; `#` begins a comment.
fn read(text: &str) -> Result<Vec<Fault>, String> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            found.push(line.parse().map_err(|why| format!("the file of faults, line {number}: {why}"))?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let fault = |text: &str| text.parse::<Fault>();
        let slow = Kind::Slow(Duration::from_millis(500));
        assert_eq!(fault("slow=500ms"), Ok(Fault { kind: slow, share: Share::ALL, call: None }));
        let rare = Fault { kind: Kind::HangAfter, share: "5%".parse().unwrap(), call: Some(Call::Credit) };
        assert_eq!(fault("hang-after:5%@credit"), Ok(rare));
        for bad in ["", "slow", "slow=fast", "hang=1s", "hang:5", "hang@all", "explode"] {
            assert!(fault(bad).is_err(), "{bad}");
        }
        assert_eq!(read("# all is well\n\n  twice  # now and then\n").unwrap().len(), 1);
        assert!(read("twice\nnothing").unwrap_err().contains("line 2"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_goes_through_what_was_ordered() {
        let done = Arc::new(Mutex::new(0));
        let count = || *done.lock().unwrap();
        let call = async |faults: &[&str]| {
            let given = faults.iter().map(|text| text.parse().unwrap()).collect();
            let faults = Faults::new(given, None).unwrap();
            let work = {
                let done = Arc::clone(&done);
                move || {
                    *done.lock().unwrap() += 1;
                    std::future::ready(Ok(7))
                }
            };
            tokio::time::timeout(Duration::from_secs(5), faults.through(Call::Debit, None, work)).await
        };
        assert_eq!(call(&[]).await.unwrap().unwrap(), 7);
        assert_eq!(call(&["twice", "fail@credit"]).await.unwrap().unwrap(), 7);
        assert_eq!(count(), 3);
        assert!(call(&["fail"]).await.unwrap().is_err());
        assert!(call(&["hang@debit"]).await.is_err(), "no answer");
        assert_eq!(count(), 3, "nothing is done before it");
        assert!(call(&["fail-after"]).await.unwrap().is_err());
        assert!(call(&["hang-after"]).await.is_err());
        assert!(call(&["late=1h"]).await.is_err());
        assert_eq!(count(), 6);
        // Done although nobody waits for it any more.
        assert!(call(&["slow=10s"]).await.is_err());
        assert_eq!(count(), 6);
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert_eq!(count(), 7);
    }
}
