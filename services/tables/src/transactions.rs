//! Transactions between players' accounts with the operator and his tables: those under way are part of the tables, those
//! that have ended are records. Where the operator moves the money himself, the records of the chips are all there is.

use rules::payment::{Ending, Payment, Phase, Purpose};
use rules::player::PlayerId;
use rules::{Chips, Millis};
use uuid::Uuid;

use crate::deriving::record_id;
use crate::ids::{OperatorId, TableId, TableKey};
use crate::settlement::{Settlement, SettlementBody, SettlementFilter, SettlementKind, SettlementPosition};
use crate::store::{Store, StoreError, Stored};
use crate::wallet::payment_id;

/// So many tables are looked at for one page, where few of them have money on its way.
const TABLES: usize = 5_000;
/// So many of them are read at once.
const CHUNK: usize = 256;
/// So often records are read on for one page, where few of them are wanted.
const ROUNDS: usize = 20;
/// So many voided hands in a row are passed to find the beginning of the next one.
const VOIDS: usize = 8;
/// The records of chips that came and left.
const MOVEMENTS: [SettlementKind; 3] =
    [SettlementKind::BuyIn, SettlementKind::AddChips, SettlementKind::CashOut];

/// What has become of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The wallet is asked for the money.
    Debiting,
    /// The money came, or the operator moved it himself.
    Booked,
    /// The wallet declined.
    Released,
    /// The wallet is asked to undo it.
    Cancelling,
    /// Undone.
    Cancelled,
    /// The wallet is asked to pay.
    Crediting,
    /// The wallet has paid.
    Paid,
    /// People have to see to it.
    Parked,
    /// People have ended it.
    Resolved,
}

impl State {
    /// Whether it has ended in this state.
    #[must_use]
    pub const fn has_ended(self) -> bool {
        !matches!(self, State::Debiting | State::Cancelling | State::Crediting | State::Parked)
    }

    const fn of_phase(phase: Phase) -> State {
        match phase {
            Phase::Debiting => State::Debiting,
            Phase::Cancelling => State::Cancelling,
            Phase::Crediting => State::Crediting,
            Phase::Parked => State::Parked,
        }
    }

    const fn of_ending(ending: Ending) -> State {
        match ending {
            Ending::Used => State::Booked,
            Ending::Declined(_) => State::Released,
            Ending::Cancelled => State::Cancelled,
            Ending::Paid => State::Paid,
            Ending::Resolved(_) => State::Resolved,
        }
    }
}

/// A transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    /// Of which table.
    pub key: TableKey,
    /// In which currency, ISO 4217.
    pub currency: [u8; 3],
    /// What has become of it.
    pub state: State,
    /// Since when, ms since the epoch.
    pub since: Millis,
    /// What is known of it.
    pub content: Content,
}

/// What is known of a transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// One with the operator's wallet; of one that has ended, as it was before.
    Wallet {
        /// Its id at the wallet.
        id: Uuid,
        /// All about it.
        payment: Box<Payment>,
        /// How it ended.
        ending: Option<Ending>,
    },
    /// One that the operator has named.
    Named {
        /// His name for it; empty if he gave none.
        name: String,
        /// What for.
        purpose: Purpose,
        /// Whose.
        player: PlayerId,
        /// His seat's number.
        seat: rules::SeatNo,
        /// His session.
        session: u64,
        /// How much, in minor units.
        amount: Chips,
        /// The record of its chips.
        settlement: Uuid,
    },
}

impl Transaction {
    /// One with the operator's wallet that is under way.
    #[must_use]
    pub fn open(key: &TableKey, currency: [u8; 3], payment: &Payment) -> Transaction {
        let state = State::of_phase(payment.phase);
        Transaction::with_wallet(key, currency, payment, (state, payment.since), None)
    }

    /// One with the operator's wallet that ended so, then.
    #[must_use]
    pub fn ended(
        key: &TableKey,
        currency: [u8; 3],
        payment: &Payment,
        (ending, at): (Ending, Millis),
    ) -> Transaction {
        Transaction::with_wallet(key, currency, payment, (State::of_ending(ending), at), Some(ending))
    }

    fn with_wallet(
        key: &TableKey,
        currency: [u8; 3],
        payment: &Payment,
        (state, since): (State, Millis),
        ending: Option<Ending>,
    ) -> Transaction {
        let id = payment_id(key, payment);
        let content = Content::Wallet { id, payment: Box::new(payment.clone()), ending };
        Transaction { key: key.clone(), currency, state, since, content }
    }

    fn of(record: &Settlement) -> Option<Transaction> {
        match &record.body {
            SettlementBody::Transaction { payment, ending } => {
                Some(Transaction::ended(&record.key, record.currency, payment, (*ending, record.at)))
            }
            SettlementBody::Movement { player, seat, session, amount, transaction, .. } => {
                Some(Transaction {
                    key: record.key.clone(),
                    currency: record.currency,
                    state: State::Booked,
                    since: record.at,
                    content: Content::Named {
                        name: transaction.clone(),
                        purpose: match record.kind {
                            SettlementKind::BuyIn => Purpose::BuyIn { post: false },
                            SettlementKind::AddChips => Purpose::AddChips,
                            _ => Purpose::CashOut,
                        },
                        player: player.clone(),
                        seat: *seat,
                        session: *session,
                        amount: *amount,
                        settlement: record.id,
                    },
                })
            }
            _ => None,
        }
    }
}

/// Which transactions are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Whose.
    pub operator: OperatorId,
    /// Of this table.
    pub table: Option<TableId>,
    /// That began when this was the table's last hand.
    pub hand: Option<u64>,
    /// Of this player.
    pub player: Option<PlayerId>,
    /// In one of these states; in any if there is none.
    pub states: Vec<State>,
    /// That came into their state then or later, ms since the epoch.
    pub from: Option<Millis>,
    /// That came into their state earlier, ms since the epoch.
    pub to: Option<Millis>,
}

/// How far transactions have been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Up to the payment of this number of this table.
    Open(TableId, u64),
    /// All that are under way, and records up to this one.
    Ended(Option<SettlementPosition>),
}

/// Some transactions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Page {
    /// Those under way, by table; then those that have ended, in that order.
    pub transactions: Vec<Transaction>,
    /// How far they have been read; `None`: to the end.
    pub reached: Option<Place>,
}

impl Wanted {
    /// Up to `size` transactions after this place. `draws`: whether the operator's wallet is called, so that the records
    /// of the chips tell nothing that the transactions do not.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn page(
        &self,
        store: &dyn Store,
        draws: bool,
        after: Option<Place>,
        size: usize,
    ) -> Result<Page, StoreError> {
        let mut page = Page::default();
        let (open, ended) = match after {
            Some(Place::Ended(place)) => (None, Some(place)),
            Some(Place::Open(table, number)) => (Some((table, number)), None),
            None => (None, None),
        };
        let any = |ended: bool| self.states.is_empty() || self.states.iter().any(|s| s.has_ended() == ended);
        if ended.is_none() && any(false) && self.open(store, open, size, &mut page).await? {
            return Ok(page);
        }
        if any(true) {
            self.ended(store, draws, ended.flatten(), size, &mut page).await?;
        }
        Ok(page)
    }

    /// Reads those under way; says whether the page ends with them.
    async fn open(
        &self,
        store: &dyn Store,
        after: Option<(TableId, u64)>,
        size: usize,
        page: &mut Page,
    ) -> Result<bool, StoreError> {
        let first = self.table.or(after.map(|(table, _)| table));
        let number = after.map_or(0, |(_, number)| number);
        if let Some(table) = first {
            let key = TableKey { operator: self.operator.clone(), table };
            let stored = store.load(&key).await?;
            if stored.is_some_and(|stored| self.of_table(&key, &stored, number, size, page)) {
                return Ok(true);
            }
            if self.table.is_some() {
                return Ok(false);
            }
        }
        self.of_tables(store, first, size, page).await
    }

    async fn of_tables(
        &self,
        store: &dyn Store,
        mut after: Option<TableId>,
        size: usize,
        page: &mut Page,
    ) -> Result<bool, StoreError> {
        for _ in 0..TABLES / CHUNK {
            let rows = store.tables(&self.operator, after, CHUNK).await?;
            for (key, stored) in &rows {
                // A payment that is not told would be money that is missing.
                let stored = stored.as_ref().map_err(Clone::clone)?;
                if self.of_table(key, stored, 0, size, page) {
                    return Ok(true);
                }
                after = Some(key.table);
            }
            if rows.len() < CHUNK {
                return Ok(false);
            }
        }
        // All of that table's are passed.
        page.reached = after.map(|table| Place::Open(table, u64::MAX));
        Ok(true)
    }

    /// Takes those of a table after this number; says whether the page is full.
    fn of_table(&self, key: &TableKey, stored: &Stored, after: u64, size: usize, page: &mut Page) -> bool {
        let currency = stored.table.config.currency;
        for payment in stored.table.payments.iter().filter(|payment| payment.number > after) {
            let transaction = Transaction::open(key, currency, payment);
            if self.matches_payment(payment) && self.matches(&transaction) {
                page.transactions.push(transaction);
                page.reached = Some(Place::Open(key.table, payment.number));
                if page.transactions.len() == size {
                    return true;
                }
            }
        }
        page.reached = None;
        false
    }

    fn matches_payment(&self, payment: &Payment) -> bool {
        self.player.as_ref().is_none_or(|player| payment.player == *player)
            && self.hand.is_none_or(|hand| payment.hand == hand)
    }

    fn matches(&self, transaction: &Transaction) -> bool {
        (self.states.is_empty() || self.states.contains(&transaction.state))
            && self.from.is_none_or(|from| from <= transaction.since)
            && self.to.is_none_or(|to| transaction.since < to)
    }

    async fn ended(
        &self,
        store: &dyn Store,
        draws: bool,
        mut after: Option<SettlementPosition>,
        size: usize,
        page: &mut Page,
    ) -> Result<(), StoreError> {
        let Some(filter) = self.filter(store, draws).await? else {
            return Ok(());
        };
        for _ in 0..ROUNDS {
            let limit = size - page.transactions.len() + 1;
            let read = store.settlements(&self.operator, &filter, after, limit).await?;
            let more = read.records.len() == limit || read.next.is_some();
            for (place, record) in read.records {
                if page.transactions.len() == size {
                    page.reached = Some(Place::Ended(after));
                    return Ok(());
                }
                page.transactions.extend(Transaction::of(&record).filter(|one| self.matches(one)));
                after = Some(place);
            }
            if !more {
                return Ok(());
            }
            after = after.max(read.next);
        }
        page.reached = Some(Place::Ended(after));
        Ok(())
    }

    /// Which records are wanted; `None`: none.
    async fn filter(&self, store: &dyn Store, draws: bool) -> Result<Option<SettlementFilter>, StoreError> {
        let movements = MOVEMENTS.into_iter().filter(|_| !draws);
        let filter = SettlementFilter {
            table: self.table,
            hand: self.hand.filter(|_| draws),
            player: self.player.clone(),
            kinds: movements.chain([SettlementKind::Transaction]).collect(),
            from: self.from,
            to: self.to,
        };
        match (self.table, self.hand) {
            (Some(table), Some(hand)) if !draws => self.during(store, table, hand, filter).await,
            _ => Ok(Some(filter)),
        }
    }

    /// The filter cut to the time from the beginning of a hand to that of the next one: the records of chips name no hand.
    /// Of a hand that was voided nothing tells when it began, so that it tells no transactions.
    async fn during(
        &self,
        store: &dyn Store,
        table: TableId,
        hand: u64,
        filter: SettlementFilter,
    ) -> Result<Option<SettlementFilter>, StoreError> {
        let key = TableKey { operator: self.operator.clone(), table };
        let Some(stored) = store.load(&key).await? else {
            return Ok(None);
        };
        let Some(begun) = began(store, &key, &stored, hand).await? else {
            return Ok(None);
        };
        let mut end = None;
        // The next one may have been voided; the first that was played bounds it then.
        for next in (hand + 1..=stored.table.hands).take(VOIDS) {
            end = began(store, &key, &stored, next).await?;
            if end.is_some() {
                break;
            }
        }
        let to = [filter.to, end].into_iter().flatten().min();
        Ok(Some(SettlementFilter { from: filter.from.max(Some(begun)), to, ..filter }))
    }
}

/// When a hand of the table began, if that is known.
async fn began(
    store: &dyn Store,
    key: &TableKey,
    stored: &Stored,
    hand: u64,
) -> Result<Option<Millis>, StoreError> {
    let table = &stored.table;
    if let Some(last) = table.hand.as_ref().filter(|last| last.number == hand) {
        return Ok(Some(last.started_at));
    }
    for lost in [table.lost, None] {
        let id = record_id(key, lost, SettlementKind::Hand, hand);
        let found = store.settlement(&key.operator, &id).await?;
        if let Some(SettlementBody::Hand(result)) = found.map(|record| record.body) {
            return Ok(Some(result.started_at));
        }
    }
    Ok(None)
}
