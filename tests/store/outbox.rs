//! A list with a filter that lets nearly nothing through: one call looks at so many records and no more, and the next one
//! goes on there.

use rules::Millis;
use tables::settlement::LOOKED_AT;
use tables::{Outcome, Settlement, SettlementFilter, SettlementPage, Store};
use uuid::Uuid;

use crate::chain::Chain;
use crate::fixtures::{key, settlements};

const IN_A_COMMIT: usize = 1000;

/// A movement of chips.
fn movement(number: usize) -> Settlement {
    let (_, record) = settlements().remove(2);
    Settlement { key: key(1), id: Uuid::from_u128(number as u128 + 1), ..record }
}

/// More movements than one call looks at, then a single hand.
pub async fn a_page_has_a_bound(store: &dyn Store) {
    let mut chain = Chain::new(key(1), 9);
    let whole = LOOKED_AT + IN_A_COMMIT / 2;
    let mut records: Vec<Settlement> = (0..whole).map(movement).collect();
    let (_, void) = settlements().remove(1);
    records.push(Settlement { key: key(1), ..void });
    for part in records.chunks(IN_A_COMMIT) {
        let mut commit = chain.next();
        commit.settlements = part.to_vec();
        assert!(matches!(store.commit(commit).await, Ok(Outcome::Committed { .. })));
    }
    let wanted = SettlementFilter { hand: records[whole].hand(), ..SettlementFilter::default() };
    let first = store.settlements(&key(1).operator, &wanted, None, 10).await.unwrap();
    assert!(first.records.is_empty(), "it has looked at more than {LOOKED_AT}");
    let next = first.next.expect("it tells where to go on");
    let second = store.settlements(&key(1).operator, &wanted, Some(next), 10).await.unwrap();
    let found: Vec<&Settlement> = second.records.iter().map(|(_, record)| record).collect();
    assert_eq!(found, [&records[whole]]);
    assert_eq!(second.next, None, "there is no more");
    // Where the time tells that there is nothing, nothing is looked at.
    let at = records[0].at;
    let day = Millis::minutes(24 * 60);
    let early = SettlementFilter { to: Some(at - day), ..wanted.clone() };
    let late = SettlementFilter { from: Some(Millis(u64::MAX / 2)), ..wanted.clone() };
    for filter in [early, late] {
        let page = store.settlements(&key(1).operator, &filter, None, 10).await.unwrap();
        assert_eq!(page, SettlementPage::default(), "{filter:?} looks at everything");
    }
    // Who wants what there is gets it all, once.
    let filter = SettlementFilter::default();
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.settlements(&key(1).operator, &filter, after, usize::MAX).await.unwrap();
        all.extend(page.records.into_iter().map(|(_, record)| record));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert!(all == records, "{} of {}", all.len(), records.len());
}
