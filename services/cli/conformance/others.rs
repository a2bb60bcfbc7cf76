//! Checks of credits, of GetTransaction, and of what every answer names.

use futures_util::future::join_all;
use tonic::Code;
use uuid::Uuid;

use super::case::{Case, Order, Seen, alike, booked, cancelled, declined, refused};
use super::debits::AT_ONCE;
use super::wallet::{Told, words};
use crate::pb::wallet_v1::DeclineReason;

/// A credit is given, and the balance says so.
pub async fn credit(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let told = case.credit(&case.order(7)).await;
    booked("the credit", &told)?;
    case.moved(before, 7).await?;
    match told {
        Ok(answer) if answer.balance != before + 7 => {
            Err(format!("the answer's balance is {}, and the player has {}", answer.balance, before + 7))
        }
        _ => Ok("BOOKED; the balance is 7 more".to_owned()),
    }
}

/// The same credit many times, at once and once more.
pub async fn credit_repeated(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(7);
    let mut told = join_all((0..AT_ONCE).map(|_| case.credit(&order))).await;
    told.push(case.credit(&order).await);
    told.iter().try_for_each(|told| booked("a delivery of the credit", told))?;
    case.moved(before, 7).await?;
    alike("the credit", &told)?;
    Ok(format!("{} times BOOKED; 7 given once", told.len()))
}

/// The same id with another amount.
pub async fn credit_other_amount(case: &Case<'_>) -> Seen {
    let order = case.order(7);
    booked("the first credit", &case.credit(&order).await)?;
    let before = case.balance().await?;
    let told = case.credit(&Order { amount: 8, ..order }).await;
    case.moved(before, 0).await?;
    refused("the second credit", &told, Code::AlreadyExists)?;
    Ok("ALREADY_EXISTS; nothing moved".to_owned())
}

/// A credit of a stay that ended long ago, at a table that nobody knows any more.
pub async fn credit_without_session(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = Order { table: Uuid::new_v4().to_string(), session: 999_999_999, ..case.order(7) };
    let told = case.credit(&order).await;
    booked("the credit of a stay that the wallet does not know", &told)?;
    case.moved(before, 7).await?;
    Ok("BOOKED".to_owned())
}

/// What became of a debit and of a credit.
pub async fn find_booked(case: &Case<'_>) -> Seen {
    let (taken, given) = (case.order(7), case.order(5));
    booked("the debit", &case.debit(&taken).await)?;
    booked("the credit", &case.credit(&given).await)?;
    booked("GetTransaction of a booked debit", &case.find(&taken).await)?;
    booked("GetTransaction of a booked credit", &case.find(&given).await)?;
    Ok("BOOKED".to_owned())
}

/// What became of a declined debit.
pub async fn find_declined(case: &Case<'_>) -> Seen {
    let order = case.order(case.balance().await?.saturating_add(1));
    let reason = DeclineReason::InsufficientFunds;
    declined("a debit of more than the player has", &case.debit(&order).await, reason)?;
    let told = case.find(&order).await;
    declined("GetTransaction of a declined debit", &told, reason)?;
    Ok(words(&told))
}

/// What became of cancelled debits: of one that had been booked, and of one that never came.
pub async fn find_cancelled(case: &Case<'_>) -> Seen {
    let (taken, never) = (case.order(7), case.order(7));
    booked("the debit", &case.debit(&taken).await)?;
    cancelled("the cancel", &case.cancel(&taken).await)?;
    cancelled("the cancel without a debit", &case.cancel(&never).await)?;
    cancelled("GetTransaction of a cancelled debit", &case.find(&taken).await)?;
    cancelled("GetTransaction of a debit that never came", &case.find(&never).await)?;
    Ok("CANCELLED".to_owned())
}

/// What became of nothing.
pub async fn find_unknown(case: &Case<'_>) -> Seen {
    refused("GetTransaction of an id that never was", &case.find(&case.order(1)).await, Code::NotFound)?;
    Ok("NOT_FOUND".to_owned())
}

/// Every answer names its transaction.
pub async fn names(case: &Case<'_>) -> Seen {
    let (taken, given) = (case.order(7), case.order(5));
    let missing = case.order(case.balance().await?.saturating_add(1));
    let told = [
        ("a debit's answer", &taken, case.debit(&taken).await),
        ("a credit's answer", &given, case.credit(&given).await),
        ("a declined debit's answer", &missing, case.debit(&missing).await),
        ("GetTransaction's answer", &taken, case.find(&taken).await),
        ("a cancel's answer", &taken, case.cancel(&taken).await),
    ];
    told.iter().try_for_each(|(what, order, told)| named(what, order, told))?;
    Ok("id, player, amount and currency in all answers".to_owned())
}

fn named(what: &str, order: &Order, told: &Told) -> Result<(), String> {
    let Ok(answer) = told else {
        return Err(format!("{what} was {}", words(told)));
    };
    let found = &answer.transaction;
    let amount = order.amount.to_string();
    let fields = [
        ("transaction_id", found.transaction_id.as_str(), order.id.as_str()),
        ("player_id", &found.player_id, &order.player),
        ("amount", &found.amount.to_string(), &amount),
        ("currency", &found.currency, &order.currency),
    ];
    match fields.iter().find(|(_, found, wanted)| found != wanted) {
        None => Ok(()),
        Some((field, found, wanted)) => Err(format!("{what} has {field} {found:?}, not {wanted:?}")),
    }
}
