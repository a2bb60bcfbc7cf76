//! A published set of keys (JWKS): which of them may verify which tokens.

use std::collections::BTreeMap;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// The algorithms by which tokens may be signed. With a secret (HS256 and its kin) whoever can check a token could make
/// one, and a public key could pass for the secret.
pub const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA];

/// A shorter modulus, in bytes, is not safe.
const SHORTEST_MODULUS: usize = 256;
/// More keys than any issuer publishes.
const MOST_KEYS: usize = 64;

/// The keys of a set that can be used, by their ids.
#[derive(Debug)]
pub struct Keys(BTreeMap<String, Key>);

/// A key, and what it may verify.
#[derive(Debug)]
pub struct Key {
    /// The key.
    pub decoding: DecodingKey,
    algorithms: Vec<Algorithm>,
}

impl Key {
    /// Whether a token that is signed so may be verified by this key.
    #[must_use]
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        self.algorithms.contains(&algorithm)
    }
}

/// Why a set of keys cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeysFault {
    /// It is no set of keys.
    #[error("it is no JWKS: an object with a list `keys` is wanted")]
    Shape,
    /// There are more than anybody needs.
    #[error("there are more than {MOST_KEYS} keys in it")]
    Many,
    /// No key in it is of use.
    #[error(
        "there is no key in it that can be used: RSA of 2048 bits or more (RS256, PS256), P-256 (ES256) or Ed25519 (EdDSA), \
         with a `kid`, for signatures, without its private part"
    )]
    None,
    /// It is not clear which of two keys an id means.
    #[error("two keys in it have the same `kid`")]
    Twice,
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

impl Keys {
    /// Reads a set. Keys for other purposes, of other kinds and without an id are left out, and so are those whose private
    /// part is published with them: whoever reads the set could sign with these.
    ///
    /// # Errors
    /// [`KeysFault`]
    pub fn read(text: &[u8]) -> Result<Keys, KeysFault> {
        let set: Set = serde_json::from_slice(text).map_err(|_| KeysFault::Shape)?;
        if set.keys.len() > MOST_KEYS {
            return Err(KeysFault::Many);
        }
        let mut keys = BTreeMap::new();
        for key in set.keys {
            let told = key.get("d").is_some();
            let read = Some(key).filter(|_| !told).and_then(|key| serde_json::from_value(key).ok());
            let Some((id, key)) = read.and_then(usable) else {
                continue;
            };
            if keys.insert(id, key).is_some() {
                return Err(KeysFault::Twice);
            }
        }
        if keys.is_empty() { Err(KeysFault::None) } else { Ok(Keys(keys)) }
    }

    /// The key of this id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Key> {
        self.0.get(id)
    }

    /// The ids of all keys.
    #[must_use]
    pub fn ids(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

fn usable(jwk: Jwk) -> Option<(String, Key)> {
    let id = jwk.common.key_id.clone().filter(|id| !id.is_empty())?;
    let signs = matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature));
    let operations = jwk.common.key_operations.as_ref();
    if !signs || operations.is_some_and(|all| !all.contains(&KeyOperations::Verify)) {
        return None;
    }
    let of_kind: &[Algorithm] = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => &[Algorithm::RS256, Algorithm::PS256],
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P256 => &[Algorithm::ES256],
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => {
            &[Algorithm::EdDSA]
        }
        _ => return None,
    };
    let declared = |algorithm: &Algorithm| {
        jwk.common.key_algorithm.is_none_or(|declared| declared == KeyAlgorithm::from(*algorithm))
    };
    let algorithms: Vec<Algorithm> = of_kind.iter().copied().filter(declared).collect();
    let decoding = DecodingKey::from_jwk(&jwk).ok()?;
    let whole = match (decoding.kind(), of_kind) {
        (DecodingKeyKind::RsaModulusExponent { n, e }, _) => {
            let zeros = n.iter().take_while(|byte| **byte == 0).count();
            n.len() - zeros >= SHORTEST_MODULUS && !e.is_empty()
        }
        (DecodingKeyKind::SecretOrDer(bytes), [Algorithm::ES256]) => bytes.len() == 65,
        (DecodingKeyKind::SecretOrDer(bytes), _) => bytes.len() == 32,
    };
    (whole && !algorithms.is_empty()).then_some((id, Key { decoding, algorithms }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const X: &str = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4";
    const Y: &str = "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM";
    const ED: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    fn ec(id: &str) -> Value {
        json!({"kty": "EC", "crv": "P-256", "kid": id, "x": X, "y": Y})
    }

    fn with(mut key: Value, name: &str, value: Value) -> Value {
        key[name] = value;
        key
    }

    fn read(keys: &[Value]) -> Result<Keys, KeysFault> {
        Keys::read(json!({ "keys": keys }).to_string().as_bytes())
    }

    #[test]
    fn keys_are_known_by_their_ids_and_verify_what_they_are_made_for() {
        let ed = json!({"kty": "OKP", "crv": "Ed25519", "kid": "b", "x": ED, "use": "sig"});
        let rsa = |id: &str| json!({"kty": "RSA", "kid": id, "n": "z".repeat(341) + "w", "e": "AQAB"});
        let keys = read(&[ec("a"), ed, rsa("c"), with(rsa("d"), "alg", json!("PS256"))]).unwrap();
        assert_eq!(keys.ids(), ["a", "b", "c", "d"]);
        let fits = |id: &str| {
            let key = keys.find(id).unwrap();
            ALGORITHMS.iter().copied().filter(|algorithm| key.fits(*algorithm)).collect::<Vec<_>>()
        };
        assert_eq!(fits("a"), [Algorithm::ES256]);
        assert_eq!(fits("b"), [Algorithm::EdDSA]);
        assert_eq!(fits("c"), [Algorithm::RS256, Algorithm::PS256]);
        assert_eq!(fits("d"), [Algorithm::PS256]);
        assert!(keys.find("e").is_none());
    }

    #[test]
    fn keys_that_are_not_for_this_are_left_out() {
        let others = [
            json!({"kty": "oct", "kid": "x", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}),
            json!({"kty": "RSA", "kid": "x", "n": "z".repeat(169) + "w", "e": "AQAB"}),
            json!({"kty": "EC", "crv": "P-384", "kid": "x", "x": X, "y": Y}),
            json!({"kty": "EC", "crv": "P-256", "kid": "x", "x": ED, "y": "AQAB"}),
            json!({"kty": "OKP", "crv": "X25519", "kid": "x", "x": ED}),
            json!({"kty": "OKP", "crv": "Ed25519", "kid": "x", "x": "AQAB"}),
            with(ec("x"), "use", json!("enc")),
            with(ec("x"), "key_ops", json!(["sign"])),
            with(ec("x"), "alg", json!("ES384")),
            with(ec("x"), "kid", json!("")),
            with(ec("x"), "d", json!(ED)),
            json!({"kty": "EC", "crv": "P-256", "x": X, "y": Y}),
            json!(7),
        ];
        for other in others {
            assert_eq!(read(&[ec("a"), other.clone()]).unwrap().ids(), ["a"], "{other}");
            assert_eq!(read(std::slice::from_ref(&other)).unwrap_err(), KeysFault::None, "{other}");
        }
    }

    #[test]
    fn a_set_that_is_none_is_refused_as_a_whole() {
        for text in ["", "[]", "{}", "{\"keys\": 7}", "<html>"] {
            assert_eq!(Keys::read(text.as_bytes()).unwrap_err(), KeysFault::Shape, "{text}");
        }
        assert_eq!(read(&[]).unwrap_err(), KeysFault::None);
        assert_eq!(read(&[ec("a"), ec("a")]).unwrap_err(), KeysFault::Twice);
        let many: Vec<Value> = (0..65).map(|number| ec(&number.to_string())).collect();
        assert_eq!(read(&many).unwrap_err(), KeysFault::Many);
    }
}
