//! The buckets of one operator: his own, and one for each of his players. A call takes a token, and tokens come back at a
//! steady rate up to what a burst may take.
//!
//! Players' names come out of requests, so that anybody who may call makes up as many as he likes. No name is kept, a full
//! bucket is forgotten, and there are never more than [`PLAYERS`].

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{NotUntil, Quota, RateLimiter};

/// So many players of an operator have buckets that are not full; 17 to 34 bytes each. When there are more, the others are
/// bounded by the operator's own bucket and by his share of the room only.
pub const PLAYERS: usize = 65_536;

/// How fast a bucket fills, and how much is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate(Quota);

impl Rate {
    /// So many calls a second, and at once as many as come back in so many seconds; `None` without a limit: 0 calls.
    #[must_use]
    pub fn new(calls_a_second: u32, burst_seconds: u32) -> Option<Rate> {
        let calls = NonZeroU32::new(calls_a_second)?;
        let seconds = NonZeroU32::new(burst_seconds).unwrap_or(NonZeroU32::MIN);
        Some(Rate(Quota::per_second(calls).allow_burst(calls.saturating_mul(seconds))))
    }
}

type Bucket<C> = RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<<C as Clock>::Instant>>;
type Many<C> = RateLimiter<u64, HashMapStateStore<u64>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// The buckets.
pub struct Buckets<C: Clock = MonotonicClock> {
    own: Option<Bucket<C>>,
    players: Option<Many<C>>,
    hash: RandomState,
    clock: C,
}

impl<C: Clock + Clone> Buckets<C> {
    /// Full ones.
    #[must_use]
    pub fn new(own: Option<Rate>, players: Option<Rate>, clock: C) -> Buckets<C> {
        let own = own.map(|Rate(quota)| RateLimiter::direct_with_clock(quota, clock.clone()));
        let players =
            players.map(|Rate(quota)| RateLimiter::new(quota, HashMapStateStore::default(), clock.clone()));
        Buckets { own, players, hash: RandomState::new(), clock }
    }

    /// Takes a token of the operator's.
    ///
    /// # Errors
    /// There is none; one comes back after so long.
    pub fn own(&self) -> Result<(), Duration> {
        self.own.as_ref().map_or(Ok(()), |own| own.check().map_err(|not| self.wait(&not)))
    }

    /// Takes a token of this player's.
    ///
    /// # Errors
    /// As [`Buckets::own`].
    pub fn player(&self, player: &str) -> Result<(), Duration> {
        let Some(players) = self.players.as_ref().filter(|players| players.len() < PLAYERS) else {
            return Ok(());
        };
        players.check_key(&self.hash.hash_one(player)).map_err(|not| self.wait(&not))
    }

    /// Whether players have buckets at all.
    #[must_use]
    pub const fn hold_players(&self) -> bool {
        self.players.is_some()
    }

    /// Forgets buckets that are full again: new ones are, too.
    pub fn sweep(&self) {
        if let Some(players) = &self.players {
            let before = players.len();
            players.retain_recent();
            if players.len() < before / 4 {
                players.shrink_to_fit();
            }
        }
    }

    /// How many players have buckets.
    #[cfg(test)]
    #[must_use]
    pub fn players(&self) -> usize {
        self.players.as_ref().map_or(0, RateLimiter::len)
    }

    fn wait(&self, not: &NotUntil<C::Instant>) -> Duration {
        not.wait_time_from(self.clock.now())
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn buckets(own: u32, players: u32) -> (Buckets<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (Buckets::new(Rate::new(own, 2), Rate::new(players, 2), clock.clone()), clock)
    }

    fn taken(mut take: impl FnMut() -> Result<(), Duration>) -> (usize, Duration) {
        let mut count = 0;
        loop {
            match take() {
                Ok(()) => count += 1,
                Err(wait) => return (count, wait),
            }
        }
    }

    #[test]
    fn a_bucket_holds_a_burst_and_fills_at_its_rate() {
        let (buckets, clock) = buckets(100, 0);
        assert_eq!(taken(|| buckets.own()), (200, Duration::from_millis(10)));
        clock.advance(Duration::from_millis(9));
        assert_eq!(buckets.own(), Err(Duration::from_millis(1)), "it says when it has room");
        clock.advance(Duration::from_millis(1));
        assert_eq!(buckets.own(), Ok(()));
        clock.advance(Duration::from_millis(500));
        assert_eq!(taken(|| buckets.own()).0, 50);
        clock.advance(Duration::from_secs(3600));
        assert_eq!(taken(|| buckets.own()).0, 200, "never more than a burst");
    }

    #[test]
    fn each_player_has_his_own_and_players_without_a_limit_have_none() {
        let (limited, _) = buckets(0, 5);
        assert_eq!(taken(|| limited.player("ann")).0, 10);
        assert_eq!(taken(|| limited.player("bob")).0, 10, "ann's calls are not his");
        assert_eq!(limited.own(), Ok(()), "nor the operator's, who has no limit");
        assert_eq!(limited.players(), 2);
        let (free, _) = buckets(5, 0);
        assert!((0..10_000).all(|_| free.player("ann").is_ok()));
        assert_eq!((free.players(), free.hold_players()), (0, false));
    }

    #[test]
    fn a_hundred_thousand_made_up_players_are_forgotten_and_never_more_than_the_most() {
        let (buckets, clock) = buckets(0, 10);
        assert_eq!(taken(|| buckets.player("ann")).0, 20);
        for number in 0..100_000 {
            assert_eq!(buckets.player(&format!("nobody-{number}")), Ok(()));
        }
        assert_eq!(buckets.players(), PLAYERS);
        buckets.sweep();
        assert_eq!(buckets.players(), PLAYERS, "none of them is full yet");
        // One token comes back in a tenth of a second; what ann has taken in two seconds.
        clock.advance(Duration::from_millis(250));
        buckets.sweep();
        assert_eq!(buckets.players(), 1, "ann's only");
        assert_eq!(taken(|| buckets.player("ann")).0, 2);
        clock.advance(Duration::from_secs(3));
        buckets.sweep();
        assert_eq!(buckets.players(), 0);
    }

    #[test]
    fn zero_is_no_limit_and_no_burst_is_a_second_of_it() {
        assert_eq!(Rate::new(0, 2), None);
        assert_eq!(Rate::new(7, 0), Rate::new(7, 1));
        assert!(Rate::new(u32::MAX, u32::MAX).is_some());
    }
}
