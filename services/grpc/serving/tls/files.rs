//! What the files hold: certificate, key and the authorities of callers; and what TLS is made of it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use webpki::{EndEntityCert, Error, KeyUsage};
use zeroize::Zeroizing;

use super::{ClientCertificates, HTTP2, TlsFault, TlsFiles};

/// No certificate is good for longer than the year 9999.
const YEAR_10000: Duration = Duration::from_secs(253_402_300_800);

/// The files' bytes.
#[derive(PartialEq, Eq)]
pub struct Material {
    certificate: Vec<u8>,
    key: Zeroizing<Vec<u8>>,
    authorities: Option<Vec<u8>>,
}

impl Material {
    /// Reads them.
    pub fn read(files: &TlsFiles) -> Result<Material, TlsFault> {
        let read =
            |file: &Path| fs::read(file).map_err(|error| TlsFault::File { file: file.to_owned(), error });
        let authorities = match &files.clients {
            ClientCertificates::None => None,
            ClientCertificates::Wanted(file) | ClientCertificates::Required(file) => Some(read(file)?),
        };
        Ok(Material {
            certificate: read(&files.certificate)?,
            key: Zeroizing::new(read(&files.key)?),
            authorities,
        })
    }

    /// What TLS is made of them, and when the certificate ends, in seconds since the epoch.
    pub fn config(&self, files: &TlsFiles) -> Result<(ServerConfig, u64), TlsFault> {
        let unusable = |error: &dyn std::fmt::Display| TlsFault::Unusable {
            certificate: files.certificate.clone(),
            error: error.to_string(),
        };
        let chain = certificates(&self.certificate, &files.certificate)?;
        let ends = chain.iter().map(|certificate| {
            let end = EndEntityCert::try_from(certificate).and_then(|certificate| end(&certificate));
            end.map_err(|error| {
                content(&files.certificate, &format!("a certificate cannot be read: {error}"))
            })
        });
        let ends = ends.collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default();
        let key = PrivateKeyDer::from_pem_slice(&self.key)
            .map_err(|error| content(&files.key, &format!("no private key in it: {error}")))?;
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|error| unusable(&error))?;
        let builder = match (&files.clients, &self.authorities) {
            (ClientCertificates::Wanted(file) | ClientCertificates::Required(file), Some(authorities)) => {
                let roots = Arc::new(roots(authorities, file)?);
                let mut verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                if matches!(files.clients, ClientCertificates::Wanted(_)) {
                    verifier = verifier.allow_unauthenticated();
                }
                let verifier = verifier.build().map_err(|error| content(file, &error.to_string()))?;
                builder.with_client_cert_verifier(verifier)
            }
            _ => builder.with_no_client_auth(),
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|error| unusable(&error))?;
        config.alpn_protocols = vec![HTTP2.to_vec()];
        // A session that is taken up again would not have its certificate looked at, which may have ended by then.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok((config, ends))
    }
}

fn roots(pem: &[u8], file: &Path) -> Result<RootCertStore, TlsFault> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem, file)? {
        roots.add(certificate).map_err(|error| content(file, &error.to_string()))?;
    }
    Ok(roots)
}

fn certificates(pem: &[u8], file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFault> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(certificates) if certificates.is_empty() => Err(content(file, "no certificate in it")),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(content(file, &error.to_string())),
    }
}

/// When a certificate ends, in seconds since the epoch. The library says it of one that has ended, as all have by then.
pub fn end(certificate: &EndEntityCert<'_>) -> Result<u64, Error> {
    let late = UnixTime::since_unix_epoch(YEAR_10000);
    match certificate.verify_for_usage(&[], &[], &[], late, KeyUsage::server_auth(), None, None) {
        Err(Error::CertExpired { not_after, .. }) => Ok(not_after.as_secs()),
        Err(error) => Err(error),
        // None is good for ever.
        Ok(_) => Err(Error::InvalidCertValidity),
    }
}

fn content(file: &Path, error: &str) -> TlsFault {
    TlsFault::Content { file: file.to_owned(), error: error.to_owned() }
}
