//! The books.

use std::collections::BTreeMap;

use rules::PlayerId;
use tables::books::Account;
use tables::trial::{Balance, Page, Play, Row};

use super::config;
use crate::pb::v1;

/// A page of the books.
pub fn page(page: &Page, next_page_token: String) -> v1::GetTrialBalanceResponse {
    v1::GetTrialBalanceResponse {
        tables: page.tables.iter().map(row).collect(),
        players: page.accounts.iter().map(account).collect(),
        totals: totals(&page.tables),
        next_page_token,
    }
}

fn totals(rows: &[Row]) -> Vec<v1::Balance> {
    let mut totals: BTreeMap<[u8; 3], Balance> = BTreeMap::new();
    for row in rows {
        if let Some(one) = &row.balance {
            let total = totals.entry(row.currency).or_default();
            *total = total.plus(one);
        }
    }
    totals.iter().map(|(currency, total)| balance(*currency, total)).collect()
}

fn row(row: &Row) -> v1::TableBalance {
    let of = |s: &tables::trial::Sitting| player(&s.player, s.session, row.currency, &s.play);
    v1::TableBalance {
        table_id: row.table.to_string(),
        sequence: row.version,
        balance: row.balance.as_ref().map(|one| balance(row.currency, one)),
        seats: row.sitting.iter().map(of).collect(),
    }
}

fn account(account: &Account) -> v1::PlayerBalance {
    let play = Play { tally: account.tally, ..Play::default() };
    player(&account.player, 0, account.currency, &play)
}

fn player(id: &PlayerId, session: u64, currency: [u8; 3], play: &Play) -> v1::PlayerBalance {
    let sum = |sum: u64| money(i128::from(sum));
    let tally = &play.tally;
    v1::PlayerBalance {
        player_id: id.as_str().to_owned(),
        session,
        currency: config::currency(currency),
        bought_in: sum(tally.bought_in),
        wagered: sum(tally.wagered),
        won: sum(tally.won),
        stack: money(play.stack),
        in_pots: money(play.in_pots),
        paid_out: sum(tally.paid_out),
        difference: money(play.difference()),
        rake_share: sum(tally.raked),
        hands: tally.hands,
        owed: sum(tally.owed),
        delivered: sum(tally.delivered),
    }
}

fn balance(currency: [u8; 3], b: &Balance) -> v1::Balance {
    v1::Balance {
        currency: config::currency(currency),
        bought_in: money(b.bought_in),
        on_tables: money(b.on_tables),
        in_pots: money(b.in_pots),
        paid_out: money(b.paid_out),
        raked: money(b.raked),
        in_flight: money(b.in_flight),
        parked: money(b.parked),
        difference: money(b.difference()),
        owed: money(b.owed),
        delivered: money(b.delivered),
        written_off: money(b.written_off),
        returning: money(b.returning),
        wallet_difference: money(b.wallet_difference()),
    }
}

/// An amount. What does not fit is far beyond all money there is: it is cut, and keeps its sign.
fn money(amount: i128) -> i64 {
    i64::try_from(amount).unwrap_or(if amount < 0 { i64::MIN } else { i64::MAX })
}
