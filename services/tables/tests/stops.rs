//! Soft stops (rules 9.4) in paused time: what is stopped begins nowhere, shows on tables, and goes on when it is lifted,
//! in whatever order processes see it, fail and die.

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::faulty::Faulty;
use common::purse::{Purse, courier};
use common::*;
use rules::event::StopScope;
use rules::{Ask, Event, Game, Millis};
use tables::stops::{
    Act, Author, MOST_STOPS, Order, Scope, Shelf, StopChange, StopEntry, StopError, StopState, sweep,
};
use tables::{Answered, Clock, MemoryStore, PlayError, Store, StoreError, TableKey, Tables, Token};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// A process: its tables, its clocks, its sweeps.
struct Process {
    tables: Tables,
    _stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Process {
    fn start(store: &Arc<Faulty>) -> Process {
        let tables = tables(Arc::<Faulty>::clone(store));
        let (stop, shutdown) = watch::channel(false);
        let tasks = vec![
            tokio::spawn(tables::clocks::run(tables.clone(), shutdown.clone())),
            tokio::spawn(sweep::run(tables.clone(), vec![operator()], shutdown)),
        ];
        Process { tables, _stop: stop, tasks }
    }

    /// Ends it as a kill does.
    fn kill(self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// A store that several processes use, whose commits are two seconds on their way at most.
fn shared() -> Arc<Faulty> {
    let store = alone();
    store.shared.store(2000, Ordering::SeqCst);
    store
}

fn alone() -> Arc<Faulty> {
    let clock = RuntimeClock::start();
    Faulty::new(Arc::new(MemoryStore::new(clock as Arc<dyn Clock>)))
}

fn order(number: u128, scope: &Scope) -> Order {
    let (reason, requester) = ("audit".to_owned(), "risk desk".to_owned());
    let author = Author::Operator(operator());
    Order { author, scope: scope.clone(), reason, requester, request: request(number) }
}

fn by_administrator(order: Order) -> Order {
    Order { author: Author::Administrator(operator()), ..order }
}

fn text(entry: &StopEntry) -> Vec<u8> {
    format!("{} since {}", entry.scope.word(), entry.since.0).into_bytes()
}

async fn disable(tables: &Tables, number: u128, scope: &Scope) -> Result<Answered, StopError> {
    tables.disable(&order(number, scope), &text).await
}

async fn enable(tables: &Tables, number: u128, scope: &Scope) -> Result<Answered, StopError> {
    tables.enable(&order(number, scope), &text).await
}

fn every_scope_of_tables() -> Vec<Scope> {
    vec![
        Scope::Service,
        Scope::Operator(operator()),
        Scope::Game(None, Game::TexasHoldem),
        Scope::Game(Some(operator()), Game::TexasHoldem),
    ]
}

async fn two_players(tables: &Tables, number: u128) -> TableKey {
    let key = open(tables, number).await;
    for name in ["ann", "bob"] {
        ask(tables, &key, sit(name)).await.unwrap();
    }
    key
}

async fn hands(tables: &Tables, key: &TableKey) -> u64 {
    tables.read(key).await.unwrap().hands
}

async fn stops(tables: &Tables, key: &TableKey) -> Vec<(StopScope, String)> {
    let table = tables.read(key).await.unwrap();
    table.stops.iter().map(|stop| (stop.scope, stop.reason.clone())).collect()
}

async fn scope_of_refusal(refused: Result<Answered, PlayError>) -> String {
    match refused {
        Err(PlayError::Disabled { scope, reason }) => format!("{scope}: {reason}"),
        other => panic!("{other:?}"),
    }
}

/// Who waits for his turn at a busy table longer than he may go by what he knows of stops looks again, and is judged by what
/// is stopped then.
#[tokio::test(start_paused = true)]
async fn who_waits_long_for_his_turn_is_judged_by_what_is_stopped_then() {
    for stopped in [false, true] {
        let store = alone();
        let (tables, elsewhere) =
            (tables(Arc::<Faulty>::clone(&store) as Arc<dyn Store>), tables(Arc::<Faulty>::clone(&store)));
        let key = two_players(&tables, 1).await;
        let busy = |wanted: Ask| {
            let (tables, key) = (tables.clone(), key.clone());
            tokio::spawn(async move { ask(&tables, &key, wanted).await })
        };
        store.gate.forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
        // Each of them is given up on after a while.
        let before = [busy(wish("ann", true)), busy(wish("bob", true))];
        sleep(Duration::from_millis(10)).await;
        let waits = busy(sit("eve"));
        sleep(Duration::from_millis(10)).await;
        let stopping = tokio::spawn(async move {
            if stopped {
                disable(&elsewhere, 2, &Scope::Operator(operator())).await.unwrap();
            }
        });
        sleep(Duration::from_millis(1500)).await;
        assert!(before.iter().all(JoinHandle::is_finished) && waits.is_finished() == stopped);
        store.gate.add_permits(tokio::sync::Semaphore::MAX_PERMITS);
        let seated = waits.await.unwrap();
        stopping.await.unwrap();
        match stopped {
            false => assert!(seated.is_ok(), "{seated:?}"),
            true => assert_eq!(scope_of_refusal(seated).await, "OPERATOR: audit"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_scope_begins_nothing_shows_why_and_goes_on_when_lifted() {
    for scope in every_scope_of_tables() {
        let store = alone();
        let process = Process::start(&store);
        let tables = &process.tables;
        let key = two_players(tables, 1).await;
        sleep(Duration::from_secs(4)).await;
        assert_eq!(hands(tables, &key).await, 1, "a hand runs");
        disable(tables, 2, &scope).await.unwrap();
        let shown = scope.on_table(Game::TexasHoldem).unwrap();
        sleep(Duration::from_secs(1)).await;
        assert_eq!(stops(tables, &key).await, [(shown, "audit".to_owned())], "{scope:?}");
        assert!(tables.read(&key).await.unwrap().running_hand().is_some(), "the running hand goes on");
        let refused = ask(tables, &key, sit("eve")).await;
        assert_eq!(scope_of_refusal(refused).await, format!("{}: audit", scope.word()));
        let chips = Ask::AddChips { player: player("ann"), amount: rules::Chips(1), transaction: "x".into() };
        assert!(matches!(ask(tables, &key, chips).await, Err(PlayError::Disabled { .. })));
        sleep(Duration::from_secs(600)).await;
        let table = tables.read(&key).await.unwrap();
        assert!(table.hands == 1 && table.running_hand().is_none(), "ended, and no other one began");
        ask(tables, &key, stand_up("ann")).await.unwrap();
        enable(tables, 3, &scope).await.unwrap();
        ask(tables, &key, sit("ann")).await.unwrap();
        sleep(Duration::from_secs(5)).await;
        assert_eq!(stops(tables, &key).await, []);
        assert_eq!(hands(tables, &key).await, 2, "{scope:?}: play goes on");
        assert!(tables.stops(&scope.shelf()).await.unwrap().entries.is_empty(), "nothing is left over");
    }
}

#[tokio::test(start_paused = true)]
async fn another_game_and_another_operator_play_on() {
    let store = alone();
    let process = Process::start(&store);
    let tables = &process.tables;
    let key = two_players(tables, 1).await;
    let other = tables::OperatorId::new("other").unwrap();
    disable(tables, 2, &Scope::Game(Some(operator()), Game::DoubleHoldem)).await.unwrap();
    let order = by_administrator(order(3, &Scope::Operator(other)));
    tables.disable(&order, &text).await.unwrap();
    sleep(Duration::from_secs(4)).await;
    assert_eq!((hands(tables, &key).await, stops(tables, &key).await), (1, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_player_is_not_dealt_in_and_may_leave() {
    let store = alone();
    let process = Process::start(&store);
    let tables = &process.tables;
    let key = two_players(tables, 1).await;
    ask(tables, &key, sit("eve")).await.unwrap();
    let scope = Scope::Player(operator(), player("bob"));
    disable(tables, 2, &scope).await.unwrap();
    sleep(Duration::from_secs(4)).await;
    let table = tables.read(&key).await.unwrap();
    let bob = table.seat_of(&player("bob")).unwrap();
    assert_eq!(table.seat(bob).unwrap().stopped, "audit");
    assert!(table.running_hand().is_some() && !table.in_running_hand(bob), "the others play without him");
    let chips = Ask::AddChips { player: player("bob"), amount: rules::Chips(1), transaction: "x".into() };
    assert_eq!(scope_of_refusal(ask(tables, &key, chips).await).await, "PLAYER: audit");
    ask(tables, &key, stand_up("bob")).await.unwrap();
    assert_eq!(scope_of_refusal(ask(tables, &key, sit("bob")).await).await, "PLAYER: audit");
    let chips = Ask::AddChips { player: player("ann"), amount: rules::Chips(1), transaction: "y".into() };
    ask(tables, &key, chips).await.unwrap();
    enable(tables, 3, &scope).await.unwrap();
    ask(tables, &key, sit("bob")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_other_process_begins_a_hand_or_seats_anybody_after_the_answer() {
    // At each moment of the other's copy, and of a hand that comes due around the answer.
    for offset in (0..1500).step_by(125) {
        let store = shared();
        let (a, b) = (Process::start(&store), Process::start(&store));
        let key = two_players(&b.tables, 1).await;
        a.kill_clocks();
        sleep(Duration::from_millis(offset)).await;
        let a = &a.tables;
        disable(a, 2, &Scope::Operator(operator())).await.unwrap();
        let answered = hands(a, &key).await;
        let seated = ask(&b.tables, &key, sit("eve")).await;
        assert!(matches!(seated, Err(PlayError::Disabled { .. })), "{offset}: {seated:?}");
        sleep(Duration::from_secs(300)).await;
        assert_eq!(hands(a, &key).await, answered, "{offset}");
        assert_eq!(stops(a, &key).await.len(), 1, "{offset}");
    }
}

impl Process {
    fn kill_clocks(&self) {
        self.tasks[0].abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_on_its_way_is_done_before_the_answer() {
    let store = shared();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let begun = Instant::now();
    disable(&tables, 1, &Scope::Service).await.unwrap();
    // The age of a copy, the longest way of a commit, and a margin.
    assert!(begun.elapsed() >= Duration::from_millis(1000 + 2000 + 250), "{:?}", begun.elapsed());
    let begun = Instant::now();
    enable(&tables, 2, &Scope::Service).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(3250));
    let begun = Instant::now();
    assert!(disable(&tables, 1, &Scope::Service).await.unwrap().replayed);
    assert!(begun.elapsed() >= Duration::from_millis(3250), "also a repetition is answered no earlier");
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_while_the_registry_cannot_be_read() {
    let store = shared();
    let process = Process::start(&store);
    let tables = &process.tables;
    let key = two_players(tables, 1).await;
    sleep(Duration::from_millis(900)).await;
    store.stops_down.store(true, Ordering::SeqCst);
    sleep(Duration::from_secs(2)).await;
    let seated = ask(tables, &key, sit("eve")).await;
    assert!(matches!(seated, Err(PlayError::Store(StoreError::Unavailable(_)))), "{seated:?}");
    ask(tables, &key, wish("ann", true)).await.unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(hands(tables, &key).await, 0);
    store.stops_down.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(15)).await;
    assert_eq!(hands(tables, &key).await, 1, "as soon as it can");
}

#[tokio::test(start_paused = true)]
async fn a_copy_serves_many_and_no_longer_than_its_age() {
    let store = shared();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let keys: Vec<TableKey> = {
        let mut keys = Vec::new();
        for number in 1..=5 {
            keys.push(open(&tables, number).await);
        }
        keys
    };
    let read = || store.stops_read.load(Ordering::SeqCst);
    for key in &keys {
        ask(&tables, key, sit("ann")).await.unwrap();
    }
    assert_eq!(read(), 2, "one reading of either shelf for all");
    sleep(Duration::from_millis(1001)).await;
    ask(&tables, &keys[0], sit("bob")).await.unwrap();
    assert_eq!(read(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_that_its_process_does_not_finish_is_finished_by_another() {
    for (number, scope) in (1..).zip(every_scope_of_tables()) {
        let store = shared();
        let a = Process::start(&store);
        let key = two_players(&a.tables, 1).await;
        let tables = a.tables.clone();
        let order = order(number + 1, &scope);
        // Killed between the change and the sweep, once for the stop and once for its lifting.
        let making = tokio::spawn(async move { tables.disable(&order, &text).await });
        sleep(Duration::from_millis(500)).await;
        making.abort();
        a.kill();
        let b = Process::start(&store);
        sleep(Duration::from_secs(12)).await;
        let shown = scope.on_table(Game::TexasHoldem).unwrap();
        assert_eq!(stops(&b.tables, &key).await, [(shown, "audit".to_owned())], "{scope:?}");
        let entry = b.tables.stops(&scope.shelf()).await.unwrap().entries.remove(0);
        assert!(entry.swept && entry.state == StopState::Active, "{entry:?}");
        let tables = b.tables.clone();
        let order = Order { request: request(number + 100), ..self::order(0, &scope) };
        let lifting = tokio::spawn(async move { tables.enable(&order, &text).await });
        sleep(Duration::from_millis(500)).await;
        lifting.abort();
        b.kill();
        let c = Process::start(&store);
        sleep(Duration::from_secs(20)).await;
        assert_eq!(stops(&c.tables, &key).await, [], "{scope:?}");
        assert!(hands(&c.tables, &key).await >= 1, "{scope:?}: play goes on");
        assert!(c.tables.stops(&scope.shelf()).await.unwrap().entries.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_table_that_fails_is_swept_again_until_it_shows() {
    let store = alone();
    let process = Process::start(&store);
    let tables = &process.tables;
    let (well, ill) = (open(tables, 1).await, open(tables, 2).await);
    store.broken.lock().unwrap().insert(ill.clone());
    disable(tables, 3, &Scope::Service).await.unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!((stops(tables, &well).await.len(), stops(tables, &ill).await.len()), (1, 0));
    assert!(!tables.stops(&Shelf::Service).await.unwrap().entries[0].swept);
    store.broken.lock().unwrap().clear();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(stops(tables, &ill).await.len(), 1);
    assert!(tables.stops(&Shelf::Service).await.unwrap().entries[0].swept);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_the_registry_does_not_know_is_lifted_by_the_comparison() {
    let store = alone();
    let before = tables(Arc::<Faulty>::clone(&store));
    let key = two_players(&before, 1).await;
    let lost = Ask::Stop { scope: StopScope::Operator, reason: "lost".to_owned() };
    ask(&before, &key, lost).await.unwrap();
    let own = Ask::Stop { scope: StopScope::Table, reason: "its own".to_owned() };
    ask(&before, &key, own).await.unwrap();
    let process = Process::start(&store);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(stops(&process.tables, &key).await, [(StopScope::Table, "its own".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn operator_and_administrator_have_a_stop_each() {
    let store = alone();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let key = open(&tables, 1).await;
    let scope = Scope::Player(operator(), player("ann"));
    disable(&tables, 2, &scope).await.unwrap();
    let of_administrator = |number| by_administrator(order(number, &scope));
    tables.disable(&of_administrator(3), &text).await.unwrap();
    enable(&tables, 4, &scope).await.unwrap();
    let seated = ask(&tables, &key, sit("ann")).await;
    assert!(matches!(seated, Err(PlayError::Disabled { .. })), "{seated:?}");
    let lifted = enable(&tables, 5, &scope).await;
    assert!(matches!(lifted, Err(StopError::OfAdministrator)), "{lifted:?}");
    tables.enable(&of_administrator(6), &text).await.unwrap();
    ask(&tables, &key, sit("ann")).await.unwrap();
    for number in [7, 8] {
        let order = if number == 7 { order(7, &scope) } else { of_administrator(8) };
        assert!(matches!(tables.enable(&order, &text).await, Err(StopError::NotDisabled)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_is_done_once_and_its_id_is_bound_to_it() {
    let store = alone();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let scope = Scope::Operator(operator());
    store.stops_doubted.store(1, Ordering::SeqCst);
    let first = disable(&tables, 1, &scope).await.unwrap();
    assert!(first.replayed, "the answer was lost, and the record found");
    let again = disable(&tables, 1, &scope).await.unwrap();
    assert_eq!(again.bytes, first.bytes);
    enable(&tables, 2, &scope).await.unwrap();
    assert_eq!(disable(&tables, 1, &scope).await.unwrap().bytes, first.bytes, "whatever happened since");
    let mut other = order(1, &scope);
    other.request.payload = [9; 32];
    let reused = tables.disable(&other, &text).await;
    assert!(matches!(reused, Err(StopError::Play(PlayError::RequestReused))), "{reused:?}");
    let audit = store.inner.stops().audit(&scope.shelf(), None, 10).await.unwrap();
    let acts: Vec<Act> = audit.iter().map(|entry| entry.act).collect();
    assert_eq!(acts, [Act::Enabled, Act::Disabled], "a repetition is nothing new");
    assert!(audit.iter().all(|entry| entry.requester == "risk desk" && entry.at > Millis::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_table_alone_is_stopped_by_itself_with_an_audit() {
    let store = alone();
    let process = Process::start(&store);
    let tables = &process.tables;
    let key = two_players(tables, 1).await;
    let scope = Scope::Table(key.clone());
    disable(tables, 2, &scope).await.unwrap();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(stops(tables, &key).await, [(StopScope::Table, "audit".to_owned())]);
    assert_eq!(hands(tables, &key).await, 0);
    assert_eq!(scope_of_refusal(ask(tables, &key, sit("eve")).await).await, "TABLE: audit");
    ask(tables, &key, Ask::Resume { scope: StopScope::Table }).await.unwrap();
    sleep(Duration::from_secs(10)).await;
    assert_eq!(hands(tables, &key).await, 0, "ResumeTable lifts what PauseTable did");
    assert_eq!(stops(tables, &key).await, [(StopScope::Table, "audit".to_owned())]);
    enable(tables, 3, &scope).await.unwrap();
    ask(tables, &key, sit("eve")).await.unwrap();
    assert!(matches!(enable(tables, 4, &scope).await, Err(StopError::NotDisabled)));
    sleep(Duration::from_secs(4)).await;
    assert_eq!(hands(tables, &key).await, 1);
    let nowhere = TableKey { table: tables::TableId(uuid::Uuid::from_u128(9)), ..key.clone() };
    let missing = disable(tables, 5, &Scope::Table(nowhere)).await;
    assert!(matches!(missing, Err(StopError::Play(PlayError::NotFound))), "{missing:?}");
    let audit = store.inner.stops().audit(&scope.shelf(), None, 10).await.unwrap();
    assert_eq!(audit.len(), 2, "what was refused is not in it: {audit:?}");
    assert!(audit.iter().all(|entry| entry.scope == scope));
}

#[tokio::test(start_paused = true)]
async fn an_operator_has_so_many_stops_and_an_administrator_one_more() {
    let store = alone();
    let tables = tables(Arc::<Faulty>::clone(&store));
    let shelf = Shelf::Operator(operator());
    let full = (0..MOST_STOPS).map(|number| {
        let scope = Scope::Player(operator(), player(&format!("p{number}")));
        StopEntry {
            scope,
            author: Author::Operator(operator()),
            reason: "r".to_owned(),
            requester: "q".to_owned(),
            since: Millis(1),
            changed: Millis(1),
            version: 1,
            state: StopState::Active,
            swept: true,
        }
    });
    let token = Token { version: 1, nonce: 1 };
    let (put, remove) = (full.collect(), Vec::new());
    let filled = StopChange { shelf, expected: None, token, put, remove, audit: None, request: None };
    store.inner.stops().change(&filled).await.unwrap();
    let one_more = Scope::Player(operator(), player("ann"));
    let refused = disable(&tables, 1, &one_more).await;
    assert!(matches!(refused, Err(StopError::TooMany)), "{refused:?}");
    disable(&tables, 2, &Scope::Player(operator(), player("p7"))).await.unwrap();
    tables.disable(&by_administrator(order(3, &one_more)), &text).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn watchers_are_told_of_the_stop_and_of_its_end() {
    let store = alone();
    let process = Process::start(&store);
    let key = two_players(&process.tables, 1).await;
    let mut watcher = process.tables.watch(&key, None).await.unwrap();
    let scope = Scope::Operator(operator());
    disable(&process.tables, 2, &scope).await.unwrap();
    enable(&process.tables, 3, &scope).await.unwrap();
    let mut told = Vec::new();
    while told.len() < 3 {
        if let Some(tables::Message::Commit { events, .. }) = watcher.next().await {
            told.extend(events.iter().filter_map(|event| match event {
                Event::Stopped { scope: StopScope::Operator, reason, .. } => Some(reason.clone()),
                Event::Resumed { scope: StopScope::Operator, .. } => Some("resumed".to_owned()),
                Event::HandStarted(_) => Some("a hand".to_owned()),
                _ => None,
            }));
        }
    }
    assert_eq!(told, ["audit", "resumed", "a hand"]);
}

#[tokio::test(start_paused = true)]
async fn money_that_comes_after_the_stop_goes_back() {
    let store = alone();
    let purse = Purse::held(1000);
    let tables = tables(Arc::<Faulty>::clone(&store)).with_courier(courier(operator(), &purse));
    let key = open(&tables, 1).await;
    let (seating, at) = (tables.clone(), key.clone());
    let seated =
        tokio::spawn(async move { seating.ask(&at, Some(request(7)), None, sit("ann"), &answer).await });
    while purse.balance() == 1000 {
        sleep(Duration::from_millis(10)).await;
    }
    disable(&tables, 2, &Scope::Player(operator(), player("ann"))).await.unwrap();
    purse.replies.add_permits(tokio::sync::Semaphore::MAX_PERMITS);
    assert!(matches!(seated.await.unwrap(), Err(PlayError::WalletNotConfirmed)));
    while !tables.read(&key).await.unwrap().payments.is_empty() {
        sleep(Duration::from_millis(100)).await;
    }
    let table = tables.read(&key).await.unwrap();
    assert_eq!((table.seat_of(&player("ann")), purse.balance()), (None, 1000));
}

/// The wallet's answer waits in the table's line while the player is stopped: what it rests on is too old by its turn.
#[tokio::test(start_paused = true)]
async fn money_that_waits_for_its_turn_during_the_stop_goes_back() {
    let store = shared();
    let purse = Purse::held(1000);
    let tables = tables(Arc::<Faulty>::clone(&store)).with_courier(courier(operator(), &purse));
    let key = open(&tables, 1).await;
    let asked = |number, ask| {
        let (tables, key) = (tables.clone(), key.clone());
        tokio::spawn(async move { tables.ask(&key, Some(request(number)), None, ask, &answer).await })
    };
    let seated = asked(7, sit("ann"));
    while purse.balance() == 1000 {
        sleep(Duration::from_millis(10)).await;
    }
    store.gate.forget_permits(tokio::sync::Semaphore::MAX_PERMITS);
    let stop = || Ask::Stop { scope: StopScope::Table, reason: "slow".to_owned() };
    let line: Vec<_> = (10..17).map(|number| asked(number, stop())).collect();
    sleep(Duration::from_millis(10)).await;
    purse.replies.add_permits(tokio::sync::Semaphore::MAX_PERMITS);
    sleep(Duration::from_millis(10)).await;
    disable(&tables, 2, &Scope::Player(operator(), player("ann"))).await.unwrap();
    assert!(line.iter().any(|waiting| !waiting.is_finished()), "the answer is still behind them");
    store.gate.add_permits(tokio::sync::Semaphore::MAX_PERMITS);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(tables.read(&key).await.unwrap().seat_of(&player("ann")), None);

    let (_stop, shutdown) = watch::channel(false);
    tokio::spawn(tables::clocks::run(tables.clone(), shutdown));
    while !tables.read(&key).await.unwrap().payments.is_empty() {
        sleep(Duration::from_millis(100)).await;
    }
    assert!(matches!(seated.await.unwrap(), Err(PlayError::WalletPending)));
    assert!(matches!(asked(7, sit("ann")).await.unwrap(), Err(PlayError::WalletNotConfirmed)));
    let table = tables.read(&key).await.unwrap();
    assert_eq!((table.seat_of(&player("ann")), purse.balance()), (None, 1000));
}
