//! The issuer's keys change, and he is away for a while; in a file, over HTTP and over HTTPS.

use std::sync::Arc;
use std::time::Duration;

use fulcrum::grpc::{KeySource, ServeConfig};
use fulcrum::pb::v1;
use jsonwebtoken::Algorithm;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;
use tonic::{Code, Status};

use super::super::harness::{House, PATIENCE, Setup, reason};
use super::issuer::{Publisher, SigningKey, claims, jwks, keys, published, takes};

async fn house(config: ServeConfig) -> House {
    House::with(Setup { config, ..Setup::default() }).await
}

/// What becomes of a call with this token: `OK`, or a reason.
async fn call(house: &House, token: &str) -> String {
    let mut caller = house.caller_with(token).await;
    match caller.tables.list_tables(v1::ListTablesRequest::default()).await {
        Ok(_) => "OK".into(),
        Err(status) => reason(&status),
    }
}

/// Waits until calls with this token end so.
async fn becomes(house: &House, token: &str, wanted: &str) {
    let from = Instant::now();
    loop {
        let found = call(house, token).await;
        if found == wanted {
            return;
        }
        assert!(from.elapsed() < PATIENCE, "{found} for ever, instead of {wanted}");
        sleep(Duration::from_millis(20)).await;
    }
}

fn token(key: &SigningKey) -> String {
    key.sign(&claims("alpha", "operator"))
}

fn often(mut config: ServeConfig, kept: Duration) -> ServeConfig {
    let jwt = config.jwt.as_mut().expect("tokens of an issuer");
    (jwt.reading.every, jwt.reading.kept) = (Duration::from_millis(50), kept);
    config
}

#[tokio::test]
async fn a_token_with_a_new_key_has_the_keys_read_and_those_with_the_old_one_end() {
    let (old, _) = keys();
    let new = SigningKey::new("k2", Algorithm::EdDSA);
    let publisher = Publisher::open(jwks(&[old]), None).await;
    let house = house(takes(publisher.source())).await;
    assert_eq!((call(&house, &token(old)).await.as_str(), publisher.asked()), ("OK", 1));
    // Both for a while, then the new one alone: as rotations go.
    publisher.publish(jwks(&[old, &new]));
    assert_eq!(call(&house, &token(&new)).await, "OK", "at the first call");
    assert_eq!((call(&house, &token(old)).await.as_str(), publisher.asked()), ("OK", 2));
    house.close().await;
}

#[tokio::test]
async fn a_key_that_is_not_published_any_more_ends_at_once_for_tokens_that_were_just_taken() {
    let (old, _) = keys();
    let new = SigningKey::new("k2", Algorithm::ES256);
    let publisher = Publisher::open(jwks(&[old]), None).await;
    let house = house(takes(publisher.source())).await;
    let before = token(old);
    assert_eq!(call(&house, &before).await, "OK");
    publisher.publish(jwks(&[&new]));
    assert_eq!(call(&house, &token(&new)).await, "OK");
    assert_eq!(call(&house, &before).await, "UNAUTHENTICATED");
    house.close().await;
}

#[tokio::test]
async fn tokens_with_unknown_keys_do_not_have_the_keys_read_again_and_again() {
    let (known, _) = keys();
    let publisher = Publisher::open(jwks(&[known]), None).await;
    let house = house(takes(publisher.source())).await;
    let unknown: Vec<SigningKey> =
        (0..40).map(|number| SigningKey::new(&format!("no-{number}"), Algorithm::ES256)).collect();
    let calls = unknown.iter().map(|key| {
        let (house, token) = (&house, token(key));
        async move { call(house, &token).await }
    });
    for found in futures_util::future::join_all(calls).await {
        assert_eq!(found, "UNAUTHENTICATED");
    }
    assert_eq!(call(&house, &token(&unknown[0])).await, "UNAUTHENTICATED");
    assert_eq!(publisher.asked(), 2, "at the start, and once for all of them");
    assert_eq!(call(&house, &token(known)).await, "OK");
    house.close().await;
}

#[tokio::test]
async fn keys_hold_for_a_while_if_they_cannot_be_read_and_then_no_longer() {
    let (key, _) = keys();
    let publisher = Publisher::open(jwks(&[key]), None).await;
    let house = house(often(takes(publisher.source()), Duration::from_secs(3))).await;
    assert_eq!(call(&house, &token(key)).await, "OK");
    publisher.fail();
    let (from, asked) = (Instant::now(), publisher.asked());
    while publisher.asked() < asked + 3 {
        sleep(Duration::from_millis(5)).await;
    }
    let found = call(&house, &token(key)).await;
    assert!(found == "OK" || from.elapsed() > Duration::from_secs(2), "{found}");
    becomes(&house, &token(key), "KEYS_UNAVAILABLE").await;
    assert!(from.elapsed() >= Duration::from_millis(2_900), "{:?}", from.elapsed());
    publisher.publish(jwks(&[key]));
    becomes(&house, &token(key), "OK").await;
    // What is no set of keys is not taken for one.
    publisher.publish("<html>".into());
    becomes(&house, &token(key), "KEYS_UNAVAILABLE").await;
    house.close().await;
}

#[tokio::test]
async fn a_server_starts_without_its_issuer_and_takes_his_tokens_when_he_is_there() {
    let (key, _) = keys();
    let publisher = Publisher::open(String::new(), None).await;
    publisher.fail();
    let house = house(often(takes(publisher.source()), Duration::from_secs(60))).await;
    let mut caller = house.caller_with(&token(key)).await;
    let status: Status = caller.tables.list_tables(v1::ListTablesRequest::default()).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::Unavailable, "KEYS_UNAVAILABLE"));
    publisher.publish(jwks(&[key]));
    becomes(&house, &token(key), "OK").await;
    house.close().await;
}

#[tokio::test]
async fn no_redirection_is_followed_and_no_endless_answer_read() {
    let (key, _) = keys();
    let other = Publisher::open(jwks(&[key]), None).await;
    let publisher = Publisher::open(String::new(), None).await;
    publisher.redirect(format!("http://{}/jwks.json", other.address));
    let house = house(often(takes(publisher.source()), Duration::from_secs(60))).await;
    assert_eq!(call(&house, &token(key)).await, "KEYS_UNAVAILABLE");
    assert_eq!(other.asked(), 0);
    publisher.publish(format!("{}{}", jwks(&[key]), " ".repeat(300 * 1024)));
    sleep(Duration::from_millis(200)).await;
    assert_eq!(call(&house, &token(key)).await, "KEYS_UNAVAILABLE");
    publisher.publish(jwks(&[key]));
    becomes(&house, &token(key), "OK").await;
    house.close().await;
}

#[tokio::test]
async fn keys_in_a_file_are_read_again() {
    let (old, _) = keys();
    let new = SigningKey::new("k2", Algorithm::ES256);
    let (file, source) = published(&[old]);
    let house = house(often(takes(source), Duration::from_secs(60))).await;
    assert_eq!(call(&house, &token(old)).await, "OK");
    std::fs::write(file.path(), jwks(&[&new])).expect("other keys");
    becomes(&house, &token(&new), "OK").await;
    assert_eq!(call(&house, &token(old)).await, "UNAUTHENTICATED");
    house.close().await;
}

/// An authority, and what a server of this machine shows that it has signed.
fn authority() -> (String, TlsAcceptor) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let pair = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".into()]).unwrap();
    let certificate = params.signed_by(&pair, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(pair.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
    (authority.pem(), TlsAcceptor::from(Arc::new(config)))
}

#[tokio::test]
async fn over_https_the_issuers_server_has_to_be_the_right_one() {
    let (key, _) = keys();
    let (pem, tls) = authority();
    let publisher = Publisher::open(jwks(&[key]), Some(tls)).await;
    let url = format!("https://{}/jwks.json", publisher.address);
    for (trusted, wanted) in
        [(Some(pem), "OK"), (Some(authority().0), "KEYS_UNAVAILABLE"), (None, "KEYS_UNAVAILABLE")]
    {
        let source = KeySource::new(&url, trusted.as_deref().map(str::as_bytes)).expect("a source");
        let house = house(takes(source)).await;
        assert_eq!(call(&house, &token(key)).await, wanted);
        house.close().await;
    }
}
