//! A Redis that comes back with an older state of its disk: commits that were answered are gone (rules 10.2).

use std::sync::Arc;

use rules::event::StopScope;
use rules::{Ask, PlayerId};
use tables::{
    Message, OsDealer, PlayError, Request, RequestId, Settings, SettlementBody, SettlementKind, Store,
    TableId, TableKey, Tables,
};
use uuid::Uuid;

use super::servers::Installation;
use super::{keeping, open};
use crate::fixtures::{config, operator};

async fn process(installation: &Installation) -> Tables {
    let store = open(keeping(installation.config())).await as Arc<dyn Store>;
    Tables::new(store, Arc::new(OsDealer), Settings::default())
}

fn request(number: u128) -> Request {
    Request { id: RequestId(Uuid::from_u128(number)), payload: [1; 32] }
}

async fn sit(tables: &Tables, key: &TableKey, name: &str) -> Result<(), PlayError> {
    let ask = Ask::Seat {
        player: PlayerId::new(name).unwrap(),
        seat: None,
        buy_in: rules::Chips(5000),
        post: false,
        transaction: format!("t-{name}"),
    };
    // Redis is still loading its data for a moment.
    for _ in 0..100 {
        match tables.ask(key, None, None, ask.clone(), &|_, _| Vec::new()).await {
            Err(PlayError::Store(_)) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            answer => return answer.map(|_| ()),
        }
    }
    panic!("Redis does not come back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_commits_are_noticed_by_who_made_them_and_by_who_saw_them() {
    let mut installation = Installation::single();
    let here = process(&installation).await;
    let operator = operator("casino-1");
    let mut keys = Vec::new();
    for number in 1..=4 {
        here.open(&operator, request(number), config(), &|_, _| Vec::new()).await.unwrap();
        let table = TableId::derived(&operator, &request(number).id);
        keys.push(TableKey { operator: operator.clone(), table });
    }
    for key in &keys {
        sit(&here, key, "alice").await.unwrap();
    }
    let disk = installation.servers[0].copy_disk();
    let mut third = here.watch(&keys[2], None).await.unwrap();
    assert!(matches!(third.next().await, Some(Message::Snapshot(_))));
    // What follows is answered, and will be gone. Of the fourth table nothing is.
    let mut tokens = Vec::new();
    sit(&here, &keys[2], "bob").await.unwrap();
    assert!(matches!(third.next().await, Some(Message::Commit { version: 3, .. })));
    for key in &keys[..2] {
        sit(&here, key, "bob").await.unwrap();
        sit(&here, key, "carol").await.unwrap();
        let mut watcher = here.watch(key, None).await.unwrap();
        assert!(matches!(watcher.next().await, Some(Message::Snapshot(table)) if table.version == 4));
        tokens.push(here.resume_token(key, &watcher.reached().unwrap()));
    }
    installation.servers[0].kill();
    installation.servers[0].restore_disk(&disk);
    installation.servers[0].restart();

    // Who has committed finds out with his next commit.
    assert!(matches!(sit(&here, &keys[0], "dave").await, Ok(())), "a stopped table seats players");
    // A process that has seen nothing believes what it finds, until somebody comes back with his token.
    let there = process(&installation).await;
    assert_eq!(there.read(&keys[1]).await.unwrap().version, 2);
    let reached = there.reached(&keys[1], &tokens[1]).expect("a token of this table");
    let mut watcher = there.resume(&keys[1], reached).await.unwrap();
    assert!(matches!(watcher.next().await, Some(Message::Compacted(_))));

    // Nobody asks anything of the third table here; elsewhere it gets just as far, if it is not noticed before. Who watches
    // it is told all the same.
    sit(&there, &keys[2], "carol").await.unwrap();
    let told = tokio::time::timeout(std::time::Duration::from_secs(20), third.next()).await;
    assert!(matches!(told, Ok(Some(Message::Compacted(_)))), "{told:?}");

    for (key, lasts) in keys.iter().zip([2..=2, 2..=2, 2..=3]) {
        let table = there.read(key).await.unwrap();
        let stops: Vec<_> = table.stops.iter().map(|stop| (stop.scope, stop.reason.as_str())).collect();
        assert_eq!(stops, [(StopScope::Malfunction, "history lost")]);
        assert!(table.lost.is_some_and(|lost| lasts.contains(&lost.last)), "{:?}", table.lost);
    }
    sit(&here, &keys[3], "bob").await.unwrap();
    let healthy = there.read(&keys[3]).await.unwrap();
    assert_eq!((healthy.version, healthy.lost, healthy.stops.len()), (3, None, 0));

    let records = there.store().settlements(&operator, &Default::default(), None, 100).await.unwrap().records;
    let reversals: Vec<_> = records.iter().filter(|(_, r)| r.kind == SettlementKind::Reversal).collect();
    assert_eq!(reversals.len(), 3);
    for (_, reversal) in reversals {
        let SettlementBody::Reversal { last, until, .. } = &reversal.body else { panic!("{reversal:?}") };
        assert!((2..=3).contains(last) && *until + 1 == reversal.version);
        // The records that were given out are not there, and their ids never come again.
        let of_table = records.iter().filter(|(_, r)| r.key == reversal.key);
        assert!(of_table.clone().all(|(_, r)| r.version <= *last || r.version > *until));
    }
}
