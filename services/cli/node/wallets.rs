//! Operators' wallets, as the settings name them.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use rules::Millis;
use tables::wallet::Wallet;
use tables::{CourierSettings, OperatorId};

use crate::cli::failure::Failure;
use crate::config::{Settings, WalletSettings};
use crate::grpc;
use crate::wallet::{GrpcWallet, WalletAddress};

/// Operators and their wallets.
pub type Wallets = Vec<(OperatorId, Arc<dyn Wallet>)>;

/// The wallets that the settings name.
///
/// # Errors
/// [`Failure::Usage`] if an operator's name, an address or a file cannot be used.
pub fn named(settings: &Settings) -> Result<Wallets, Failure> {
    let wallet = |(name, wallet): (&String, &WalletSettings)| {
        let operator = OperatorId::new(name).ok_or_else(|| {
            Failure::Usage(format!(
                "[wallets.{name}]: an operator is 1 to 64 small letters, digits, `_` or `-`"
            ))
        })?;
        let read = |file: &str| match file {
            "" => Ok(None),
            file => fs::read_to_string(file).map(Some).map_err(|error| {
                Failure::Usage(format!("the file {file} of [wallets.{name}] cannot be read: {error}"))
            }),
        };
        let address = WalletAddress {
            url: wallet.address.clone(),
            token: read(&wallet.token_file)?.map(|token| token.trim().to_owned()),
            authority: read(&wallet.ca_file)?,
            deadline: Duration::from_millis(settings.wallet.deadline_ms),
        };
        let wallet = GrpcWallet::new(&address).map_err(Failure::Usage)?;
        Ok((operator, Arc::new(wallet) as Arc<dyn Wallet>))
    };
    settings.wallets.iter().map(wallet).collect()
}

/// How they are asked.
pub fn courier(settings: &Settings) -> CourierSettings {
    CourierSettings {
        deadline: Duration::from_millis(settings.wallet.deadline_ms),
        calls: settings.wallet.calls,
        waiting: settings.wallet.waiting,
        park_after: Millis(settings.wallet.park_after_seconds.saturating_mul(1000)),
        seated: grpc::seated,
        added: grpc::added,
    }
}
