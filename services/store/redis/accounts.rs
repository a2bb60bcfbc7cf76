//! Accounts: sums in a hash of each shard, beside the names of those that are there, which have an order.

use std::collections::BTreeMap;

use ::redis::{Cmd, Value, cmd};
use rules::PlayerId;
use tables::books::overflows;
use tables::{Account, AccountName, AccountStep, OperatorId, StoreError, Tally};

use super::RedisStore;
use super::fault::{Fault, strange};
use super::keys::Shard;
use super::script::{Increment, bytes};

/// The names of the sums behind an account's, in the order of [`Tally::row`]. Stored: never to be changed.
const SUMS: [&str; Tally::SUMS] = [" b", " p", " w", " g", " r", " h", " o", " d"];

/// What a commit adds, each sum once.
pub(super) fn increments(operator: &OperatorId, steps: &[AccountStep]) -> Result<Vec<Increment>, StoreError> {
    let mut together: BTreeMap<Vec<u8>, Tally> = BTreeMap::new();
    for AccountStep { player, currency, tally } in steps {
        let sum = together.entry(name(player, *currency)).or_default();
        *sum = sum.plus(tally).ok_or_else(|| overflows(operator))?;
    }
    let rows = together.into_iter().flat_map(|(name, tally)| {
        let sums = SUMS.into_iter().zip(tally.row()).filter(|(_, more)| *more > 0);
        sums.map(move |(sum, more)| (name.clone(), sum, more))
    });
    Ok(rows.collect())
}

/// An account's name in Redis. No player has a blank in his, nor any sign before it, so that the order is that of players,
/// then of currencies.
fn name(player: &PlayerId, currency: [u8; 3]) -> Vec<u8> {
    [player.as_str().as_bytes(), b" ", &currency].concat()
}

fn read_name(name: &[u8]) -> Option<AccountName> {
    let (player, currency) = name.split_last_chunk::<3>()?;
    let player = std::str::from_utf8(player.strip_suffix(b" ")?).ok()?;
    Some((PlayerId::new(player)?, *currency))
}

/// Where some names begin and end, as ZRANGEBYLEX has it.
struct Names {
    from: Vec<u8>,
    to: Vec<u8>,
    limit: usize,
}

impl RedisStore {
    pub(super) async fn list_accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError> {
        let last = after.map(|(player, currency)| name(player, *currency)).unwrap_or_default();
        // The first name is no account's.
        let names = Names { from: [b"(", &last[..]].concat(), to: b"+".to_vec(), limit };
        self.read_accounts(operator, &names).await
    }

    pub(super) async fn accounts_of(
        &self,
        operator: &OperatorId,
        player: &PlayerId,
    ) -> Result<Vec<Account>, StoreError> {
        let bound = |first: &str, last: &str| format!("{first}{player}{last}").into_bytes();
        let names = Names { from: bound("[", " "), to: bound("(", "!"), limit: usize::MAX };
        self.read_accounts(operator, &names).await
    }

    async fn read_accounts(&self, operator: &OperatorId, names: &Names) -> Result<Vec<Account>, StoreError> {
        let shards = self.all_shards();
        let listed = self.ask_each(&shards, |shard| listing(shard, operator, names)).await?;
        let mut found: BTreeMap<Vec<u8>, Vec<Shard>> = BTreeMap::new();
        for (shard, listed) in shards.into_iter().zip(listed) {
            let listed = listed.into_sequence().map_err(|_| strange("the names of accounts"))?;
            for name in listed.into_iter().filter_map(bytes) {
                found.entry(name).or_default().push(shard);
            }
        }
        let mut totals: BTreeMap<Vec<u8>, Tally> = BTreeMap::new();
        let mut wanted: BTreeMap<Shard, Vec<Vec<u8>>> = BTreeMap::new();
        // A shard that has one of the first names has listed it.
        for (name, shards) in found.into_iter().take(names.limit) {
            for shard in shards {
                wanted.entry(shard).or_default().push(name.clone());
            }
            totals.insert(name, Tally::default());
        }
        self.add_up(operator, wanted, &mut totals).await?;
        if self.waits() {
            // Replicas are to have what was read.
            self.durable_until().await?;
        }
        let account = |(name, tally): (Vec<u8>, Tally)| {
            let (player, currency) = read_name(&name).ok_or_else(|| strange("an account's name"))?;
            Ok(Account { player, currency, tally })
        };
        totals.into_iter().map(account).collect()
    }

    /// Adds what the shards have of these accounts.
    async fn add_up(
        &self,
        operator: &OperatorId,
        wanted: BTreeMap<Shard, Vec<Vec<u8>>>,
        totals: &mut BTreeMap<Vec<u8>, Tally>,
    ) -> Result<(), StoreError> {
        let call = |(shard, names): (&Shard, &Vec<Vec<u8>>)| (*shard, vec![sums(*shard, operator, names)]);
        let calls = wanted.iter().map(call).collect();
        let answers = self.router.each(calls).await.map_err(Fault::unavailable)?;
        for (names, answer) in wanted.into_values().zip(answers) {
            let wrong = || strange("accounts");
            let numbers = answer.into_iter().next().and_then(|numbers| numbers.into_sequence().ok());
            let numbers: Vec<u64> = numbers
                .ok_or_else(wrong)?
                .into_iter()
                .map(number)
                .collect::<Option<_>>()
                .ok_or_else(wrong)?;
            for (name, row) in names.into_iter().zip(numbers.as_chunks::<{ Tally::SUMS }>().0) {
                let total = totals.entry(name).or_default();
                *total = total.plus(&Tally::of_row(*row)).ok_or_else(|| overflows(operator))?;
            }
        }
        Ok(())
    }
}

fn listing(shard: Shard, operator: &OperatorId, names: &Names) -> Cmd {
    let limit = i64::try_from(names.limit).unwrap_or(-1);
    let mut command = cmd("ZRANGEBYLEX");
    command.arg(shard.account_names(operator)).arg(&names.from[..]).arg(&names.to[..]);
    command.arg("LIMIT").arg(0).arg(limit);
    command
}

fn sums(shard: Shard, operator: &OperatorId, names: &[Vec<u8>]) -> Cmd {
    let mut command = cmd("HMGET");
    command.arg(shard.accounts(operator));
    for name in names {
        for sum in SUMS {
            command.arg([&name[..], sum.as_bytes()].concat());
        }
    }
    command
}

/// A sum, zero where there is none.
fn number(value: Value) -> Option<u64> {
    match value {
        Value::Nil => Some(0),
        other => String::from_utf8(bytes(other)?).ok()?.parse().ok(),
    }
}
