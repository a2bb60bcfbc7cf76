//! A wallet in memory with one account, as the contract says; it can be made to keep its replies to itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rules::payment::Decline;
use tables::wallet::{Call, Order, Reply, Wallet};
use tables::{Courier, CourierSettings, OperatorId};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// A wallet.
pub struct Purse {
    /// What the account has, and what became of each transaction.
    books: Mutex<(u64, HashMap<Uuid, Reply>)>,
    /// Each reply takes a permit.
    pub replies: Semaphore,
    /// Nothing is said to anything.
    pub silent: AtomicBool,
    /// So many calls came here.
    pub calls: AtomicU32,
}

impl Purse {
    pub fn with(balance: u64) -> Arc<Purse> {
        Arc::new(Purse {
            books: Mutex::new((balance, HashMap::new())),
            replies: Semaphore::new(Semaphore::MAX_PERMITS),
            silent: AtomicBool::new(false),
            calls: AtomicU32::new(0),
        })
    }

    /// The same, but no reply leaves it until a permit is given.
    pub fn held(balance: u64) -> Arc<Purse> {
        let purse = Purse::with(balance);
        purse.replies.forget_permits(Semaphore::MAX_PERMITS);
        purse
    }

    pub fn balance(&self) -> u64 {
        self.books.lock().unwrap().0
    }

    /// Spends so much of it elsewhere.
    pub fn take(&self, amount: u64) {
        self.books.lock().unwrap().0 -= amount;
    }

    fn book(&self, call: Call, order: &Order) -> Reply {
        let (balance, kept) = &mut *self.books.lock().unwrap();
        let amount = order.amount.0;
        let reply = match (call, kept.get(&order.id).cloned()) {
            (Call::Find, known) => return known.unwrap_or(Reply::Missing),
            (Call::Debit, None) if *balance < amount => Reply::Declined(Decline::Funds),
            (Call::Debit, None) => {
                *balance -= amount;
                Reply::Booked
            }
            (Call::Credit, None) => {
                *balance += amount;
                Reply::Booked
            }
            (Call::Cancel, Some(Reply::Booked)) => {
                *balance += amount;
                Reply::Cancelled
            }
            (Call::Cancel, None) => Reply::Cancelled,
            (Call::Debit, Some(Reply::Cancelled)) => return Reply::Declined(Decline::Cancelled),
            (_, Some(known)) => known,
        };
        kept.insert(order.id, reply.clone());
        reply
    }
}

#[async_trait]
impl Wallet for Purse {
    async fn ask(&self, call: Call, order: &Order) -> Reply {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.silent.load(Ordering::SeqCst) {
            return Reply::Unknown("silent".to_owned());
        }
        let reply = self.book(call, order);
        self.replies.acquire().await.unwrap().forget();
        self.replies.add_permits(1);
        reply
    }
}

/// A courier to this purse.
pub fn courier(operator: OperatorId, purse: &Arc<Purse>) -> Courier {
    let settings = CourierSettings {
        deadline: std::time::Duration::from_secs(5),
        calls: 8,
        waiting: 256,
        park_after: rules::Millis::minutes(1440),
        seated: |_, events, table| super::answer(events, table),
        added: |_, events, table| super::answer(events, table),
    };
    Courier::new(vec![(operator, Arc::clone(purse) as Arc<dyn Wallet>)], settings)
}
