//! A house whose operators have wallets, and the calls that they make without transactions of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fulcrum::pb::v1;
use rules::Millis;
use tables::wallet::Wallet;
use tables::{Clock, CourierSettings, OperatorId, SystemClock};
use tonic::Status;

use super::bank::Bank;
use crate::harness::caller::{leave_request, seat_request};
use crate::harness::operators::{ALPHA, BETA, two_operators};
use crate::harness::{Caller, House, Setup, in_time, request_id};

/// The longest that a call to a wallet takes in these tests.
pub const DEADLINE: Duration = Duration::from_secs(1);

/// How the tests' wallets are asked: like an installation's, with less patience.
pub fn courier() -> CourierSettings {
    CourierSettings { deadline: DEADLINE, ..Setup::default().courier }
}

/// A setup with the operators `alpha` and `beta`, each with his wallet.
pub fn setup(alpha: Arc<dyn Wallet>, beta: Arc<dyn Wallet>) -> Setup {
    let config = two_operators();
    let operator = |name: &str| OperatorId::new(name).expect("a name");
    let wallets = vec![(operator("alpha"), alpha), (operator("beta"), beta)];
    Setup { config, wallets, courier: courier(), ..Setup::default() }
}

/// A house with both operators at wallets of their own.
pub struct Room {
    pub house: House,
    /// The wallets of `alpha` and `beta`.
    pub banks: [Bank; 2],
    pub alpha: Caller,
    pub beta: Caller,
}

impl Room {
    /// One with honest wallets.
    pub async fn open() -> Room {
        Room::with(|setup| setup).await
    }

    /// One as this test wants it.
    pub async fn with(change: impl FnOnce(Setup) -> Setup) -> Room {
        Room::waiting(DEADLINE, change).await
    }

    /// One that waits long for its wallets: for those that answer when the test says so, on however busy a machine.
    pub async fn patient() -> Room {
        let long = 10 * DEADLINE;
        let courier = CourierSettings { deadline: long, ..courier() };
        Room::waiting(long, |setup| Setup { courier, ..setup }).await
    }

    async fn waiting(deadline: Duration, change: impl FnOnce(Setup) -> Setup) -> Room {
        let banks = [Bank::open().await, Bank::open().await];
        let [alpha, beta] = [banks[0].client(deadline), banks[1].client(deadline)];
        let house = House::with(change(setup(alpha, beta))).await;
        let (alpha, beta) = callers(&house).await;
        Room { house, banks, alpha, beta }
    }

    /// The wallet of `alpha`.
    pub fn bank(&self) -> &Bank {
        &self.banks[0]
    }
}

/// The backends of `alpha` and `beta`.
pub async fn callers(house: &House) -> (Caller, Caller) {
    (house.caller_with(ALPHA).await, house.caller_with(BETA).await)
}

/// A request for a seat that the wallet pays for.
pub fn buy_in(table: &str, player: &str, seat: u32, amount: i64) -> v1::SeatPlayerRequest {
    v1::SeatPlayerRequest { transaction_id: String::new(), ..seat_request(table, player, seat, amount) }
}

/// A request for chips that the wallet pays for.
pub fn more_chips(table: &str, player: &str, amount: i64) -> v1::AddChipsRequest {
    v1::AddChipsRequest {
        request_id: request_id(),
        table_id: table.into(),
        player_id: player.into(),
        amount,
        ..Default::default()
    }
}

/// A request to leave; what is left goes to the wallet.
pub fn leave(table: &str, player: &str) -> v1::StandUpRequest {
    leave_request(table, player, "")
}

/// Asks for a seat.
pub async fn seat(
    caller: &mut Caller,
    request: &v1::SeatPlayerRequest,
) -> Result<v1::SeatPlayerResponse, Status> {
    Ok(in_time(caller.tables.seat_player(request.clone())).await?.into_inner())
}

/// Asks for chips.
pub async fn add(caller: &mut Caller, request: &v1::AddChipsRequest) -> Result<v1::AddChipsResponse, Status> {
    Ok(in_time(caller.tables.add_chips(request.clone())).await?.into_inner())
}

/// Asks to leave.
pub async fn stand_up(
    caller: &mut Caller,
    request: &v1::StandUpRequest,
) -> Result<v1::StandUpResponse, Status> {
    Ok(in_time(caller.tables.stand_up(request.clone())).await?.into_inner())
}

/// A paused table with these players in the seats from 1 on, each with 10,000 from the wallet.
pub async fn table_of(caller: &mut Caller, config: v1::TableConfig, players: &[&str]) -> String {
    let table = caller.table_of(config, &[]).await;
    for (no, player) in (1..).zip(players) {
        seat(caller, &buy_in(&table, player, no, 10_000)).await.expect("a seat");
    }
    table
}

/// Waits until the table, as a spectator sees it, is like this.
pub async fn until(caller: &mut Caller, table: &str, holds: impl Fn(&v1::Table) -> bool) {
    let wait = async {
        while !holds(&caller.table(table, "").await) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    in_time(wait).await;
}

/// The machine's clock, which a test can put forward.
#[derive(Default)]
pub struct Leaping {
    clock: SystemClock,
    ahead: AtomicU64,
}

impl Leaping {
    /// Puts it forward.
    pub fn leap(&self, by: Millis) {
        self.ahead.fetch_add(by.0, Ordering::SeqCst);
    }
}

impl Clock for Leaping {
    fn now(&self) -> Millis {
        self.clock.now() + Millis(self.ahead.load(Ordering::SeqCst))
    }
}
