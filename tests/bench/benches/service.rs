//! How many actions a second the service takes over gRPC on the store in memory, beside an empty unary call with the
//! same messages over the same kind of connection, measured in turns in the same run.
//!
//! `cargo bench -p fulcrum-bench --bench service` prints a table for one call in flight and for 64. The hands are those
//! of the bench `hands`: six-handed no-limit hold'em, random legal decisions. Each call in flight has a table of its
//! own. Whose turn it is, callers read in the process and not over the wire; hands are dealt there too, between two
//! calls, and that work counts against the service's rate but not against the times of its calls.

#![allow(clippy::float_arithmetic, reason = "rates and ratios; no chips here")]

mod shared;

use std::future::{Future, pending};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use conformance::deals::Deals;
use conformance::player::{Temper, decision, shuffled};
use fulcrum::grpc::{ServeConfig, serve};
use fulcrum::pb::v1;
use fulcrum::pb::v1::action_service_client::ActionServiceClient;
use fulcrum::pb::v1::action_service_server::{ActionService, ActionServiceServer};
use hdrhistogram::Histogram;
use rules::{Ask, Chips};
use tables::{MemoryStore, OperatorId, OsDealer, RequestId, Settings, TableId, TableKey, Tables};
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};
use uuid::Uuid;

use shared::{Fault, PLAYERS, Times, at_once, config, median, more_chips, player, request, seat};

/// Calls in flight, and how many calls of each kind a round makes.
const LOADS: [(usize, usize); 2] = [(1, 3_000), (64, 19_200)];
const ROUNDS: usize = 7;

#[tokio::main]
async fn main() -> Result<(), Fault> {
    // `cargo test --benches` only asks whether the benchmarks run.
    let try_out = std::env::args().any(|argument| argument == "--test");
    let store = MemoryStore::default().with_history(64);
    let tables = Tables::new(Arc::new(store), Arc::new(OsDealer), Settings::default());
    let (service, empty) = (serve_tables(tables.clone()).await?, serve_nothing().await?);
    println!("{:>9}  {:<12} {:>9} {:>9} {:>9}", "in flight", "call", "calls/s", "p50 µs", "p99 µs");
    for (in_flight, calls) in LOADS {
        let (rounds, calls) = if try_out { (1, in_flight * 2) } else { (ROUNDS, calls) };
        let mut desks = Vec::new();
        for number in 0..in_flight {
            desks.push(Desk::open(&tables, service.clone(), number as u64).await?);
        }
        let (mut nothing, mut acts) = (Taken::new()?, Taken::new()?);
        for _ in 0..rounds {
            let sample = desks[0].next().await?;
            let echoes = (0..in_flight).map(|_| echo(empty.clone(), sample.clone(), calls / in_flight));
            nothing.round(echoes).await?;
            desks = acts.round(desks.into_iter().map(|desk| desk.play(calls / in_flight))).await?;
        }
        nothing.print(in_flight, "empty");
        acts.print(in_flight, "Act");
        println!("{in_flight:>9}  Act to empty {:>9.3}", acts.ratio_to(&nothing));
    }
    Ok(())
}

/// What rounds of one kind of call took.
struct Taken {
    rates: Vec<f64>,
    nanos: Histogram<u64>,
}

impl Taken {
    fn new() -> Result<Taken, Fault> {
        Ok(Taken { rates: Vec::new(), nanos: Histogram::new(3)? })
    }

    /// Does all of this at once.
    async fn round<R, W>(&mut self, work: impl Iterator<Item = W>) -> Result<Vec<R>, Fault>
    where
        R: Send + 'static,
        W: Future<Output = Result<(R, Times), Fault>> + Send + 'static,
    {
        let began = Instant::now();
        let (results, taken) = at_once(work).await?;
        self.rates.push(taken.len() as f64 / began.elapsed().as_secs_f64());
        for time in taken {
            self.nanos.record(u64::try_from(time.as_nanos())?)?;
        }
        Ok(results)
    }

    fn print(&self, in_flight: usize, name: &str) {
        let micros = |quantile| self.nanos.value_at_quantile(quantile) as f64 / 1e3;
        let (rate, half, most) = (median(&self.rates), micros(0.5), micros(0.99));
        println!("{in_flight:>9}  {name:<12} {rate:>9.0} {half:>9.1} {most:>9.1}");
    }

    /// The median over the rounds, as both kinds of a round saw the same machine.
    fn ratio_to(&self, other: &Taken) -> f64 {
        let ratios: Vec<f64> =
            self.rates.iter().zip(&other.rates).map(|(ours, theirs)| ours / theirs).collect();
        median(&ratios)
    }
}

/// The service as it is served, without clocks.
async fn serve_tables(tables: Tables) -> Result<ActionServiceClient<Channel>, Fault> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(ServeConfig::default(), tables, listener, pending()));
    connect(address).await
}

/// A server whose calls do nothing.
async fn serve_nothing() -> Result<ActionServiceClient<Channel>, Fault> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    let router = Server::builder().add_service(ActionServiceServer::new(Nothing));
    tokio::spawn(router.serve_with_incoming(incoming));
    connect(address).await
}

async fn connect(address: SocketAddr) -> Result<ActionServiceClient<Channel>, Fault> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?.tcp_nodelay(true);
    Ok(ActionServiceClient::new(endpoint.connect().await?))
}

/// Reads the request and gives an answer as large as the service's.
struct Nothing;

#[tonic::async_trait]
impl ActionService for Nothing {
    async fn act(&self, request: Request<v1::ActRequest>) -> Result<Response<v1::ActResponse>, Status> {
        let v1::ActRequest { hand_number, turn, action, to, .. } = request.into_inner();
        let action = v1::AcceptedAction { hand_number, turn, seat: 3, action, to, put_in: to, all_in: false };
        Ok(Response::new(v1::ActResponse { action: Some(action), sequence: 1000 }))
    }

    async fn show_cards(
        &self,
        _: Request<v1::ShowCardsRequest>,
    ) -> Result<Response<v1::ShowCardsResponse>, Status> {
        Err(Status::unimplemented("nothing"))
    }

    async fn get_turn(
        &self,
        _: Request<v1::GetTurnRequest>,
    ) -> Result<Response<v1::GetTurnResponse>, Status> {
        Err(Status::unimplemented("nothing"))
    }
}

/// Makes the same call again and again.
async fn echo(
    mut client: ActionServiceClient<Channel>,
    sample: v1::ActRequest,
    calls: usize,
) -> Result<((), Times), Fault> {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let request = sample.clone();
        let began = Instant::now();
        client.act(request).await?;
        times.push(began.elapsed());
    }
    Ok(((), times))
}

/// A table and the caller that plays for all of its players.
struct Desk {
    tables: Tables,
    key: TableKey,
    client: ActionServiceClient<Channel>,
    random: Deals,
}

impl Desk {
    async fn open(tables: &Tables, client: ActionServiceClient<Channel>, seed: u64) -> Result<Desk, Fault> {
        // The operator of callers without a token.
        let operator = OperatorId::new("dev").ok_or("no operator")?;
        let request = tables::Request { id: RequestId(Uuid::new_v4()), payload: [0; 32] };
        let key = TableKey { operator: operator.clone(), table: TableId::derived(&operator, &request.id) };
        tables.open(&operator, request, config(), &|_, _| Vec::new()).await?;
        let desk = Desk { tables: tables.clone(), key, client, random: Deals::from_seed(seed) };
        for number in 0..PLAYERS {
            desk.ask(seat(player(number)?)).await?;
        }
        Ok(desk)
    }

    async fn ask(&self, ask: Ask) -> Result<(), Fault> {
        self.tables.ask(&self.key, None, None, ask, &|_, _| Vec::new()).await?;
        Ok(())
    }

    /// The next action, after a deal if no hand runs.
    async fn next(&mut self) -> Result<v1::ActRequest, Fault> {
        loop {
            let table = self.tables.read(&self.key).await?;
            match decision(&table, &mut self.random, Temper::ALL[1]) {
                Some(Ask::Act { player, hand, turn, action }) => {
                    return Ok(request(&self.key, &player, hand, turn, action));
                }
                Some(_) => return Err("there is nothing but betting in Texas Hold'em".into()),
                None => self.deal().await?,
            }
        }
    }

    async fn deal(&mut self) -> Result<(), Fault> {
        let table = self.tables.read(&self.key).await?;
        for (_, seat) in table.occupied().filter(|(_, seat)| seat.stack < Chips(2_000)) {
            self.ask(more_chips(seat.player.clone())).await?;
        }
        let deck = Box::new(shuffled(&mut self.random));
        self.ask(Ask::StartHand { deck, draw: 0 }).await
    }

    /// Plays on for so many actions.
    async fn play(mut self, calls: usize) -> Result<(Desk, Times), Fault> {
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let request = self.next().await?;
            let began = Instant::now();
            self.client.act(request).await?;
            times.push(began.elapsed());
        }
        Ok((self, times))
    }
}
