//! The code generated from `proto/`, and nothing else. Named only in `grpc/`, in the store's codec and in clients.

use std::fmt;

/// The public contract, `fulcrum.v1`.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod v1 {
    tonic::include_proto!("fulcrum.v1");
}

/// Stored records, `fulcrum.store.v1`: never described to a client.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod store_v1 {
    tonic::include_proto!("fulcrum.store.v1");
}

/// What an operator's wallet serves, `fulcrum.wallet.v1`.
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod wallet_v1 {
    tonic::include_proto!("fulcrum.wallet.v1");
}

/// The encoded `FileDescriptorSet` of `fulcrum.v1` with what it imports, comments included; for reflection.
pub const DESCRIPTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fulcrum.v1.binpb"));

/// The encoded `FileDescriptorSet` of `fulcrum.wallet.v1`, comments included; for the reflection of a wallet.
pub const WALLET_DESCRIPTOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fulcrum.wallet.v1.binpb"));

/// A `Debug` that shows the named fields and hides the rest: one player's cards must not reach a log.
macro_rules! redacted {
    ($($message:ident { $($field:ident),* })*) => {$(
        impl fmt::Debug for v1::$message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($message))
                    $(.field(stringify!($field), &self.$field))*
                    .finish_non_exhaustive()
            }
        }
    )*};
}

redacted! {
    HandSeat { seat, player_id, bet, contributed, folded, all_in, picked, card_count, shown }
    HoleCardsDealt { seat, count }
    PivotPicked { seat, turn, by }
    SelectPivotRequest { request_id, table_id, hand_number, turn, player_id }
    SelectPivotResponse { hand_number, turn, seat, by, sequence }
}
