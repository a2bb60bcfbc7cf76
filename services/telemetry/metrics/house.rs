//! All tables of the installation: how many, who sits there, what lies on them. Looked up slowly, a page at a time, and told
//! anew as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use rules::config::Game;
use rules::pots;
use rules::table::{Life, Table};
use tables::{OperatorId, Store, StoreError, unreadable};
use tokio::sync::watch;
use tokio::time::sleep;

use super::labels::{Operator, game};
use super::{Metrics, Register};
use crate::telemetry::names;

/// How often the tables are counted.
pub const EVERY: Duration = Duration::from_secs(60);
/// So many at a time, and so long a rest between: a thousand tables take two seconds, and nobody notices.
const PAGE: usize = 100;
const REST: Duration = Duration::from_millis(200);
/// So many currencies of an operator are told apart. Whoever opens a table names one.
const CURRENCIES: usize = 32;
const GAMES: [Game; 2] = [Game::DoubleHoldem, Game::TexasHoldem];

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfTables {
    operator: Operator,
    game: &'static str,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfChips {
    operator: Operator,
    currency: String,
}

/// All tables of the installation.
pub struct House {
    open: Family<OfTables, Gauge>,
    seated: Family<OfTables, Gauge>,
    stacks: Family<OfChips, Gauge>,
    pots: Family<OfChips, Gauge>,
}

impl House {
    pub(super) fn new(register: &mut Register) -> House {
        let house = House {
            open: Family::default(),
            seated: Family::default(),
            stacks: Family::default(),
            pots: Family::default(),
        };
        register.enter(&names::TABLES_OPEN, house.open.clone());
        register.enter(&names::PLAYERS_SEATED, house.seated.clone());
        register.enter(&names::CHIPS_STACKS, house.stacks.clone());
        register.enter(&names::CHIPS_POTS, house.pots.clone());
        house
    }
}

/// What an operator's tables come to.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Counted {
    /// Open tables and taken seats of each game.
    games: BTreeMap<&'static str, (u64, u64)>,
    /// Chips on stacks and in pots of each currency.
    chips: BTreeMap<[u8; 3], (u64, u64)>,
}

impl Counted {
    /// No tables.
    fn none() -> Counted {
        Counted { games: GAMES.map(|of| (game(of), (0, 0))).into(), chips: BTreeMap::new() }
    }

    fn add(&mut self, table: &Table) {
        if matches!(table.life, Life::Closed { .. }) {
            return;
        }
        let (mut seats, mut stacks) = (0_u64, 0_u64);
        for (_, seat) in table.occupied() {
            seats += 1;
            stacks = stacks.saturating_add(seat.stack.0);
        }
        let (open, seated) = self.games.entry(game(table.config.game)).or_default();
        (*open, *seated) = (*open + 1, *seated + seats);
        let (on_stacks, in_pots) = self.chips.entry(table.config.currency).or_default();
        *on_stacks = on_stacks.saturating_add(stacks);
        let pot = table.running_hand().map_or(0, |hand| pots::total(hand).0);
        *in_pots = in_pots.saturating_add(pot);
    }
}

impl Metrics {
    /// Says what there is at all tables. Operators that are not named are not told of any more.
    pub fn counted(&self, counted: &[(OperatorId, Counted)]) {
        self.set(|| {
            let House { open, seated, stacks, pots } = &self.house;
            open.clear();
            seated.clear();
            stacks.clear();
            pots.clear();
            let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            for (operator, Counted { games, chips }) in counted {
                let operator = self.operators.of(operator);
                for (game, (tables, players)) in games {
                    let labels = OfTables { operator: operator.clone(), game };
                    open.get_or_create(&labels).set(number(*tables));
                    seated.get_or_create(&labels).set(number(*players));
                }
                for (place, (currency, (on_stacks, in_pots))) in chips.iter().enumerate() {
                    let currency = match place < CURRENCIES {
                        true => String::from_utf8_lossy(currency).into_owned(),
                        false => "other".to_owned(),
                    };
                    let labels = OfChips { operator: operator.clone(), currency };
                    stacks.get_or_create(&labels).inc_by(number(*on_stacks));
                    pots.get_or_create(&labels).inc_by(number(*in_pots));
                }
            }
        });
    }
}

/// Counts the tables of these operators until `stop` becomes true or its sender goes.
pub async fn run(
    metrics: Arc<Metrics>,
    store: Arc<dyn Store>,
    operators: Vec<OperatorId>,
    every: Duration,
    mut stop: watch::Receiver<bool>,
) {
    let work = async {
        loop {
            let mut counted = Vec::new();
            for operator in &operators {
                match count(&*store, operator).await {
                    Ok(found) => counted.push((operator.clone(), found)),
                    // Nothing is told of them then: an old figure would look like a new one.
                    Err(error) => {
                        tracing::warn!(event = "figures_stale", %operator, %error, "the tables cannot be counted")
                    }
                }
            }
            metrics.counted(&counted);
            sleep(every).await;
        }
    };
    tokio::select! {
        // An error says that the sender is gone.
        _ = stop.wait_for(|stop| *stop) => {}
        () = work => {}
    }
}

async fn count(store: &dyn Store, operator: &OperatorId) -> Result<Counted, StoreError> {
    let (mut counted, mut after) = (Counted::none(), None);
    loop {
        let page = store.tables(operator, after, PAGE).await?;
        let Some((last, _)) = page.last() else {
            return Ok(counted);
        };
        after = Some(last.table);
        for (key, stored) in &page {
            match stored {
                Ok(stored) => counted.add(&stored.table),
                Err(error) => unreadable(key, error),
            }
        }
        drop(page);
        sleep(REST).await;
    }
}
