//! Which tokens of an issuer are taken, and which are not.

use fulcrum::grpc::{ServeConfig, Tokens};
use fulcrum::pb::v1;
use jsonwebtoken::{Algorithm, Header, get_current_timestamp};
use serde_json::{Value, json};
use tables::OperatorId;

use super::super::harness::operators::ALPHA;
use super::super::harness::{House, Setup, reason};
use super::issuer::{ISSUER, SigningKey, claims, forged, keys, player, published, takes, text, with};

async fn call(house: &House, token: &str) -> String {
    let mut caller = house.caller_with(token).await;
    match caller.tables.list_tables(v1::ListTablesRequest::default()).await {
        Ok(_) => "OK".into(),
        Err(status) => reason(&status),
    }
}

async fn house(keys: &[&SigningKey]) -> (House, tempfile::NamedTempFile) {
    let (file, source) = published(keys);
    (House::with(Setup { config: takes(source), ..Setup::default() }).await, file)
}

#[tokio::test]
async fn each_algorithm_that_is_taken_is() {
    let algorithms = [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA];
    let keys: Vec<SigningKey> =
        algorithms.iter().map(|algorithm| SigningKey::new(&format!("{algorithm:?}"), *algorithm)).collect();
    let (house, _file) = house(&keys.iter().collect::<Vec<_>>()).await;
    for key in &keys {
        assert_eq!(call(&house, &key.sign(&claims("alpha", "operator"))).await, "OK", "{}", key.id);
        for other in &keys {
            // Signed by this one, under the name of that one.
            let header = Header { kid: Some(other.id.clone()), ..Header::new(key.algorithm) };
            let token = key.sign_under(&header, &claims("alpha", "operator"));
            let wanted = if key.id == other.id { "OK" } else { "UNAUTHENTICATED" };
            assert_eq!(call(&house, &token).await, wanted, "{} as {}", key.id, other.id);
        }
    }
    // What the key is published for holds: RS256 with a key for PS256 is refused.
    let rsa = &keys[0];
    let longer = Header { kid: Some(rsa.id.clone()), ..Header::new(Algorithm::RS512) };
    assert_eq!(call(&house, &rsa.sign_under(&longer, &claims("alpha", "operator"))).await, "UNAUTHENTICATED");
    let other = Header { kid: Some(rsa.id.clone()), ..Header::new(Algorithm::PS256) };
    assert_eq!(call(&house, &rsa.sign_under(&other, &claims("alpha", "operator"))).await, "UNAUTHENTICATED");
    house.close().await;
}

/// The claims of a good token but for one.
fn without(name: &str) -> Value {
    let mut claims = claims("alpha", "operator");
    claims.as_object_mut().unwrap().remove(name);
    claims
}

#[tokio::test]
async fn what_is_good_enough_is_taken() {
    let (key, _) = keys();
    let (house, _file) = house(&[key]).await;
    let good = || claims("alpha", "operator");
    let now = get_current_timestamp();
    let fine: Vec<Value> = vec![
        good(),
        with(good(), "aud", json!(["other", "fulcrum"])),
        // Clocks may differ by 30 s.
        with(good(), "exp", json!(now - 20)),
        with(good(), "nbf", json!(now + 20)),
        // The end may be far away and have parts of a second.
        with(good(), "exp", json!(u64::MAX)),
        with(good(), "exp", json!(now as f64 + 600.5)),
        without("nbf"),
        without("sub"),
        with(good(), "role", json!("support")),
        with(good(), "role", json!("auditor")),
    ];
    for claims in fine {
        assert_eq!(call(&house, &key.sign(&claims)).await, "OK", "{claims}");
    }
    house.close().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_token_is_not_put_up_with() {
    let (key, other) = keys();
    let (house, _file) = house(&[key]).await;
    let good = || claims("alpha", "operator");
    let now = get_current_timestamp();
    let wrong: Vec<Value> = vec![
        with(good(), "exp", json!(now - 40)),
        with(good(), "exp", json!((now + 600).to_string())),
        with(good(), "exp", json!(null)),
        without("exp"),
        with(good(), "nbf", json!(now + 50)),
        with(good(), "nbf", json!("soon")),
        with(good(), "iss", json!("https://id.casino.example")),
        with(good(), "iss", json!([ISSUER, "https://evil.example"])),
        without("iss"),
        with(good(), "aud", json!("Fulcrum")),
        with(good(), "aud", json!(["other"])),
        without("aud"),
        with(good(), "operator", json!("gamma")),
        without("operator"),
        without("role"),
        with(good(), "role", json!("administrator")),
        with(good(), "role", json!("player")),
        with(good(), "player", json!("ann")),
        json!([]),
    ];
    for claims in wrong {
        assert_eq!(call(&house, &key.sign(&claims)).await, "UNAUTHENTICATED", "{claims}");
    }
    let header = |change: fn(&mut Header)| {
        let mut header = Header { kid: Some(key.id.clone()), ..Header::new(key.algorithm) };
        change(&mut header);
        key.sign_under(&header, &good())
    };
    let es256 = json!({"alg": "ES256", "kid": key.id});
    let whole = key.sign(&good());
    let (message, signature) = whole.rsplit_once('.').unwrap();
    let tokens = [
        other.sign(&good()),
        header(|header| header.kid = None),
        header(|header| header.kid = Some("k9".into())),
        header(|header| header.crit = Some(vec!["exp".into()])),
        forged(&json!({"alg": "none", "kid": key.id}), &good(), |_| Vec::new()),
        forged(&json!({"alg": "none"}), &good(), |_| Vec::new()),
        forged(&es256, &good(), |_| Vec::new()),
        forged(&es256, &good(), |_| vec![0; 64]),
        format!("{message}."),
        format!("{message}.{signature}x"),
        format!("{whole}.{signature}"),
        format!(".{}", &whole[1..]),
        key.sign(&with(good(), "more", json!("x".repeat(9_000)))),
    ];
    for token in tokens {
        assert_eq!(call(&house, &token).await, "UNAUTHENTICATED", "{token}");
    }
    assert_eq!(call(&house, &whole).await, "OK");
    house.close().await;
}

/// Whoever knows the public key, which is everybody, must not be able to sign with it as if it were a secret.
#[tokio::test]
async fn a_public_key_is_no_secret() {
    use hmac::{Hmac, KeyInit, Mac};
    let key = SigningKey::new("rsa", Algorithm::RS256);
    let (house, _file) = house(&[&key]).await;
    let secrets = [key.public_pem.clone().into_bytes(), key.public.to_string().into_bytes()];
    for secret in secrets {
        for algorithm in ["HS256", "RS256"] {
            let header = json!({"alg": algorithm, "kid": "rsa"});
            let token = forged(&header, &claims("alpha", "operator"), |message| {
                let mut mac = Hmac::<sha2::Sha256>::new_from_slice(&secret).unwrap();
                mac.update(message);
                mac.finalize().into_bytes().to_vec()
            });
            assert_eq!(call(&house, &token).await, "UNAUTHENTICATED");
        }
    }
    house.close().await;
}

#[tokio::test]
async fn tokens_of_a_file_and_of_an_issuer_go_together() {
    let (key, _) = keys();
    let (_file, source) = published(&[key]);
    let tokens = Tokens::read(&format!("alpha {ALPHA}\nbeta three.part.token-of-a-file\n")).unwrap();
    let operators = vec![OperatorId::new("alpha").expect("a name")];
    let config = ServeConfig { tokens: Some(tokens), operators, ..takes(source) };
    let house = House::with(Setup { config, ..Setup::default() }).await;
    assert_eq!(call(&house, ALPHA).await, "OK");
    assert_eq!(call(&house, "three.part.token-of-a-file").await, "OK", "a dot makes no JWT");
    assert_eq!(call(&house, &key.sign(&claims("alpha", "operator"))).await, "OK");
    assert_eq!(call(&house, &key.sign(&player("alpha", "ann"))).await, "ROLE_NOT_ALLOWED", "a player");
    // Nobody has said that the issuer speaks for beta, who has a token of his own.
    assert_eq!(call(&house, &key.sign(&claims("beta", "operator"))).await, "UNAUTHENTICATED");
    assert_eq!(call(&house, &key.sign(&claims("gamma", "operator"))).await, "UNAUTHENTICATED");
    assert_eq!(call(&house, &format!("{}.b.c", text(b"{}"))).await, "UNAUTHENTICATED");
    house.close().await;
}
