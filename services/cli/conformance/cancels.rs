//! Checks of cancels.

use futures_util::future::join_all;
use tonic::Code;

use super::case::{Case, Order, Seen, alike, booked, cancelled, declined, is, refunded, refused};
use super::debits::AT_ONCE;
use super::wallet::words;
use crate::pb::wallet_v1::{DeclineReason, TransactionState};

/// A debit and its cancel.
pub async fn refunds(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(7);
    booked("the debit", &case.debit(&order).await)?;
    let told = case.cancel(&order).await;
    cancelled("the cancel", &told)?;
    case.moved(before, 0).await?;
    refunded("the cancel of a booked debit", &told, true)?;
    Ok("CANCELLED, refunded; the balance is as before".to_owned())
}

/// The same cancel many times, one after the other and at once.
pub async fn repeated(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(7);
    booked("the debit", &case.debit(&order).await)?;
    let mut told = join_all((0..AT_ONCE).map(|_| case.cancel(&order))).await;
    told.push(case.cancel(&order).await);
    case.moved(before, 0).await?;
    for told in &told {
        cancelled("a delivery of the cancel", told)?;
        refunded("a delivery of the cancel of a booked debit", told, true)?;
    }
    alike("the cancel", &told)?;
    Ok(format!("{} times CANCELLED, refunded; 7 given back once", told.len()))
}

/// A cancel before its debit.
pub async fn before_debit(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(7);
    let told = case.cancel(&order).await;
    case.moved(before, 0).await?;
    cancelled("a cancel before its debit", &told)?;
    refunded("a cancel before its debit", &told, false)?;
    let late = case.debit(&order).await;
    case.moved(before, 0).await?;
    declined("the debit that came after its cancel", &late, DeclineReason::Cancelled)?;
    let again = case.cancel(&order).await;
    cancelled("the cancel once more", &again)?;
    refunded("the cancel once more", &again, false)?;
    case.moved(before, 0).await?;
    Ok("CANCELLED, then the debit DECLINED; nothing moved".to_owned())
}

/// A debit again, after it was cancelled.
pub async fn debit_again(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(7);
    booked("the debit", &case.debit(&order).await)?;
    cancelled("the cancel", &case.cancel(&order).await)?;
    let late = case.debit(&order).await;
    case.moved(before, 0).await?;
    declined("the debit once more, after its cancel,", &late, DeclineReason::Cancelled)?;
    Ok("DECLINED; nothing moved".to_owned())
}

/// The cancel of a debit that was declined.
pub async fn of_declined(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(before.saturating_add(1));
    let reason = DeclineReason::InsufficientFunds;
    declined("a debit of more than the player has", &case.debit(&order).await, reason)?;
    let told = case.cancel(&order).await;
    case.moved(before, 0).await?;
    is("the cancel of a declined debit", &told, TransactionState::Declined)?;
    refunded("the cancel of a declined debit", &told, false)?;
    Ok(format!("{}, not refunded; nothing moved", words(&told)))
}

/// A cancel that is about other money than its debit, in either order.
pub async fn other_content(case: &Case<'_>) -> Seen {
    let taken = case.order(7);
    booked("the debit", &case.debit(&taken).await)?;
    let never = case.order(7);
    cancelled("the cancel without a debit", &case.cancel(&never).await)?;
    let before = case.balance().await?;
    let more = |order: &Order| Order { amount: 8, ..order.clone() };
    let told = [case.cancel(&more(&taken)).await, case.debit(&more(&never)).await];
    case.moved(before, 0).await?;
    refused("a cancel with another amount than its debit", &told[0], Code::AlreadyExists)?;
    refused("a debit with another amount than its cancel", &told[1], Code::AlreadyExists)?;
    Ok("twice ALREADY_EXISTS; nothing moved".to_owned())
}

/// Debits and their cancels at the same time: whoever is first, the player has his money in the end.
pub async fn race(case: &Case<'_>) -> Seen {
    const ROUNDS: usize = 20;
    let before = case.balance().await?;
    let mut first = 0;
    for _ in 0..ROUNDS {
        let order = case.order(7);
        let (debit, cancel) = tokio::join!(case.debit(&order), case.cancel(&order));
        cancelled("a cancel at the same time as its debit", &cancel)?;
        case.moved(before, 0).await?;
        if booked("the debit", &debit).is_ok() {
            refunded("the cancel after a debit that was booked", &cancel, true)?;
        } else {
            declined("a debit at the same time as its cancel", &debit, DeclineReason::Cancelled)?;
            first += 1;
        }
        cancelled("GetTransaction of a cancelled debit", &case.find(&order).await)?;
    }
    Ok(format!("in {first} of {ROUNDS} rounds the cancel was first; the balance is as before"))
}
