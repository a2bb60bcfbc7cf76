//! A call and its double: the same bytes to two servers at once, and what both say to them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use prost::Message;
use prost::bytes::Bytes;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use crate::raw::Line;

/// A call that changes something.
pub trait Twice: Message {
    const PATH: &'static str;
    type Answer: Message + Default;

    /// The commit that the answer names.
    fn sequence(answer: &Self::Answer) -> u64;
}

macro_rules! twice {
    ($($path:literal $request:ident $answer:ident,)*) => {$(
        impl Twice for v1::$request {
            const PATH: &'static str = concat!("/fulcrum.v1.", $path);
            type Answer = v1::$answer;

            fn sequence(answer: &v1::$answer) -> u64 {
                answer.sequence
            }
        }
    )*};
}

twice! {
    "TableService/CreateTable" CreateTableRequest CreateTableResponse,
    "TableService/UpdateTable" UpdateTableRequest UpdateTableResponse,
    "TableService/PauseTable" PauseTableRequest PauseTableResponse,
    "TableService/ResumeTable" ResumeTableRequest ResumeTableResponse,
    "TableService/CloseTable" CloseTableRequest CloseTableResponse,
    "TableService/SeatPlayer" SeatPlayerRequest SeatPlayerResponse,
    "TableService/StandUp" StandUpRequest StandUpResponse,
    "TableService/SitOut" SitOutRequest SitOutResponse,
    "TableService/SitIn" SitInRequest SitInResponse,
    "TableService/AddChips" AddChipsRequest AddChipsResponse,
    "TableService/SetPreferences" SetPreferencesRequest SetPreferencesResponse,
    "ActionService/Act" ActRequest ActResponse,
    "ActionService/ShowCards" ShowCardsRequest ShowCardsResponse,
    "PivotService/SelectPivot" SelectPivotRequest SelectPivotResponse,
    "SettlementService/VoidHand" VoidHandRequest VoidHandResponse,
}

/// A refusal, with all that it tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    pub code: Code,
    pub reason: String,
    facts: BTreeMap<String, String>,
}

/// How many pairs of a call there were.
#[derive(Clone, Copy, Default, Debug)]
pub struct Count {
    pub accepted: u64,
    pub refused: u64,
    /// Single tries that brought no answer.
    retried: u64,
}

/// All pairs of a run.
#[derive(Default)]
pub struct Tally(Mutex<BTreeMap<&'static str, Count>>);

impl Tally {
    pub fn pairs(&self) -> u64 {
        self.0.lock().unwrap().values().map(|count| count.accepted + count.refused).sum()
    }

    pub fn of(&self, path: &str) -> Count {
        self.0.lock().unwrap().get(path).copied().unwrap_or_default()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<44} {:>8} {:>8} {:>8}", "pairs of", "accepted", "refused", "retries")?;
        for (path, count) in &*self.0.lock().unwrap() {
            let Count { accepted, refused, retried } = count;
            writeln!(f, "{path:<44} {accepted:>8} {refused:>8} {retried:>8}")?;
        }
        Ok(())
    }
}

/// A connection to each of two servers, and what was accepted over them.
pub struct Twins {
    lines: [Line; 2],
    tally: Arc<Tally>,
    /// Which call made which commit of the table.
    pub commits: BTreeMap<u64, &'static str>,
}

impl Twins {
    pub async fn open(addresses: [&str; 2], tally: &Arc<Tally>) -> Twins {
        let line = |address: &str| {
            let address = address.parse().expect("an address");
            async move { Line::open(address, None).await }
        };
        let lines = [line(addresses[0]).await, line(addresses[1]).await];
        Twins { lines, tally: Arc::clone(tally), commits: BTreeMap::new() }
    }

    /// Sends a call to both servers. The answers are the same bytes, or the refusals the same; an answer names a commit
    /// that no other pair has made.
    pub async fn send<R: Twice>(&mut self, request: &R) -> Result<R::Answer, Refused> {
        let (bytes, path) = (request.encode_to_vec(), R::PATH);
        let [one, two] = &self.lines;
        let ((first, tries), (second, more)) =
            tokio::join!(answer(one, path, bytes.clone()), answer(two, path, bytes));
        assert_eq!(first, second, "{path}: one answer");
        {
            let mut tally = self.tally.0.lock().unwrap();
            let count = tally.entry(path).or_default();
            *(if first.is_ok() { &mut count.accepted } else { &mut count.refused }) += 1;
            count.retried += tries + more;
        }
        let answer = R::Answer::decode(first?).expect("an answer of this call");
        let sequence = R::sequence(&answer);
        let other = self.commits.insert(sequence, path);
        assert_eq!(other, None, "{path}: the commit {sequence} is another pair's");
        Ok(answer)
    }
}

/// What a server says in the end, and how often it had to be asked again.
async fn answer(line: &Line, path: &'static str, message: Vec<u8>) -> (Result<Bytes, Refused>, u64) {
    let (mut line, begun, mut retries) = (line.clone(), Instant::now(), 0);
    loop {
        match line.answer(path, message.clone()).await {
            Ok(bytes) => return (Ok(bytes), retries),
            Err(status) if is_transient(status.code()) => {
                assert!(begun.elapsed() < Duration::from_secs(30), "{path}: {status:?}");
                retries += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(status) => return (Err(refused(&status)), retries),
        }
    }
}

fn is_transient(code: Code) -> bool {
    matches!(code, Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded)
}

fn refused(status: &Status) -> Refused {
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"));
    let facts: HashMap<String, String> = info.metadata.clone();
    Refused { code: status.code(), reason: info.reason.clone(), facts: facts.into_iter().collect() }
}
