//! What the benches share: their table, a caller's request, and work that is done at once and measured.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use fulcrum::pb::v1;
use rules::{
    Action, Ante, Ask, Chips, Clocks, Game, Limit, Millis, PivotOrder, PlayerId, Rake, Stakes, TableConfig,
};
use tables::TableKey;
use tokio::task::JoinSet;
use uuid::Uuid;

pub type Fault = Box<dyn Error + Send + Sync>;
/// How long each call took.
pub type Times = Vec<Duration>;

pub const PLAYERS: u8 = 6;
/// Everybody starts with so many chips, and gets as many again when few are left.
pub const BUY_IN: Chips = Chips(10_000);

/// No-limit hold'em for six, with clocks so long that none ends in a run.
pub fn config() -> TableConfig {
    TableConfig {
        display_name: String::new(),
        currency: *b"EUR",
        game: Game::TexasHoldem,
        limit: Limit::NoLimit,
        seats: PLAYERS,
        stakes: Stakes {
            small_blind: Chips(50),
            big_blind: Chips(100),
            ante: Ante::None,
            straddles: 0,
            small_bet: Chips::ZERO,
            big_bet: Chips::ZERO,
            min_buy_in: Chips(1),
            max_buy_in: Chips::MAX,
        },
        rake: Rake::NONE,
        clocks: Clocks { action: Millis::minutes(60), between_hands: Millis::ZERO, ..Clocks::default() },
        pivot_order: PivotOrder::InTurn,
        limit_cap_heads_up: false,
        show_all: false,
        rathole: Millis::ZERO,
    }
}

pub fn player(number: u8) -> Result<PlayerId, Fault> {
    PlayerId::new(&format!("player-{number}")).ok_or_else(|| "no player".into())
}

pub fn seat(player: PlayerId) -> Ask {
    Ask::Seat { player, seat: None, buy_in: BUY_IN, post: false, transaction: String::new() }
}

pub fn more_chips(player: PlayerId) -> Ask {
    Ask::AddChips { player, amount: BUY_IN, transaction: String::new() }
}

/// A player's action as its caller asks for it.
pub fn request(
    key: &TableKey,
    player: &PlayerId,
    hand_number: u64,
    turn: u32,
    action: Action,
) -> v1::ActRequest {
    let (action, to) = match action {
        Action::Fold => (v1::Action::Fold, 0),
        Action::Check => (v1::Action::Check, 0),
        Action::Call => (v1::Action::Call, 0),
        Action::Bet(to) => (v1::Action::Bet, to.0),
        Action::Raise(to) => (v1::Action::Raise, to.0),
        Action::AllIn => (v1::Action::AllIn, 0),
    };
    v1::ActRequest {
        request_id: Uuid::new_v4().to_string(),
        table_id: key.table.to_string(),
        hand_number,
        turn,
        player_id: player.as_str().into(),
        action: action.into(),
        to: to as i64,
    }
}

/// Does all of this at once; what came of it, and how long each call took.
pub async fn at_once<R, W>(work: impl Iterator<Item = W>) -> Result<(Vec<R>, Times), Fault>
where
    R: Send + 'static,
    W: Future<Output = Result<(R, Times), Fault>> + Send + 'static,
{
    let mut jobs: JoinSet<_> = work.collect();
    let (mut results, mut taken) = (Vec::new(), Vec::new());
    while let Some(done) = jobs.join_next().await {
        let (result, times) = done??;
        results.push(result);
        taken.extend(times);
    }
    Ok((results, taken))
}

pub fn median(of: &[f64]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
