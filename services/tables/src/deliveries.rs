//! Settlement records on their way to those who read them. A consumer has a name and a mark in the store; the newest
//! stream in his name takes over, and what he has not acknowledged comes again.
//!
//! A stream reads the next page when the one before was taken, so that it holds no more than one, however slow its reader
//! is. At the end it waits. For all that wait of one operator one task looks for more: what waiting costs does not grow
//! with the number of streams.

mod lookout;
mod unread;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use self::lookout::Lookout;
pub use self::unread::unread;
use crate::books::{Backlog, Cursor};
use crate::ids::{OperatorId, TableId};
use crate::settlement::{Settlement, SettlementFilter, SettlementKind, SettlementPosition};
use crate::store::{Store, StoreError};

/// So many records a stream holds at most.
const PAGE: usize = 256;
/// So many records that are not told are passed at most with the one before them.
const UNTOLD: usize = 31;
/// So many streams of an operator a process serves.
pub const STREAMS: usize = 64;

/// All streams of a process. Cheap to clone.
#[derive(Clone)]
pub struct Deliveries {
    store: Arc<dyn Store>,
    operators: Arc<Mutex<HashMap<OperatorId, Open>>>,
}

/// The open streams of an operator.
struct Open {
    streams: usize,
    lookout: Arc<Lookout>,
}

/// What a consumer asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeliveryOrder {
    /// Whose records.
    pub operator: OperatorId,
    /// In whose name.
    pub consumer: String,
    /// After this record; `None`: after the last one that he has acknowledged.
    pub after: Option<SettlementPosition>,
    /// Only those of this table.
    pub table: Option<TableId>,
}

/// Why records do not come, or come no more.
#[derive(Debug, Clone, Error)]
pub enum Undelivered {
    /// The operator has as many streams at this process as he may.
    #[error("too many streams")]
    TooManyStreams,
    /// The operator has as many consumers as he may.
    #[error("too many consumers")]
    TooManyConsumers,
    /// A newer stream reads in this name, or the consumer was forgotten.
    #[error("another stream has taken over")]
    TakenOver,
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a stream tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parcel {
    /// A record and its place.
    Record(SettlementPosition, Box<Settlement>),
    /// Records between these places may be gone: they are not kept for ever.
    Gap {
        /// From where on; `None`: from the beginning.
        after: Option<SettlementPosition>,
        /// Up to where.
        until: SettlementPosition,
    },
}

/// A stream.
pub struct Delivery {
    order: DeliveryOrder,
    filter: SettlementFilter,
    generation: u64,
    read: VecDeque<Parcel>,
    /// Everything that is wanted was read up to here.
    at: Option<SettlementPosition>,
    /// The last record that was told.
    told: Option<SettlementPosition>,
    /// What is gone was told up to here.
    gap: Option<SettlementPosition>,
    place: Place,
}

/// A stream's place among those of its operator; given up when dropped.
struct Place {
    deliveries: Deliveries,
    operator: OperatorId,
    lookout: Arc<Lookout>,
}

impl Deliveries {
    /// Streams out of this store; none yet.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Deliveries {
        Deliveries { store, operators: Arc::default() }
    }

    /// Begins a stream. Older ones in the same name end, at all processes.
    ///
    /// # Errors
    /// [`Undelivered`]
    pub async fn begin(&self, order: DeliveryOrder) -> Result<Delivery, Undelivered> {
        let place = self.enter(&order.operator).ok_or(Undelivered::TooManyStreams)?;
        let taken = self.store.books().take_cursor(&order.operator, &order.consumer).await?;
        let cursor = taken.ok_or(Undelivered::TooManyConsumers)?;
        let at = order.after.or(cursor.position);
        let kinds = SettlementKind::TOLD.to_vec();
        let filter = SettlementFilter { table: order.table, kinds, ..SettlementFilter::default() };
        let generation = cursor.generation;
        Ok(Delivery { order, filter, generation, read: VecDeque::new(), at, told: at, gap: at, place })
    }

    /// Up to where a consumer has read who has read up to this place: what is not told behind it he need not wait for.
    /// `None` if there is no record at this place, and never was.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn passed(
        &self,
        operator: &OperatorId,
        place: SettlementPosition,
    ) -> Result<Option<SettlementPosition>, StoreError> {
        let before = place.0.checked_sub(1).map(SettlementPosition);
        let page = self.store.settlements(operator, &SettlementFilter::default(), before, UNTOLD + 1).await?;
        let mut records = page.records.iter();
        if records.next().is_some_and(|(first, _)| *first == place) {
            let untold = records.take_while(|(_, record)| !SettlementKind::TOLD.contains(&record.kind));
            return Ok(untold.last().map(|(last, _)| *last).or(Some(place)));
        }
        let retired = self.store.books().retired_until(operator).await?;
        Ok(retired.filter(|until| place <= *until).map(|_| place))
    }

    /// A consumer's mark; `None` if there is no such consumer.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn cursor(&self, operator: &OperatorId, consumer: &str) -> Result<Option<Cursor>, StoreError> {
        let cursors = self.store.books().cursors(operator).await?;
        Ok(cursors.into_iter().find(|(name, _)| name == consumer).map(|(_, cursor)| cursor))
    }

    fn enter(&self, operator: &OperatorId) -> Option<Place> {
        let mut operators = self.operators.lock().unwrap_or_else(PoisonError::into_inner);
        let open = operators.entry(operator.clone()).or_insert_with(|| Open {
            streams: 0,
            lookout: Lookout::begin(Arc::clone(&self.store), operator.clone()),
        });
        if open.streams >= STREAMS {
            return None;
        }
        open.streams += 1;
        let lookout = Arc::clone(&open.lookout);
        Some(Place { deliveries: self.clone(), operator: operator.clone(), lookout })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut operators = self.deliveries.operators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = operators.get_mut(&self.operator) {
            open.streams -= 1;
            if open.streams == 0 {
                operators.remove(&self.operator);
            }
        }
    }
}

impl Delivery {
    /// What comes next, as soon as there is something. Nothing is lost if this is dropped before.
    ///
    /// # Errors
    /// [`Undelivered::TakenOver`], [`Undelivered::Store`]: the stream is over then.
    pub async fn next(&mut self) -> Result<Parcel, Undelivered> {
        loop {
            if let Some(parcel) = self.read.pop_front() {
                if let Parcel::Record(place, _) = parcel {
                    self.told = Some(place);
                }
                return Ok(parcel);
            }
            if !self.read_on().await? {
                self.place.lookout.wait(&self.order.consumer, self.generation, self.at).await?;
            }
        }
    }

    /// Everything that is wanted was told up to here; `None` if nothing was.
    #[must_use]
    pub fn reached(&self) -> Option<SettlementPosition> {
        if self.read.is_empty() { self.at } else { self.told }
    }

    /// What the consumer has not acknowledged.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn backlog(&self) -> Result<Backlog, StoreError> {
        let deliveries = &self.place.deliveries;
        let cursor = deliveries.cursor(&self.order.operator, &self.order.consumer).await?;
        let mark = cursor.and_then(|cursor| cursor.position);
        unread(&*deliveries.store, &self.order.operator, mark).await
    }

    /// Reads a page; says whether there may be more at once.
    async fn read_on(&mut self) -> Result<bool, Undelivered> {
        let store = &self.place.deliveries.store;
        let operator = &self.order.operator;
        // What is known to be there before the read, the read has passed.
        let known = self.place.lookout.seen();
        let page = store.settlements(operator, &self.filter, self.at, PAGE).await?;
        // After the read: what has gone meanwhile may be missing in it, and who has come meanwhile reads by himself.
        let retired = store.books().retired_until(operator).await?;
        let cursor = self.place.deliveries.cursor(operator, &self.order.consumer).await?;
        if cursor.is_none_or(|cursor| cursor.generation != self.generation) {
            return Err(Undelivered::TakenOver);
        }
        if let Some(until) = retired.filter(|until| self.gap.max(self.at) < Some(*until)) {
            self.read.push_back(Parcel::Gap { after: self.at, until });
            self.gap = Some(until);
        }
        let more = page.next.is_some() || page.records.len() == PAGE;
        let last = page.records.last().map(|(place, _)| *place);
        let passed = if more { page.next.or(last) } else { last.max(known) };
        self.at = self.at.max(passed);
        let records = page.records.into_iter();
        self.read.extend(records.map(|(place, record)| Parcel::Record(place, Box::new(record))));
        Ok(more || !self.read.is_empty())
    }
}
