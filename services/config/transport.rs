//! Settings of listeners, connections and TLS.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{ConfigError, Settings, given};

impl Settings {
    /// Where the metrics are read, if they are.
    ///
    /// # Errors
    /// [`ConfigError::Unusable`] if that is no address.
    pub fn metrics(&self) -> Result<Option<SocketAddr>, ConfigError> {
        address("metrics", &self.metrics)
    }

    /// Where the health is told alone, if it is.
    ///
    /// # Errors
    /// [`ConfigError::Unusable`] if that is no address.
    pub fn health(&self) -> Result<Option<SocketAddr>, ConfigError> {
        address("health", &self.health)
    }
}

fn address(setting: &str, text: &str) -> Result<Option<SocketAddr>, ConfigError> {
    if text.is_empty() {
        return Ok(None);
    }
    let address = text.parse().map(Some);
    address.map_err(|_| ConfigError::Unusable(format!("{setting}: {text:?} is no address and port")))
}

/// What a connection of a caller may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connections {
    /// So many at once.
    pub most: usize,
    /// So many of one address; 0 for no such bound.
    pub of_an_address: usize,
    /// How old one gets, in minutes; 0 for as old as its caller likes.
    pub age_minutes: u64,
    /// How long nothing may go on at one, in seconds.
    pub idle_seconds: u64,
}

impl Connections {
    /// Whether they can be had.
    ///
    /// # Errors
    /// [`ConfigError::Zero`]
    pub(super) const fn check(&self) -> Result<(), ConfigError> {
        match (self.most, self.idle_seconds) {
            (0, _) => Err(ConfigError::Zero("connections.most")),
            (_, 0) => Err(ConfigError::Zero("connections.idle_seconds")),
            _ => Ok(()),
        }
    }
}

/// TLS. All files are in PEM.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    cert_file: String,
    key_file: String,
    client_ca_file: String,
    client_certificates: Asked,
}

/// Whether callers show a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Asked {
    None,
    Wanted,
    Required,
}

/// The files of TLS.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsPaths {
    /// The server's certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authorities of callers, if they are asked for a certificate, and whether they have to show one.
    pub clients: Option<(PathBuf, bool)>,
}

impl Tls {
    /// The files, if there is TLS.
    ///
    /// # Errors
    /// [`ConfigError::Unusable`] if one of them is missing, or too many.
    pub fn paths(&self) -> Result<Option<TlsPaths>, ConfigError> {
        let unusable = |why: &str| Err(ConfigError::Unusable(format!("tls: {why}")));
        let (certificate, key) = match (given(&self.cert_file), given(&self.key_file)) {
            (Some(certificate), Some(key)) => (certificate.to_owned(), key.to_owned()),
            (None, None) if self.client_certificates == Asked::None && self.client_ca_file.is_empty() => {
                return Ok(None);
            }
            (None, None) => {
                return unusable("callers can be asked for certificates only with cert_file and key_file");
            }
            _ => return unusable("cert_file and key_file go together"),
        };
        let authorities = given(&self.client_ca_file).map(Path::to_owned);
        let clients = match (self.client_certificates, authorities) {
            (Asked::None, None) => None,
            (Asked::Wanted, Some(file)) => Some((file, false)),
            (Asked::Required, Some(file)) => Some((file, true)),
            (Asked::None, Some(_)) => {
                return unusable("client_ca_file is used only if client_certificates is wanted or required");
            }
            (_, None) => return unusable("client_certificates needs client_ca_file"),
        };
        Ok(Some(TlsPaths { certificate, key, clients }))
    }
}
