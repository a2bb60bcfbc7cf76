//! Consumers of settlement records: their streams and their marks. Nothing is prepared while a reader does not read: the
//! next record is rendered when the connection has room for it.

use futures_util::stream;
use tables::books::{Books, Cursor};
use tables::deliveries::unread;
use tables::{
    Deliveries, Delivery, DeliveryOrder, OperatorId, SettlementPosition, StoreError, TableKey, Tables,
    Undelivered,
};
use tonic::Status;
use tonic_types::FieldViolation;

use super::parse::delivery::{Page, position};
use super::render::delivery as render;
use super::status;
use super::watching::{Messages, Watching, unbroken};
use crate::pb::v1;
use crate::pb::v1::stream_settlements_response::Content;

/// What all streams and calls about consumers share.
pub struct Delivering {
    /// The tables whose records they are.
    pub tables: Tables,
    /// The streams.
    pub deliveries: Deliveries,
    /// When streams end and when their hearts beat.
    pub watching: Watching,
}

impl Delivering {
    /// Begins a stream that ends with what is shared by those of its connection.
    ///
    /// # Errors
    /// NOT_FOUND if the table is not the operator's; RESOURCE_EXHAUSTED with too many streams; FAILED_PRECONDITION with
    /// too many consumers.
    pub async fn start(
        &self,
        order: DeliveryOrder,
        shared: Watching,
    ) -> Result<Messages<v1::StreamSettlementsResponse>, Status> {
        if let Some(table) = order.table {
            let key = TableKey { operator: order.operator.clone(), table };
            self.tables.read(&key).await.map_err(status::failed)?;
        }
        let operator = order.operator.clone();
        let delivery = self.deliveries.begin(order).await.map_err(undelivered)?;
        let told = Told { operator, delivery, tables: self.tables.clone(), shared };
        Ok(unbroken(stream::unfold(Some(told), Told::step)))
    }

    /// Acknowledges all records up to a place.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if there was never a record there; NOT_FOUND if there is no such consumer.
    pub async fn acknowledge(
        &self,
        operator: &OperatorId,
        consumer: &str,
        place: SettlementPosition,
    ) -> Result<v1::AckSettlementsResponse, Status> {
        let Some(place) = self.deliveries.passed(operator, place).await.map_err(away)? else {
            let right = "the position of a message that was streamed";
            return Err(status::invalid(vec![FieldViolation::new("position", right)]));
        };
        let signals = self.tables.signals();
        let before = match signals.hears_acknowledgements() {
            true => self.deliveries.cursor(operator, consumer).await.map_err(away)?,
            false => None,
        };
        let marked = self.books().acknowledge(operator, consumer, place).await.map_err(away)?;
        let cursor = marked.ok_or_else(status::consumer_not_found)?;
        if let (Some(before), Some(until)) = (before, cursor.position) {
            signals.acknowledged(operator, consumer, before.position, until);
        }
        let consumer = self.consumer(operator, consumer, &cursor).await.map_err(away)?;
        Ok(v1::AckSettlementsResponse { consumer: Some(consumer) })
    }

    /// A page of the operator's consumers.
    ///
    /// # Errors
    /// If the store is away.
    pub async fn page(&self, operator: &OperatorId, page: Page) -> Result<v1::ListConsumersResponse, Status> {
        let cursors = self.books().cursors(operator).await.map_err(away)?;
        let mut rest =
            cursors.iter().skip_while(|(name, _)| page.after.as_ref().is_some_and(|last| name <= last));
        let mut consumers = Vec::new();
        for (name, cursor) in rest.by_ref().take(page.size) {
            consumers.push(self.consumer(operator, name, cursor).await.map_err(away)?);
        }
        let last = consumers.last().filter(|_| rest.next().is_some());
        let next_page_token = last.map(|last| page.token(&last.name)).unwrap_or_default();
        Ok(v1::ListConsumersResponse { consumers, next_page_token })
    }

    /// Forgets a consumer.
    ///
    /// # Errors
    /// If the store is away.
    pub async fn forget(
        &self,
        operator: &OperatorId,
        consumer: &str,
    ) -> Result<v1::DeleteConsumerResponse, Status> {
        self.books().forget_cursor(operator, consumer).await.map_err(away)?;
        Ok(v1::DeleteConsumerResponse {})
    }

    async fn consumer(
        &self,
        operator: &OperatorId,
        name: &str,
        cursor: &Cursor,
    ) -> Result<v1::Consumer, StoreError> {
        let before = unread(&**self.tables.store(), operator, cursor.position).await?;
        let now = self.tables.store().now().await?;
        Ok(render::consumer(operator, name, cursor, &before, now))
    }

    fn books(&self) -> &dyn Books {
        self.tables.store().books()
    }
}

/// One stream.
struct Told {
    operator: OperatorId,
    delivery: Delivery,
    tables: Tables,
    shared: Watching,
}

impl Told {
    /// The next message, and the stream if it goes on.
    async fn step(
        told: Option<Told>,
    ) -> Option<(Result<v1::StreamSettlementsResponse, Status>, Option<Told>)> {
        let mut told = told?;
        let quiet = tokio::time::sleep(told.shared.heartbeat);
        let next = tokio::select! {
            biased;
            why = told.shared.leaving.why() => {
                let away = v1::GoAway { reason: why.into() };
                return Some((Ok(message(Content::GoAway(away))), None));
            }
            next = told.delivery.next() => Some(next),
            () = quiet => None,
        };
        let content = match next {
            Some(Ok(parcel)) => render::parcel(&told.operator, &parcel),
            Some(Err(why)) => return Some((Err(undelivered(why)), None)),
            None => told.beat().await,
        };
        Some((Ok(message(content)), Some(told)))
    }

    /// A store that is away now may be back before there is something to tell: the stream goes on.
    async fn beat(&self) -> Content {
        let before = self.delivery.backlog().await.ok();
        let now = self.tables.store().now().await.ok();
        let reached = self.delivery.reached().map(|place| position(&self.operator, place));
        Content::Heartbeat(render::heartbeat(now, before.as_ref(), reached.unwrap_or_default()))
    }
}

fn message(content: Content) -> v1::StreamSettlementsResponse {
    v1::StreamSettlementsResponse { content: Some(content) }
}

fn undelivered(why: Undelivered) -> Status {
    match why {
        Undelivered::TooManyStreams => status::too_many_watchers(),
        Undelivered::TooManyConsumers => status::too_many_consumers(tables::books::CONSUMERS),
        Undelivered::TakenOver => status::consumer_taken_over(),
        Undelivered::Store(error) => status::store(&error),
    }
}

fn away(error: StoreError) -> Status {
    status::store(&error)
}
