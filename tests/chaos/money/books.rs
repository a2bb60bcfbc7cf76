//! Three accounts of the same money, held against each other for every player: the wallet's books, the service's trial
//! balance, and the settlement records.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::operator::{OPENING, Operator};
use super::reading::{Play, Rows, Streamed};
use crate::child::run;

/// So many differences are told one by one.
const TOLD: usize = 12;

/// `fulcrum operator books --json`. Amounts in minor units.
#[derive(Deserialize)]
pub struct Books {
    accounts: Vec<Account>,
    transactions: u64,
    balanced: bool,
}

#[derive(Deserialize)]
struct Account {
    player: String,
    balance: i64,
    opening: i64,
    debited: i64,
    credited: i64,
    cancelled: i64,
}

impl Books {
    /// Those of a wallet that is stopped.
    pub fn read(operator: &Operator) -> Books {
        let file = operator.books().display().to_string();
        let (code, output, errors) = run(["operator", "books", "--json", "--file", &file]);
        assert_eq!(code, 0, "{output}{errors}");
        serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error} in {output}"))
    }

    pub fn players(&self) -> impl Iterator<Item = &str> {
        self.accounts.iter().map(|account| account.player.as_str())
    }

    fn sum(&self, of: impl Fn(&Account) -> i64) -> i64 {
        self.accounts.iter().map(of).sum()
    }
}

/// What does not agree, in words.
pub fn compare(books: &Books, rows: &Rows, streamed: &Streamed) -> Vec<String> {
    let mut check = Check(Vec::new());
    check.equal("the wallet's balances add up", [i64::from(books.balanced), 1]);
    check.equal("records of voids, reversals or without amounts", [count(streamed.voided), 0]);
    check.equal("records that came twice", [count(streamed.doubled), 0]);
    let mut balances: BTreeMap<&str, _> =
        rows.players.iter().map(|row| (row.player_id.as_str(), row)).collect();
    for account in &books.accounts {
        let player = account.player.as_str();
        let Some(row) = balances.remove(player) else {
            // A buy-in that came to nothing.
            check.equal(&format!("{player}, who never sat: paid net"), [net(account), 0]);
            continue;
        };
        let mut equal = |what: &str, sums: [i64; 2]| check.equal(&format!("{player}: {what}"), sums);
        equal("paid net by the wallet, and by the tables", [net(account), row.paid_out - row.bought_in]);
        equal("credits in the wallet, and delivered", [account.credited, row.delivered]);
        equal("delivered, and owed", [row.delivered, row.owed]);
        equal("his opening balance", [account.opening, OPENING]);
        equal("his balance", [account.balance, account.opening + net(account)]);
        equal("missing in his row", [row.difference, 0]);
        let told = streamed.players.get(player).copied().unwrap_or_default();
        let right = Play {
            wagered: row.wagered,
            won: row.won,
            rake_share: row.rake_share,
            hands: row.hands,
            brought: row.bought_in,
            paid_out: row.paid_out,
        };
        if told != right {
            check.0.push(format!("{player}: the records come to {told:?}, the trial balance says {right:?}"));
        }
    }
    let unknown = balances.keys().copied().collect::<Vec<_>>();
    check.equal(&format!("players unknown to the wallet {unknown:?}"), [count(unknown.len() as u64), 0]);
    let raked = rows.players.iter().map(|row| row.rake_share).sum();
    check.equal("rake by shares, and by hands", [raked, streamed.raked]);
    check.equal("rake by tables, and by hands", [rows.raked, streamed.raked]);
    check.equal("lost by all players, and raked", [-books.sum(net), streamed.raked]);
    check.0
}

/// A line of figures.
pub fn summary(books: &Books, rows: &Rows, streamed: &Streamed) -> String {
    format!(
        "{} players, {} records of {} hands; {} transactions in the wallet: {} debited, {} of that cancelled, {} credited; raked {}; \
         sum of differences over all players {}",
        rows.players.len(),
        streamed.records,
        streamed.hands,
        books.transactions,
        books.sum(|account| account.debited),
        books.sum(|account| account.cancelled),
        books.sum(|account| account.credited),
        streamed.raked,
        -books.sum(net) - streamed.raked,
    )
}

/// What a player was paid more than he was debited.
fn net(account: &Account) -> i64 {
    account.credited + account.cancelled - account.debited
}

struct Check(Vec<String>);

impl Check {
    fn equal(&mut self, what: &str, [left, right]: [i64; 2]) {
        if left == right {
            return;
        }
        match self.0.len() {
            0..TOLD => self.0.push(format!("{what}: {left}, not {right}")),
            TOLD => self.0.push("and more".to_owned()),
            _ => {}
        }
    }
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
