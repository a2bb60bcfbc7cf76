//! How evenly tables lie: over shards, and shards over the machines of a cluster. By the functions that the store uses.

use tables::{OperatorId, TableId, TableKey};
use uuid::Uuid;

use crate::store::redis::spreading::{machine_of, shard_of};

/// How many shards the machine has that has most, of so many.
#[must_use]
pub fn fullest(shards: u16, machines: u32) -> u32 {
    let mut of = vec![0_u32; machines.max(1) as usize];
    for shard in 0..shards {
        if let Some(count) = of.get_mut(machine_of(shard, machines) as usize) {
            *count += 1;
        }
    }
    of.into_iter().max().unwrap_or_default()
}

/// The shards of so many tables of one operator, whose ids are as good as any.
#[must_use]
pub fn shards_of(tables: usize, shards: u16, mut random: impl FnMut() -> u128) -> Vec<u16> {
    let Some(operator) = OperatorId::new("casino-1") else {
        return Vec::new();
    };
    let mut key = TableKey { operator, table: TableId(Uuid::nil()) };
    let one = |_| {
        key.table = TableId(Uuid::from_u128(random()));
        shard_of(&key, shards)
    };
    (0..tables).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_has_all_shards_and_many_have_them_unevenly() {
        assert_eq!(fullest(256, 1), 256);
        let of_three = fullest(256, 3);
        assert!((86..110).contains(&of_three), "{of_three}");
        // The mean is 2.56; chance does not share out evenly.
        assert!((4..=10).contains(&fullest(256, 100)), "{}", fullest(256, 100));
        assert!(fullest(4096, 100) < 100, "with more shards it is more even: {}", fullest(4096, 100));
    }

    #[test]
    fn every_table_has_a_shard() {
        let mut id = 0;
        let shards = shards_of(10_000, 256, || {
            id += 1;
            id
        });
        assert_eq!(shards.len(), 10_000);
        assert!((0..256).all(|shard| shards.contains(&shard)));
    }
}
