//! Who is let in when not everybody can be: the flood of one operator, a full room, empty buckets. Calls are held at the
//! store, so that the room is as full as a test wants it to be, and not as full as it happens to be.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fulcrum::grpc::{Counting, LimitSettings, Rate, ServeConfig};
use fulcrum::pb::v1;
use tables::FeedLimits;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::harness::caller::eyes_of;
use super::harness::gated::{Gate, Gated};
use super::harness::operators::{ALPHA, BETA, two_operators};
use super::harness::{Caller, Eyes, House, Setup, in_time, reason, texas};

/// What was turned away, by class and reason.
#[derive(Default)]
struct Counts(Mutex<BTreeMap<(&'static str, &'static str), usize>>);

impl Counting for Counts {
    fn unary_begun(&self) {}
    fn unary_ended(&self, _: &'static str, _: &'static str, _: Duration) {}
    fn stream_begun(&self, _: &'static str) {}
    fn stream_ended(&self, _: &'static str, _: &'static str) {}
    fn connection_begun(&self) {}
    fn connection_ended(&self, _: &'static str) {}
    fn certificate_ends(&self, _: u64) {}
    fn keys_read(&self, _: bool, _: usize) {}
    fn insecure(&self) {}
    fn shed(&self, class: &'static str, why: &'static str) {
        *self.0.lock().unwrap().entry((class, why)).or_default() += 1;
    }
}

struct Scene {
    house: House,
    store: Arc<Gated>,
    counts: Arc<Counts>,
}

impl Scene {
    async fn open(config: ServeConfig) -> Scene {
        let (store, counts) = (Arc::new(Gated::default()), Arc::new(Counts::default()));
        let config = ServeConfig { counting: Some(Arc::<Counts>::clone(&counts)), ..config };
        let setup = Setup { store: Arc::<Gated>::clone(&store), config, ..Setup::default() };
        Scene { house: House::with(setup).await, store, counts }
    }

    /// Has so many reads of a table wait at the store.
    async fn hold(&self, caller: &Caller, table: &str, reads: usize) -> Held {
        let gate = Arc::new(Semaphore::new(0));
        self.store.loads(Gate::Held(Arc::clone(&gate)));
        let before = self.store.reads();
        let held = (0..reads).map(|_| tokio::spawn(read(caller.clone(), table.to_owned()))).collect();
        in_time(self.store.arrived(before + reads)).await;
        Held { gate, held }
    }

    /// Lets everything through; what was held has its answer.
    async fn release(&self, Held { gate, held }: Held) {
        self.store.loads(Gate::Open);
        gate.add_permits(100_000);
        for read in held {
            in_time(read).await.expect("no panic").expect("an answer");
        }
    }

    fn shed(&self, class: &'static str, why: &'static str) -> usize {
        self.counts.0.lock().unwrap().get(&(class, why)).copied().unwrap_or_default()
    }
}

struct Held {
    gate: Arc<Semaphore>,
    held: Vec<JoinHandle<Result<(), Status>>>,
}

async fn read(mut caller: Caller, table_id: String) -> Result<(), Status> {
    caller.tables.get_table(v1::GetTableRequest { table_id, viewer: None }).await.map(drop)
}

async fn list(caller: &mut Caller) -> Result<(), Status> {
    in_time(caller.tables.list_tables(v1::ListTablesRequest::default())).await.map(drop)
}

async fn watch(caller: &mut Caller, table: &str) -> Result<(), Status> {
    let request = v1::WatchTableRequest { table_id: table.into(), ..Default::default() };
    in_time(caller.tables.watch_table(request)).await.map(drop)
}

/// Plays so many actions; not one may be refused.
async fn play(caller: &mut Caller, eyes: &mut Eyes, table: &str, actions: usize) {
    for _ in 0..actions {
        let turn = eyes.turn_after(0).await;
        let player = ["", "ann", "bob"][turn.seats[0] as usize];
        let free = turn.legal.as_ref().is_some_and(|legal| legal.can_check);
        let action = if free { v1::Action::Check } else { v1::Action::Call };
        let answer = caller.act(table, player, &turn, action, 0).await.expect("play goes on");
        eyes.until(answer.sequence).await;
    }
}

async fn playing(caller: &mut Caller) -> (String, Eyes) {
    let table = caller.table_of(texas(), &["ann", "bob"]).await;
    let mut eyes = caller.watch(&table, "").await;
    let begun = caller.begin(&table).await;
    eyes.turn_after(begun).await;
    (table, eyes)
}

/// What one who is turned away is told: the reason, and when to come again.
fn told(refused: Result<(), Status>) -> (Code, String, Duration) {
    let status = refused.expect_err("he is turned away");
    let retry = status.get_details_retry_info().and_then(|info| info.retry_delay);
    (status.code(), reason(&status), retry.expect("when to come again"))
}

#[tokio::test]
async fn the_flood_of_one_operator_is_his_own_and_the_other_ones_calls_all_pass() {
    let limits = LimitSettings { operator_share: 50, ..LimitSettings::default() };
    let scene = Scene::open(ServeConfig { calls_at_once: 20, limits, ..two_operators() }).await;
    let mut alpha = scene.house.caller_with(ALPHA).await;
    let mut beta = scene.house.caller_with(BETA).await;
    let (flooded, mut alphas_eyes) = playing(&mut alpha).await;
    let (table, mut eyes) = playing(&mut beta).await;

    // Of twenty places ten may be alpha's, and seven of those reads.
    let held = scene.hold(&alpha, &flooded, 7).await;
    for _ in 0..50 {
        let (code, reason, retry) = told(in_time(read(alpha.clone(), flooded.clone())).await);
        assert_eq!((code, reason.as_str()), (Code::ResourceExhausted, "OPERATOR_SHARE"));
        assert!(retry > Duration::ZERO);
        play(&mut beta, &mut eyes, &table, 1).await;
    }
    list(&mut beta).await.expect("the others have room for everything");
    beta.pause(&table).await;
    assert_eq!(told(list(&mut alpha).await).1, "OPERATOR_SHARE");
    play(&mut alpha, &mut alphas_eyes, &flooded, 10).await;
    assert_eq!((scene.shed("read", "operator_share"), scene.shed("cheap", "operator_share")), (50, 1));

    scene.release(held).await;
    list(&mut alpha).await.expect("there is room again");
    scene.house.close().await;
}

#[tokio::test]
async fn in_a_full_room_what_is_cheap_goes_first_and_play_goes_on() {
    let scene = Scene::open(ServeConfig { calls_at_once: 10, ..ServeConfig::default() }).await;
    let mut caller = scene.house.caller().await;
    let (table, mut eyes) = playing(&mut caller).await;
    let busy = (Code::Unavailable, "SERVER_BUSY".to_owned());
    let heard = |refused| {
        let (code, reason, retry) = told(refused);
        assert!((Duration::from_millis(100)..Duration::from_millis(300)).contains(&retry), "{retry:?}");
        (code, reason)
    };

    let five = scene.hold(&caller, &table, 5).await;
    assert_eq!(heard(list(&mut caller).await), busy);
    assert_eq!(heard(watch(&mut caller, &table).await), busy);
    caller.prefer(&table, "ann").await;
    play(&mut caller, &mut eyes, &table, 5).await;

    let two = scene.hold(&caller, &table, 2).await;
    assert_eq!(heard(in_time(read(caller.clone(), table.clone())).await), busy);
    let sequence = caller.prefer(&table, "bob").await;
    eyes.until(sequence).await;
    play(&mut caller, &mut eyes, &table, 20).await;
    assert_eq!((scene.shed("cheap", "full"), scene.shed("read", "full")), (2, 1));
    assert_eq!((scene.shed("change", "full"), scene.shed("play", "full")), (0, 0));

    five.gate.add_permits(100);
    scene.release(two).await;
    scene.release(five).await;
    list(&mut caller).await.expect("there is room again");
    watch(&mut caller, &table).await.expect("for streams, too");
    scene.house.close().await;
}

#[tokio::test]
async fn an_operators_bucket_says_when_it_has_room_and_is_nobody_elses() {
    let limits = LimitSettings { operator: Rate::new(2, 25), ..LimitSettings::default() };
    let scene = Scene::open(ServeConfig { limits, ..two_operators() }).await;
    let mut alpha = scene.house.caller_with(ALPHA).await;
    let mut beta = scene.house.caller_with(BETA).await;
    let (table, mut eyes) = playing(&mut beta).await;
    let mut passed = 0;
    let refused = loop {
        match list(&mut alpha).await {
            Ok(()) => passed += 1,
            refused => break refused,
        }
    };
    assert!(passed >= 50, "a burst is 25 seconds' worth: {passed}");
    let (code, reason, retry) = told(refused);
    assert_eq!((code, reason.as_str()), (Code::ResourceExhausted, "OPERATOR_RATE"));
    assert!(retry <= Duration::from_millis(500), "two a second: {retry:?}");
    play(&mut beta, &mut eyes, &table, 20).await;
    tokio::time::sleep(retry + Duration::from_millis(1)).await;
    list(&mut alpha).await.expect("one has come back");
    assert!(scene.shed("cheap", "operator_rate") >= 1);
    scene.house.close().await;
}

#[tokio::test]
async fn a_players_bucket_is_his_at_whatever_call_he_is_named() {
    let limits = LimitSettings { player: Rate::new(2, 5), ..LimitSettings::default() };
    let scene = Scene::open(ServeConfig { limits, ..two_operators() }).await;
    let mut alpha = scene.house.caller_with(ALPHA).await;
    let mut beta = scene.house.caller_with(BETA).await;
    let (table, other) = (alpha.open_table(texas()).await, beta.open_table(texas()).await);
    for _ in 0..30 {
        alpha.table(&table, "").await;
    }
    let as_ann = v1::GetTableRequest { table_id: table.clone(), viewer: eyes_of("ann") };
    let mut passed = 0;
    let refused = loop {
        match in_time(alpha.tables.get_table(as_ann.clone())).await {
            Ok(_) => passed += 1,
            refused => break refused.map(drop),
        }
    };
    assert!(passed >= 10, "a burst is five seconds' worth: {passed}");
    let (code, reason, retry) = told(refused);
    assert_eq!((code, reason.as_str()), (Code::ResourceExhausted, "PLAYER_RATE"));
    assert!(retry <= Duration::from_millis(500), "two a second: {retry:?}");
    alpha.table(&table, "bob").await;
    beta.table(&other, "ann").await;
    alpha.table(&table, "").await;
    assert_eq!(scene.shed("read", "player_rate"), 1);
    tokio::time::sleep(retry + Duration::from_millis(1)).await;
    alpha.seat(&table, "ann", 0, 5_000).await;
    scene.house.close().await;
}

#[tokio::test]
async fn the_streams_of_one_operator_leave_the_other_his() {
    let counts = Arc::new(Counts::default());
    let config = ServeConfig { counting: Some(Arc::<Counts>::clone(&counts)), ..two_operators() };
    let feed = FeedLimits { watchers_of_an_operator: 3, ..FeedLimits::default() };
    let settings = tables::Settings { feed, ..tables::Settings::default() };
    let house = House::with(Setup { config, settings, ..Setup::default() }).await;
    let mut alpha = house.caller_with(ALPHA).await;
    let mut beta = house.caller_with(BETA).await;
    let (table, other) = (alpha.open_table(texas()).await, beta.open_table(texas()).await);
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(alpha.watch(&table, "").await);
    }
    let (code, reason, _) = told(watch(&mut alpha, &table).await);
    assert_eq!((code, reason.as_str()), (Code::ResourceExhausted, "TOO_MANY_WATCHERS"));
    beta.watch(&other, "").await.next().await.expect("his own");
    assert_eq!(counts.0.lock().unwrap().get(&("cheap", "watchers")), Some(&1));
    for eyes in &mut streams {
        eyes.next().await.expect("those that have begun go on");
    }
    house.close().await;
}
