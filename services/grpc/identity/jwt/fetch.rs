//! Where the keys are published: a file, or an address that is asked over HTTPS.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::{StatusCode, Uri};
use http_body_util::{BodyExt, Empty, Limited};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use prost::bytes::Bytes;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio::time::timeout;

use super::keys::Keys;

/// More than any set of keys.
const LARGEST: usize = 256 * 1024;
/// The longest that it may take, name, connection and all.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Where the keys are published.
#[derive(Clone, Debug)]
pub enum Source {
    /// In a file.
    File(PathBuf),
    /// At an address.
    Address {
        /// Which.
        uri: Uri,
        /// Who asks there.
        client: Box<Client<HttpsConnector<HttpConnector>, Empty<Bytes>>>,
    },
}

impl Source {
    /// A file's path, or an `https://` URL; `http://` for this machine only. `authority`: the certificates (PEM) of who has
    /// signed the server's; without them those that the world trusts.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn new(place: &str, authority: Option<&[u8]>) -> Result<Source, String> {
        if !place.contains("://") {
            return Ok(Source::File(Path::new(place).to_owned()));
        }
        let uri: Uri = place.parse().map_err(|_| "it is neither a path nor a URL".to_owned())?;
        let host = uri.host().ok_or("the URL names no host")?;
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_here(host) => {}
            Some("http") => return Err("keys that come over plain http could be anybody's: https".to_owned()),
            _ => return Err("it begins with https://".to_owned()),
        }
        let connector = HttpsConnectorBuilder::new().with_tls_config(trust(authority)?);
        let connector = connector.https_or_http().enable_http1().build();
        let client = Box::new(Client::builder(TokioExecutor::new()).build(connector));
        Ok(Source::Address { uri, client })
    }

    /// Whether a file holds keys that can be used. Of an address nothing is known before it is asked.
    ///
    /// # Errors
    /// What is wrong, for people.
    pub fn check(&self) -> Result<(), String> {
        let Source::File(path) = self else {
            return Ok(());
        };
        let text = std::fs::read(path).map_err(|error| error.to_string())?;
        Keys::read(&text).map(drop).map_err(|fault| fault.to_string())
    }

    /// What is published there now.
    ///
    /// # Errors
    /// What stood in the way, for the log.
    pub async fn read(&self) -> Result<Bytes, String> {
        let read = async {
            match self {
                Source::File(path) => file(path).await,
                Source::Address { uri, client } => {
                    let answer = client.get(uri.clone()).await.map_err(|error| whole(&error))?;
                    // Another place than the one that is trusted is not asked: no redirection is followed.
                    if answer.status() != StatusCode::OK {
                        return Err(format!("it answered {}", answer.status()));
                    }
                    let body = Limited::new(answer.into_body(), LARGEST).collect().await;
                    Ok(body.map_err(|error| error.to_string())?.to_bytes())
                }
            }
        };
        timeout(PATIENCE, read).await.map_err(|_| format!("no answer within {PATIENCE:?}"))?
    }
}

async fn file(path: &Path) -> Result<Bytes, String> {
    let size = tokio::fs::metadata(path).await.map_err(|error| error.to_string())?.len();
    if size > LARGEST as u64 {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    tokio::fs::read(path).await.map(Bytes::from).map_err(|error| error.to_string())
}

/// An error with its causes: that of the client alone says only that there is one.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn is_here(host: &str) -> bool {
    let address: Result<IpAddr, _> = host.trim_matches(['[', ']']).parse();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn trust(authority: Option<&[u8]>) -> Result<ClientConfig, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?;
    let Some(pem) = authority else {
        return Ok(config.with_webpki_roots().with_no_client_auth());
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|_| "the authority's file is no PEM".to_owned())?;
        roots.add(certificate).map_err(|error| format!("the authority's certificate: {error}"))?;
    }
    if roots.is_empty() {
        return Err("there is no certificate in the authority's file".to_owned());
    }
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_a_file_or_over_tls_and_in_the_clear_from_this_machine_only() {
        for good in [
            "keys.json",
            "/etc/fulcrum/jwks.json",
            "https://id.acme.example/jwks",
            "http://127.0.0.1:8080/jwks",
            "http://[::1]:8080/jwks",
            "http://localhost/jwks",
        ] {
            let source = Source::new(good, None).unwrap();
            assert_eq!(matches!(source, Source::File(_)), !good.contains("://"), "{good}");
        }
        for bad in [
            "http://id.acme.example/jwks",
            "http://127.0.0.1.example/jwks",
            "http://10.0.0.1/jwks",
            "ftp://127.0.0.1/jwks",
            "https://",
            "://",
        ] {
            assert!(Source::new(bad, None).is_err(), "{bad}");
        }
        assert!(Source::new("https://id.acme.example/jwks", Some(b"no pem")).is_err());
    }

    #[tokio::test]
    async fn what_is_too_large_or_not_there_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let source = Source::new(path.to_str().unwrap(), None).unwrap();
        assert!(source.read().await.is_err());
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(source.read().await.unwrap(), "{}");
        std::fs::write(&path, vec![b' '; LARGEST + 1]).unwrap();
        assert!(source.read().await.unwrap_err().contains("larger"));
    }
}
