//! Signs of life: which processes serve this installation, who of them looks after which shard's clocks, and when nobody
//! did (rules 8.4). Sharing out only saves work; whose commit counts, the token decides.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::redis::{Cmd, Value, cmd};
use rules::Millis;
use tables::{Outage, StoreError, TableKey};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::RedisStore;
use super::calendar::Whose;
use super::clock::OTHERS;
use super::fault::{Fault, strange};
use super::formats;
use super::keys::Shard;
use super::route::{Home, Kind};
use super::script;
use super::topology::text;

/// A silence of a shard that counts as an outage, ms. Longer than a commit may be on its way.
const SILENCE: u64 = 2_500;
/// No time-out is applied in a shard whose last sign of life is older: an outage may have begun. What a look finds is
/// applied long before [`SILENCE`] is over.
const HEARD: Duration = Duration::from_millis(1_500);
/// Once a server has heard the signs of its shards the others are waited for so long.
const LATER: Duration = Duration::from_millis(400);
/// So long outages are remembered, ms: no clock runs that long.
const REMEMBERED: u64 = 3_600_000;
/// Who looks for what is due signs so often, and hears who else does.
pub const SIGN: Duration = Duration::from_millis(200);
/// So long the clocks wait for it: whoever keeps the signatures may be away, and the tables' servers there.
const SHARING: Duration = Duration::from_millis(250);
/// The shards of whoever has not signed for so long fall to the others. With [`SIGN`] that is under a second, so that a
/// server that dies makes no clock later than that.
pub const ALIVE: Millis = Millis(600);
/// How often a process looks after all others' shards too, in case that somebody signs and does nothing else.
const SWEEP: Duration = Duration::from_secs(1);
/// What is overdue there by so much. By then its owner would have applied it: it is more than the margin of shared clocks.
const OVERDUE: Millis = Millis(300);
/// Where the processes sign.
pub(super) const PROCESSES: &str = "{fulcrum}:processes";
/// So long a signature is kept, ms.
const SIGNED: u64 = 60_000;

/// What this process knows of itself and the others.
pub(super) struct Living {
    me: Uuid,
    known: Mutex<Known>,
}

struct Known {
    /// Shards that are ours to look after; all of them until we know better.
    own: Vec<Shard>,
    /// Who has signed lately.
    alive: BTreeSet<Uuid>,
    /// Whether some shards' servers did not answer last time.
    silent: bool,
    signed: Instant,
    swept: Instant,
    /// By shard.
    outages: Vec<Vec<Outage>>,
    /// When the last sign of life of a shard that came through was sent.
    heard: Vec<Option<Instant>>,
}

impl Living {
    pub(super) fn new(shards: u16) -> Living {
        let known = Known {
            own: Shard::all(shards).collect(),
            alive: BTreeSet::new(),
            silent: false,
            signed: Instant::now(),
            swept: Instant::now(),
            outages: vec![Vec::new(); usize::from(shards)],
            heard: vec![None; usize::from(shards)],
        };
        Living { me: Uuid::new_v4(), known: Mutex::new(known) }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // What a panic elsewhere left here is at worst a second old.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, alive: BTreeSet<Uuid>, shards: u16) {
        let mut known = self.lock();
        if known.alive != alive {
            known.own = Shard::all(shards).filter(|shard| chosen(*shard, &alive, self.me)).collect();
            tracing::info!(processes = alive.len(), shards = known.own.len(), "clocks shared out");
            known.alive = alive;
        }
    }
}

/// Whether the shard falls to this process.
fn chosen(shard: Shard, alive: &BTreeSet<Uuid>, me: Uuid) -> bool {
    owner(shard, alive).is_none_or(|owner| owner == me)
}

/// Each shard goes to the process with the greatest hash of both, so that only the shards of one who comes or goes change
/// hands.
pub(super) fn owner(shard: Shard, alive: &BTreeSet<Uuid>) -> Option<Uuid> {
    let weight = |process: &Uuid| {
        let (high, low) = process.as_u64_pair();
        let folded = high ^ low ^ u64::from(shard.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // The finish of MurmurHash3, so that near numbers are far apart.
        let once = (folded ^ (folded >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let twice = (once ^ (once >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (twice ^ (twice >> 33), *process)
    };
    alive.iter().max_by_key(|process| weight(process)).copied()
}

impl RedisStore {
    /// Signs with the newest format that is known here, hears of the installation's, and notes outages, at every server that
    /// answers.
    pub(super) async fn beat(&self) -> Result<(), StoreError> {
        let sent = Instant::now();
        let shards = self.all_shards();
        let beats = |shard: Shard| script::beat(&shard.beat(), SILENCE, REMEMBERED);
        // Who did not answer last time is not waited for again: the others' clocks need a sign of life each second.
        let wait = if self.living.lock().silent { OTHERS } else { LATER };
        let (signed, told) =
            tokio::join!(timeout(wait, self.sign_format()), self.ask_who_answers(&shards, beats, wait));
        let told = told?;
        match signed {
            Ok(Err(error)) if told.len() == shards.len() => return Err(error),
            Ok(Ok(())) => {}
            // Its server is away, and with it whoever could raise the format.
            Ok(Err(_)) | Err(_) => tracing::debug!("the newest known format is not signed"),
        }
        for (shard, answer) in &told {
            self.note_outages(*shard, answer, sent)?;
        }
        self.tell_silence(shards.len() - told.len());
        Ok(())
    }

    /// Says once when servers of some shards do not answer, and once when all do again.
    fn tell_silence(&self, silent: usize) {
        let before = std::mem::replace(&mut self.living.lock().silent, silent > 0);
        if silent > 0 && !before {
            tracing::warn!(
                event = "shards_silent",
                silent,
                "the clocks of some shards stand still, their servers are away"
            );
        }
        if silent == 0 && before {
            tracing::info!(event = "shards_answer", "the servers of all shards answer again");
        }
    }

    /// Takes in what the sign of life of a shard told.
    fn note_outages(&self, shard: Shard, answer: &Value, sent: Instant) -> Result<Vec<Outage>, StoreError> {
        let (_, outages) = script::read_beat(answer).ok_or_else(|| strange("a sign of life"))?;
        let outage = |(from, to)| Outage { from: Millis(from), to: Millis(to) };
        let outages: Vec<Outage> = outages.into_iter().map(outage).collect();
        let (place, mut known) = (usize::from(shard.0), self.living.lock());
        if let Some(of_shard) = known.outages.get_mut(place) {
            of_shard.clone_from(&outages);
        }
        // Together, so that nothing runs out at a shard whose outage is not known.
        if let Some(heard) = known.heard.get_mut(place) {
            *heard = (*heard).max(Some(sent));
        }
        Ok(outages)
    }

    /// Those of these shards whose sign of life came through lately.
    fn heard_lately(&self, mut shards: Vec<Shard>) -> Vec<Shard> {
        let known = self.living.lock();
        let lately = |heard: &Option<Instant>| heard.is_some_and(|at| at.elapsed() < HEARD);
        shards.retain(|shard| known.heard.get(usize::from(shard.0)).is_some_and(lately));
        shards
    }

    /// When nobody was there for this table, with a sign of life of its shard: if the service was away until now, that
    /// notes it.
    pub(super) async fn outages_with_a_beat(&self, key: &TableKey) -> Result<Vec<Outage>, StoreError> {
        let shard = Shard::of(key, self.shards());
        let (sent, beat) = (Instant::now(), script::beat(&shard.beat(), SILENCE, REMEMBERED));
        let answer = self.ask(shard, &[beat]).await?.pop().unwrap_or(Value::Nil);
        self.note_outages(shard, &answer, sent)
    }

    async fn sign_format(&self) -> Result<(), StoreError> {
        let now = self.time().await?;
        let mut forget = cmd("ZREMRANGEBYSCORE");
        forget.arg(PROCESSES).arg("-inf").arg((now - Millis(SIGNED)).0);
        let mut format = cmd("SET");
        format.arg(formats::signature(self.living.me)).arg(self.codec.newest_format()).arg("PX").arg(SIGNED);
        // A key each: together they would wait while their slot moves and one of them is not there.
        let calls = [vec![self.signature(now), forget], vec![format], vec![formats::get()]];
        let calls = calls.each_ref().map(|call| self.router.call(Home::Installation, call, Kind::Read));
        let replies = futures_util::future::try_join_all(calls).await.map_err(Fault::unavailable)?;
        let installed = replies.into_iter().last().and_then(|mut reply| reply.values.pop());
        self.follow(formats::read(installed.as_ref())?);
        Ok(())
    }

    fn signature(&self, now: Millis) -> Cmd {
        let mut sign = cmd("ZADD");
        sign.arg(PROCESSES).arg(now.0).arg(self.living.me.to_string());
        sign
    }

    /// Signs now and then as one who looks for what is due, and hears who else does.
    async fn share_out(&self) -> Result<(), StoreError> {
        let now = self.time().await?;
        {
            let mut known = self.living.lock();
            if known.signed.elapsed() < SIGN {
                return Ok(());
            }
            known.signed = Instant::now();
        }
        let mut list = cmd("ZRANGEBYSCORE");
        list.arg(PROCESSES).arg((now - ALIVE).0).arg("+inf");
        let reply = self.router.call(Home::Installation, &[self.signature(now), list], Kind::Read).await;
        let listed = reply.map_err(Fault::unavailable)?.values.pop();
        let names = listed.as_ref().and_then(Value::as_sequence).ok_or_else(|| strange("the processes"))?;
        let mut alive: BTreeSet<Uuid> =
            names.iter().filter_map(text).filter_map(|name| Uuid::try_parse(&name).ok()).collect();
        alive.insert(self.living.me);
        self.living.learn(alive, self.shards());
        Ok(())
    }

    /// When nobody was there for this table.
    pub(super) async fn known_outages(&self, key: &TableKey) -> Result<Vec<Outage>, StoreError> {
        let place = usize::from(Shard::of(key, self.shards()).0);
        if self.living.lock().heard.get(place).is_none_or(Option::is_none) {
            return self.outages_with_a_beat(key).await;
        }
        Ok(self.living.lock().outages.get(place).cloned().unwrap_or_default())
    }

    /// When nobody was there for some shard, each time once.
    pub(super) async fn all_outages(&self) -> Result<Vec<Outage>, StoreError> {
        if self.living.lock().heard.iter().all(Option::is_none) {
            self.beat().await?;
        }
        let known = self.living.lock();
        let mut all: Vec<Outage> = known.outages.iter().flatten().copied().collect();
        drop(known);
        all.sort_by_key(|outage| (outage.from, outage.to));
        all.dedup();
        Ok(all)
    }

    /// What is due in our own shards; now and then also what is overdue in all others.
    pub(super) async fn look_due(
        &self,
        until: Millis,
        limit: usize,
        whose: Whose,
    ) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        // Our own shards need no word of the others.
        match timeout(SHARING, self.share_out()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "who else lives is not known just now"),
            Err(_) => tracing::debug!("who else lives is not known in time"),
        }
        let (mut own, mut others) = self.watch_over();
        if matches!(whose, Whose::WhoAnswers) {
            (own, others) = (self.heard_lately(own), self.heard_lately(others));
        }
        let mut due = self.read_due(&own, until, limit, whose).await?;
        if !others.is_empty() {
            let overdue = self.time().await? - OVERDUE;
            due.extend(self.read_due(&others, until.min(overdue), limit, whose).await?);
            due.sort_by(|(a, a_at), (b, b_at)| a_at.cmp(b_at).then_with(|| a.cmp(b)));
            due.truncate(limit);
        }
        Ok(due)
    }

    pub(super) fn own_shards(&self) -> Vec<Shard> {
        self.living.lock().own.clone()
    }

    fn watch_over(&self) -> (Vec<Shard>, Vec<Shard>) {
        let mut known = self.living.lock();
        if known.own.len() == usize::from(self.shards()) || known.swept.elapsed() < SWEEP {
            return (known.own.clone(), Vec::new());
        }
        known.swept = Instant::now();
        let own: BTreeSet<Shard> = known.own.iter().copied().collect();
        let others = Shard::all(self.shards()).filter(|shard| !own.contains(shard));
        (known.own.clone(), others.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shard_falls_to_one_process_and_few_move_when_one_dies() {
        let all: BTreeSet<Uuid> = (1..=4).map(|n| Uuid::from_u128(n * 0x1234_5678_9abc_def1)).collect();
        let only = |shard, alive: &BTreeSet<Uuid>| {
            let owners: Vec<Uuid> = alive.iter().copied().filter(|me| chosen(shard, alive, *me)).collect();
            assert_eq!(owners.len(), 1, "{shard:?}");
            owners[0]
        };
        let dead = *all.first().unwrap();
        let rest: BTreeSet<Uuid> = all.iter().copied().filter(|process| *process != dead).collect();
        let mut share = 0;
        for shard in Shard::all(256) {
            let before = only(shard, &all);
            share += u32::from(before == dead);
            if before != dead {
                assert_eq!(only(shard, &rest), before, "only the dead one's shards change hands");
            }
        }
        assert!((32..=96).contains(&share), "{share} of 256 shards for one of four");
    }

    #[test]
    fn the_shards_of_who_does_not_sign_fall_to_the_others_and_back() {
        let living = Living::new(64);
        let (silent, third) = (Uuid::from_u128(0xdead), Uuid::from_u128(0xbeef));
        let all = BTreeSet::from([living.me, silent, third]);
        let rest = BTreeSet::from([living.me, third]);
        assert_eq!(living.lock().own.len(), 64, "all, before anybody was heard of");
        living.learn(all.clone(), 64);
        let before = living.lock().own.clone();
        living.learn(rest.clone(), 64);
        let orphans = |shard: &Shard| chosen(*shard, &all, silent) && chosen(*shard, &rest, living.me);
        let wanted: BTreeSet<Shard> = before.iter().copied().chain(Shard::all(64).filter(orphans)).collect();
        assert_eq!(living.lock().own.iter().copied().collect::<BTreeSet<_>>(), wanted);
        assert!(wanted.len() > before.len());
        living.learn(all, 64);
        assert_eq!(living.lock().own, before, "he has signed again");
    }
}
