//! What a player's session at a table came to, with the records that it is made of.

use rules::player::PlayerId;
use rules::table::Table;
use rules::{Chips, Millis, SeatNo};
use uuid::Uuid;

use crate::deriving::record_id;
use crate::ids::TableKey;
use crate::settlement::{
    Settlement, SettlementBody, SettlementFilter, SettlementKind, SettlementPosition, Statement,
};
use crate::store::{Store, StoreError};

/// So many records are read at once, and so often: a session has few.
const CHUNK: usize = 256;
const ROUNDS: usize = 20;

/// A session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// The table.
    pub key: TableKey,
    /// Whose.
    pub player: PlayerId,
    /// Its number.
    pub number: u64,
}

/// What it came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// In which seat.
    pub seat: SeatNo,
    /// In which currency, ISO 4217.
    pub currency: [u8; 3],
    /// Whether he still sits there.
    pub open: bool,
    /// When it began, ms since the epoch; `None` if the record of that is gone.
    pub begun: Option<Millis>,
    /// When it ended, ms since the epoch.
    pub ended: Option<Millis>,
    /// With which buy-in, in minor units; `None` if the record of that is gone.
    pub buy_in: Option<Chips>,
    /// Sums.
    pub sums: Statement,
    /// What was paid out, in minor units.
    pub cash_out: Chips,
    /// The names of its transactions.
    pub transactions: Vec<String>,
    /// Its records, the oldest first.
    pub records: Vec<Uuid>,
}

impl Session {
    /// What it came to; `None` if there is no such session, or its end is not kept any more.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn account(&self, store: &dyn Store, table: &Table) -> Result<Option<Account>, StoreError> {
        let begun = self.record(store, table, SettlementKind::BuyIn).await?;
        let open =
            table.occupied().find(|(_, seat)| seat.session == self.number && seat.player == self.player);
        let ended = match open {
            Some(_) => None,
            None => self.record(store, table, SettlementKind::CashOut).await?,
        };
        let (seat, sums, cash_out) = match (open, &ended) {
            (Some((no, seat)), _) => (no, Statement::of(seat), Chips::ZERO),
            (None, Some(record)) => match &record.body {
                SettlementBody::Movement { seat, amount, statement, .. } => {
                    (*seat, statement.unwrap_or_default(), *amount)
                }
                _ => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let mut account = Account {
            seat,
            currency: table.config.currency,
            open: open.is_some(),
            begun: begun.as_ref().map(|record| record.at),
            ended: ended.as_ref().map(|record| record.at),
            buy_in: begun.as_ref().and_then(amount),
            sums,
            cash_out,
            transactions: Vec::new(),
            records: Vec::new(),
        };
        self.link(store, &mut account).await?;
        Ok(Some(account))
    }

    /// Its one record of a kind.
    async fn record(
        &self,
        store: &dyn Store,
        table: &Table,
        kind: SettlementKind,
    ) -> Result<Option<Settlement>, StoreError> {
        let mut losses = vec![None];
        losses.extend(table.lost.map(Some));
        for lost in losses {
            let id = record_id(&self.key, lost, kind, self.number);
            let found = store.settlement(&self.key.operator, &id).await?;
            if let Some(record) = found.filter(|record| self.has(record)) {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    fn has(&self, record: &Settlement) -> bool {
        matches!(&record.body, SettlementBody::Movement { player, session, .. }
            if *player == self.player && *session == self.number)
    }

    /// Finds its records and transactions, which lie between its beginning and its end.
    async fn link(&self, store: &dyn Store, account: &mut Account) -> Result<(), StoreError> {
        let filter = SettlementFilter {
            table: Some(self.key.table),
            player: Some(self.player.clone()),
            kinds: vec![SettlementKind::BuyIn, SettlementKind::AddChips, SettlementKind::CashOut],
            from: account.begun,
            to: account.ended.map(|ended| ended + Millis(1)),
            ..SettlementFilter::default()
        };
        let mut after: Option<SettlementPosition> = None;
        for _ in 0..ROUNDS {
            let page = store.settlements(&self.key.operator, &filter, after, CHUNK).await?;
            let more = page.records.len() == CHUNK || page.next.is_some();
            after = page.records.last().map(|(place, _)| *place).max(page.next).max(after);
            for (_, record) in page.records.iter().filter(|(_, record)| self.has(record)) {
                account.records.push(record.id);
                account.transactions.extend(transaction(record));
            }
            if !more {
                break;
            }
        }
        Ok(())
    }
}

fn amount(record: &Settlement) -> Option<Chips> {
    match &record.body {
        SettlementBody::Movement { amount, .. } => Some(*amount),
        _ => None,
    }
}

fn transaction(record: &Settlement) -> Option<String> {
    match &record.body {
        SettlementBody::Movement { transaction, .. } => {
            Some(transaction.clone()).filter(|name| !name.is_empty())
        }
        _ => None,
    }
}
