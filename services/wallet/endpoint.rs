//! Where a wallet is, and how it shows that it is the one.

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

const FORM: &str = "give one as http://host:port or https://host:port";

/// The wallet at `http://host:port`, or at `https://host:port` with a certificate that this authority (PEM) has signed, or
/// one that the world trusts.
///
/// # Errors
/// A text that says what is wrong with the address or the certificates, without either.
pub fn endpoint(address: &str, authority: Option<&str>) -> Result<Endpoint, String> {
    let endpoint = Endpoint::from_shared(address.to_owned()).map_err(|_| FORM)?;
    if endpoint.uri().host().is_none() {
        return Err(FORM.to_owned());
    }
    match endpoint.uri().scheme_str() {
        // Whoever has named an authority thinks that nobody listens in.
        Some("http") if authority.is_some() => Err("certificates are for https://host:port".to_owned()),
        Some("http") => Ok(endpoint),
        Some("https") => {
            let tls = ClientTlsConfig::new();
            let tls = match authority {
                Some(pem) => tls.ca_certificate(Certificate::from_pem(pem)),
                None => tls.with_webpki_roots(),
            };
            endpoint.tls_config(tls).map_err(|error| error.to_string())
        }
        _ => Err(FORM.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        for good in ["http://127.0.0.1:50061", "https://wallet.example:443", "http://wallet"] {
            assert!(endpoint(good, None).is_ok(), "{good}");
        }
        for bad in ["", "127.0.0.1:50061", "wallet:50061", "ftp://wallet:50061", "http://", "/wallet"] {
            assert!(endpoint(bad, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn certificates_are_not_passed_over_in_silence() {
        assert!(endpoint("http://wallet.example:50061", Some("PEM")).is_err());
    }
}
