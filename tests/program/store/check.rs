//! `fulcrum store check`: sound stores pass, and each kind of damage is found where it is.

use std::collections::BTreeSet;

use redb::{Database, ReadableTable, TableDefinition};
use redis::Value;
use rules::Chips;
use tables::{Store, TableKey};

use super::{direct, folder_with_key, open_file, open_redis, play, store_in, url};
use crate::chain::Chain;
use crate::child::run;
use crate::fixtures::{codec, key, operator};
use crate::servers::Server;

/// Table and kind of each finding.
fn findings(output: &str) -> BTreeSet<(String, String)> {
    let lines = output.lines().skip_while(|line| !line.starts_with("table")).skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let words = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        (words.next().unwrap(), words.next().unwrap())
    };
    lines.map(words).collect()
}

/// Two operators, several pages of names, and play enough for kept states and trimmed blocks.
async fn fill(store: &dyn Store, tables: u128) -> Vec<Chain> {
    let mut chains = Vec::new();
    for number in 0..tables {
        chains.push(play(store, key(number), 150).await);
    }
    for number in 0..300 {
        let other = TableKey { operator: operator("casino-2"), ..key(1000 + number) };
        chains.push(play(store, other, 3).await);
    }
    chains
}

fn check_redis(server: &Server, key_file: &str) -> (i32, String, String) {
    run(["store", "check", "--redis", &url(server), "--key-file", key_file])
}

/// A key of the table as it lies in Redis.
fn name(server: &Server, key: &TableKey, part: &str) -> String {
    let found: Vec<String> = server.ask(&["KEYS", &format!("*:t:{key}:{part}")]);
    found.into_iter().next().unwrap_or_else(|| panic!("{key} has no {part}"))
}

fn shard(server: &Server, key: &TableKey) -> String {
    name(server, key, "s").split(':').next().unwrap().to_owned()
}

/// Names and values of an entry.
type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// Changes one byte in the middle of the record of an entry.
fn damage_entry(server: &Server, key: &TableKey, version: u64) {
    let events = name(server, key, "e");
    let mut direct = direct(server);
    let entries: Vec<(String, Fields)> =
        redis::cmd("XRANGE").arg(&events).arg("-").arg("+").query(&mut direct).unwrap();
    let _: Value = redis::cmd("DEL").arg(&events).query(&mut direct).unwrap();
    for (id, fields) in entries {
        let mut add = redis::cmd("XADD");
        add.arg(&events).arg(&id);
        for (name, mut value) in fields {
            if name == b"e" && id == format!("{version}-1") {
                let middle = value.len() / 2;
                value[middle] ^= 1;
            }
            add.arg(name).arg(value);
        }
        let _: Value = add.query(&mut direct).unwrap();
    }
}

/// Takes a chip that nobody had, as somebody would who writes to Redis himself.
fn add_a_chip(server: &Server, chain: &Chain) {
    let stored = chain.stored.as_ref().unwrap();
    let mut table = (*stored.table).clone();
    table.ledger.raked += Chips(1);
    let record = codec().write_table(&chain.key, &table).unwrap();
    let mut direct = direct(server);
    let state = name(server, &chain.key, "s");
    let token: Vec<u8> = redis::cmd("GETRANGE").arg(&state).arg(0).arg(15).query(&mut direct).unwrap();
    let _: Value = redis::cmd("SET").arg(&state).arg([token, record].concat()).query(&mut direct).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_in_redis_is_found_and_named() {
    let (_folder, key_file) = folder_with_key();
    let server = Server::start();
    let chains = fill(&open_redis(&server).await, 8).await;
    let (code, output, errors) = check_redis(&server, &key_file);
    assert_eq!(code, 0, "{output} {errors}");
    assert!(output.contains("308 tables of 2 operators") && output.contains("Everything fits"), "{output}");

    let due = |chain: &&Chain| chain.stored.as_ref().unwrap().table.due().is_some();
    let late = chains.iter().take(8).find(due).expect("a table with a clock");
    let calendar = format!("{}:tm", shard(&server, &late.key));
    assert_eq!(server.ask::<u64>(&["ZREM", &calendar, &late.key.to_string()]), 1);
    let mut rest = chains.iter().take(8).filter(|chain| chain.key != late.key);
    let mut next = || rest.next().unwrap();
    let (damaged, holed, richer, robbed, gone) = (next(), next(), next(), next(), next());
    damage_entry(&server, &damaged.key, 140);
    assert_eq!(server.ask::<u64>(&["XDEL", &name(&server, &holed.key, "e"), "100-1"]), 1);
    add_a_chip(&server, richer);
    let index = format!("{}:si:{}", shard(&server, &robbed.key), robbed.key.operator);
    forget_settlements(&server, &index, robbed);
    let state = name(&server, &gone.key, "s");
    assert_eq!(server.ask::<u64>(&["DEL", &state]), 1);

    let (code, output, errors) = check_redis(&server, &key_file);
    assert_eq!(code, 1, "{output}");
    let expected = [
        (late, "calendar"),
        (damaged, "history"),
        (holed, "history"),
        (richer, "invariant"),
        (richer, "events"),
        (robbed, "settlement"),
        (gone, "state"),
    ];
    let expected = expected.map(|(chain, what)| (chain.key.to_string(), what.to_owned()));
    assert_eq!(findings(&output), BTreeSet::from(expected), "{output}");
    assert!(output.contains("PauseTable") && output.contains("the record is damaged"), "{output}");
    assert!(errors.contains("do not fit, at 6 tables"), "{errors}");
    let (code, output, _) =
        run(["store", "check", "--redis", &url(&server), "--key-file", &key_file, "--operator", "casino-2"]);
    assert!(code == 0 && output.contains("300 tables of 1 operator"), "{output}");
}

/// Takes all settlements of the table out of the index.
fn forget_settlements(server: &Server, index: &str, chain: &Chain) {
    let mut direct = direct(server);
    let ids: Vec<Vec<u8>> = redis::cmd("HKEYS").arg(index).query(&mut direct).unwrap();
    assert!(ids.len() > 1, "{} has no settlements", chain.key);
    for id in ids.iter().filter(|id| !id.is_empty()) {
        let _: Value = redis::cmd("HDEL").arg(index).arg(id).query(&mut direct).unwrap();
    }
}

/// A table that is played while it is checked is sound all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_that_is_being_played_is_not_called_broken() {
    let (_folder, key_file) = folder_with_key();
    let server = Server::start();
    let store = open_redis(&server).await;
    let mut chain = play(&store, key(1), 150).await;
    let (checks, mut done) = tokio::sync::mpsc::channel(1);
    let (url, key_file) = (url(&server), key_file);
    std::thread::spawn(move || {
        for _ in 0..5 {
            let ended = run(["store", "check", "--redis", &url, "--key-file", &key_file]);
            checks.blocking_send(ended).unwrap();
        }
    });
    let (mut checked, mut commits) = (0, 0);
    while checked < 5 {
        store.commit(chain.next()).await.unwrap();
        commits += 1;
        if let Ok((code, output, errors)) = done.try_recv() {
            assert_eq!(code, 0, "{output} {errors}");
            checked += 1;
        }
    }
    assert!(commits > 50, "only {commits} commits meanwhile");
}

type ByVersion = (&'static str, u128, u64);
const EVENTS: TableDefinition<'static, ByVersion, &[u8]> = TableDefinition::new("events");
const DUE: TableDefinition<'static, (u64, &'static str, u128), ()> = TableDefinition::new("due");
const SETTLEMENTS: TableDefinition<'static, (&'static str, u64), &[u8]> = TableDefinition::new("settlements");

#[tokio::test]
async fn what_does_not_fit_in_a_file_is_found_and_named() {
    let (folder, key_file) = folder_with_key();
    let (path, file) = store_in(&folder);
    let chains = {
        let store = open_file(&path);
        let mut chains = Vec::new();
        for number in 0..4 {
            chains.push(play(&store, key(number), 150).await);
        }
        chains
    };
    let (code, output, errors) = run(["store", "check", "--store", &file, "--key-file", &key_file]);
    assert!(code == 0 && output.contains("4 tables of 1 operator"), "{output} {errors}");

    let due = |chain: &&Chain| chain.stored.as_ref().unwrap().table.due().is_some();
    let late = chains.iter().find(due).expect("a table with a clock");
    let mut rest = chains.iter().filter(|chain| chain.key != late.key);
    let (holed, damaged) = (rest.next().unwrap(), rest.next().unwrap());
    let at = |chain: &Chain, version| ("casino-1", chain.key.table.0.as_u128(), version);
    {
        let database = Database::open(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        let clock = late.stored.as_ref().unwrap().table.due().unwrap().0;
        let (operator, table, _) = at(late, 0);
        assert!(transaction.open_table(DUE).unwrap().remove((clock.0, operator, table)).unwrap().is_some());
        let mut events = transaction.open_table(EVENTS).unwrap();
        events.remove(at(holed, 100)).unwrap();
        let mut entry = events.get(at(damaged, 3)).unwrap().unwrap().value().to_vec();
        entry[20] ^= 1;
        events.insert(at(damaged, 3), entry.as_slice()).unwrap();
        drop(events);
        // Whose it is does not matter: somebody's money is not told.
        transaction.open_table(SETTLEMENTS).unwrap().remove(("casino-1", 0)).unwrap();
        transaction.commit().unwrap();
    }
    let (code, output, _) = run(["store", "check", "--store", &file, "--key-file", &key_file]);
    assert_eq!(code, 1);
    let found = findings(&output);
    for (chain, what) in [(late, "calendar"), (holed, "history"), (damaged, "history")] {
        assert!(found.contains(&(chain.key.to_string(), what.to_owned())), "{output}");
    }
    let robbed = chains[0].key.to_string();
    assert!(found.contains(&(robbed, "settlement".to_owned())), "{output}");
    assert_eq!(found.len(), 4, "{output}");
}
