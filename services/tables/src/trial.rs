//! The trial balance (rules 10.3): where the money of an operator's tables is, and what each player's play came to. Every
//! row is of one moment and adds up by itself, so that it can be read page by page while play goes on.

use rules::hand::Hand;
use rules::payment::{Phase, Purpose};
use rules::player::PlayerId;
use rules::table::Table;
use rules::{Chips, SeatNo};

use crate::books::{Account, AccountName, Tally};
use crate::ids::{OperatorId, TableId, TableKey};
use crate::settlement::Statement;
use crate::store::{Store, StoreError, Stored};

/// So many tables are looked at for one page, where few of them have the player at them.
const LOOKED_AT: usize = 5_000;
/// And so many are read at once.
const CHUNK: usize = 256;

/// Where money is, in minor units.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Balance {
    /// What players brought.
    pub bought_in: i128,
    /// What lies in stacks.
    pub on_tables: i128,
    /// What lies in the pots of running hands.
    pub in_pots: i128,
    /// What was paid out and is not on its way any more.
    pub paid_out: i128,
    /// What was taken as rake.
    pub raked: i128,
    /// What players left with and is on its way to the operator's wallet.
    pub in_flight: i128,
    /// What players left with and is parked.
    pub parked: i128,
    /// What was owed to the wallet so far.
    pub owed: i128,
    /// What of that is done.
    pub delivered: i128,
    /// What of that people have written off.
    pub written_off: i128,
    /// Chips that did not fit and have not come back to the wallet.
    pub returning: i128,
}

impl Balance {
    /// That of a table.
    fn of(table: &Table) -> Balance {
        let ledger = &table.ledger;
        let open = |purpose: Purpose, parked: Option<bool>| {
            let payments = table.payments.iter().filter(|p| p.purpose == purpose);
            let wanted =
                payments.filter(|p| parked.is_none_or(|parked| (p.phase == Phase::Parked) == parked));
            wanted.map(|payment| number(payment.amount)).sum::<i128>()
        };
        let in_flight = open(Purpose::CashOut, Some(false));
        let parked = open(Purpose::CashOut, Some(true));
        Balance {
            bought_in: number(ledger.bought_in),
            on_tables: table.occupied().map(|(_, seat)| number(seat.stack)).sum(),
            in_pots: table.running_hand().map_or(0, |hand| in_pots(hand, |_| true)),
            paid_out: number(ledger.paid_out) - in_flight - parked,
            raked: number(ledger.raked),
            in_flight,
            parked,
            owed: number(ledger.owed),
            delivered: number(ledger.delivered),
            written_off: number(ledger.written_off),
            returning: open(Purpose::Returned, None),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, more: &Balance) -> Balance {
        Balance {
            bought_in: self.bought_in + more.bought_in,
            on_tables: self.on_tables + more.on_tables,
            in_pots: self.in_pots + more.in_pots,
            paid_out: self.paid_out + more.paid_out,
            raked: self.raked + more.raked,
            in_flight: self.in_flight + more.in_flight,
            parked: self.parked + more.parked,
            owed: self.owed + more.owed,
            delivered: self.delivered + more.delivered,
            written_off: self.written_off + more.written_off,
            returning: self.returning + more.returning,
        }
    }

    /// What of the money that was brought is nowhere: 0 (rules 10.3).
    #[must_use]
    pub fn difference(&self) -> i128 {
        let left = self.paid_out + self.in_flight + self.parked;
        self.bought_in - self.on_tables - self.in_pots - self.raked - left
    }

    /// What of the money that was owed to the wallet is nowhere: 0.
    #[must_use]
    pub fn wallet_difference(&self) -> i128 {
        let open = self.in_flight + self.parked + self.returning;
        self.owed - self.delivered - self.written_off - open
    }
}

fn number(chips: Chips) -> i128 {
    i128::from(chips.0)
}

fn in_pots(hand: &Hand, whose: impl Fn(SeatNo) -> bool) -> i128 {
    let players = hand.dealt.iter().filter(|no| whose(*no)).filter_map(|no| hand.player(no));
    players.map(|player| number(player.live + player.dead)).sum()
}

/// What a player's play came to, in minor units.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Play {
    /// Sums.
    pub tally: Tally,
    /// His stack.
    pub stack: i128,
    /// What he has in the pots of a running hand.
    pub in_pots: i128,
}

impl Play {
    /// What of the money that he brought or won is nowhere: 0.
    #[must_use]
    pub fn difference(&self) -> i128 {
        let Tally { bought_in, wagered, won, paid_out, .. } = self.tally;
        let had = i128::from(bought_in) - i128::from(wagered) + i128::from(won);
        had - self.stack - self.in_pots - i128::from(paid_out)
    }
}

/// One who sits at a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sitting {
    /// Who.
    pub player: PlayerId,
    /// The number of his session.
    pub session: u64,
    /// What it has come to.
    pub play: Play,
}

/// Those who sit at the table, in order of their seats.
fn sitting(table: &Table) -> impl Iterator<Item = Sitting> {
    table.occupied().map(|(no, seat)| {
        let tally = Tally::of(&Statement::of(seat));
        let in_pots = table.running_hand().map_or(0, |hand| in_pots(hand, |other| other == no));
        let play = Play { tally, stack: number(seat.stack), in_pots };
        Sitting { player: seat.player.clone(), session: seat.session, play }
    })
}

/// A table's row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Which.
    pub table: TableId,
    /// Its version.
    pub version: u64,
    /// The currency of its money, ISO 4217.
    pub currency: [u8; 3],
    /// Where that is; `None` if only a player was asked for.
    pub balance: Option<Balance>,
    /// Those who sit there, as far as they were asked for.
    pub sitting: Vec<Sitting>,
}

/// Which rows are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Whose.
    pub operator: OperatorId,
    /// Of this table.
    pub table: Option<TableId>,
    /// Of this player.
    pub player: Option<PlayerId>,
}

/// How far the rows have been read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Up to this table.
    Table(TableId),
    /// All tables, and players' accounts up to this one.
    Account(Option<AccountName>),
}

/// Some rows.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Page {
    /// Of tables, in the order of their ids.
    pub tables: Vec<Row>,
    /// Of players who have left, in the order of their names.
    pub accounts: Vec<Account>,
    /// How far they have been read; `None`: to the end.
    pub reached: Option<Place>,
}

impl Wanted {
    /// Up to `size` rows after this place; `None` if there is no such table.
    ///
    /// # Errors
    /// [`StoreError`]
    pub async fn page(
        &self,
        store: &dyn Store,
        after: Option<Place>,
        size: usize,
    ) -> Result<Option<Page>, StoreError> {
        if let Some(table) = self.table {
            let stored = store.load(&TableKey { operator: self.operator.clone(), table }).await?;
            let tables = |stored: Stored| self.row(table, &stored).into_iter().collect();
            return Ok(stored.map(|stored| Page { tables: tables(stored), ..Page::default() }));
        }
        let mut page = Page::default();
        let after = match after {
            Some(Place::Account(account)) => {
                self.accounts(store, account, size, &mut page).await?;
                return Ok(Some(page));
            }
            Some(Place::Table(table)) => Some(table),
            None => None,
        };
        if !self.tables(store, after, size, &mut page).await? {
            self.accounts(store, None, size, &mut page).await?;
        }
        Ok(Some(page))
    }

    /// Reads tables; says whether the page ends with them.
    async fn tables(
        &self,
        store: &dyn Store,
        mut after: Option<TableId>,
        size: usize,
        page: &mut Page,
    ) -> Result<bool, StoreError> {
        let mut looked_at = 0;
        while looked_at < LOOKED_AT && page.tables.len() < size {
            // Of one player few tables have something.
            let chunk = if self.player.is_some() { CHUNK } else { size - page.tables.len() };
            let rows = store.tables(&self.operator, after, chunk).await?;
            for (key, stored) in &rows {
                if page.tables.len() == size {
                    page.reached = after.map(Place::Table);
                    return Ok(true);
                }
                // Without it the balance would be another one.
                let stored = stored.as_ref().map_err(Clone::clone)?;
                page.tables.extend(self.row(key.table, stored));
                (after, looked_at) = (Some(key.table), looked_at + 1);
            }
            if rows.len() < chunk {
                return Ok(false);
            }
        }
        page.reached = after.map(Place::Table);
        Ok(true)
    }

    async fn accounts(
        &self,
        store: &dyn Store,
        after: Option<AccountName>,
        size: usize,
        page: &mut Page,
    ) -> Result<(), StoreError> {
        if let Some(player) = &self.player {
            // A player has few currencies.
            page.accounts = store.books().account(&self.operator, player).await?;
            return Ok(());
        }
        let room = size - page.tables.len();
        if room > 0 {
            page.accounts = store.books().accounts(&self.operator, after.as_ref(), room).await?;
        }
        if page.accounts.len() == room {
            let last = page.accounts.last().map(|account| (account.player.clone(), account.currency));
            page.reached = Some(Place::Account(last.or(after)));
        }
        Ok(())
    }

    fn row(&self, id: TableId, stored: &Stored) -> Option<Row> {
        let table = &stored.table;
        let wanted = |who: &PlayerId| self.player.as_ref().is_none_or(|player| player == who);
        let sitting: Vec<Sitting> = sitting(table).filter(|sitting| wanted(&sitting.player)).collect();
        if self.player.is_some() && sitting.is_empty() {
            return None;
        }
        let balance = self.player.is_none().then(|| Balance::of(table));
        let (version, currency) = (table.version, table.config.currency);
        Some(Row { table: id, version, currency, balance, sitting })
    }
}
