//! What callers show of themselves, and who it says they are.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue};
use tables::OperatorId;

use super::certificates::Identities;
use super::jwt::Verifier;
use super::tokens::Tokens;
use super::{Administrator, Caller, Role, developer};
use crate::grpc::serving::peer::PeerIdentity;

/// What a call came with.
#[derive(Debug)]
pub struct Presented {
    /// None, or one; with more of them it is not clear which is meant.
    authorization: Result<Option<HeaderValue>, Stranger>,
    /// The certificate of its connection.
    certificate: Option<Arc<PeerIdentity>>,
}

impl Presented {
    /// Takes a token out of the headers, so that nothing behind this can show it.
    pub fn take(headers: &mut HeaderMap, certificate: Option<Arc<PeerIdentity>>) -> Presented {
        let several = headers.get_all(AUTHORIZATION).iter().nth(1).is_some();
        let first = headers.remove(AUTHORIZATION);
        Presented { authorization: if several { Err(Stranger::Unknown) } else { Ok(first) }, certificate }
    }
}

/// Why it is not known who calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stranger {
    /// There are no credentials, or they are not right; which of the two is not said.
    Unknown,
    /// The keys to verify them with cannot be had at the moment.
    KeysAway,
}

/// How callers are told apart.
#[derive(Debug)]
pub enum Credentials {
    /// By what they show.
    Asked(Box<Known>),
    /// Not at all: everybody is this operator, and an administrator too. For development.
    Everybody(OperatorId),
}

/// What is known to tell callers apart.
#[derive(Debug, Default)]
pub struct Known {
    /// The tokens of operators.
    pub tokens: Option<Tokens>,
    /// The tokens of administrators.
    pub administrators: Option<Tokens>,
    /// Who verifies the tokens of an issuer.
    pub verifier: Option<Verifier>,
    /// Whose certificates there are.
    pub identities: Identities,
}

impl Credentials {
    /// By these; if there is nothing by which an operator could be told, everybody is `dev`.
    #[must_use]
    pub fn new(known: Known) -> Option<Credentials> {
        let asked = known.tokens.is_some() || known.verifier.is_some() || !known.identities.is_empty();
        if asked {
            Some(Credentials::Asked(Box::new(known)))
        } else {
            developer().map(Credentials::Everybody)
        }
    }

    /// Who calls: who the token says, or without any who the certificate says. A token that is wrong is not made good by a
    /// certificate.
    ///
    /// # Errors
    /// [`Stranger`]
    pub async fn caller(&self, presented: Presented) -> Result<Caller, Stranger> {
        let known = match self {
            Credentials::Everybody(developer) => {
                let administrator = Some(Administrator(developer.clone()));
                return Ok(Caller { administrator, ..Caller::of(developer.clone(), Role::Operator) });
            }
            Credentials::Asked(known) => known,
        };
        match presented.authorization? {
            Some(sent) => known.bearer(bearer(&sent).ok_or(Stranger::Unknown)?).await,
            None => presented
                .certificate
                .and_then(|shown| known.identities.caller(&shown.names))
                .ok_or(Stranger::Unknown),
        }
    }
}

impl Known {
    async fn bearer(&self, token: &str) -> Result<Caller, Stranger> {
        // Both are looked at, whichever it is: how long it takes says nothing.
        let named = |tokens: &Option<Tokens>| tokens.as_ref()?.operator(token).cloned();
        let (operator, administrator) = (named(&self.tokens), named(&self.administrators));
        match (operator, administrator, &self.verifier) {
            (Some(operator), ..) => Ok(Caller::of(operator, Role::Operator)),
            (None, Some(administrator), _) => Ok(Caller {
                operator: None,
                role: Role::Administrator,
                subject: None,
                administrator: Some(Administrator(administrator)),
                until: None,
            }),
            (None, None, Some(verifier)) if Verifier::looks_right(token) => verifier.caller(token).await,
            _ => Err(Stranger::Unknown),
        }
    }
}

/// The token of `Bearer <token>`.
fn bearer(header: &HeaderValue) -> Option<&str> {
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "0123456789abcdef";
    const B: &str = "fedcba9876543210";

    fn presented(header: &str) -> Presented {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(header).unwrap());
        let presented = Presented::take(&mut headers, None);
        assert!(headers.is_empty(), "credentials go no further");
        presented
    }

    fn read(text: String) -> Option<Tokens> {
        Some(Tokens::read(&text).unwrap())
    }

    #[tokio::test]
    async fn a_bearer_token_tells_who_calls() {
        let (tokens, administrators) = (read(format!("alpha {A}")), read(format!("root {B}")));
        let credentials = Credentials::new(Known { tokens, administrators, ..Known::default() }).unwrap();
        for header in [format!("Bearer {A}"), format!("bearer  {A} ")] {
            let caller = credentials.caller(presented(&header)).await.unwrap();
            assert_eq!(caller, Caller::of(OperatorId::new("alpha").unwrap(), Role::Operator));
        }
        let caller = credentials.caller(presented(&format!("Bearer {B}"))).await.unwrap();
        assert_eq!((caller.operator, caller.role), (None, Role::Administrator));
        assert_eq!(caller.administrator.unwrap().0.as_str(), "root");
        for wrong in ["Bearer ", "Bearer x", A, &format!("Basic {A}"), &format!("Bearer {A}{A}"), "alpha"] {
            assert_eq!(credentials.caller(presented(wrong)).await, Err(Stranger::Unknown), "{wrong}");
        }
        let nothing = Presented::take(&mut HeaderMap::new(), None);
        assert_eq!(credentials.caller(nothing).await, Err(Stranger::Unknown));
    }

    #[tokio::test]
    async fn a_certificate_counts_where_there_is_no_token() {
        let tokens = read(format!("alpha {A}"));
        let all = [("spiffe://x/beta".to_owned(), "beta:support".to_owned())];
        let identities = Identities::read(all.iter().map(|(name, meaning)| (name, meaning))).unwrap();
        let credentials = Credentials::new(Known { tokens, identities, ..Known::default() }).unwrap();
        let caller = |header: Option<&'static str>, name: &str| {
            let mut headers = HeaderMap::new();
            if let Some(header) = header {
                headers.insert(AUTHORIZATION, HeaderValue::from_static(header));
            }
            let shown = Some(Arc::new(PeerIdentity { names: vec![name.to_owned()], ends: u64::MAX }));
            credentials.caller(Presented::take(&mut headers, shown))
        };
        let beta = caller(None, "spiffe://x/beta").await.unwrap();
        assert_eq!((beta.operator.unwrap().as_str(), beta.role), ("beta", Role::Support));
        assert_eq!(caller(None, "spiffe://x/gamma").await, Err(Stranger::Unknown));
        let alpha = caller(Some("Bearer 0123456789abcdef"), "spiffe://x/beta").await.unwrap();
        assert_eq!(alpha.operator.unwrap().as_str(), "alpha", "the token counts");
        let wrong = caller(Some("Bearer 0123456789abcdeg"), "spiffe://x/beta").await;
        assert_eq!(wrong, Err(Stranger::Unknown), "and is not made good by a certificate");
    }

    #[tokio::test]
    async fn two_tokens_are_none() {
        let tokens = read(format!("alpha {A}\nbeta {B}"));
        let credentials = Credentials::new(Known { tokens, ..Known::default() }).unwrap();
        for others in [A, B, "x"] {
            let mut headers = HeaderMap::new();
            for token in [A, others] {
                headers.append(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
            }
            let presented = Presented::take(&mut headers, None);
            assert!(headers.is_empty(), "none of them goes further");
            assert_eq!(credentials.caller(presented).await, Err(Stranger::Unknown));
        }
    }

    #[tokio::test]
    async fn without_tokens_everybody_is_the_developer() {
        let credentials = Credentials::new(Known::default()).unwrap();
        let caller = credentials.caller(Presented::take(&mut HeaderMap::new(), None)).await.unwrap();
        assert_eq!((caller.operator.unwrap().as_str(), caller.role), ("dev", Role::Operator));
        assert_eq!(caller.administrator.unwrap().0.as_str(), "dev");
    }
}
