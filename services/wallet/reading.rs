//! What a wallet's answer means, if it is one to what was asked.

use rules::payment::Decline;
use tables::wallet::{Call, Order, Reply};

use super::wire;

/// The reply, or [`Reply::Unknown`] if the answer is about something else or says something that cannot be.
pub(super) fn reply(call: Call, order: &Order, transaction: &wire::Transaction) -> Reply {
    if let Some(fault) = fault(order, transaction) {
        return Reply::Unknown(format!("the wallet's answer has another {fault}"));
    }
    match (transaction.state(), call) {
        (wire::TransactionState::Booked, Call::Cancel) => Reply::Booked,
        (wire::TransactionState::Booked, _) if transaction.purpose != super::purpose(order.purpose) => {
            Reply::Unknown("the wallet's answer has another purpose".to_owned())
        }
        (wire::TransactionState::Booked, _) => Reply::Booked,
        (wire::TransactionState::Declined, _) => match transaction.decline_reason() {
            wire::DeclineReason::Cancelled => Reply::Cancelled,
            reason => Reply::Declined(decline(reason)),
        },
        (wire::TransactionState::Cancelled, _) => Reply::Cancelled,
        (wire::TransactionState::Unspecified, _) => {
            Reply::Unknown("the wallet's answer has no state".to_owned())
        }
    }
}

fn fault(order: &Order, transaction: &wire::Transaction) -> Option<&'static str> {
    let same = [
        ("transaction id", transaction.transaction_id == order.id.to_string()),
        ("player", transaction.player_id == order.player.as_str()),
        ("amount", transaction.amount == super::amount(order)),
        ("currency", transaction.currency.as_bytes() == order.currency),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(what, _)| what)
}

const fn decline(reason: wire::DeclineReason) -> Decline {
    match reason {
        wire::DeclineReason::Unspecified => Decline::Unspecified,
        wire::DeclineReason::InsufficientFunds => Decline::Funds,
        wire::DeclineReason::PlayerUnknown => Decline::Player,
        wire::DeclineReason::PlayerBlocked => Decline::Blocked,
        wire::DeclineReason::LimitReached => Decline::Limit,
        wire::DeclineReason::CurrencyUnknown => Decline::Currency,
        wire::DeclineReason::Cancelled => Decline::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::payment::Purpose;
    use rules::{Chips, PlayerId};
    use tables::{OperatorId, TableId, TableKey};
    use uuid::Uuid;

    fn order() -> Order {
        Order {
            key: TableKey { operator: OperatorId::new("acme").unwrap(), table: TableId(Uuid::from_u128(7)) },
            id: Uuid::from_u128(9),
            purpose: Purpose::BuyIn { post: false },
            player: PlayerId::new("ada").unwrap(),
            session: 3,
            amount: Chips(500),
            currency: *b"EUR",
        }
    }

    fn booked() -> wire::Transaction {
        wire::Transaction {
            transaction_id: order().id.to_string(),
            state: wire::TransactionState::Booked.into(),
            player_id: "ada".into(),
            amount: 500,
            currency: "EUR".into(),
            purpose: wire::Purpose::BuyIn.into(),
            ..Default::default()
        }
    }

    #[test]
    fn an_answer_to_what_was_asked_counts() {
        let state = |state: wire::TransactionState| wire::Transaction { state: state.into(), ..booked() };
        assert_eq!(reply(Call::Debit, &order(), &booked()), Reply::Booked);
        let declined = wire::Transaction {
            decline_reason: wire::DeclineReason::LimitReached.into(),
            ..state(wire::TransactionState::Declined)
        };
        assert_eq!(reply(Call::Debit, &order(), &declined), Reply::Declined(Decline::Limit));
        let cancelled = state(wire::TransactionState::Cancelled);
        assert_eq!(reply(Call::Cancel, &order(), &cancelled), Reply::Cancelled);
        assert_eq!(reply(Call::Cancel, &order(), &booked()), Reply::Booked, "still");
    }

    #[test]
    fn an_answer_to_something_else_is_none() {
        let others = [
            ("transaction id", wire::Transaction { transaction_id: "x".into(), ..booked() }),
            ("player", wire::Transaction { player_id: "bob".into(), ..booked() }),
            ("amount", wire::Transaction { amount: -500, ..booked() }),
            ("currency", wire::Transaction { currency: "USD".into(), ..booked() }),
            ("purpose", wire::Transaction { purpose: wire::Purpose::CashOut.into(), ..booked() }),
            ("no state", wire::Transaction { state: 0, ..booked() }),
            ("no state", wire::Transaction { state: 77, ..booked() }),
        ];
        for (word, other) in others {
            let reply = reply(Call::Debit, &order(), &other);
            assert!(matches!(&reply, Reply::Unknown(why) if why.contains(word)), "{word}: {reply:?}");
        }
    }
}
