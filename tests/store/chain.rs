//! Commits of random play, and what has to hold of a store after them.

use std::sync::Arc;
use std::time::Duration;

use fulcrum::store::codec::tallies;
use rules::event::Event;
use rules::{Millis, Table};
use tables::deriving::{settlement_ids, settlements};
use tables::{Commit, SettlementFilter, SettlementKind, Store, Stored, TableKey, Token};

use crate::play::{Dice, RandomGame};

/// A table that is played at random, with the commits that it takes.
pub struct Chain {
    pub key: TableKey,
    pub game: RandomGame,
    pub stored: Option<Stored>,
    nonces: Dice,
}

impl Chain {
    /// A table that is not open yet.
    pub fn new(key: TableKey, seed: u64) -> Chain {
        Chain { key, game: RandomGame::open(seed), stored: None, nonces: Dice::new(!seed) }
    }

    /// A table that was played before, by somebody else.
    pub fn resume(key: TableKey, stored: Stored, seed: u64) -> Chain {
        let game = RandomGame::resume((*stored.table).clone(), seed);
        Chain { key, game, stored: Some(stored), nonces: Dice::new(!seed) }
    }

    /// The next commit; the game has gone on when this returns.
    pub fn next(&mut self) -> Commit {
        let (before, events) = match &self.stored {
            None => (self.game.table.clone(), vec![self.game.opened.clone()]),
            Some(_) => {
                let before = self.game.table.clone();
                let events = self.game.step();
                (before, events)
            }
        };
        self.commit(&before, events)
    }

    fn commit(&mut self, before: &Table, events: Vec<Event>) -> Commit {
        let after = Arc::new(self.game.table.clone());
        let token = Token { version: after.version, nonce: self.nonces.next() };
        let expected = self.stored.as_ref().map(|stored| stored.token);
        self.stored = Some(Stored { token, table: Arc::clone(&after) });
        Commit {
            key: self.key.clone(),
            expected,
            token,
            settlements: settlements(&self.key, before, &after, &events),
            accounts: Vec::new(),
            due: after.due().map(|(at, _)| at),
            table: after,
            events,
            request: None,
            not_before: None,
            stamped: Millis::ZERO,
            origin: None,
            untold: false,
        }
    }
}

/// Everything that the store has of a table fits together: the events make the state, the settlements are those of the
/// events, and the calendar has the state's own due time. Gives the tokens by version, from 1.
pub async fn check_whole(store: &dyn Store, key: &TableKey) -> Vec<Token> {
    let stored = store.load(key).await.expect("it can be read").expect("it is there");
    let history = store.history(key, 0, usize::MAX).await.expect("the history can be read");
    assert_eq!(history.oldest, 1, "nothing is old enough to go");
    let tokens: Vec<Token> = history.entries.iter().map(|entry| entry.token).collect();
    assert_eq!(tokens.last(), Some(&stored.token), "the state is that of the last entry");
    let mut table = Table::from_opening(&history.entries[0].events[0]).expect("an opening");
    let mut expected = Vec::new();
    for (version, entry) in (1..).zip(&history.entries) {
        assert_eq!(entry.version, version, "no version is left out");
        let before = table.clone();
        if version > 1 {
            table.apply(&entry.events);
        }
        let made = settlements(key, &before, &table, &entry.events);
        // Whoever answers a call names its record without the state before.
        let named = settlement_ids(key, &table, &entry.events);
        let chips = made.iter().filter(|record| record.kind != SettlementKind::Transaction);
        assert!(chips.map(|record| (record.kind, record.id)).eq(named), "version {version} of {key}");
        expected.extend(made);
    }
    // Entries of the first format have no time, and its states no tallies.
    let old = history.entries.iter().any(|entry| entry.at.is_none());
    let same = if old { tallies::alike(&table, &stored.table) } else { table == *stored.table };
    assert!(same, "the events of {key} do not make its state");
    let filter = SettlementFilter { table: Some(key.table), ..SettlementFilter::default() };
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.settlements(&key.operator, &filter, after, usize::MAX).await.expect("settlements");
        found.extend(page.records.into_iter().map(|(_, settlement)| settlement));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let alike = |(one, other)| tallies::told_alike(one, other);
    let same =
        found == expected || old && found.len() == expected.len() && found.iter().zip(&expected).all(alike);
    assert!(same, "the settlements of {key} are not those of its events");
    let expected: Vec<Millis> = table.due().map(|(at, _)| at).into_iter().collect();
    let mut due = due(store, key).await;
    // Where several processes share a store, each looks after the others' tables only now and then.
    for _ in 0..20 {
        if due == expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        due = self::due(store, key).await;
    }
    assert_eq!(due, expected);
    tokens
}

/// When the table is due, by the store's calendar.
async fn due(store: &dyn Store, key: &TableKey) -> Vec<Millis> {
    let calendar = store.due(Millis(u64::MAX), usize::MAX).await.expect("the calendar");
    calendar.iter().filter(|(other, _)| other == key).map(|(_, at)| *at).collect()
}
