//! Payments between an operator's wallet and a table in records.

use rules::payment::{Decline, Deed, Ending, Note, Payment, Phase, Proposal, Purpose, Requested, Resolution};

use super::CodecError;
use super::field::{Field, Record, records};
use crate::pb::store_v1 as wire;

records! {
    Requested => Requested { id, payload }
    Proposal => Proposal { resolution, by, reason, at }
    Note => Note { deed, by, reason, at }
    Payment => Payment {
        number, epoch, purpose, phase, player, seat, session, amount, hand, name, request, since, attempts, next_at,
        error, proposal, notes, begun,
    }
}

impl Field for Box<Payment> {
    type Wire = Option<wire::Payment>;

    fn put(&self) -> Option<wire::Payment> {
        (**self).put()
    }

    fn take(wire: Option<wire::Payment>, at: &'static str) -> Result<Self, CodecError> {
        <Payment as Field>::take(wire, at).map(Box::new)
    }
}

/// Words that have one of their own for each thing that they hold.
macro_rules! compound {
    ($($ours:ident => $theirs:ident { $($name:ident: $word:pat => $made:expr,)* })*) => {$(
        impl Field for $ours {
            type Wire = i32;

            fn put(&self) -> i32 {
                let word = match self {
                    $($word => wire::$theirs::$name,)*
                };
                word.into()
            }

            fn take(number: i32, at: &'static str) -> Result<$ours, CodecError> {
                match wire::$theirs::try_from(number) {
                    Ok(wire::$theirs::Unspecified) => Err(CodecError::Missing(at)),
                    $(Ok(wire::$theirs::$name) => Ok($made),)*
                    Err(_) => Err(CodecError::Invalid(at)),
                }
            }
        }
    )*};
}

compound! {
    Purpose => PaymentPurpose {
        BuyIn: Purpose::BuyIn { post: false } => Purpose::BuyIn { post: false },
        BuyInAndPost: Purpose::BuyIn { post: true } => Purpose::BuyIn { post: true },
        AddChips: Purpose::AddChips => Purpose::AddChips,
        CashOut: Purpose::CashOut => Purpose::CashOut,
        Returned: Purpose::Returned => Purpose::Returned,
    }
    Phase => PaymentPhase {
        Debiting: Phase::Debiting => Phase::Debiting,
        Cancelling: Phase::Cancelling => Phase::Cancelling,
        Crediting: Phase::Crediting => Phase::Crediting,
        Parked: Phase::Parked => Phase::Parked,
    }
    Ending => PaymentEnding {
        Used: Ending::Used => Ending::Used,
        Declined: Ending::Declined(Decline::Unspecified) => Ending::Declined(Decline::Unspecified),
        DeclinedFunds: Ending::Declined(Decline::Funds) => Ending::Declined(Decline::Funds),
        DeclinedPlayer: Ending::Declined(Decline::Player) => Ending::Declined(Decline::Player),
        DeclinedBlocked: Ending::Declined(Decline::Blocked) => Ending::Declined(Decline::Blocked),
        DeclinedLimit: Ending::Declined(Decline::Limit) => Ending::Declined(Decline::Limit),
        DeclinedCurrency: Ending::Declined(Decline::Currency) => Ending::Declined(Decline::Currency),
        DeclinedCancelled: Ending::Declined(Decline::Cancelled) => Ending::Declined(Decline::Cancelled),
        Cancelled: Ending::Cancelled => Ending::Cancelled,
        Paid: Ending::Paid => Ending::Paid,
        ResolvedSettled: Ending::Resolved(Resolution::Settled) => Ending::Resolved(Resolution::Settled),
        ResolvedWrittenOff: Ending::Resolved(Resolution::WrittenOff) => Ending::Resolved(Resolution::WrittenOff),
    }
    Resolution => PaymentResolution {
        Settled: Resolution::Settled => Resolution::Settled,
        WrittenOff: Resolution::WrittenOff => Resolution::WrittenOff,
    }
    Deed => PaymentDeed {
        Parked: Deed::Parked => Deed::Parked,
        Retried: Deed::Retried => Deed::Retried,
        Proposed: Deed::Proposed => Deed::Proposed,
        Confirmed: Deed::Confirmed => Deed::Confirmed,
    }
}
