//! What the service tells an operator of his money: the trial balance, and all settlement records from the first one on.

use std::collections::{BTreeMap, HashSet};
use std::future::Future;
use std::time::{Duration, Instant};

use fulcrum::pb::v1::settlement::Body;
use fulcrum::pb::v1::settlement_service_client::SettlementServiceClient;
use fulcrum::pb::v1::stream_settlements_response::Content;
use fulcrum::pb::v1::{
    GetTrialBalanceRequest, GetTrialBalanceResponse, PlayerBalance, SettledPlayer, Settlement,
    SettlementKind, StreamSettlementsRequest,
};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

/// The longest that a call may take.
const CALL: Duration = Duration::from_secs(10);
/// A page of the trial balance.
const PAGE: i32 = 500;
/// Nothing for so long: the stream has told everything. If it has not, the comparison will notice.
const QUIET: Duration = Duration::from_secs(5);
/// The pause before what is not settled yet is looked at again.
const PAUSE: Duration = Duration::from_millis(500);

/// A client with an operator's token.
pub struct Client {
    settlements: SettlementServiceClient<Channel>,
    token: String,
}

/// What the settlement records come to for a player, in minor units.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Play {
    pub wagered: i64,
    pub won: i64,
    pub rake_share: i64,
    pub hands: u64,
    pub brought: i64,
    pub paid_out: i64,
}

/// What the settlement records come to.
#[derive(Default)]
pub struct Streamed {
    pub players: BTreeMap<String, Play>,
    /// The sum of the hands' rakes, minor units.
    pub raked: i64,
    pub hands: u64,
    pub records: u64,
    /// Records whose id had come before.
    pub doubled: u64,
    /// Records that there must not be where nothing was lost.
    pub voided: u64,
    ids: HashSet<String>,
}

/// All rows of the trial balance.
pub struct Rows {
    pub players: Vec<PlayerBalance>,
    /// The rake of all tables that are there, minor units.
    pub raked: i64,
}

impl Client {
    pub fn new(address: &str, token: &str) -> Client {
        let channel = Endpoint::from_shared(address.to_owned()).expect("an address").connect_lazy();
        Client { settlements: SettlementServiceClient::new(channel), token: token.to_owned() }
    }

    fn with_token<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        let bearer = format!("Bearer {}", self.token).parse().expect("a token");
        request.metadata_mut().insert("authorization", bearer);
        request
    }

    /// The trial balance once nothing is on its way any more.
    pub async fn settled(&mut self, patience: Duration) -> Result<Rows, String> {
        let limit = Instant::now() + patience;
        loop {
            let open = match self.trial_balance().await {
                Ok((rows, open)) if open.is_empty() => return Ok(rows),
                Ok((_, open)) => open,
                Err(status) => vec![status.to_string()],
            };
            if Instant::now() > limit {
                return Err(format!("not settled after {} s: {}", patience.as_secs(), open.join(", ")));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The trial balance, and what is still open in it.
    async fn trial_balance(&mut self) -> Result<(Rows, Vec<String>), Status> {
        let (mut rows, mut open) = (Rows { players: Vec::new(), raked: 0 }, Vec::new());
        let mut message = GetTrialBalanceRequest { page_size: PAGE, ..GetTrialBalanceRequest::default() };
        loop {
            let request = self.with_token(message.clone());
            let page = in_time(self.settlements.get_trial_balance(request)).await?.into_inner();
            open.extend(open_in(&page));
            rows.raked += page.totals.iter().map(|total| total.raked).sum::<i64>();
            rows.players.extend(page.players);
            if page.next_page_token.is_empty() {
                return Ok((rows, open));
            }
            message.page_token = page.next_page_token;
        }
    }

    /// Sums all settlement records.
    pub async fn stream_all(&mut self) -> Result<Streamed, String> {
        let mut streamed = Streamed::default();
        let message =
            StreamSettlementsRequest { consumer: "money".to_owned(), ..StreamSettlementsRequest::default() };
        let request = self.with_token(message);
        let opened = in_time(self.settlements.stream_settlements(request)).await;
        let mut stream = opened.map_err(|status| status.to_string())?.into_inner();
        loop {
            let told = match tokio::time::timeout(QUIET, stream.message()).await {
                Err(_) | Ok(Ok(None)) => return Ok(streamed),
                Ok(told) => told.map_err(|status| status.to_string())?,
            };
            match told.and_then(|told| told.content) {
                Some(Content::Settlement(told)) => streamed.add(&told.settlement.unwrap_or_default()),
                Some(Content::Gap(_)) => return Err("the stream tells of a gap".to_owned()),
                Some(Content::Heartbeat(_)) => return Ok(streamed),
                Some(Content::GoAway(_)) | None => return Err("the stream was ended".to_owned()),
            }
        }
    }
}

/// What of a page shows that it is not over, or does not add up.
fn open_in(page: &GetTrialBalanceResponse) -> Vec<String> {
    let mut open = Vec::new();
    for total in &page.totals {
        let zero = [
            ("on tables", total.on_tables),
            ("in pots", total.in_pots),
            ("in flight", total.in_flight),
            ("parked", total.parked),
            ("returning", total.returning),
            ("missing", total.difference),
            ("missing on its way to the wallet", total.wallet_difference),
        ];
        open.extend(zero.iter().filter(|(_, sum)| *sum != 0).map(|(what, sum)| format!("{sum} {what}")));
    }
    let due = page.players.iter().filter(|row| row.owed != row.delivered);
    open.extend(
        due.map(|row| format!("{} is owed {}, {} delivered", row.player_id, row.owed, row.delivered)),
    );
    open
}

impl Streamed {
    fn add(&mut self, record: &Settlement) {
        self.records += 1;
        if !self.ids.insert(record.settlement_id.clone()) {
            self.doubled += 1;
            return;
        }
        match (&record.body, record.kind()) {
            (Some(Body::Hand(hand)), _) => {
                self.hands += 1;
                self.raked += hand.rake;
                hand.players.iter().for_each(|player| self.of(&player.player_id).add(player));
            }
            (Some(Body::Movement(moved)), SettlementKind::CashOut) => {
                self.of(&moved.player_id).paid_out += moved.amount;
            }
            (Some(Body::Movement(moved)), _) => self.of(&moved.player_id).brought += moved.amount,
            _ => self.voided += 1,
        }
    }

    fn of(&mut self, player: &str) -> &mut Play {
        self.players.entry(player.to_owned()).or_default()
    }
}

impl Play {
    fn add(&mut self, hand: &SettledPlayer) {
        self.wagered += hand.contributed;
        self.won += hand.won;
        self.rake_share += hand.rake_share;
        self.hands += 1;
    }
}

async fn in_time<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let late = |_| Status::deadline_exceeded("no answer");
    tokio::time::timeout(CALL, call).await.map_err(late)?
}
