//! Bearer tokens that an issuer has signed (JWT), verified with the keys that he publishes (JWKS).
//!
//! The algorithm is the key's, never the token's: a token names one of those that its key may verify, or it is refused. What
//! is wrong with a token is said in the log (level debug) and to nobody else.

pub mod claims;
pub mod fetch;
pub mod keys;
pub mod published;
mod recent;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde_json::Value;
use tables::OperatorId;
use tokio::sync::watch;
use tokio::time::Instant;

use self::claims::{ClaimNames, Claims};
use self::keys::ALGORITHMS;
use self::published::{Missing, Published, Reading};
use self::recent::Recent;
use super::Caller;
use super::credentials::Stranger;
use crate::grpc::layers::counting::Counting;

/// A longer token is not looked at.
pub const LONGEST: usize = 8 * 1024;

/// Which tokens are taken.
#[derive(Clone, Debug)]
pub struct JwtSettings {
    /// Who has to have issued them: `iss`.
    pub issuer: String,
    /// Whom they have to be for: one of `aud`.
    pub audience: String,
    /// The keys.
    pub reading: Reading,
    /// By how much the issuer's clock and the server's may differ.
    pub skew: Duration,
    /// How the claims are called.
    pub claims: ClaimNames,
}

/// Who verifies tokens.
#[derive(Debug)]
pub struct Verifier {
    settings: JwtSettings,
    named: BTreeSet<OperatorId>,
    published: Arc<Published>,
    recent: Recent,
}

impl Verifier {
    /// One for the tokens of these operators.
    #[must_use]
    pub fn new(
        settings: JwtSettings,
        named: BTreeSet<OperatorId>,
        counting: Option<Arc<dyn Counting>>,
    ) -> Verifier {
        let published = Arc::new(Published::new(settings.reading.clone(), counting));
        Verifier { settings, named, published, recent: Recent::default() }
    }

    /// Reads the keys, and has them read again and again until `stop`. Returns when they were read once, well or not: a
    /// server is not held up by an issuer who is away.
    pub async fn begin(&self, stop: watch::Receiver<bool>) {
        tokio::spawn(Arc::clone(&self.published).run(stop));
        self.published.begun().await;
    }

    /// Whether a token may be one of these: it has three parts.
    #[must_use]
    pub fn looks_right(token: &str) -> bool {
        token.bytes().filter(|byte| *byte == b'.').count() == 2
    }

    /// Whose token it is.
    ///
    /// # Errors
    /// [`Stranger`]
    pub async fn caller(&self, token: &str) -> Result<Caller, Stranger> {
        if token.len() > LONGEST {
            return Err(refused("it is too long"));
        }
        let digest = recent::digest(token);
        if let Some(caller) =
            self.published.held().and_then(|held| self.recent.find(&digest, held.generation))
        {
            return Ok(caller);
        }
        let header = decode_header(token).map_err(|_| refused("its header"))?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(refused("its algorithm"));
        }
        let id = header.kid.ok_or_else(|| refused("it names no key"))?;
        let held = self.published.with(&id).await.map_err(|missing| match missing {
            Missing::Unknown => refused("its key is not known"),
            Missing::Away => Stranger::KeysAway,
        })?;
        let key = held.keys.find(&id).filter(|key| key.fits(header.alg));
        let key = key.ok_or_else(|| refused("its algorithm is not its key's"))?;
        let decoded = decode::<Claims>(token, &key.decoding, &self.validation(header.alg));
        let claims = decoded.map_err(|error| refused(&error.to_string()))?.claims;
        let mut caller = self.bearer(&claims).map_err(refused)?;
        let left = left(&claims);
        // One that is good for ages has no end.
        caller.until = Instant::now().checked_add(left.saturating_add(self.settings.skew));
        self.recent.keep(digest, held.generation, left, &caller);
        Ok(caller)
    }

    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = self.settings.skew.as_secs();
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_audience(&[&self.settings.audience]);
        validation
    }

    fn bearer(&self, claims: &Claims) -> Result<Caller, &'static str> {
        // A list of issuers is none: it would hold if one of them were right.
        if claims.get("iss").and_then(Value::as_str) != Some(&self.settings.issuer) {
            return Err("its issuer");
        }
        claims::caller(claims, &self.settings.claims, &self.named)
    }
}

/// For how long the token is still good, clocks that differ not counted.
fn left(claims: &Claims) -> Duration {
    let now = Duration::from_secs(jsonwebtoken::get_current_timestamp());
    // A second may have parts, too.
    let end = claims.get("exp").and_then(|end| match end.as_u64() {
        Some(whole) => Some(Duration::from_secs(whole)),
        None => Duration::try_from_secs_f64(end.as_f64()?).ok(),
    });
    end.unwrap_or_default().saturating_sub(now)
}

fn refused(why: &str) -> Stranger {
    tracing::debug!(why, "a JWT is refused");
    Stranger::Unknown
}
