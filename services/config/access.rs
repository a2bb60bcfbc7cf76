//! The settings that say who may call.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::{ConfigError, Settings, given};
use crate::grpc::Identities;
use tables::OperatorId;

/// Clocks that differ by more than this are wrong, and nothing to be put up with.
const MOST_SKEW: u64 = 300;
/// A key that was stolen a week ago is not to be good because its issuer cannot be reached since.
const LONGEST_KEPT: u64 = 7 * 24 * 3600;

/// Which tokens of an issuer are taken.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// Who has to have issued them.
    pub issuer: String,
    /// Whom they have to be for.
    pub audience: String,
    /// Where the keys are published: a file or a URL.
    pub jwks: String,
    ca_file: String,
    /// How often the keys are read, in seconds.
    pub refresh_seconds: u64,
    /// How long they are used if they cannot be read, in seconds.
    pub keep_seconds: u64,
    /// By how much clocks may differ, in seconds.
    pub clock_skew_seconds: u64,
    /// The claim with the operator.
    pub operator_claim: String,
    /// The claim with the role.
    pub role_claim: String,
    /// The claim with the player.
    pub player_claim: String,
}

impl Jwt {
    /// Whether any are taken.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.jwks.is_empty()
    }

    /// The file with the certificates of who has signed the certificate of the issuer's server, if one is named.
    #[must_use]
    pub fn ca_file(&self) -> Option<&Path> {
        given(&self.ca_file)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let unusable = |what: &str| Err(ConfigError::Unusable(what.to_owned()));
        let texts = [&self.issuer, &self.audience, &self.jwks];
        if texts.iter().any(|text| text.is_empty()) && texts.iter().any(|text| !text.is_empty()) {
            return unusable("jwt.issuer, jwt.audience and jwt.jwks go together: give all three or none");
        }
        if [&self.operator_claim, &self.role_claim, &self.player_claim].iter().any(|name| name.is_empty()) {
            return unusable("jwt.operator_claim, jwt.role_claim and jwt.player_claim need names");
        }
        if self.clock_skew_seconds > MOST_SKEW {
            return Err(ConfigError::Unusable(format!("jwt.clock_skew_seconds is {MOST_SKEW} at the most")));
        }
        match (self.refresh_seconds, self.keep_seconds) {
            (0, _) => Err(ConfigError::Zero("jwt.refresh_seconds")),
            (refresh, keep) if keep < refresh => unusable(
                "jwt.keep_seconds is jwt.refresh_seconds at the least: else keys end before they are read again",
            ),
            (_, keep) if keep > LONGEST_KEPT => {
                Err(ConfigError::Unusable(format!("jwt.keep_seconds is {LONGEST_KEPT} at the most")))
            }
            _ => Ok(()),
        }
    }
}

impl Settings {
    /// The token file, if callers may show a token of it.
    #[must_use]
    pub fn token_file(&self) -> Option<&Path> {
        given(&self.token_file)
    }

    /// The token file of administrators, if there are any.
    #[must_use]
    pub fn admin_token_file(&self) -> Option<&Path> {
        given(&self.admin_token_file)
    }

    /// Operators that are served besides those who are named by tokens and certificates, and for whom alone an issuer's
    /// tokens are taken.
    ///
    /// # Errors
    /// [`ConfigError::Unusable`] if one of them is none.
    pub fn operators(&self) -> Result<Vec<OperatorId>, ConfigError> {
        let read = |name: &String| {
            OperatorId::new(name).ok_or_else(|| {
                let right = "1 to 64 small letters, digits, `_` or `-`";
                ConfigError::Unusable(format!("operators: {name:?} is no operator's name: {right}"))
            })
        };
        self.operators.iter().map(read).collect()
    }

    /// Whose certificates are taken.
    ///
    /// # Errors
    /// [`ConfigError::Unusable`] if one of them is nobody's.
    pub fn identities(&self) -> Result<Identities, ConfigError> {
        let read = Identities::read(&self.identities);
        read.map_err(|fault| ConfigError::Unusable(format!("[identities]: {fault}")))
    }

    /// Whether callers are asked who they are.
    fn guarded(&self) -> bool {
        self.token_file().is_some() || self.jwt.is_set() || !self.identities.is_empty()
    }

    pub(super) fn check_access(&self) -> Result<(), ConfigError> {
        self.jwt.check()?;
        let operators = self.operators()?;
        self.identities()?;
        if !self.identities.is_empty() && self.tls.paths()?.is_none_or(|paths| paths.clients.is_none()) {
            return Err(ConfigError::Unusable(
                "identities without tls.client_certificates: nobody is asked for a certificate (wanted, or required)"
                    .to_owned(),
            ));
        }
        if !self.guarded() && !self.insecure && !self.listen.ip().is_loopback() {
            return Err(ConfigError::Unguarded(self.listen));
        }
        if self.guarded() && self.insecure {
            return Err(ConfigError::Unusable(
                "insecure, and credentials: insecure says that callers are not asked for any".to_owned(),
            ));
        }
        if self.admin_token_file().is_some() && !self.guarded() {
            return Err(ConfigError::Unusable(
                "admin_token_file without token_file, jwt or identities: without those everybody is an administrator"
                    .to_owned(),
            ));
        }
        if self.jwt.is_set() && operators.is_empty() {
            return Err(ConfigError::Unusable(
                "jwt without operators: name those whose tokens are taken (operators = [\"acme\"])"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

/// Names in certificates, and what they mean.
pub type IdentityTexts = BTreeMap<String, String>;

#[cfg(test)]
mod tests {
    use super::super::tests::load;
    use super::*;

    const TLS: &str = "[tls]\ncert_file = \"c\"\nkey_file = \"k\"\nclient_ca_file = \"a\"\n\
                       client_certificates = \"wanted\"\n";
    const JWT: &str = "[jwt]\nissuer = \"i\"\naudience = \"a\"\njwks = \"keys.json\"\n";

    #[test]
    fn each_kind_of_credentials_lets_other_machines_in() {
        let open = |text: &str| load(text, vec![("listen", "0.0.0.0:1".into())]);
        assert!(matches!(open(""), Err(ConfigError::Unguarded(_))));
        assert!(open("token_file = \"tokens\"").is_ok());
        assert!(open(&format!("operators = [\"acme\"]\n{JWT}")).is_ok());
        assert!(open(&format!("{TLS}[identities]\n\"spiffe://x/Acme.Desk\" = \"acme:support\"")).is_ok());
        assert!(open("insecure = true").is_ok());
    }

    #[test]
    fn names_in_certificates_keep_their_dots_and_capitals() {
        let text = format!("{TLS}[identities]\n\"spiffe://x.y/Acme.Desk\" = \"acme:support\"");
        let settings = load(&text, Vec::new()).unwrap();
        let names = ["spiffe://x.y/Acme.Desk".to_owned()];
        assert!(settings.identities().unwrap().caller(&names).is_some());
    }

    #[test]
    fn what_does_not_go_together_is_named() {
        let jwt = |line: &str| format!("operators = [\"acme\"]\n{JWT}{line}\n");
        for (text, word) in [
            ("operators = [\"ACME\"]".to_owned(), "ACME"),
            (JWT.to_owned(), "operators"),
            ("[jwt]\njwks = \"keys.json\"".to_owned(), "jwt.issuer"),
            (jwt("role_claim = \"\""), "jwt.role_claim"),
            (jwt("clock_skew_seconds = 301"), "jwt.clock_skew_seconds"),
            (jwt("refresh_seconds = 0"), "jwt.refresh_seconds"),
            (jwt("keep_seconds = 0"), "jwt.keep_seconds"),
            (jwt("keep_seconds = 299"), "jwt.refresh_seconds"),
            (jwt("keep_seconds = 604801"), "jwt.keep_seconds"),
            (format!("token_file = \"tokens\"\n{JWT}"), "operators"),
            (format!("{TLS}{JWT}[identities]\nx = \"acme\""), "operators"),
            (jwt("secret = \"x\""), "secret"),
            ("[identities]\nx = \"acme:player\"".to_owned(), "identities"),
            ("[identities]\nx = \"acme\"".to_owned(), "tls.client_certificates"),
            ("insecure = true\ntoken_file = \"tokens\"".to_owned(), "insecure"),
            ("admin_token_file = \"a\"".to_owned(), "token_file"),
        ] {
            let error = load(&text, Vec::new()).unwrap_err().to_string();
            assert!(error.contains(word), "{text:?}: {error}");
        }
    }
}
