//! A caller who plays for all players of one table over gRPC. He knows the table from what he did there himself, so that
//! nothing but his actions, and the deals, reach Redis.

use std::future::pending;
use std::time::Instant;

use conformance::deals::Deals;
use fulcrum::grpc::{ServeConfig, serve};
use fulcrum::pb::v1::action_service_client::ActionServiceClient;
use rules::{Ask, Command, Table};
use tables::{OperatorId, RequestId, TableId, TableKey, Tables};
use tokio::net::TcpListener;
use tonic::transport::{Channel, Endpoint};
use uuid::Uuid;

use super::chain::{next_ask, now};
use super::shared::{Fault, PLAYERS, Times, config, player, request, seat};

/// The service as it is served, without clocks.
pub struct House {
    tables: Tables,
    client: ActionServiceClient<Channel>,
}

impl House {
    pub async fn open(tables: Tables) -> Result<House, Fault> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        tokio::spawn(serve(ServeConfig::default(), tables.clone(), listener, pending()));
        let endpoint = Endpoint::from_shared(format!("http://{address}"))?.tcp_nodelay(true);
        Ok(House { tables, client: ActionServiceClient::new(endpoint.connect().await?) })
    }
}

/// The caller and his table.
pub struct Desk {
    tables: Tables,
    client: ActionServiceClient<Channel>,
    key: TableKey,
    table: Table,
    random: Deals,
    /// Commits so far.
    pub commits: usize,
}

impl Desk {
    pub async fn open(house: &House, seed: u64) -> Result<Desk, Fault> {
        let (tables, client) = (house.tables.clone(), house.client.clone());
        // The operator of callers without a token.
        let operator = OperatorId::new("dev").ok_or("no operator")?;
        let request = tables::Request { id: RequestId(Uuid::new_v4()), payload: [0; 32] };
        let key = TableKey { operator: operator.clone(), table: TableId::derived(&operator, &request.id) };
        tables.open(&operator, request, config(), &|_, _| Vec::new()).await?;
        let table = (*tables.read(&key).await?).clone();
        let mut desk = Desk { tables, client, key, table, random: Deals::from_seed(seed), commits: 0 };
        for number in 0..PLAYERS {
            desk.ask(seat(player(number)?)).await?;
        }
        Ok(desk)
    }

    /// Asks for something that is not an action, in the process.
    async fn ask(&mut self, ask: Ask) -> Result<(), Fault> {
        self.tables.ask(&self.key, None, None, ask.clone(), &|_, _| Vec::new()).await?;
        self.follow(ask)
    }

    fn follow(&mut self, ask: Ask) -> Result<(), Fault> {
        let step = self.table.step(&Command { at: now(), ask });
        self.table = step.map_err(|refusal| format!("{refusal:?}"))?.1;
        self.commits += 1;
        Ok(())
    }

    /// Plays on for so many actions.
    pub async fn play(mut self, actions: usize) -> Result<(Desk, Times), Fault> {
        let mut times = Times::with_capacity(actions);
        while times.len() < actions {
            let ask = next_ask(&self.table, &mut self.random);
            let Ask::Act { player, hand, turn, action } = &ask else {
                self.ask(ask).await?;
                continue;
            };
            let request = request(&self.key, player, *hand, *turn, *action);
            let began = Instant::now();
            self.client.act(request).await?;
            times.push(began.elapsed());
            self.follow(ask)?;
        }
        Ok((self, times))
    }
}
