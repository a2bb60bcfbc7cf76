//! How tables spread over shards, shards over the machines of a cluster, and clocks over servers: for those who reckon with
//! it before they build it. It is what the store itself goes by.

use std::collections::BTreeSet;

use tables::TableKey;
use uuid::Uuid;

use super::keys::{SLOTS, Shard};
use super::living;

pub use super::POLL;
pub use super::config::{HISTORY, SHARDS};
pub use super::living::{ALIVE, SIGN};

/// The shard of a table.
#[must_use]
pub fn shard_of(key: &TableKey, shards: u16) -> u16 {
    Shard::of(key, shards).0
}

/// Which of so many machines has the shard, where each has a range of slots of the same size, as `redis-cli --cluster
/// create` shares them out.
#[must_use]
pub fn machine_of(shard: u16, machines: u32) -> u32 {
    let slot = u64::from(Shard(shard).slot());
    // The last machine whose slots begin at this one or before: they begin at 16384 · machine / machines, rounded down.
    let machine = ((slot + 1) * u64::from(machines.max(1)) - 1) / u64::from(SLOTS);
    u32::try_from(machine).unwrap_or_default()
}

/// Which of the processes that are alive looks after the clocks of the shard's tables.
#[must_use]
pub fn owner_of(shard: u16, alive: &BTreeSet<Uuid>) -> Option<Uuid> {
    living::owner(Shard(shard), alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_lie_where_their_slots_lie() {
        assert!((0..SHARDS).all(|shard| machine_of(shard, 1) == 0));
        for (shard, machines) in (0..SHARDS).flat_map(|shard| [3, 7, 100].map(|machines| (shard, machines))) {
            let (slot, machine) = (u32::from(Shard(shard).slot()), machine_of(shard, machines));
            let begins = |machine: u32| u32::from(SLOTS) * machine / machines;
            assert!((begins(machine)..begins(machine + 1)).contains(&slot), "{shard} of {machines}");
        }
        let on_first = (0..SHARDS).filter(|shard| machine_of(*shard, 3) == 0).count();
        assert!((50..=120).contains(&on_first), "{on_first} of 256 on one of three");
    }
}
