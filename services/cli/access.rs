//! How commands that call a server get in: with a token, and over TLS.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use super::failure::Failure;

/// What a caller shows, and whom he trusts.
#[derive(Args, Clone, Default)]
pub struct Access {
    /// The caller's token, if the server asks for one.
    #[arg(long, env = "FULCRUM_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Certificates.
    #[command(flatten)]
    pub tls: Tls,
}

/// The certificates of both sides.
#[derive(Args, Clone, Debug, Default)]
pub struct Tls {
    /// Who has signed the certificate of a server at https://…, as PEM; the authorities that the world trusts by default.
    #[arg(long, env = "FULCRUM_CA_FILE", value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// The caller's certificate, if the server asks for one, as PEM.
    #[arg(long, env = "FULCRUM_CLIENT_CERT_FILE", value_name = "FILE", requires = "client_key_file")]
    client_cert_file: Option<PathBuf>,
    /// The key of that certificate, as PEM.
    #[arg(long, env = "FULCRUM_CLIENT_KEY_FILE", value_name = "FILE", requires = "client_cert_file")]
    client_key_file: Option<PathBuf>,
}

impl Access {
    /// With a token, or with nothing.
    #[must_use]
    pub fn by_token(token: Option<&str>) -> Access {
        Access { token: token.map(str::to_owned), tls: Tls::default() }
    }
}

impl Tls {
    /// The endpoint as this caller uses it: over TLS if it is `https`.
    ///
    /// # Errors
    /// [`Failure::Usage`] if a file cannot be used, or one is given that plain `http` has no use for.
    pub fn at(&self, endpoint: Endpoint) -> Result<Endpoint, Failure> {
        let files = [&self.ca_file, &self.client_cert_file, &self.client_key_file];
        if endpoint.uri().scheme_str() != Some("https") {
            return match files.into_iter().flatten().next() {
                // Whoever names one thinks that nobody listens in.
                Some(file) => Err(Failure::Usage(format!(
                    "{} is for a server at https://…, and {} is none",
                    file.display(),
                    endpoint.uri()
                ))),
                None => Ok(endpoint),
            };
        }
        let mut tls = match &self.ca_file {
            Some(file) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read(file)?)),
            None => ClientTlsConfig::new().with_webpki_roots(),
        };
        if let (Some(certificate), Some(key)) = (&self.client_cert_file, &self.client_key_file) {
            tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
        }
        let unusable = |error| Failure::Usage(format!("these certificates cannot be used: {error}"));
        endpoint.tls_config(tls).map_err(unusable)
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", file.display())))
}

/// Never the token.
impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("tls", &self.tls).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_not_passed_over_in_silence() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let ca = Tls { ca_file: Some(file.path().to_owned()), ..Tls::default() };
        let missing = Tls { ca_file: Some("not/there".into()), ..Tls::default() };
        let (plain, sealed) =
            (Endpoint::from_static("http://127.0.0.1:1"), Endpoint::from_static("https://127.0.0.1:1"));
        assert!(matches!(ca.at(plain.clone()), Err(Failure::Usage(_))));
        assert!(matches!(missing.at(sealed.clone()), Err(Failure::Usage(_))));
        assert!(Tls::default().at(plain).is_ok() && Tls::default().at(sealed).is_ok());
    }

    #[test]
    fn debug_shows_no_token() {
        assert!(!format!("{:?}", Access::by_token(Some("secret"))).contains("secret"));
    }
}
