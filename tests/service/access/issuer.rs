//! An issuer of tokens: keys, what is signed with them, and where they are published.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fulcrum::grpc::{ClaimNames, JwtSettings, KeyReading, KeySource, ServeConfig};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, get_current_timestamp};
use prost::bytes::Bytes;
use rcgen::KeyPair;
use serde_json::{Value, json};
use tables::OperatorId;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub const ISSUER: &str = "https://id.casino.example/";
pub const AUDIENCE: &str = "fulcrum";

/// A key that signs.
pub struct SigningKey {
    pub id: String,
    pub algorithm: Algorithm,
    encoding: EncodingKey,
    /// Its public part, as it is published.
    pub public: Value,
    /// The same as PEM.
    pub public_pem: String,
}

impl SigningKey {
    /// A new key.
    pub fn new(id: &str, algorithm: Algorithm) -> SigningKey {
        let kind = match algorithm {
            Algorithm::ES256 => &rcgen::PKCS_ECDSA_P256_SHA256,
            Algorithm::EdDSA => &rcgen::PKCS_ED25519,
            _ => &rcgen::PKCS_RSA_SHA256,
        };
        let pair = KeyPair::generate_for(kind).expect("a key");
        let (pem, raw) = (pair.serialize_pem(), pair.public_key_raw());
        let (encoding, public) = match algorithm {
            Algorithm::ES256 => {
                let public =
                    json!({"kty": "EC", "crv": "P-256", "x": text(&raw[1..33]), "y": text(&raw[33..])});
                (EncodingKey::from_ec_pem(pem.as_bytes()), public)
            }
            Algorithm::EdDSA => {
                let public = json!({"kty": "OKP", "crv": "Ed25519", "x": text(raw)});
                (EncodingKey::from_ed_pem(pem.as_bytes()), public)
            }
            _ => {
                let encoding = EncodingKey::from_rsa_pem(pem.as_bytes()).expect("an RSA key");
                let public = Jwk::from_encoding_key(&encoding, algorithm).expect("its public part");
                (Ok(encoding), serde_json::to_value(public).expect("JSON"))
            }
        };
        let mut public = public;
        (public["kid"], public["use"]) = (json!(id), json!("sig"));
        let encoding = encoding.expect("a key that signs");
        SigningKey { id: id.into(), algorithm, encoding, public, public_pem: pair.public_key_pem() }
    }

    /// A token with these claims.
    pub fn sign(&self, claims: &Value) -> String {
        self.sign_under(&Header { kid: Some(self.id.clone()), ..Header::new(self.algorithm) }, claims)
    }

    /// A token with this header.
    pub fn sign_under(&self, header: &Header, claims: &Value) -> String {
        encode(header, claims, &self.encoding).expect("a token")
    }
}

/// The key of most tests, and another one that nobody publishes under the same id.
pub fn keys() -> &'static (SigningKey, SigningKey) {
    static KEYS: OnceLock<(SigningKey, SigningKey)> = OnceLock::new();
    KEYS.get_or_init(|| (SigningKey::new("k1", Algorithm::ES256), SigningKey::new("k1", Algorithm::ES256)))
}

/// A set of keys as it is published.
pub fn jwks(keys: &[&SigningKey]) -> String {
    let keys: Vec<&Value> = keys.iter().map(|key| &key.public).collect();
    json!({ "keys": keys }).to_string()
}

/// Bytes as tokens spell them.
pub fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A token whose header and signature are the test's own.
pub fn forged(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let message = format!("{}.{}", text(header.to_string().as_bytes()), text(claims.to_string().as_bytes()));
    let signature = text(&sign(message.as_bytes()));
    format!("{message}.{signature}")
}

/// The claims of a good token of somebody of an operator.
pub fn claims(operator: &str, role: &str) -> Value {
    let now = get_current_timestamp();
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "exp": now + 600, "nbf": now - 1, "sub": format!("{role}-1"),
        "operator": operator, "role": role,
    })
}

/// The claims of a good token of a player.
pub fn player(operator: &str, player: &str) -> Value {
    with(claims(operator, "player"), "player", json!(player))
}

/// The same claims but for one.
pub fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

/// A server that takes the tokens of this issuer for `alpha` and `beta`.
pub fn takes(source: KeySource) -> ServeConfig {
    let reading = KeyReading { source, every: Duration::from_secs(300), kept: Duration::from_secs(3600) };
    let jwt = JwtSettings {
        issuer: ISSUER.into(),
        audience: AUDIENCE.into(),
        reading,
        skew: Duration::from_secs(30),
        claims: ClaimNames::default(),
    };
    let operators = ["alpha", "beta"].map(|name| OperatorId::new(name).expect("a name"));
    ServeConfig { jwt: Some(jwt), operators: operators.to_vec(), ..ServeConfig::default() }
}

/// A file with the keys, which has to outlive the server.
pub fn published(keys: &[&SigningKey]) -> (tempfile::NamedTempFile, KeySource) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), jwks(keys)).expect("the keys");
    let source = KeySource::new(file.path().to_str().expect("a path"), None).expect("a source");
    (file, source)
}

/// A server that publishes keys.
#[derive(Clone)]
pub struct Publisher {
    pub address: SocketAddr,
    answer: Arc<Mutex<Answer>>,
    asked: Arc<AtomicUsize>,
}

/// What it answers: status, body and a place to go to.
#[derive(Clone)]
struct Answer(StatusCode, String, Option<String>);

impl Publisher {
    /// One that publishes this; with TLS, if it is given any.
    pub async fn open(text: String, tls: Option<TlsAcceptor>) -> Publisher {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let publisher = Publisher {
            address: listener.local_addr().expect("an address"),
            answer: Arc::new(Mutex::new(Answer(StatusCode::OK, text, None))),
            asked: Arc::default(),
        };
        tokio::spawn(publisher.clone().run(listener, tls));
        publisher
    }

    async fn run(self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        while let Ok((stream, _)) = listener.accept().await {
            let (publisher, tls) = (self.clone(), tls.clone());
            tokio::spawn(async move {
                // Whoever does not trust the certificate goes away.
                match tls {
                    None => publisher.serve(TokioIo::new(stream)).await,
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            publisher.serve(TokioIo::new(stream)).await;
                        }
                    }
                }
            });
        }
    }

    async fn serve<S: hyper::rt::Read + hyper::rt::Write + Unpin>(self, stream: S) {
        let answer = service_fn(|_: Request<hyper::body::Incoming>| {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let Answer(status, text, place) = self.answer.lock().unwrap().clone();
            let mut response = Response::builder().status(status);
            if let Some(place) = place {
                response = response.header("location", place);
            }
            std::future::ready(Ok::<_, Infallible>(response.body(Full::new(Bytes::from(text))).unwrap()))
        });
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(stream, answer).await;
    }

    /// Publishes something else from now on.
    pub fn publish(&self, text: String) {
        *self.answer.lock().unwrap() = Answer(StatusCode::OK, text, None);
    }

    /// Answers with a fault from now on.
    pub fn fail(&self) {
        *self.answer.lock().unwrap() = Answer(StatusCode::SERVICE_UNAVAILABLE, "later".into(), None);
    }

    /// Sends whoever asks to another place from now on.
    pub fn redirect(&self, place: String) {
        *self.answer.lock().unwrap() = Answer(StatusCode::FOUND, String::new(), Some(place));
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Where the keys are, in the clear.
    pub fn source(&self) -> KeySource {
        KeySource::new(&format!("http://{}/jwks.json", self.address), None).expect("a source")
    }
}
