//! Soft stops (rules 9.4) at two servers on one Redis: what one has answered holds at the other, and one that dies leaves
//! nothing half done.

use std::path::PathBuf;
use std::time::Duration;

use fulcrum::pb::v1;
use fulcrum::pb::v1::action_service_client::ActionServiceClient;
use fulcrum::pb::v1::control_service_client::ControlServiceClient;
use tempfile::TempDir;
use tonic::transport::{Channel, Endpoint};
use tonic_types::StatusExt;
use v1::DisabledState::{Active, Lifting};

use crate::child::Server;
use crate::redis::{key_file, seat, start};
use crate::servers;
use crate::spectator::{Seen, duel, open_table, read, watch_until};

/// So many tables that a sweep is not over by the time that an answer has been read.
const TABLES: usize = 40;

fn channel(address: &str) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy()
}

fn control(address: &str) -> ControlServiceClient<Channel> {
    ControlServiceClient::new(channel(address))
}

fn request_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// All tables of the operator.
fn scope() -> Option<v1::Scope> {
    let of = v1::scope::Scope::Operator(v1::OperatorScope::default());
    Some(v1::Scope { scope: Some(of) })
}

fn words() -> (String, String) {
    ("licence check".to_owned(), "risk desk".to_owned())
}

fn disabling() -> v1::DisableScopeRequest {
    let (reason, requester) = words();
    v1::DisableScopeRequest { request_id: request_id(), scope: scope(), reason, requester }
}

fn enabling() -> v1::EnableScopeRequest {
    let (reason, requester) = words();
    v1::EnableScopeRequest { request_id: request_id(), scope: scope(), reason, requester }
}

/// What this server says of the operator's stop.
async fn state(server: &Server) -> Option<v1::DisabledState> {
    let list = control(&server.address).list_disabled(v1::ListDisabledRequest::default()).await;
    list.unwrap().into_inner().disabled.first().map(v1::Disabled::state)
}

async fn until_state(server: &Server, wanted: Option<v1::DisabledState>) {
    let wait = async {
        while state(server).await != wanted {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(crate::child::LONG, wait).await.unwrap_or_else(|_| panic!("it is never {wanted:?}"));
}

/// Tables, and the Redis that they are in.
struct Ground {
    keys: PathBuf,
    redis: servers::Server,
    _folder: TempDir,
}

impl Ground {
    fn new() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        Ground { keys: key_file(folder.path()), redis: servers::Server::start(), _folder: folder }
    }

    fn server(&self) -> Server {
        start(&self.redis, &self.keys)
    }
}

#[tokio::test]
async fn r9_4_what_one_server_has_stopped_begins_at_no_other_one() {
    let ground = Ground::new();
    let (first, second) = (ground.server(), ground.server());
    let game = v1::TableConfig { game: v1::Game::TexasHoldem.into(), seats: 3, ..duel(20_000) };
    let table = open_table(&first.address, game).await;
    let mut seen = Seen::default();
    watch_until(&second.address, &table, &mut seen, |seen| seen.sequence == 1).await;
    for player in ["mia", "leo"] {
        seat(&first.address, &table, player).await.unwrap();
    }
    watch_until(&second.address, &table, &mut seen, |seen| seen.hand == 1 && seen.turn.is_some()).await;

    control(&first.address).disable_scope(disabling()).await.unwrap();
    let refused = seat(&second.address, &table, "eve").await.unwrap_err();
    let details = refused.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo: {refused:?}"));
    assert_eq!((info.reason.as_str(), info.metadata["reason"].as_str()), ("SCOPE_DISABLED", "licence check"));
    // Without the stop the next hand would begin at once.
    fold(&second, &table, seen.turn.as_ref().unwrap()).await;
    watch_until(&second.address, &table, &mut seen, |seen| seen.settled == 1 && seen.stopped == 1).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let now = read(&second.address, &table).await;
    assert_eq!((now.version, now.state(), now.seats.len()), (seen.sequence, v1::TableState::Paused, 2));

    control(&first.address).enable_scope(enabling()).await.unwrap();
    watch_until(&second.address, &table, &mut seen, |seen| seen.hand == 2).await;
    seat(&second.address, &table, "eve").await.unwrap();
}

/// The player whose turn it is folds.
async fn fold(server: &Server, table: &str, turn: &v1::Turn) {
    let seats = read(&server.address, table).await.seats;
    let player = seats.into_iter().find(|seat| seat.seat == turn.seats[0]).unwrap().player_id;
    let request = v1::ActRequest {
        request_id: request_id(),
        table_id: table.to_owned(),
        hand_number: turn.hand_number,
        turn: turn.number,
        player_id: player,
        action: v1::Action::Fold.into(),
        to: 0,
    };
    ActionServiceClient::new(channel(&server.address)).act(request).await.unwrap();
}

/// When a server dies that was to stop tables, or to lift that.
#[derive(Clone, Copy, PartialEq)]
enum Dies {
    /// When the change is made and not yet answered.
    Before,
    /// At the answer, after which it would sweep the tables.
    AtTheAnswer,
}

/// The server makes the change, which another one shows as this state, and dies.
async fn dies<T, E>(
    server: Server,
    dies: Dies,
    change: impl Future<Output = Result<T, E>> + Send + 'static,
    (other, shown): (&Server, v1::DisabledState),
) where
    T: Send + 'static,
    E: std::fmt::Debug + Send + 'static,
{
    let call = tokio::spawn(change);
    if dies == Dies::Before {
        until_state(other, Some(shown)).await;
        server.process.kill();
        assert!(call.await.unwrap().is_err(), "it was answered first");
    } else {
        call.await.unwrap().unwrap();
        server.process.kill();
    }
}

async fn a_server_dies(when: Dies) {
    let ground = Ground::new();
    let survivor = ground.server();
    let mut tables = Vec::new();
    for _ in 0..TABLES {
        tables.push(open_table(&survivor.address, duel(20_000)).await);
    }
    let server = ground.server();
    let mut client = control(&server.address);
    let change = async move { client.disable_scope(disabling()).await };
    dies(server, when, change, (&survivor, Active)).await;
    for table in &tables {
        until_stops(&survivor, table, &[v1::StopScope::Operator]).await;
    }

    let server = ground.server();
    let mut client = control(&server.address);
    let change = async move { client.enable_scope(enabling()).await };
    dies(server, when, change, (&survivor, Lifting)).await;
    until_state(&survivor, None).await;
    for table in &tables {
        assert_eq!(stops(&survivor, table).await, []);
    }
}

async fn stops(server: &Server, table: &str) -> Vec<v1::StopScope> {
    read(&server.address, table).await.stops.iter().map(v1::Stop::scope).collect()
}

async fn until_stops(server: &Server, table: &str, wanted: &[v1::StopScope]) {
    let wait = async {
        while stops(server, table).await != wanted {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(crate::child::LONG, wait).await.expect("the tables are swept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r9_4_who_dies_before_or_at_his_answer_is_finished_by_another_server() {
    let both = [Dies::Before, Dies::AtTheAnswer].map(|when| tokio::spawn(a_server_dies(when)));
    for one in both {
        one.await.unwrap();
    }
}
