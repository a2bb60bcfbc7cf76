//! Who is let in when not everybody can be: rates of operators and their players, a share of the room for each operator,
//! and classes of calls. The cheapest go first, play is never turned away before the room is full, and a stream that
//! has begun is not ended for load.

pub mod buckets;
pub mod class;
pub mod pressure;
pub mod room;
pub mod weight;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use governor::clock::MonotonicClock;
use http::Extensions;
use rand::TryRng;
use rand::rngs::SysRng;
use tables::OperatorId;
use tokio::time::{Instant, sleep_until};
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::methods::Method;
use crate::grpc::status;
use crate::pb::v1::ErrorReason;
use buckets::{Buckets, Rate};
use class::Class;
use pressure::{EVERY, Pressure};
use room::{Place, Room, percent};
use tonic::body::Body;
use weight::{ROOM, Scales, Weighed, Weights};

/// Full buckets are forgotten after so many looks at how late tasks are: a second.
const SWEEP: u32 = 20;
/// More operators than any installation has. Beyond it those who have nothing at work are forgotten.
const OPERATORS: usize = 4_096;
/// A call that finds the server busy is to come again after so long, or up to three times as long.
const BUSY_RETRY: u64 = 100;

/// What operators and players may do. By default as much as they like.
#[derive(Clone, Copy, Debug)]
pub struct LimitSettings {
    /// How much of the room one operator may take, in percent.
    pub operator_share: usize,
    /// Calls of one operator.
    pub operator: Option<Rate>,
    /// Calls of one player.
    pub player: Option<Rate>,
    /// Tables that one player watches with tokens of his own.
    pub player_watchers: usize,
    /// How late tasks may run before cheap calls are turned away.
    pub late: Option<Duration>,
}

impl Default for LimitSettings {
    fn default() -> LimitSettings {
        LimitSettings {
            operator_share: 100,
            operator: None,
            player: None,
            player_watchers: usize::MAX,
            late: None,
        }
    }
}

/// The limits of a server.
pub struct Admission {
    settings: LimitSettings,
    calls: usize,
    room: Arc<Room>,
    scales: Arc<Scales>,
    pressure: Pressure,
    operators: RwLock<HashMap<OperatorId, Arc<Operator>>>,
}

/// One operator's part. It lies beside his calls as [`Players`].
struct Operator {
    room: Arc<Room>,
    scales: Arc<Scales>,
    /// Of play, and of everything else: a flood of lists does not keep his players from acting.
    play: Buckets,
    rest: Buckets,
}

/// Whose players' buckets a call of this class takes from, beside the call.
#[derive(Clone)]
struct Players(Arc<Operator>, Class);

/// What a call holds until its answer has been read; of a stream, until it has begun.
pub struct Admitted {
    _room: Place,
    _share: Option<Place>,
    weights: Weights,
}

impl Operator {
    const fn buckets(&self, class: Class) -> &Buckets {
        match class {
            Class::Play => &self.play,
            Class::Change | Class::Read | Class::Cheap => &self.rest,
        }
    }
}

impl Admitted {
    /// The call's message, which takes room while it is read.
    pub fn weighed(&self, body: Body) -> Body {
        Weighed::body(body, self.weights.clone())
    }
}

/// Why a call is not let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shed {
    /// The operator's bucket is empty.
    OperatorRate(Duration),
    /// The player's bucket is empty.
    PlayerRate(Duration),
    /// The operator has as many calls of the class at work as he may.
    OperatorShare,
    /// The room is too full for the class.
    Full,
    /// Tasks run too late for the class.
    Late,
}

impl Shed {
    /// Its name in metrics.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Shed::OperatorRate(_) => "operator_rate",
            Shed::PlayerRate(_) => "player_rate",
            Shed::OperatorShare => "operator_share",
            Shed::Full => "full",
            Shed::Late => "late",
        }
    }

    /// What the caller is told.
    #[must_use]
    pub fn status(self) -> Status {
        match self {
            Shed::OperatorRate(wait) => status::operator_rate(wait),
            Shed::PlayerRate(wait) => status::player_rate(wait),
            Shed::OperatorShare => status::operator_share(),
            Shed::Full | Shed::Late => status::busy(retry()),
        }
    }
}

/// When those who are turned away come again: not all of them at once.
fn retry() -> Duration {
    let random = SysRng.try_next_u32().unwrap_or_default();
    Duration::from_millis(BUSY_RETRY + u64::from(random) % (2 * BUSY_RETRY))
}

impl Admission {
    /// With room for so many calls.
    #[must_use]
    pub fn new(calls: usize, settings: LimitSettings) -> Admission {
        Admission {
            settings,
            calls,
            room: Room::new(calls),
            scales: Scales::new(ROOM),
            pressure: Pressure::new(settings.late),
            operators: RwLock::default(),
        }
    }

    /// Lets a call in. What an operator's player has left is found beside it by [`player`].
    ///
    /// # Errors
    /// [`Shed`]; nothing has been done then.
    pub fn admit(
        &self,
        method: Method,
        operator: Option<&OperatorId>,
        extensions: &mut Extensions,
    ) -> Result<Admitted, Shed> {
        let class = method.class;
        let operator = operator.map(|operator| self.operator(operator));
        if let Some(operator) = &operator {
            operator.buckets(class).own().map_err(Shed::OperatorRate)?;
        }
        if self.pressure.is_too_much_for(class) {
            return Err(Shed::Late);
        }
        let room = self.room.take(class).ok_or(Shed::Full)?;
        let (mut share, mut weights) = (None, Weights { all: Arc::clone(&self.scales), own: None });
        if let Some(operator) = operator {
            share = Some(operator.room.take(class).ok_or(Shed::OperatorShare)?);
            weights.own = Some(Arc::clone(&operator.scales));
            if operator.buckets(class).hold_players() {
                extensions.insert(Players(operator, class));
            }
        }
        Ok(Admitted { _room: room, _share: share, weights })
    }

    fn operator(&self, operator: &OperatorId) -> Arc<Operator> {
        let known = self.operators.read().unwrap_or_else(PoisonError::into_inner).get(operator).cloned();
        known.unwrap_or_else(|| {
            let mut operators = self.operators.write().unwrap_or_else(PoisonError::into_inner);
            if operators.len() >= OPERATORS {
                // Who calls just now holds his own.
                operators.retain(|_, known| known.room.at_work() > 0 || Arc::strong_count(known) > 1);
            }
            Arc::clone(operators.entry(operator.clone()).or_insert_with(|| Arc::new(self.fresh())))
        })
    }

    fn fresh(&self) -> Operator {
        let LimitSettings { operator_share, operator, player, .. } = self.settings;
        Operator {
            room: Room::new(percent(self.calls, operator_share.min(100))),
            scales: Scales::new(percent(ROOM, operator_share.min(100))),
            play: Buckets::new(operator, player, MonotonicClock),
            rest: Buckets::new(operator, player, MonotonicClock),
        }
    }

    fn sweep(&self) {
        let operators: Vec<Arc<Operator>> = {
            let operators = self.operators.read().unwrap_or_else(PoisonError::into_inner);
            operators.values().cloned().collect()
        };
        operators.iter().flat_map(|operator| [&operator.play, &operator.rest]).for_each(Buckets::sweep);
    }
}

/// Takes a token of this player's, who is named in a message of the call.
///
/// # Errors
/// RESOURCE_EXHAUSTED with the time at which he has one.
pub fn player(extensions: &Extensions, player: &str) -> Result<(), Status> {
    let Some(Players(operator, class)) = extensions.get::<Players>() else {
        return Ok(());
    };
    operator.buckets(*class).player(player).map_err(|wait| Shed::PlayerRate(wait).status())
}

/// Why a call was turned away behind the layer, as far as that was for load: for metrics.
#[must_use]
pub fn turned_away(status: &Status) -> Option<&'static str> {
    if !matches!(status.code(), Code::ResourceExhausted | Code::Unavailable) {
        return None;
    }
    let info = status.get_details_error_info()?;
    let is = |reason| status::name(reason) == info.reason;
    let words = [
        (ErrorReason::PlayerRate, "player_rate"),
        (ErrorReason::OperatorShare, "operator_share"),
        (ErrorReason::ServerBusy, "full"),
        (ErrorReason::TooManyWatchers, "watchers"),
        (ErrorReason::Overloaded, "table"),
    ];
    words.into_iter().find_map(|(reason, word)| is(reason).then_some(word))
}

/// Looks how late tasks are, and forgets full buckets, as long as there is a server.
pub async fn keep(limits: Weak<Admission>) {
    for look in 1_u32.. {
        let due = Instant::now() + EVERY;
        sleep_until(due).await;
        let Some(limits) = limits.upgrade() else {
            return;
        };
        limits.pressure.note(due.elapsed());
        if look.is_multiple_of(SWEEP) {
            limits.sweep();
        }
    }
}

#[cfg(test)]
#[path = "limits/tests.rs"]
mod tests;
