//! What the log tells of tables whose records cannot be read, by whoever meets them in a list: the others go on.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::ids::TableKey;
use crate::store::StoreError;

/// Of each table not more often than this.
const COMPLAINT: Duration = Duration::from_secs(60);
/// So many tables are told apart.
const TABLES: usize = 1000;

static TOLD: Mutex<Option<HashMap<TableKey, Instant>>> = Mutex::new(None);

/// Tells the log that the table's record cannot be read, and why.
pub fn unreadable(table: &TableKey, error: &StoreError) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let told = told.get_or_insert_default();
    if told.get(table).is_some_and(|last| last.elapsed() < COMPLAINT) {
        return;
    }
    if told.len() >= TABLES {
        told.clear();
    }
    told.insert(table.clone(), Instant::now());
    tracing::error!(event = "table_unreadable", %table, %error, "a table's record in the store cannot be read");
}
