//! An operator's backend: clients of all services on one connection, and the calls that tests make most.

use std::net::SocketAddr;

use fulcrum::pb::v1;
use fulcrum::pb::v1::action_service_client::ActionServiceClient;
use fulcrum::pb::v1::control_service_client::ControlServiceClient;
use fulcrum::pb::v1::pivot_service_client::PivotServiceClient;
use fulcrum::pb::v1::settlement_service_client::SettlementServiceClient;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use super::{Eyes, Post, in_time, request_id};

/// Puts a token into every call.
#[derive(Clone)]
pub struct Token(Option<MetadataValue<Ascii>>);

impl Interceptor for Token {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// A connection with a token or none.
pub type Wire = InterceptedService<Channel, Token>;

/// Clients of all services.
#[derive(Clone)]
pub struct Caller {
    /// The connection without a token, for services of other packages.
    pub channel: Channel,
    pub tables: TableServiceClient<Wire>,
    pub actions: ActionServiceClient<Wire>,
    pub pivots: PivotServiceClient<Wire>,
    pub settlements: SettlementServiceClient<Wire>,
    pub control: ControlServiceClient<Wire>,
}

impl Caller {
    /// A connection to this address.
    pub async fn connect(address: SocketAddr, token: Option<&str>) -> Caller {
        Caller::connect_with(endpoint(address), token).await
    }

    /// A connection whose streams hold so little that a reader who does not read is noticed soon.
    pub async fn narrow(address: SocketAddr) -> Caller {
        Caller::connect_with(endpoint(address).initial_stream_window_size(1024), None).await
    }

    async fn connect_with(endpoint: Endpoint, token: Option<&str>) -> Caller {
        let channel = in_time(endpoint.connect()).await.expect("a connection");
        let header = token.map(|token| format!("Bearer {token}").parse().expect("a token of ASCII"));
        let wire = InterceptedService::new(channel.clone(), Token(header));
        Caller {
            channel,
            tables: TableServiceClient::new(wire.clone()),
            actions: ActionServiceClient::new(wire.clone()),
            pivots: PivotServiceClient::new(wire.clone()),
            settlements: SettlementServiceClient::new(wire.clone()),
            control: ControlServiceClient::new(wire),
        }
    }

    /// Opens a table and says its id.
    pub async fn open_table(&mut self, config: v1::TableConfig) -> String {
        let request = v1::CreateTableRequest { request_id: request_id(), config: Some(config) };
        let answer = in_time(self.tables.create_table(request)).await.expect("a table");
        answer.into_inner().table_id
    }

    /// Seats a player.
    pub async fn seat(
        &mut self,
        table: &str,
        player: &str,
        seat: u32,
        buy_in: i64,
    ) -> v1::SeatPlayerResponse {
        let request = seat_request(table, player, seat, buy_in);
        in_time(self.tables.seat_player(request)).await.expect("a seat").into_inner()
    }

    /// Opens a table with players in the seats from 1 on, each with 10,000. It is paused, so that nothing starts before
    /// [`Caller::begin`].
    pub async fn table_of(&mut self, config: v1::TableConfig, players: &[&str]) -> String {
        let table = self.open_table(config).await;
        self.pause(&table).await;
        for (seat, player) in (1..).zip(players) {
            self.seat(&table, player, seat, 10_000).await;
        }
        table
    }

    /// Stops a table after the hand.
    pub async fn pause(&mut self, table: &str) {
        let (table_id, reason) = (table.to_owned(), "not yet".to_owned());
        let request =
            v1::PauseTableRequest { request_id: request_id(), table_id, reason, etag: String::new() };
        in_time(self.tables.pause_table(request)).await.expect("a pause");
    }

    /// Lifts the pause; says the version that this made.
    pub async fn begin(&mut self, table: &str) -> u64 {
        let table_id = table.to_owned();
        let request = v1::ResumeTableRequest { request_id: request_id(), table_id, ..Default::default() };
        in_time(self.tables.resume_table(request)).await.expect("no pause").into_inner().sequence
    }

    /// Closes a table.
    pub async fn close_table(&mut self, table: &str) -> v1::CloseTableResponse {
        let table_id = table.to_owned();
        let request = v1::CloseTableRequest { request_id: request_id(), table_id, ..Default::default() };
        in_time(self.tables.close_table(request)).await.expect("closed").into_inner()
    }

    /// Sets a player's wishes: a change that touches nothing else.
    pub async fn prefer(&mut self, table: &str, player: &str) -> u64 {
        let request = v1::SetPreferencesRequest {
            request_id: request_id(),
            table_id: table.into(),
            player_id: player.into(),
            preferences: Some(v1::Preferences { straddle: false, always_show: true }),
            etag: String::new(),
        };
        in_time(self.tables.set_preferences(request)).await.expect("wishes").into_inner().sequence
    }

    /// The table as this viewer sees it; an empty name is a spectator's.
    pub async fn table(&mut self, table: &str, viewer: &str) -> v1::Table {
        let request = v1::GetTableRequest { table_id: table.into(), viewer: eyes_of(viewer) };
        in_time(self.tables.get_table(request)).await.expect("the table").into_inner().table.expect("a table")
    }

    /// Whose turn it is.
    pub async fn turn(&mut self, table: &str, viewer: &str) -> v1::GetTurnResponse {
        let request = v1::GetTurnRequest { table_id: table.into(), viewer: eyes_of(viewer) };
        in_time(self.actions.get_turn(request)).await.expect("the turn").into_inner()
    }

    /// Answers a betting turn.
    pub async fn act(
        &mut self,
        table: &str,
        player: &str,
        turn: &v1::Turn,
        action: v1::Action,
        to: i64,
    ) -> Result<v1::ActResponse, Status> {
        let request = act_request(table, player, turn, action, to);
        Ok(in_time(self.actions.act(request)).await?.into_inner())
    }

    /// Picks a pivot.
    pub async fn pick(
        &mut self,
        table: &str,
        player: &str,
        turn: &v1::Turn,
        card_index: u32,
    ) -> Result<v1::SelectPivotResponse, Status> {
        let request = v1::SelectPivotRequest {
            request_id: request_id(),
            table_id: table.into(),
            hand_number: turn.hand_number,
            turn: turn.number,
            player_id: player.into(),
            card_index: Some(card_index),
        };
        Ok(in_time(self.pivots.select_pivot(request)).await?.into_inner())
    }

    /// Watches a table from now on.
    pub async fn watch(&mut self, table: &str, viewer: &str) -> Eyes {
        self.watch_after(table, viewer, None).await
    }

    /// Watches a table, going on after a sequence.
    pub async fn watch_after(&mut self, table: &str, viewer: &str, after: Option<u64>) -> Eyes {
        let request = v1::WatchTableRequest {
            table_id: table.into(),
            after_sequence: after,
            viewer: eyes_of(viewer),
            ..Default::default()
        };
        Eyes::new(in_time(self.tables.watch_table(request)).await.expect("a stream").into_inner())
    }

    /// Watches a table, going on after the message with this token.
    pub async fn watch_with(&mut self, table: &str, viewer: &str, token: Vec<u8>) -> Result<Eyes, Status> {
        let request = v1::WatchTableRequest {
            table_id: table.into(),
            viewer: eyes_of(viewer),
            resume_token: token,
            ..Default::default()
        };
        Ok(Eyes::new(in_time(self.tables.watch_table(request)).await?.into_inner()))
    }

    /// Streams settlement records to a consumer, from where he left off.
    pub async fn stream(&mut self, consumer: &str) -> Post {
        self.stream_with(stream_request(consumer)).await.expect("a stream")
    }

    /// Streams settlement records as this request says.
    pub async fn stream_with(&mut self, request: v1::StreamSettlementsRequest) -> Result<Post, Status> {
        let stream = in_time(self.settlements.stream_settlements(request)).await?;
        Ok(Post::new(stream.into_inner()))
    }

    /// The oldest record of a table as a consumer gets it; its stream ends.
    pub async fn first_delivery(&mut self, consumer: &str, table: &str) -> v1::DeliveredSettlement {
        let request = v1::StreamSettlementsRequest { table_id: table.into(), ..stream_request(consumer) };
        self.stream_with(request).await.expect("a stream").record().await
    }

    /// Acknowledges all records up to a position.
    pub async fn acknowledge(&mut self, consumer: &str, position: &str) -> Result<v1::Consumer, Status> {
        let request = v1::AckSettlementsRequest { consumer: consumer.into(), position: position.into() };
        let answer = in_time(self.settlements.ack_settlements(request)).await?.into_inner();
        Ok(answer.consumer.expect("the consumer"))
    }

    /// All settlement records of a table, the oldest first.
    pub async fn records(&mut self, table: &str) -> Vec<v1::Settlement> {
        let request =
            v1::ListSettlementsRequest { table_id: table.into(), page_size: 500, ..Default::default() };
        in_time(self.settlements.list_settlements(request)).await.expect("records").into_inner().settlements
    }
}

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::from_shared(format!("http://{address}")).expect("a URI").tcp_nodelay(true)
}

/// The viewer of this name; an empty one is a spectator.
pub fn eyes_of(player: &str) -> Option<v1::Viewer> {
    let kind = match player {
        "" => v1::viewer::Kind::Spectator(v1::Spectator {}),
        name => v1::viewer::Kind::PlayerId(name.into()),
    };
    Some(v1::Viewer { kind: Some(kind) })
}

/// A request for a consumer's stream, from where he left off.
pub fn stream_request(consumer: &str) -> v1::StreamSettlementsRequest {
    v1::StreamSettlementsRequest { consumer: consumer.into(), ..Default::default() }
}

/// A request to leave; the transaction is the operator's that pays, or empty where the service calls his wallet.
pub fn leave_request(table: &str, player: &str, transaction: &str) -> v1::StandUpRequest {
    v1::StandUpRequest {
        request_id: request_id(),
        table_id: table.into(),
        player_id: player.into(),
        transaction_id: transaction.into(),
        etag: String::new(),
    }
}

/// A request for a seat.
pub fn seat_request(table: &str, player: &str, seat: u32, buy_in: i64) -> v1::SeatPlayerRequest {
    v1::SeatPlayerRequest {
        request_id: request_id(),
        table_id: table.into(),
        player_id: player.into(),
        seat,
        buy_in,
        transaction_id: format!("buy-in-{player}"),
        ..Default::default()
    }
}

/// An answer to a betting turn.
pub fn act_request(
    table: &str,
    player: &str,
    turn: &v1::Turn,
    action: v1::Action,
    to: i64,
) -> v1::ActRequest {
    v1::ActRequest {
        request_id: request_id(),
        table_id: table.into(),
        hand_number: turn.hand_number,
        turn: turn.number,
        player_id: player.into(),
        action: action.into(),
        to,
    }
}
