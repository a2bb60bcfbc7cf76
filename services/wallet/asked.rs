//! The span of a call to a wallet: what was asked and what came of it, and nothing of what either side said.

use tables::wallet::{Call, Reply};
use tonic::Code;

use crate::telemetry::codes::word;
use crate::telemetry::conventions::{GRPC, RPC_METHOD, RPC_STATUS, RPC_SYSTEM, WALLET_CALL, WALLET_OUTCOME};
use crate::telemetry::spans::{Child, Kind, child, is_told};

/// A call that has no answer yet. Dropped, it had none in time.
pub(super) struct Asked(pub(super) Child);

impl Asked {
    pub(super) fn now(call: Call) -> Asked {
        if !is_told() {
            return Asked(Child::default());
        }
        let (word, method) = match call {
            Call::Debit => ("debit", "Debit"),
            Call::Credit => ("credit", "Credit"),
            Call::Cancel => ("cancel", "Cancel"),
            Call::Find => ("find", "GetTransaction"),
        };
        let method = format!("fulcrum.wallet.v1.OperatorWalletService/{method}");
        let asked = child(Kind::Client, &method);
        asked.set(RPC_SYSTEM, GRPC);
        asked.set(RPC_METHOD, method);
        asked.set(WALLET_CALL, word);
        Asked(asked)
    }

    /// `code`: how the call ended; `reply`: what that came to.
    pub(super) fn answered(mut self, code: Code, reply: &Reply) {
        let asked = std::mem::take(&mut self.0);
        asked.set(RPC_STATUS, word(code));
        asked.set(
            WALLET_OUTCOME,
            match reply {
                Reply::Booked => "booked",
                Reply::Declined(_) => "declined",
                Reply::Cancelled => "cancelled",
                Reply::Missing => "missing",
                Reply::Unknown(_) => "unknown",
            },
        );
        if matches!(reply, Reply::Unknown(_)) {
            asked.failed("unknown");
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.set(RPC_STATUS, word(Code::DeadlineExceeded));
        self.0.set(WALLET_OUTCOME, "unknown");
        self.0.failed("timeout");
    }
}
