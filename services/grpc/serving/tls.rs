//! TLS 1.3 and 1.2, with certificates that can be renewed while connections are open: the files are looked at every few
//! seconds, and at once on SIGHUP. A pair that cannot be used changes nothing.

mod files;

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::server::TlsStream;

use super::peer::PeerIdentity;
use crate::grpc::layers::counting::Counting;
use files::Material;

/// How often the files are looked at.
const EVERY: Duration = Duration::from_secs(3);
/// What is spoken over TLS.
const HTTP2: &[u8] = b"h2";

/// The files, all in PEM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// The server's certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// What is asked of callers.
    pub clients: ClientCertificates,
}

/// Whether callers show a certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClientCertificates {
    /// They are not asked for one.
    None,
    /// They may; one that no authority of this file has signed ends the connection.
    Wanted(PathBuf),
    /// They have to, and an authority of this file has signed it.
    Required(PathBuf),
}

/// Why there is no TLS. The texts name the file.
#[derive(Debug, Error)]
pub enum TlsFault {
    /// A file cannot be read.
    #[error("{}: {error}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// There is not in a file what it is for.
    #[error("{}: {error}", file.display())]
    Content {
        /// Which.
        file: PathBuf,
        /// Why.
        error: String,
    },
    /// Certificate and key, or what goes with them, cannot be used.
    #[error("the certificate {} and its key cannot be used: {error}", certificate.display())]
    Unusable {
        /// The certificate's file.
        certificate: PathBuf,
        /// Why.
        error: String,
    },
}

/// What is spoken over TLS at the moment.
struct Present {
    material: Material,
    config: Arc<ServerConfig>,
    ends: u64,
}

/// TLS, for all connections to come.
pub struct Tls {
    files: TlsFiles,
    present: RwLock<Present>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    /// With the certificates in these files.
    ///
    /// # Errors
    /// [`TlsFault`]
    pub fn load(files: TlsFiles) -> Result<Tls, TlsFault> {
        let present = RwLock::new(Present::of(Material::read(&files)?, &files)?);
        Ok(Tls { files, present })
    }

    /// When the server's certificate ends, in seconds since the epoch.
    #[must_use]
    pub fn ends(&self) -> u64 {
        self.with(|present| present.ends)
    }

    /// Says the same, and takes new certificates, for as long as it is let.
    pub async fn follow(self: Arc<Self>, counting: Option<Arc<dyn Counting>>) -> Infallible {
        // Without the signal the files are still looked at.
        let mut hangup = signal(SignalKind::hangup()).ok();
        let mut fault = None;
        loop {
            if let Some(counting) = &counting {
                counting.certificate_ends(self.ends());
            }
            let asked = async {
                match &mut hangup {
                    Some(hangup) => drop(hangup.recv().await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = asked => {}
            }
            let own = Arc::clone(&self);
            let renewed = tokio::task::spawn_blocking(move || own.renew()).await;
            fault = match renewed {
                Ok(Ok(renewed)) => {
                    if renewed {
                        tracing::info!(
                            event = "certificate_renewed",
                            ends = self.ends(),
                            "a new certificate"
                        );
                    }
                    None
                }
                Ok(Err(error)) => kept(fault, &error),
                Err(broken) => kept(fault, &broken),
            };
        }
    }

    /// Reads the files; says whether they hold something new.
    fn renew(&self) -> Result<bool, TlsFault> {
        let material = Material::read(&self.files)?;
        if self.with(|present| present.material == material) {
            return Ok(false);
        }
        let renewed = Present::of(material, &self.files)?;
        // Replaced as a whole.
        *self.present.write().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(true)
    }

    /// Shakes hands; whose certificate the other side has shown, if it has.
    ///
    /// # Errors
    /// If it speaks no TLS of ours, or no HTTP/2 within, or its certificate is not good.
    pub async fn accept<T>(&self, io: T) -> std::io::Result<(TlsStream<T>, Option<Arc<PeerIdentity>>)>
    where
        T: AsyncRead + AsyncWrite + Unpin,
    {
        let config = self.with(|present| Arc::clone(&present.config));
        let stream = TlsAcceptor::from(config).accept(io).await?;
        let (_, session) = stream.get_ref();
        if session.alpn_protocol() != Some(HTTP2) {
            return Err(std::io::Error::other("no HTTP/2 was negotiated"));
        }
        let leaf = session.peer_certificates().and_then(|chain| chain.first());
        let identity = leaf.map(|leaf| identity(leaf)).transpose()?;
        Ok((stream, identity.map(Arc::new)))
    }

    fn with<R>(&self, look: impl FnOnce(&Present) -> R) -> R {
        look(&self.present.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Present {
    fn of(material: Material, files: &TlsFiles) -> Result<Present, TlsFault> {
        let (config, ends) = material.config(files)?;
        Ok(Present { material, config: Arc::new(config), ends })
    }
}

/// Says once why the old certificate is kept.
fn kept(before: Option<String>, fault: &dyn fmt::Display) -> Option<String> {
    let fault = fault.to_string();
    if before.as_ref() != Some(&fault) {
        tracing::warn!(
            event = "certificate_kept",
            fault,
            "the files of the certificate cannot be used; the old one is kept"
        );
    }
    Some(fault)
}

/// Who a verified certificate says that its holder is.
fn identity(certificate: &CertificateDer<'_>) -> std::io::Result<PeerIdentity> {
    let certificate = webpki::EndEntityCert::try_from(certificate).map_err(std::io::Error::other)?;
    let ends = files::end(&certificate).map_err(std::io::Error::other)?;
    // An authority that may sign some DNS names only may sign any URI: without a scheme one would pass for a DNS name.
    let uris = certificate.valid_uri_names().filter(|name| name.contains(':'));
    let names = uris.chain(certificate.valid_dns_names());
    Ok(PeerIdentity { names: names.map(str::to_owned).collect(), ends })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, SanType};

    #[test]
    fn a_holder_is_known_by_his_uris_and_dns_names() {
        let names = |sans: Vec<SanType>| {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.subject_alt_names = sans;
            let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
            identity(certificate.der()).unwrap().names
        };
        let (uri, dns) = ("spiffe://casino.example/acme", "acme.example");
        let sans = vec![
            SanType::URI(uri.try_into().unwrap()),
            SanType::IpAddress([192, 0, 2, 1].into()),
            SanType::Rfc822Name("ann@acme.example".try_into().unwrap()),
            SanType::DnsName(dns.try_into().unwrap()),
        ];
        assert_eq!(names(sans), [uri, dns]);
        let posing = vec![SanType::URI(dns.try_into().unwrap())];
        assert_eq!(names(posing), [""; 0], "a URI does not pass for a DNS name");
        assert_eq!(names(Vec::new()), [""; 0]);
        assert!(identity(&CertificateDer::from_slice(b"no certificate")).is_err());
    }
}
