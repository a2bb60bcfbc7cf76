//! Processes that are killed, and processes that get in each other's way. The child processes are this test program
//! again, told by an environment variable to be one.

use std::collections::HashMap;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::store::{EmbeddedSettings, EmbeddedStore, Keyring, OpenError};
use tables::{Outcome, Store, Token};

use crate::chain::{Chain, check_whole};
use crate::fixtures::key;
use crate::play::Dice;

/// In a child: the store's file.
const FILE: &str = "FULCRUM_TEST_STORE";
/// In a child: what its play depends on.
const SEED: &str = "FULCRUM_TEST_SEED";
/// Tables that are played at once.
const TABLES: u128 = 6;

fn open(path: &Path) -> Result<EmbeddedStore, OpenError> {
    let keys = Keyring::beside(path).expect("the key file beside the store");
    // All of the history is kept, so that it can be checked from the opening on.
    EmbeddedStore::open(EmbeddedSettings { history: u64::MAX, ..EmbeddedSettings::new(path, Arc::new(keys)) })
}

/// This program again, running only the test of that name.
fn child(test: &str, path: &Path, seed: u64) -> Child {
    Command::new(env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture", "--test-threads", "1"])
        .env(FILE, path)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child process")
}

/// The file, if this process is a child.
fn told() -> Option<(PathBuf, u64)> {
    let seed = env::var(SEED).ok()?.parse().expect("a number");
    Some((env::var_os(FILE)?.into(), seed))
}

/// Plays for ever; each commit that is answered is told on a line of its own.
fn play_until_killed(path: &Path, seed: u64) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    runtime.block_on(async {
        let store = Arc::new(open(path).expect("the store of a killed process can be opened"));
        let mut tasks = Vec::new();
        for number in 1..=TABLES {
            let store = Arc::clone(&store);
            tasks.push(tokio::spawn(async move { play(&store, number, seed).await }));
        }
        for task in tasks {
            task.await.expect("a task that goes on for ever");
        }
    });
}

async fn play(store: &EmbeddedStore, number: u128, seed: u64) {
    let key = key(number);
    let seed = seed * 100 + number as u64;
    let mut chain = match store.load(&key).await.expect("a state") {
        Some(stored) => Chain::resume(key, stored, seed),
        None => Chain::new(key, seed),
    };
    loop {
        let commit = chain.next();
        let Token { version, nonce } = commit.token;
        let outcome = store.commit(commit).await.expect("a commit");
        assert!(matches!(outcome, Outcome::Committed { .. }), "{outcome:?}");
        let mut out = std::io::stdout().lock();
        writeln!(out, "done {number} {version} {nonce}")
            .and_then(|()| out.flush())
            .expect("somebody listens");
    }
}

/// What was acknowledged: the token of each version of each table.
type Told = HashMap<u128, Vec<Token>>;

/// Whether the line tells of a commit; the test harness of the child writes to the same place.
fn read_line(told: &mut Told, line: &str) -> bool {
    let Some((_, rest)) = line.trim().split_once("done ") else {
        return false;
    };
    let numbers: Vec<u64> = rest.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [number, version, nonce] = numbers[..] else {
        panic!("half a line: {line}");
    };
    told.entry(number.into()).or_default().push(Token { version, nonce });
    true
}

/// Lets a child play for a while, kills it, and gives what it had acknowledged.
fn killed_after(told: &mut Told, path: &Path, seed: u64, life: Duration) {
    let mut process = child("kill::a_killed_process_loses_nothing_that_it_acknowledged", path, seed);
    let lines = BufReader::new(process.stdout.take().expect("piped"));
    let mut born: Option<Instant> = None;
    for line in lines.split(b'\n').map_while(Result::ok) {
        // It lives from its first commit on, so that each life does something. After the kill the pipe is read out.
        if read_line(told, &String::from_utf8_lossy(&line)) {
            let since = *born.get_or_insert_with(Instant::now);
            if since.elapsed() >= life {
                process.kill().expect("SIGKILL");
            }
        }
    }
    process.wait().expect("it is dead");
}

#[test]
fn a_killed_process_loses_nothing_that_it_acknowledged() {
    if let Some((path, seed)) = told() {
        return play_until_killed(&path, seed);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fulcrum.redb");
    let mut told = Told::new();
    let mut dice = Dice::new(u64::from(std::process::id()));
    let mut before = 0;
    for round in 1..=10 {
        killed_after(&mut told, &path, round, Duration::from_millis(20 + dice.below(300)));
        let acknowledged: usize = told.values().map(Vec::len).sum();
        assert!(acknowledged > before, "a life without a commit shows nothing");
        before = acknowledged;
        check_nothing_is_lost(&path, &told);
    }
}

fn check_nothing_is_lost(path: &Path, told: &Told) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    runtime.block_on(async {
        let store = open(path).expect("the store of a killed process can be opened");
        for (number, tokens) in told {
            let kept = check_whole(&store, &key(*number)).await;
            for token in tokens {
                let found = kept.get(token.version as usize - 1);
                assert_eq!(found, Some(token), "table {number}: an acknowledged commit is not there");
            }
        }
    });
}

#[test]
fn a_second_process_is_refused_in_plain_words() {
    if let Some((path, _)) = told() {
        match open(&path) {
            Ok(_) => println!("opened"),
            Err(error) => println!("refused {error}"),
        }
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fulcrum.redb");
    let ask = || {
        let asked = child("kill::a_second_process_is_refused_in_plain_words", &path, 0);
        let output = asked.wait_with_output().expect("it ends");
        String::from_utf8(output.stdout).expect("text")
    };
    let store = open(&path).expect("the first process");
    let answer = ask();
    assert!(answer.contains("refused the store"), "{answer}");
    assert!(answer.contains("in use by another process"), "{answer}");
    assert!(matches!(open(&path), Err(OpenError::InUse { .. })), "nor twice in one process");
    drop(store);
    let answer = ask();
    assert!(answer.contains("opened"), "a store that was let go is free: {answer}");
}
