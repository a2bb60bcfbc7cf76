//! What lies where in Redis. A table belongs to one of N shards, and every key of a shard carries the shard's name as
//! its hash tag: so that all keys of one table are on one machine, and one script may change them together.

use tables::stops::{Author, Shelf};
use tables::{OperatorId, RequestId, TableId, TableKey};
use uuid::Uuid;

/// A shard has to fit into the last 12 bits of a settlement's position.
pub(super) const MOST_SHARDS: u16 = 4096;

/// Redis spreads keys over so many slots.
pub(super) const SLOTS: u16 = 16_384;

/// The key of what belongs to the whole installation.
pub(super) const INSTALLATION: &str = "{fulcrum}:installation";

/// How far an operator's readers of settlements have come: a hash.
pub(super) fn cursors(operator: &OperatorId) -> String {
    format!("{{fulcrum}}:cursors:{operator}")
}

/// Of the hands of an operator of which is still to be told.
pub(super) fn untold(operator: &OperatorId) -> String {
    format!("{{fulcrum}}:untold:{operator}")
}

/// As [`Shard::fence`], on the installation's server.
pub(super) const INSTALLATION_FENCE: &str = "{fulcrum}:fence";

/// The keys of a shelf of stops.
pub(super) struct StopKeys {
    pub(super) token: String,
    pub(super) stops: String,
    pub(super) audit: String,
}

impl StopKeys {
    pub(super) fn of(shelf: &Shelf) -> StopKeys {
        let key = |kind: &str| format!("{{fulcrum}}:stops:{kind}:{shelf}");
        StopKeys { token: key("v"), stops: key("s"), audit: key("a") }
    }
}

/// The record of a request for a stop.
pub(super) fn stop_request(author: &Author, id: &RequestId) -> String {
    format!("{{fulcrum}}:stops:rq:{author}:{id}")
}

/// One of the installation's shards.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Shard(pub u16);

impl Shard {
    /// The shard of a table: for ever the same as long as the number of shards is.
    pub(super) fn of(key: &TableKey, shards: u16) -> Shard {
        // FNV-1a, and its halves folded, because a remainder looks only at the lowest bits.
        let fnv = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        let operator = key.operator.as_str().as_bytes();
        let hash = operator.iter().chain(key.table.0.as_bytes()).fold(0xcbf2_9ce4_8422_2325, fnv);
        let folded = (hash >> 32) ^ hash;
        Shard(u16::try_from(folded % u64::from(shards.max(1))).unwrap_or_default())
    }

    /// All of them.
    pub(super) fn all(shards: u16) -> impl Iterator<Item = Shard> {
        (0..shards).map(Shard)
    }

    /// The slot of its keys.
    pub(super) fn slot(self) -> u16 {
        slot(&format!("s{:03}", self.0))
    }

    fn tag(self) -> String {
        format!("{{s{:03}}}", self.0)
    }

    /// When which table is due: a sorted set, ms since the epoch.
    pub(super) fn calendar(self) -> String {
        self.tag() + ":tm"
    }

    /// Signs of life and outages.
    pub(super) fn beat(self) -> String {
        self.tag() + ":hb"
    }

    /// Written so that replicas have what was written before it.
    pub(super) fn fence(self) -> String {
        self.tag() + ":fence"
    }

    /// An operator's tables in this shard, in the order of their ids.
    pub(super) fn tables(self, operator: &OperatorId) -> String {
        format!("{}:ix:{operator}", self.tag())
    }

    /// An operator's settlements in this shard: a stream.
    pub(super) fn outbox(self, operator: &OperatorId) -> String {
        format!("{}:ob:{operator}", self.tag())
    }

    /// What players' money came to at an operator's tables in this shard: a hash of sums.
    pub(super) fn accounts(self, operator: &OperatorId) -> String {
        format!("{}:ac:{operator}", self.tag())
    }

    /// The names of the accounts that have sums there, in their order.
    pub(super) fn account_names(self, operator: &OperatorId) -> String {
        format!("{}:an:{operator}", self.tag())
    }

    /// Where in the outbox the settlement of an id is: a hash. Under no id, the last place that was retired.
    pub(super) fn outbox_index(self, operator: &OperatorId) -> String {
        format!("{}:si:{operator}", self.tag())
    }
}

/// The names of one table's keys.
pub(super) struct Place<'a> {
    pub(super) key: &'a TableKey,
    pub(super) shard: Shard,
}

impl<'a> Place<'a> {
    pub(super) fn of(key: &'a TableKey, shards: u16) -> Place<'a> {
        Place { key, shard: Shard::of(key, shards) }
    }

    /// The state, behind 16 bytes of token.
    pub(super) fn state(&self) -> String {
        format!("{}:t:{}:s", self.shard.tag(), self.key)
    }

    /// The history: a stream with one entry a commit.
    pub(super) fn events(&self) -> String {
        format!("{}:t:{}:e", self.shard.tag(), self.key)
    }

    /// Where commits are told of. A shard's channel: it is told where the shard is.
    pub(super) fn channel(&self) -> String {
        format!("{}:c:{}", self.shard.tag(), self.key)
    }

    /// The record of a request.
    pub(super) fn request(&self, id: &RequestId) -> String {
        format!("{}:t:{}:rq:{id}", self.shard.tag(), self.key)
    }
}

/// The table that a member of a calendar, an index or a channel names.
pub(super) fn table_key(name: &str) -> Option<TableKey> {
    let (operator, table) = name.split_once('/')?;
    Some(TableKey { operator: OperatorId::new(operator)?, table: TableId(Uuid::try_parse(table).ok()?) })
}

/// The table whose channel this is.
pub(super) fn channel_key(channel: &str) -> Option<TableKey> {
    table_key(channel.split_once(":c:")?.1)
}

/// The slot of a hash tag: CRC-16/XMODEM, as Redis Cluster has it.
pub(super) fn slot(tag: &str) -> u16 {
    let crc = tag.bytes().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    });
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(operator: &str, table: u128) -> TableKey {
        let operator = OperatorId::new(operator).unwrap();
        TableKey { operator, table: TableId(Uuid::from_u128(table)) }
    }

    #[test]
    fn slots_are_those_of_redis_cluster() {
        // The first is the check value of the specification; the others are what CLUSTER KEYSLOT says.
        assert_eq!(slot("123456789"), 0x31c3);
        assert_eq!(slot("foo"), 12_182);
        assert_eq!(slot("bar"), 5_061);
    }

    #[test]
    fn a_table_stays_in_its_shard_and_shards_fill_evenly() {
        // Fixed for ever: another hash would lose every stored table.
        assert_eq!(Shard::of(&key("casino-1", 7), 256), Shard(FIXED));
        let mut count = [0_u32; 256];
        for table in 0..25_600 {
            count[usize::from(Shard::of(&key("casino-1", table), 256).0)] += 1;
        }
        assert!(count.iter().all(|n| (50..=160).contains(n)), "{count:?}");
    }
    const FIXED: u16 = 0;

    #[test]
    fn all_keys_of_a_table_have_its_shard_as_their_tag() {
        let key = key("casino-1", 7);
        let place = Place::of(&key, 256);
        let tag = place.shard.tag();
        let request = place.request(&RequestId(Uuid::from_u128(1)));
        let shard = place.shard;
        let of_shard = [
            shard.calendar(),
            shard.beat(),
            shard.tables(&key.operator),
            shard.outbox(&key.operator),
            shard.outbox_index(&key.operator),
            shard.accounts(&key.operator),
            shard.account_names(&key.operator),
        ];
        for name in [place.state(), place.events(), place.channel(), request].iter().chain(&of_shard) {
            assert!(name.starts_with(&tag), "{name}");
        }
        assert_eq!(channel_key(&place.channel()), Some(key.clone()));
        assert_eq!(table_key(&key.to_string()), Some(key));
        assert_eq!(table_key("casino-1"), None);
        assert_eq!(table_key(""), None);
    }
}
