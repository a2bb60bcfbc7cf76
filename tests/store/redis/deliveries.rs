//! Streams of settlements out of Redis: two servers, one consumer, tables in many shards.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fulcrum::store::redis::{RedisConfig, Topology};
use rules::Millis;
use tables::{Deliveries, Delivery, DeliveryOrder, Outcome, Parcel, Settlement, Store, Undelivered};
use tokio::time::timeout;
use uuid::Uuid;

use super::open;
use super::servers::Server;
use crate::chain::Chain;
use crate::fixtures::{key, settlements};

/// So many tables, in different shards.
const TABLES: u128 = 5;
const PATIENCE: Duration = Duration::from_secs(20);

/// Tables of one operator; each commit makes one record.
struct Hall {
    chains: Vec<Chain>,
    made: u128,
}

impl Hall {
    fn new() -> Hall {
        Hall { chains: (1..=TABLES).map(|number| Chain::new(key(number), 7)).collect(), made: 0 }
    }

    /// One record at each table.
    async fn round(&mut self, store: &dyn Store) {
        for chain in &mut self.chains {
            self.made += 1;
            let (_, movement) = settlements().remove(2);
            let mut commit = chain.next();
            let (version, id) = (commit.token.version, Uuid::from_u128(self.made));
            commit.settlements = vec![Settlement { key: chain.key.clone(), id, version, ..movement }];
            assert!(matches!(store.commit(commit).await, Ok(Outcome::Committed { .. })));
        }
    }
}

async fn begin(deliveries: &Deliveries) -> Delivery {
    let (operator, consumer) = (key(1).operator, "ledger".to_owned());
    deliveries.begin(DeliveryOrder { operator, consumer, after: None, table: None }).await.expect("a stream")
}

async fn take(delivery: &mut Delivery, count: u128) -> Vec<Parcel> {
    let mut taken = Vec::new();
    for _ in 0..count {
        taken.push(timeout(PATIENCE, delivery.next()).await.expect("in time").expect("a record"));
    }
    taken
}

fn in_order(parcels: &[Parcel]) {
    let mut last = HashMap::new();
    for parcel in parcels {
        let Parcel::Record(_, record) = parcel else { panic!("{parcel:?}") };
        let before = last.insert(record.key.table, record.version);
        assert!(before.is_none_or(|before| before < record.version), "in the table's order");
    }
    assert_eq!(last.len() as u128, TABLES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_takes_over_and_what_was_not_acknowledged_comes_again() {
    let server = Server::start();
    let config = || RedisConfig::new(Topology::Single(server.endpoint()));
    let (here, there) = (open(config()).await, open(config()).await);
    let one = Deliveries::new(Arc::clone(&here) as Arc<dyn Store>);
    let other = Deliveries::new(Arc::clone(&there) as Arc<dyn Store>);
    let mut hall = Hall::new();
    for _ in 0..4 {
        hall.round(&*here).await;
    }
    let mut old = begin(&one).await;
    let read = take(&mut old, 4 * TABLES).await;
    in_order(&read);
    let mut new = begin(&other).await;
    assert_eq!(take(&mut new, 4 * TABLES).await, read, "nothing was acknowledged");
    let ended = timeout(PATIENCE, old.next()).await.expect("soon");
    assert!(matches!(ended, Err(Undelivered::TakenOver)), "{ended:?}");

    // What one server commits comes out of the other.
    hall.round(&*here).await;
    let fresh = take(&mut new, TABLES).await;
    let Some(Parcel::Record(place, _)) = fresh.get(1) else { panic!("{fresh:?}") };
    let operator = key(1).operator;
    let passed = one.passed(&operator, *place).await.expect("an answer");
    assert_eq!(passed, Some(*place), "there is a record there");
    here.books().acknowledge(&operator, "ledger", *place).await.expect("an answer").expect("the mark");
    let mut back = begin(&one).await;
    assert_eq!(take(&mut back, TABLES - 2).await, fresh[2..]);

    // What retention removes is told; the mark stays where it was.
    hall.round(&*here).await;
    take(&mut back, TABLES).await;
    let gone = there.books().retire(&operator, Millis(u64::MAX / 2), 1000).await.expect("removed");
    assert_eq!(gone as u128, 6 * TABLES);
    hall.round(&*here).await;
    let mut late = begin(&other).await;
    let first = take(&mut late, 1).await.remove(0);
    assert!(matches!(first, Parcel::Gap { after: Some(after), .. } if after == *place), "{first:?}");
    in_order(&take(&mut late, TABLES).await);
}
