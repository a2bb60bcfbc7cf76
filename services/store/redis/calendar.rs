//! The calendar: when tables are due, as their shards have it.

use ::redis::{Cmd, Value, cmd};
use rules::Millis;
use tables::{StoreError, TableKey};

use super::RedisStore;
use super::clock::OTHERS;
use super::fault::strange;
use super::keys::{Shard, table_key};
use super::topology::text;
use crate::store::LATEST;

/// Greater than every due time, and less than the calendar's first member, which is no table.
const FOREVER: &str = "(inf";

/// Whose calendars are needed.
#[derive(Clone, Copy)]
pub(super) enum Whose {
    /// All of them, or it is an error.
    All,
    /// Those of the servers that answer: a server that is away has nothing that could be applied now, and the clocks of
    /// the others' tables do not wait for it.
    WhoAnswers,
}

impl RedisStore {
    pub(super) async fn read_due(
        &self,
        shards: &[Shard],
        until: Millis,
        limit: usize,
        whose: Whose,
    ) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        let until = if until > LATEST { FOREVER.to_owned() } else { until.0.to_string() };
        let command = |shard: Shard| due(shard, &until, limit);
        let answers = match whose {
            Whose::All => self.ask_each(shards, command).await?,
            Whose::WhoAnswers => {
                let told = self.ask_who_answers(shards, command, OTHERS).await?;
                told.into_iter().map(|(_, answer)| answer).collect()
            }
        };
        let mut all = Vec::new();
        for answer in &answers {
            for (name, at) in scored(answer).ok_or_else(|| strange("a calendar"))? {
                let key =
                    table_key(&name).ok_or_else(|| StoreError::Corrupt("a name in a calendar".to_owned()))?;
                all.push((key, at));
            }
        }
        all.sort_by(|(a, a_at), (b, b_at)| a_at.cmp(b_at).then_with(|| a.cmp(b)));
        all.truncate(limit);
        Ok(all)
    }

    pub(super) async fn read_next_due(&self, shards: &[Shard]) -> Result<Option<Millis>, StoreError> {
        let answers = self.ask_each(shards, |shard| due(shard, FOREVER, 1)).await?;
        let firsts = answers.iter().filter_map(scored).flatten();
        Ok(firsts.map(|(_, at)| at).min())
    }
}

fn due(shard: Shard, until: &str, limit: usize) -> Cmd {
    // A limit below zero means none, and so does one that Redis' numbers do not hold.
    let limit = i64::try_from(limit).unwrap_or(-1);
    let mut command = cmd("ZRANGEBYSCORE");
    command.arg(shard.calendar()).arg("-inf").arg(until).arg("WITHSCORES").arg("LIMIT").arg(0).arg(limit);
    command
}

/// Members and scores, in pairs as RESP3 has them.
fn scored(answer: &Value) -> Option<Vec<(String, Millis)>> {
    let pair = |entry: &Value| {
        let [name, score] = entry.as_sequence()? else {
            return None;
        };
        let score = match score {
            Value::Double(score) => format!("{score:.0}"),
            other => text(other)?,
        };
        Some((text(name)?, Millis(score.parse().ok()?)))
    };
    answer.as_sequence()?.iter().map(pair).collect()
}
