//! The wallet's books in a file: accounts, transactions and settlement records. What is written together is one
//! transaction of the file; what is answered is on the disk.

use std::io;
use std::path::Path;

use redb::backends::InMemoryBackend;
use redb::{
    Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    StorageError, TableDefinition, WriteTransaction,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use uuid::Uuid;

use super::booking::{Account, Decision, Entry, Known, Order, Reason, Refusal, decide};
use crate::cli::failure::Failure;

/// By player and currency; rows are JSON, for people who look into the file of an example.
const ACCOUNTS: TableDefinition<(&str, &str), &[u8]> = TableDefinition::new("accounts");
/// By transaction id.
const TRANSACTIONS: TableDefinition<u128, &[u8]> = TableDefinition::new("transactions");
/// By settlement id: the record as it came, in the contract's encoding.
const SETTLEMENTS: TableDefinition<u128, &[u8]> = TableDefinition::new("settlements");
/// Numbers by their names: the layout of the file, and how often the service said that records were missing.
const META: TableDefinition<&str, u64> = TableDefinition::new("operator");
const LAYOUT_NAME: &str = "layout";
const GAPS_NAME: &str = "gaps";
const LAYOUT: u64 = 1;

/// Memory for pages of the file, in bytes.
const CACHE: usize = 64 << 20;

/// The file fails. Nothing more is served then: what it shows may not be what is written.
#[derive(Debug, Error)]
pub enum Fault {
    /// It cannot be read or written.
    #[error("the file of the books fails: {0}")]
    File(Box<redb::Error>),
    /// A row is none.
    #[error("the books are damaged: {0} cannot be read")]
    Damaged(&'static str),
}

impl<E: Into<redb::Error>> From<E> for Fault {
    fn from(error: E) -> Fault {
        Fault::File(Box::new(error.into()))
    }
}

/// Which accounts there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opening(
    /// A player who has no account gets one with this balance, in the currency that he is asked for. Without: he is not
    /// known.
    pub Option<i64>,
);

/// The books.
pub struct Books {
    database: Database,
    opening: Opening,
}

impl Books {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// [`Failure`]
    pub fn open(path: &Path, opening: Opening) -> Result<Books, Failure> {
        let opened = Database::builder().set_cache_size(CACHE).create(path);
        Books::prepare(opened.map_err(|error| cannot_open(path, error))?, opening)
    }

    /// Opens a file that has to be there.
    ///
    /// # Errors
    /// [`Failure`]
    pub fn look(path: &Path) -> Result<Books, Failure> {
        if !path.is_file() {
            return Err(Failure::Usage(format!(
                "there are no books {}: say with --file where",
                path.display()
            )));
        }
        Books::open(path, Opening(None))
    }

    /// Books that are gone with the process.
    ///
    /// # Errors
    /// [`Failure`]
    pub fn in_memory(opening: Opening) -> Result<Books, Failure> {
        let made = Database::builder().create_with_backend(InMemoryBackend::new());
        Books::prepare(made.map_err(|error| Failure::Failed(error.to_string()))?, opening)
    }

    fn prepare(database: Database, opening: Opening) -> Result<Books, Failure> {
        let books = Books { database, opening };
        let found = books.make_tables().map_err(|fault| Failure::Failed(fault.to_string()))?;
        if found != LAYOUT {
            let text = format!("the books have layout {found}, and this version knows only {LAYOUT}");
            return Err(Failure::Failed(text));
        }
        Ok(books)
    }

    /// Readers cannot make a table that is not there. Gives the layout.
    fn make_tables(&self) -> Result<u64, Fault> {
        let batch = self.begin()?;
        batch.0.open_table(ACCOUNTS)?;
        batch.0.open_table(TRANSACTIONS)?;
        batch.0.open_table(SETTLEMENTS)?;
        let mut meta = batch.0.open_table(META)?;
        let found = meta.get(LAYOUT_NAME)?.map(|layout| layout.value());
        if found.is_none() {
            meta.insert(LAYOUT_NAME, LAYOUT)?;
        }
        drop(meta);
        batch.finish()?;
        Ok(found.unwrap_or(LAYOUT))
    }

    /// Begins to write. Nobody sees anything of it before it is finished.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn begin(&self) -> Result<Batch, Fault> {
        let mut transaction = self.database.begin_write()?;
        // Immediate is redb's own default; here it is a promise.
        let durable = transaction.set_durability(Durability::Immediate);
        debug_assert!(durable.is_ok(), "only savepoints stand against it");
        Ok(Batch(transaction, self.opening))
    }

    /// Opens an account, unless it is there.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn add_account(&self, player: &str, currency: &str, opening: i64) -> Result<(), Fault> {
        let batch = self.begin()?;
        let mut accounts = batch.0.open_table(ACCOUNTS)?;
        if accounts.get((player, currency))?.is_none() {
            accounts.insert((player, currency), write(&Account::open(opening))?.as_slice())?;
        }
        drop(accounts);
        batch.finish()
    }

    /// A player's account, as it is or would be opened; without one, why there is none.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn account(&self, player: &str, currency: &str) -> Result<Result<Account, Reason>, Fault> {
        let accounts = self.database.begin_read()?.open_table(ACCOUNTS)?;
        account(&accounts, self.opening, player, currency)
    }

    /// What is known of a transaction.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn entry(&self, id: Uuid) -> Result<Option<Entry>, Fault> {
        let transactions = self.database.begin_read()?.open_table(TRANSACTIONS)?;
        let found = transactions.get(id.as_u128())?;
        found.map(|row| read(row.value(), "a transaction")).transpose()
    }

    /// Every account: player, currency, account.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn accounts(&self) -> Result<Vec<(String, String, Account)>, Fault> {
        let accounts = self.database.begin_read()?.open_table(ACCOUNTS)?;
        let mut all = Vec::new();
        for row in accounts.iter()? {
            let (key, row) = row?;
            let (player, currency) = key.value();
            all.push((player.to_owned(), currency.to_owned(), read(row.value(), "an account")?));
        }
        Ok(all)
    }

    /// How many transactions there are.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn transactions(&self) -> Result<u64, Fault> {
        Ok(self.database.begin_read()?.open_table(TRANSACTIONS)?.len()?)
    }

    /// How often the service said that records were missing.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn gaps(&self) -> Result<u64, Fault> {
        let meta = self.database.begin_read()?.open_table(META)?;
        Ok(meta.get(GAPS_NAME)?.map_or(0, |gaps| gaps.value()))
    }

    /// Shows each settlement record, as it came, to `see`.
    ///
    /// # Errors
    /// [`Fault`]; or what `see` fails with.
    pub fn settlements(&self, mut see: impl FnMut(&[u8]) -> Result<(), Fault>) -> Result<(), Fault> {
        let settlements = self.database.begin_read()?.open_table(SETTLEMENTS)?;
        for row in settlements.iter()? {
            see(row?.1.value())?;
        }
        Ok(())
    }
}

/// What is written together.
pub struct Batch(WriteTransaction, Opening);

impl Batch {
    /// Decides on a movement and writes it.
    ///
    /// # Errors
    /// [`Fault`]; the inner one is the wallet's own word, and nothing is written with it.
    pub fn book(&self, id: Uuid, order: &Order, now: u64) -> Result<Result<Decision, Refusal>, Fault> {
        let mut transactions = self.0.open_table(TRANSACTIONS)?;
        let mut accounts = self.0.open_table(ACCOUNTS)?;
        let found = transactions.get(id.as_u128())?;
        let entry = found.map(|row| read(row.value(), "a transaction")).transpose()?;
        let account = account(&accounts, self.1, &order.player, &order.currency)?;
        let number = transactions.len()? + 1;
        let decision = match decide(order, Known { entry, account, number, now }) {
            Ok(decision) => decision,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if decision.write {
            transactions.insert(id.as_u128(), write(&decision.entry)?.as_slice())?;
            if let Some(account) = &decision.account {
                let key = (order.player.as_str(), order.currency.as_str());
                accounts.insert(key, write(account)?.as_slice())?;
            }
        }
        Ok(Ok(decision))
    }

    /// Books settlement records, those that are not there yet, and notes that others are missing.
    ///
    /// # Errors
    /// [`Fault`]
    pub fn settle(&self, records: &[(Uuid, Vec<u8>)], gaps: u64) -> Result<(), Fault> {
        let mut settlements = self.0.open_table(SETTLEMENTS)?;
        for (id, record) in records {
            // A record never changes.
            if settlements.get(id.as_u128())?.is_none() {
                settlements.insert(id.as_u128(), record.as_slice())?;
            }
        }
        if gaps > 0 {
            let mut meta = self.0.open_table(META)?;
            let before = meta.get(GAPS_NAME)?.map_or(0, |gaps| gaps.value());
            meta.insert(GAPS_NAME, before.saturating_add(gaps))?;
        }
        Ok(())
    }

    /// Makes it durable.
    ///
    /// # Errors
    /// [`Fault`]; it may then be done all the same.
    pub fn finish(self) -> Result<(), Fault> {
        Ok(self.0.commit()?)
    }
}

/// The account, or a new one if the wallet opens them.
fn account(
    accounts: &impl ReadableTable<(&'static str, &'static str), &'static [u8]>,
    opening: Opening,
    player: &str,
    currency: &str,
) -> Result<Result<Account, Reason>, Fault> {
    if let Some(row) = accounts.get((player, currency))? {
        return Ok(Ok(read(row.value(), "an account")?));
    }
    if !is_currency(currency) {
        return Ok(Err(Reason::CurrencyUnknown));
    }
    if let Some(balance) = opening.0 {
        return Ok(Ok(Account::open(balance)));
    }
    let first = accounts.range((player, "")..)?.next().transpose()?;
    let known = first.is_some_and(|(key, _)| key.value().0 == player);
    Ok(Err(if known { Reason::CurrencyUnknown } else { Reason::PlayerUnknown }))
}

/// Whether it is an ISO 4217 code of money: XTS is for tests.
#[must_use]
pub fn is_currency(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|letter| letter.is_ascii_uppercase()) && code != "XTS"
}

fn read<T: DeserializeOwned>(row: &[u8], what: &'static str) -> Result<T, Fault> {
    serde_json::from_slice(row).map_err(|_| Fault::Damaged(what))
}

fn write<T: Serialize>(row: &T) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(row).map_err(|_| Fault::Damaged("a new row"))
}

fn cannot_open(path: &Path, error: DatabaseError) -> Failure {
    let path = path.display();
    Failure::Failed(match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => format!(
            "the books {path} are in use by another process, and only one can have them: stop that one first, or give \
             this one a file of its own"
        ),
        DatabaseError::Storage(StorageError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            format!("the books {path} cannot be made, because their folder is not there: make the folder")
        }
        other => format!("the books {path} cannot be opened: {other}"),
    })
}
