//! Checks of debits and of the balance.

use futures_util::future::join_all;
use tonic::Code;
use uuid::Uuid;

use super::case::{Case, Order, Seen, alike, booked, declined, refused};
use super::wallet::{Told, words};
use crate::pb::wallet_v1::{DeclineReason, TransactionState};

/// So many deliveries of one order at the same time.
pub const AT_ONCE: usize = 20;

/// The balance is told.
pub async fn balance(case: &Case<'_>) -> Seen {
    let told = case.wallet.balance(case.player, case.currency).await;
    let (balance, currency) = told.map_err(|status| words(&Err(status)))?;
    if currency != case.currency {
        return Err(format!("the answer names the currency {currency:?}, not {:?}", case.currency));
    }
    if balance < 0 {
        return Err(format!("the balance is {balance}"));
    }
    Ok(format!("a balance of {balance}"))
}

/// A debit is taken, and the balance says so.
pub async fn once(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(7);
    let told = case.debit(&order).await;
    booked("the debit", &told)?;
    case.moved(before, -7).await?;
    match told {
        Ok(answer) if answer.balance != before - 7 => {
            Err(format!("the answer's balance is {}, and {} is left", answer.balance, before - 7))
        }
        _ => Ok("BOOKED; the balance is 7 less".to_owned()),
    }
}

/// The same debit three times, one after the other.
pub async fn repeated(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(7);
    let told = [case.debit(&order).await, case.debit(&order).await, case.debit(&order).await];
    told.iter().try_for_each(|told| booked("a delivery of the debit", told))?;
    case.moved(before, -7).await?;
    alike("the debit", &told)?;
    Ok("three times BOOKED; 7 taken once".to_owned())
}

/// The same debit many times at once; several such debits, since a race is not lost each time.
pub async fn repeated_at_once(case: &Case<'_>) -> Seen {
    const ROUNDS: usize = 5;
    for _ in 0..ROUNDS {
        let before = case.balance().await?;
        let order = case.order(7);
        let told = join_all((0..AT_ONCE).map(|_| case.debit(&order))).await;
        told.iter().try_for_each(|told| booked("a delivery of the debit", told))?;
        case.moved(before, -7).await?;
        alike("the debit", &told)?;
    }
    Ok(format!("{ROUNDS} debits {AT_ONCE} times each BOOKED; 7 taken once for each"))
}

/// A debit, and then this one instead of it.
async fn changed(case: &Case<'_>, change: impl FnOnce(&mut Order)) -> Seen {
    let order = case.order(7);
    booked("the first debit", &case.debit(&order).await)?;
    let before = case.balance().await?;
    let mut other = order;
    change(&mut other);
    let told = case.debit(&other).await;
    case.moved(before, 0).await?;
    refused("the second debit", &told, Code::AlreadyExists)?;
    Ok("ALREADY_EXISTS; nothing moved".to_owned())
}

/// The same id with another amount.
pub async fn other_amount(case: &Case<'_>) -> Seen {
    changed(case, |order| order.amount = 8).await
}

/// The same id for another player.
pub async fn other_player(case: &Case<'_>) -> Seen {
    changed(case, |order| order.player = nobody()).await
}

/// The same id in another currency.
pub async fn other_currency(case: &Case<'_>) -> Seen {
    changed(case, |order| order.currency = if order.currency == "USD" { "EUR" } else { "USD" }.to_owned())
        .await
}

/// The same id for another stay at another table.
pub async fn other_stay(case: &Case<'_>) -> Seen {
    changed(case, |order| {
        order.table = Uuid::new_v4().to_string();
        order.session = 2;
    })
    .await
}

/// A credit with the id of a debit, and a debit with the id of a credit.
pub async fn other_method(case: &Case<'_>) -> Seen {
    let (taken, given) = (case.order(7), case.order(5));
    booked("the debit", &case.debit(&taken).await)?;
    booked("the credit", &case.credit(&given).await)?;
    let before = case.balance().await?;
    let told = [case.credit(&taken).await, case.debit(&given).await, case.cancel(&given).await];
    case.moved(before, 0).await?;
    refused("a credit with the id of a debit", &told[0], Code::AlreadyExists)?;
    refused("a debit with the id of a credit", &told[1], Code::AlreadyExists)?;
    refused("a cancel with the id of a credit", &told[2], Code::AlreadyExists)?;
    Ok("three times ALREADY_EXISTS; nothing moved".to_owned())
}

/// More than the player has.
pub async fn too_much(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let told = case.debit(&case.order(before.saturating_add(1))).await;
    case.moved(before, 0).await?;
    declined("a debit of more than the player has", &told, DeclineReason::InsufficientFunds)?;
    Ok(format!("{}; nothing moved", words(&told)))
}

/// A declined debit stays declined, also when the player has enough.
pub async fn declined_for_good(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = case.order(before.saturating_add(1));
    let first = case.debit(&order).await;
    declined("a debit of more than the player has", &first, DeclineReason::InsufficientFunds)?;
    booked("the credit that makes it enough", &case.credit(&case.order(1)).await)?;
    let again = case.debit(&order).await;
    case.moved(before, 1).await?;
    declined("the declined debit, once it would suffice,", &again, DeclineReason::InsufficientFunds)?;
    alike("the declined debit", &[first, again])?;
    Ok("DECLINED before and after the player had enough".to_owned())
}

/// Nothing, and less than nothing.
pub async fn no_amount(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let mut seen = Vec::new();
    for amount in [0, -5] {
        let order = || case.order(amount);
        let told: [(&str, Told); 2] =
            [("debit", case.debit(&order()).await), ("credit", case.credit(&order()).await)];
        case.moved(before, 0).await.map_err(|moved| format!("with an amount of {amount}: {moved}"))?;
        for (what, told) in told {
            let done = told.as_ref().is_ok_and(|a| a.transaction.state() != TransactionState::Declined);
            if done {
                return Err(format!("a {what} of {amount} was answered with {}", words(&told)));
            }
            seen.push(words(&told));
        }
    }
    seen.dedup();
    Ok(format!("{}; nothing moved", seen.join(", ")))
}

/// A player whom nobody knows.
pub async fn unknown_player(case: &Case<'_>) -> Seen {
    let order = Order { player: nobody(), ..case.order(7) };
    let told = case.debit(&order).await;
    if booked("it", &told).is_ok() {
        // So that the wallet's books have nothing left of it.
        let _ = case.cancel(&order).await;
    }
    declined("a debit from a player whom nobody knows", &told, DeclineReason::PlayerUnknown)?;
    Ok(words(&told))
}

/// A currency in which nobody has money: XTS is for tests.
pub async fn unknown_currency(case: &Case<'_>) -> Seen {
    let before = case.balance().await?;
    let order = Order { currency: "XTS".to_owned(), ..case.order(7) };
    let told = case.debit(&order).await;
    case.moved(before, 0).await?;
    declined("a debit in the currency XTS", &told, DeclineReason::CurrencyUnknown)?;
    Ok(words(&told))
}

/// Many debits at once, of which the balance suffices for some.
pub async fn crowd(case: &Case<'_>) -> Seen {
    const CROWD: usize = 50;
    let before = case.balance().await?;
    // It suffices for about 20 of them, and something is left over.
    let amount = before / 20 - 1;
    let orders: Vec<Order> = (0..CROWD).map(|_| case.order(amount)).collect();
    let told = join_all(orders.iter().map(|order| case.debit(order))).await;
    let mut taken = 0;
    for told in &told {
        match booked("a debit", told) {
            Ok(()) => taken += 1,
            Err(_) => declined("a debit among many", told, DeclineReason::InsufficientFunds)?,
        }
    }
    let after = case.balance().await?;
    if after < 0 {
        return Err(format!(
            "the balance is {after}, after {taken} of {CROWD} debits of {amount} from {before}"
        ));
    }
    case.moved(before, -amount * taken).await?;
    if taken != before / amount {
        let enough = before / amount;
        return Err(format!("{taken} debits of {amount} were booked, and {before} suffices for {enough}"));
    }
    Ok(format!("{taken} of {CROWD} booked, the others declined; {after} is left"))
}

/// A name that no player has.
fn nobody() -> String {
    format!("nobody-{}", Uuid::new_v4())
}
