//! Every call of the contract against every kind of credentials, over a real socket. The calls come from the descriptors, and
//! so do the requests: a new call is in it without an edit. What is allowed is read from the page for people, which a test
//! of its own holds against the table in the program.

use std::collections::BTreeMap;
use std::time::Duration;

use fulcrum::grpc::{ServeConfig, Tokens};
use fulcrum::pb::v1;
use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::{Algorithm, Header, get_current_timestamp};
use prost::Message;
use serde_json::json;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::super::harness::operators::{ALPHA, two_operators};
use super::super::harness::payments::{park, parked};
use super::super::harness::raw::Line;
use super::super::harness::{Caller, House, Setup, in_time, texas};
use super::super::hostile::contract::{Call, calls};
use super::fill::{Real, is_about_a_player, names_something};
use super::issuer::{SigningKey, claims, forged, keys, player, published, takes, with};

const ROOT: &str = "root-0123456789abcdef";
const ROLES: [&str; 5] = ["operator", "player", "support", "auditor", "administrator"];

/// A house with a table of `alpha` in the middle of a hand, and what there is to ask for.
struct Scene {
    house: House,
    alpha: Caller,
    real: Real,
    _file: tempfile::NamedTempFile,
}

/// Everything of `alpha` that a call could have changed.
#[derive(Debug, PartialEq)]
struct Mark {
    table: v1::Table,
    tables: usize,
    records: usize,
    consumers: Vec<v1::Consumer>,
    parked: Vec<v1::Transaction>,
    stops: Vec<v1::Disabled>,
}

impl Scene {
    async fn set() -> Scene {
        let (file, source) = published(&[&keys().0]);
        let administrators = Some(Tokens::read(&format!("root {ROOT}\n")).unwrap());
        let heartbeat = Duration::from_millis(100);
        let tokens = two_operators().tokens;
        let config = ServeConfig { tokens, administrators, heartbeat, ..takes(source) };
        let house = House::with(Setup { config, ..Setup::default() }).await;
        let mut alpha = house.caller_with(ALPHA).await;
        let long = v1::Clocks { action: Some(seconds(60)), ..texas().clocks.unwrap_or_default() };
        let table = alpha.table_of(v1::TableConfig { clocks: Some(long), ..texas() }, &["ann", "bob"]).await;
        let mut eyes = alpha.watch(&table, "").await;
        let begun = alpha.begin(&table).await;
        let turn = eyes.turn_after(begun).await;
        let settlement = alpha.records(&table).await.remove(0).settlement_id;
        let position = alpha.first_delivery("books", &table).await.position;
        park(&house, "alpha", &table, true).await;
        let transaction = parked(&mut alpha).await.remove(0).transaction_id;
        let (player, consumer) = ("ann".to_owned(), "books".to_owned());
        let (hand, turn, eyes) = (turn.hand_number, turn.number, true);
        let whole = false;
        let real =
            Real { table, hand, turn, player, settlement, transaction, consumer, position, eyes, whole };
        Scene { house, alpha, real, _file: file }
    }

    async fn mark(&mut self) -> Mark {
        let table = self.real.table.clone();
        let states = vec![1, 2, 3, 4];
        let list = v1::ListTablesRequest { page_size: 500, states, ..Default::default() };
        let tables = in_time(self.alpha.tables.list_tables(list)).await.expect("a list").into_inner().tables;
        let consumers = self.alpha.settlements.list_consumers(v1::ListConsumersRequest::default());
        let consumers = in_time(consumers).await.expect("a list").into_inner().consumers;
        let stops = self.alpha.control.list_disabled(v1::ListDisabledRequest::default());
        let stops = in_time(stops).await.expect("a list").into_inner().disabled;
        Mark {
            table: self.alpha.table(&table, "ann").await,
            tables: tables.len(),
            records: self.alpha.records(&table).await.len(),
            // Read a moment later they are a moment older.
            consumers: consumers
                .into_iter()
                .map(|c| v1::Consumer { name: c.name, position: c.position, ..Default::default() })
                .collect(),
            parked: parked(&mut self.alpha).await,
            stops,
        }
    }
}

fn seconds(seconds: i64) -> prost_types::Duration {
    prost_types::Duration { seconds, nanos: 0 }
}

/// How a call with these credentials ended: its code, and its reason or the bytes of its answer.
#[derive(Debug)]
struct Ended {
    code: Code,
    reason: String,
    answer: Vec<u8>,
}

impl Ended {
    fn of(answer: Result<impl AsRef<[u8]>, Status>) -> Ended {
        match answer {
            Ok(bytes) => Ended { code: Code::Ok, reason: "OK".into(), answer: bytes.as_ref().to_vec() },
            Err(status) => {
                let reason = status.get_details_error_info().map(|info| info.reason);
                let answer = [status.message().as_bytes(), status.details()].concat();
                Ended { code: status.code(), reason: reason.unwrap_or_default(), answer }
            }
        }
    }

    fn is(&self, code: Code, reason: &str) -> bool {
        self.code == code && self.reason == reason
    }

    /// Whether the credentials were good enough for the call itself to be looked at.
    fn let_in(&self) -> bool {
        let outside = [
            "UNAUTHENTICATED",
            "ROLE_NOT_ALLOWED",
            "NOT_FOR_ADMINISTRATORS",
            "NOT_YOUR_PLAYER",
            "SPECTATOR_ONLY",
        ];
        !outside.contains(&self.reason.as_str()) && self.code != Code::Unauthenticated
    }

    fn shows(&self, what: &str) -> bool {
        self.answer.windows(what.len()).any(|part| part == what.as_bytes())
    }
}

/// Credentials that are good for nothing.
fn wrong() -> Vec<(&'static str, Option<String>)> {
    let (key, other) = keys();
    let good = || claims("alpha", "operator");
    let now = get_current_timestamp();
    let header = |alg: &str| json!({"alg": alg, "kid": key.id});
    let hmac = |secret: &[u8], message: &[u8]| {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret).unwrap();
        mac.update(message);
        mac.finalize().into_bytes().to_vec()
    };
    let pem = key.public_pem.as_bytes();
    let hs384 = Header { kid: Some(key.id.clone()), ..Header::new(Algorithm::ES256) };
    let mut no_end = good();
    no_end.as_object_mut().unwrap().remove("exp");
    let tokens = [
        ("garbage", "garbage".to_owned()),
        ("three parts of garbage", "a.b.c".to_owned()),
        ("another's static token", format!("{ALPHA}0")),
        ("expired", key.sign(&with(good(), "exp", json!(now - 60)))),
        ("not yet good", key.sign(&with(good(), "nbf", json!(now + 60)))),
        ("without an end", key.sign(&no_end)),
        ("wrong audience", key.sign(&with(good(), "aud", json!("other")))),
        ("wrong issuer", key.sign(&with(good(), "iss", json!("https://evil.example")))),
        ("another key's", other.sign(&good())),
        ("unknown key", SigningKey::new("k9", Algorithm::ES256).sign(&good())),
        ("alg none", forged(&header("none"), &good(), |_| Vec::new())),
        ("HS256 by public key", forged(&header("HS256"), &good(), |message| hmac(pem, message))),
        ("ES256 by public key", forged(&header("ES256"), &good(), |message| hmac(pem, message))),
        ("operator not served", key.sign(&claims("gamma", "operator"))),
        ("role of nobody", key.sign_under(&hs384, &claims("alpha", "owner"))),
        ("administrator by claim", key.sign(&claims("alpha", "administrator"))),
        ("player without a name", key.sign(&claims("alpha", "player"))),
    ];
    let none = ("none", None);
    [none].into_iter().chain(tokens.map(|(name, token)| (name, Some(token)))).collect()
}

/// The token of a role of this operator.
fn token_of(role: &str, operator: &str, own: &str) -> String {
    match role {
        "administrator" => ROOT.to_owned(),
        "player" => keys().0.sign(&player(operator, own)),
        role => keys().0.sign(&claims(operator, role)),
    }
}

/// Which roles may make each call, as `deploy/access.md` says.
fn rights() -> BTreeMap<String, Vec<&'static str>> {
    let page = include_str!("../../../deploy/access.md");
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let call = cells.next()?.trim_matches('`').replace('.', "/");
        let roles = ROLES.into_iter().zip(cells).filter_map(|(role, cell)| (cell == "x").then_some(role));
        Some((format!("/fulcrum.v1.{call}"), roles.collect()))
    };
    page.lines().filter(|line| line.starts_with("| `") && line.contains("Service.")).filter_map(row).collect()
}

/// The cells, to be looked at with `--nocapture`.
#[derive(Default)]
struct Matrix {
    cells: usize,
    rows: BTreeMap<String, Vec<String>>,
}

impl Matrix {
    fn note(&mut self, call: &Call, column: &str, ended: &Ended) {
        self.cells += 1;
        self.rows.entry(call.path.clone()).or_default().push(format!("{column}: {}", ended.reason));
    }
}

async fn ask(house: &House, token: Option<&str>, calls: &[Call], real: &Real) -> Vec<(Call, Ended)> {
    let mut line = Line::open(house.address, token).await;
    let mut all = Vec::new();
    for call in calls {
        let request = real.request(&call.input).encode_to_vec();
        all.push((call.clone(), Ended::of(in_time(line.first(&call.path, request)).await)));
    }
    all
}

#[tokio::test]
async fn every_call_against_every_kind_of_credentials() {
    let mut scene = Scene::set().await;
    let (calls, rights, mut matrix) = (calls(), rights(), Matrix::default());
    let before = scene.mark().await;
    let may = |call: &Call, role: &str| rights.get(&call.path).is_some_and(|roles| roles.contains(&role));

    for (name, token) in wrong() {
        for (call, ended) in ask(&scene.house, token.as_deref(), &calls, &scene.real).await {
            assert!(ended.is(Code::Unauthenticated, "UNAUTHENTICATED"), "{} {name}: {ended:?}", call.path);
            matrix.note(&call, name, &ended);
        }
    }
    for role in ROLES {
        let token = token_of(role, "alpha", "bob");
        let refused: Vec<Call> = calls.iter().filter(|call| !may(call, role)).cloned().collect();
        let wanted = if role == "administrator" { "NOT_FOR_ADMINISTRATORS" } else { "ROLE_NOT_ALLOWED" };
        for (call, ended) in ask(&scene.house, Some(&token), &refused, &scene.real).await {
            assert!(ended.is(Code::PermissionDenied, wanted), "{} {role}: {ended:?}", call.path);
            matrix.note(&call, role, &ended);
        }
    }
    // A player of the same operator, who asks for ann; and those who see no player's cards.
    let about: Vec<Call> = calls.iter().filter(|call| is_about_a_player(&call.input)).cloned().collect();
    for (role, wanted) in
        [("player", "NOT_YOUR_PLAYER"), ("support", "SPECTATOR_ONLY"), ("auditor", "SPECTATOR_ONLY")]
    {
        let eyes = |call: &Call| role == "player" || call.input.get_field_by_name("viewer").is_some();
        let asked: Vec<Call> = about.iter().filter(|call| may(call, role) && eyes(call)).cloned().collect();
        assert!(asked.len() >= 2, "{role} asks for nothing");
        for (call, ended) in
            ask(&scene.house, Some(&token_of(role, "alpha", "bob")), &asked, &scene.real).await
        {
            assert!(ended.is(Code::PermissionDenied, wanted), "{} {role}: {ended:?}", call.path);
            matrix.note(&call, &format!("{role} for ann"), &ended);
        }
    }
    others(&scene, &calls, may, &mut matrix).await;
    assert_eq!(scene.mark().await, before, "nothing of alpha's has changed");
    allowed(&scene, &calls, may, &mut matrix).await;

    for (call, cells) in &matrix.rows {
        println!("{call}\n    {}", cells.join("; "));
    }
    println!("{} cells of {} calls", matrix.cells, calls.len());
    assert!(calls.len() >= 36 && matrix.cells >= calls.len() * 25, "{} cells only", matrix.cells);
    scene.house.close().await;
}

/// The same requests with the credentials of another operator, for whom none of it is there.
async fn others(scene: &Scene, calls: &[Call], may: impl Fn(&Call, &str) -> bool, matrix: &mut Matrix) {
    for role in ["operator", "player", "support", "auditor"] {
        // A player of the same name, and nobody's eyes for those who have none.
        let real = Real { eyes: ["operator", "player"].contains(&role), ..scene.real.clone() };
        let token = token_of(role, "beta", "ann");
        let asked: Vec<Call> = calls.iter().filter(|call| may(call, role)).cloned().collect();
        for (call, ended) in ask(&scene.house, Some(&token), &asked, &real).await {
            let list = call.name.starts_with("List");
            if names_something(&call.input) && !list {
                assert_eq!(ended.code, Code::NotFound, "{} {role} of beta: {ended:?}", call.path);
            }
            assert!(ended.let_in(), "{} {role} of beta: {ended:?}", call.path);
            for secret in [&scene.real.table, &scene.real.settlement, &scene.real.transaction] {
                assert!(!ended.shows(secret), "{} {role} of beta sees {secret}", call.path);
            }
            matrix.note(&call, &format!("{role} of beta"), &ended);
        }
    }
}

/// What is let in, and looked up, and cannot be done at a table in the middle of its first hand.
const NOT_NOW: [(&str, &str); 7] = [
    ("ShowCards", "NOTHING_TO_SHOW"),
    ("SelectPivot", "NO_PIVOT_DUE"),
    ("EnableScope", "NOT_DISABLED"),
    ("UpdateTable", "HAND_RUNNING"),
    ("ResumeTable", "NOT_STOPPED"),
    ("SeatPlayer", "ALREADY_SEATED"),
    ("SitIn", "NOT_SITTING_OUT"),
];

/// Who may is let in, and what he asks is done: a test in which everybody is refused would show nothing. What changes
/// something is asked at a table of its own.
async fn allowed(scene: &Scene, calls: &[Call], may: impl Fn(&Call, &str) -> bool, matrix: &mut Matrix) {
    let reads = |call: &Call| ["Get", "List", "Watch"].iter().any(|word| call.name.starts_with(word));
    for role in ROLES {
        let (changing, reading): (Vec<Call>, Vec<Call>) =
            calls.iter().filter(|call| may(call, role)).cloned().partition(|call| !reads(call));
        let mut all = as_role(scene, role, &reading).await;
        for call in changing {
            let own = Scene::set().await;
            all.extend(as_role(&own, role, &[call]).await);
            own.house.close().await;
        }
        for (call, ended) in all {
            let not_now = NOT_NOW.iter().find(|(name, _)| *name == call.name);
            let wanted = not_now.map_or("OK", |(_, reason)| *reason);
            assert_eq!(ended.reason, wanted, "{} {role}: {ended:?}", call.path);
            matrix.note(&call, role, &ended);
        }
    }
}

/// How these calls end for somebody of alpha's who may make them.
async fn as_role(scene: &Scene, role: &str, calls: &[Call]) -> Vec<(Call, Ended)> {
    let (eyes, whole) = (["operator", "player"].contains(&role), role == "administrator");
    let real = Real { eyes, whole, ..scene.real.clone() };
    ask(&scene.house, Some(&token_of(role, "alpha", "ann")), calls, &real).await
}
