//! The laws of a store are tried on stores that break them: a law that finds nothing would be no law.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rules::{Millis, PlayerId, Table};
use tables::stops::{AuditEntry, Author, Changed, Scope, Shelf, StopChange, Stopped};
use tables::*;
use uuid::Uuid;

/// A way to be a bad store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sin {
    IgnoresTheToken,
    ComparesVersionsOnly,
    HidesThePresent,
    ForgetsRequests,
    IgnoresPayloads,
    MixesOperators,
    ForgetsDueTimes,
    TurnsTheCalendarRound,
    IgnoresTime,
    TurnsTimeBack,
    TellsOfAnOutage,
    ForgetsSettlements,
    IgnoresFilters,
    TurnsHistoryRound,
    ForgetsNothing,
    InventsCheckpoints,
    ForgetsPages,
    ShowsHistoryLate,
    ReadsOtherCards,
    ForgetsRefusals,
    SharesCursors,
    TurnsCursorsBack,
    CountsNoBacklog,
    RetiresTheYoung,
    RetiresNothing,
    DoublesAccounts,
    ForgetsAccounts,
    IgnoresStopTokens,
    KeepsLiftedStops,
    MixesScopes,
    ForgetsStopRequests,
    MixesShelves,
    TurnsTheAuditRound,
    NotesNoHands,
    ForgetsOrigins,
    LendsHandsTwice,
    NotesAllHands,
}

/// A store in memory with one sin.
struct Sinner {
    inner: MemoryStore,
    sin: Sin,
    calls: AtomicU64,
    hidden: Mutex<Option<Token>>,
}

impl Sinner {
    fn new(sin: Sin, setting: laws::Setting) -> Sinner {
        let history = if sin == Sin::ForgetsNothing { usize::MAX } else { setting.history };
        let notes = if sin == Sin::NotesAllHands { usize::MAX } else { setting.notes };
        let inner = MemoryStore::default().with_history(history).with_notes(notes);
        Sinner { inner, sin, calls: AtomicU64::new(0), hidden: Mutex::default() }
    }

    fn operator(&self, operator: &OperatorId) -> OperatorId {
        let one = OperatorId::new("operator-1").unwrap();
        if self.sin == Sin::MixesOperators { one } else { operator.clone() }
    }

    fn key(&self, key: &TableKey) -> TableKey {
        TableKey { operator: self.operator(&key.operator), table: key.table }
    }

    async fn worsen(&self, commit: &mut Commit) -> Result<(), StoreError> {
        commit.key = self.key(&commit.key);
        let current = self.inner.load(&commit.key).await?.map(|stored| stored.token);
        match self.sin {
            Sin::IgnoresTheToken => commit.expected = current,
            Sin::ComparesVersionsOnly if current.map(|t| t.version) == commit.expected.map(|t| t.version) => {
                commit.expected = current;
            }
            Sin::ForgetsRequests => commit.request = None,
            Sin::IgnoresPayloads => {
                if let Some(request) = &mut commit.request {
                    request.payload = [0; 32];
                }
            }
            Sin::ForgetsDueTimes => commit.due = None,
            Sin::IgnoresTime => (commit.not_before, commit.stamped) = (None, Millis::ZERO),
            Sin::ForgetsSettlements => commit.settlements.clear(),
            Sin::ForgetsRefusals => {
                if let Some(request) = &mut commit.request {
                    request.declined = false;
                }
            }
            Sin::DoublesAccounts => commit.accounts.extend(commit.accounts.clone()),
            Sin::ForgetsAccounts => commit.accounts.clear(),
            Sin::NotesNoHands => commit.untold = false,
            Sin::ForgetsOrigins => commit.origin = None,
            _ => {}
        }
        Ok(())
    }
}

#[async_trait]
impl Books for Sinner {
    async fn cursors(&self, operator: &OperatorId) -> Result<Vec<(String, Cursor)>, StoreError> {
        self.inner.cursors(&self.operator(operator)).await
    }

    async fn take_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<Option<Cursor>, StoreError> {
        let consumer = if self.sin == Sin::SharesCursors { "everybody" } else { consumer };
        self.inner.take_cursor(&self.operator(operator), consumer).await
    }

    async fn acknowledge(
        &self,
        operator: &OperatorId,
        consumer: &str,
        position: SettlementPosition,
    ) -> Result<Option<Cursor>, StoreError> {
        if self.sin == Sin::TurnsCursorsBack && self.inner.forget_cursor(operator, consumer).await? {
            self.inner.take_cursor(operator, consumer).await?;
        }
        self.inner.acknowledge(&self.operator(operator), consumer, position).await
    }

    async fn forget_cursor(&self, operator: &OperatorId, consumer: &str) -> Result<bool, StoreError> {
        self.inner.forget_cursor(&self.operator(operator), consumer).await
    }

    async fn backlog(
        &self,
        operator: &OperatorId,
        after: Option<SettlementPosition>,
    ) -> Result<Backlog, StoreError> {
        match self.sin {
            Sin::CountsNoBacklog => Ok(Backlog::default()),
            _ => self.inner.backlog(&self.operator(operator), after).await,
        }
    }

    async fn retire(&self, operator: &OperatorId, before: Millis, limit: usize) -> Result<usize, StoreError> {
        let before = match self.sin {
            Sin::RetiresTheYoung => Millis(u64::MAX),
            Sin::RetiresNothing => Millis::ZERO,
            _ => before,
        };
        self.inner.retire(&self.operator(operator), before, limit).await
    }

    async fn retired_until(&self, operator: &OperatorId) -> Result<Option<SettlementPosition>, StoreError> {
        self.inner.retired_until(&self.operator(operator)).await
    }

    async fn accounts(
        &self,
        operator: &OperatorId,
        after: Option<&AccountName>,
        limit: usize,
    ) -> Result<Vec<Account>, StoreError> {
        self.inner.accounts(&self.operator(operator), after, limit).await
    }

    async fn account(&self, operator: &OperatorId, player: &PlayerId) -> Result<Vec<Account>, StoreError> {
        self.inner.account(&self.operator(operator), player).await
    }
}

#[async_trait]
impl Untold for Sinner {
    async fn take(
        &self,
        operator: &OperatorId,
        age: Millis,
        limit: usize,
    ) -> Result<Vec<TableHand>, StoreError> {
        let age = if self.sin == Sin::LendsHandsTwice { Millis::ZERO } else { age };
        self.inner.take(&self.operator(operator), age, limit).await
    }

    async fn forget(&self, operator: &OperatorId, hands: &[TableHand]) -> Result<(), StoreError> {
        self.inner.forget(&self.operator(operator), hands).await
    }
}

#[async_trait]
impl Store for Sinner {
    async fn now(&self) -> Result<Millis, StoreError> {
        let now = self.inner.now().await?;
        let back =
            if self.sin == Sin::TurnsTimeBack { self.calls.fetch_add(10, Ordering::SeqCst) } else { 0 };
        Ok(now - Millis(back))
    }

    fn books(&self) -> &dyn Books {
        self
    }

    fn resume_keys(&self) -> &[ResumeKey] {
        self.inner.resume_keys()
    }

    async fn load(&self, key: &TableKey) -> Result<Option<Stored>, StoreError> {
        let mut loaded = self.inner.load(&self.key(key)).await?;
        if let (Sin::ReadsOtherCards, Some(stored)) = (self.sin, &mut loaded)
            && let Some(hand) = &mut Arc::make_mut(&mut stored.table).hand
        {
            hand.used += 1;
        }
        Ok(loaded)
    }

    async fn commit(&self, mut commit: Commit) -> Result<Outcome, StoreError> {
        self.worsen(&mut commit).await?;
        if self.sin == Sin::ShowsHistoryLate {
            *self.hidden.lock().unwrap() = Some(commit.token);
        }
        let outcome = self.inner.commit(commit).await?;
        if self.sin == Sin::ShowsHistoryLate {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            *self.hidden.lock().unwrap() = None;
        }
        match outcome {
            Outcome::Conflict(Some(_)) | Outcome::Severed(_) if self.sin == Sin::HidesThePresent => {
                Ok(Outcome::Conflict(None))
            }
            outcome => Ok(outcome),
        }
    }

    async fn request(&self, key: &TableKey, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.inner.request(&self.key(key), id).await
    }

    async fn history(&self, key: &TableKey, after: u64, limit: usize) -> Result<History, StoreError> {
        let mut history = self.inner.history(&self.key(key), after, limit).await?;
        if self.sin == Sin::TurnsHistoryRound {
            history.entries.reverse();
        }
        let hidden = *self.hidden.lock().unwrap();
        history.entries.retain(|entry| Some(entry.token) != hidden);
        Ok(history)
    }

    async fn checkpoint(&self, key: &TableKey, version: u64) -> Result<Option<Arc<Table>>, StoreError> {
        let key = self.key(key);
        if self.sin == Sin::InventsCheckpoints {
            return Ok(self.inner.load(&key).await?.map(|stored| stored.table));
        }
        self.inner.checkpoint(&key, version).await
    }

    async fn due(&self, until: Millis, limit: usize) -> Result<Vec<(TableKey, Millis)>, StoreError> {
        let mut due = self.inner.due(until, limit).await?;
        if self.sin == Sin::TurnsTheCalendarRound {
            due.reverse();
        }
        Ok(due)
    }

    async fn next_due(&self) -> Result<Option<Millis>, StoreError> {
        self.inner.next_due().await
    }

    async fn tables(
        &self,
        operator: &OperatorId,
        after: Option<TableId>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let after = after.filter(|_| self.sin != Sin::ForgetsPages);
        self.inner.tables(&self.operator(operator), after, limit).await
    }

    async fn settlement(&self, operator: &OperatorId, id: &Uuid) -> Result<Option<Settlement>, StoreError> {
        self.inner.settlement(&self.operator(operator), id).await
    }

    async fn settlements(
        &self,
        operator: &OperatorId,
        filter: &SettlementFilter,
        after: Option<SettlementPosition>,
        limit: usize,
    ) -> Result<SettlementPage, StoreError> {
        let all = SettlementFilter::default();
        let filter = if self.sin == Sin::IgnoresFilters { &all } else { filter };
        let after = after.filter(|_| self.sin != Sin::ForgetsPages);
        self.inner.settlements(&self.operator(operator), filter, after, limit).await
    }

    async fn heartbeat(&self, now: Millis) -> Result<(), StoreError> {
        self.inner.heartbeat(now).await
    }

    async fn outages(&self) -> Result<Vec<Outage>, StoreError> {
        let outage = Outage { from: Millis(1), to: Millis(2) };
        Ok(if self.sin == Sin::TellsOfAnOutage { vec![outage] } else { Vec::new() })
    }

    fn stops(&self) -> &dyn Stops {
        self
    }

    fn untold(&self) -> &dyn tables::Untold {
        self
    }

    async fn check(&self) -> Result<(), StoreError> {
        self.inner.check().await
    }
}

impl Sinner {
    fn shelf_of(&self, shelf: &Shelf) -> Shelf {
        if self.sin == Sin::MixesShelves { Shelf::Service } else { shelf.clone() }
    }
}

#[async_trait]
impl Stops for Sinner {
    async fn shelf(&self, shelf: &Shelf, known: Option<Token>) -> Result<Option<Stopped>, StoreError> {
        self.inner.stops().shelf(&self.shelf_of(shelf), known).await
    }

    async fn change(&self, change: &StopChange) -> Result<Changed, StoreError> {
        let mut change = StopChange { shelf: self.shelf_of(&change.shelf), ..change.clone() };
        match self.sin {
            Sin::IgnoresStopTokens | Sin::MixesShelves => {
                let current = self.inner.stops().shelf(&change.shelf, None).await?;
                change.expected = current.and_then(|stopped| stopped.token);
            }
            Sin::KeepsLiftedStops => change.remove.clear(),
            Sin::MixesScopes => change.put.iter_mut().for_each(|entry| entry.scope = Scope::Service),
            Sin::ForgetsStopRequests => change.request = None,
            _ => {}
        }
        self.inner.stops().change(&change).await
    }

    async fn asked(&self, author: &Author, id: &RequestId) -> Result<Option<RequestRecord>, StoreError> {
        self.inner.stops().asked(author, id).await
    }

    async fn audit(
        &self,
        shelf: &Shelf,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let mut entries = self.inner.stops().audit(&self.shelf_of(shelf), before, limit).await?;
        if self.sin == Sin::TurnsTheAuditRound {
            entries.reverse();
        }
        Ok(entries)
    }
}

async fn broken_by(sin: Sin) -> BTreeSet<&'static str> {
    let make = |setting| async move { Arc::new(Sinner::new(sin, setting)) as Arc<dyn Store> };
    laws::broken(make).await.into_iter().map(|broken| broken.law).collect()
}

/// Each sin, and a law that has to find it.
const SINS: &[(Sin, &str)] = &[
    (Sin::IgnoresTheToken, "a_table_is_opened_once"),
    (Sin::ComparesVersionsOnly, "the_token_decides_and_not_the_version"),
    (Sin::HidesThePresent, "a_conflict_shows_the_present_and_changes_nothing"),
    (Sin::ForgetsRequests, "a_repetition_gets_the_first_answer"),
    (Sin::IgnoresPayloads, "an_id_is_bound_to_its_payload"),
    (Sin::MixesOperators, "operators_are_strangers"),
    (Sin::ForgetsDueTimes, "a_commit_replaces_its_tables_due_time"),
    (Sin::TurnsTheCalendarRound, "the_earliest_is_due_first"),
    (Sin::IgnoresTime, "nothing_is_committed_before_its_time"),
    (Sin::TurnsTimeBack, "time_goes_forward"),
    (Sin::TellsOfAnOutage, "a_new_store_has_not_been_away"),
    (Sin::ForgetsSettlements, "a_commit_is_there_as_a_whole"),
    (Sin::IgnoresFilters, "settlements_are_found_by_what_they_are_about"),
    (Sin::TurnsHistoryRound, "history_is_contiguous_and_in_order"),
    (Sin::ForgetsNothing, "old_history_goes_and_the_rest_stays_whole"),
    (Sin::InventsCheckpoints, "a_checkpoint_is_a_state_that_was"),
    (Sin::ForgetsPages, "pages_of_tables_are_stable"),
    (Sin::ShowsHistoryLate, "readers_see_whole_commits"),
    (Sin::ReadsOtherCards, "what_is_read_is_what_was_written"),
    (Sin::ForgetsRefusals, "a_request_that_was_declined_stays_so"),
    (Sin::IgnoresFilters, "settlements_are_found_by_kind_and_time"),
    (Sin::SharesCursors, "a_cursor_is_taken_over"),
    (Sin::SharesCursors, "an_operator_has_so_many_cursors"),
    (Sin::TurnsCursorsBack, "an_acknowledgement_does_not_go_back"),
    (Sin::CountsNoBacklog, "a_backlog_is_what_lies_behind"),
    (Sin::RetiresTheYoung, "old_settlements_go_and_the_rest_stays"),
    (Sin::RetiresNothing, "positions_go_on_after_all_records_went"),
    (Sin::DoublesAccounts, "accounts_add_up_over_tables"),
    (Sin::DoublesAccounts, "an_account_counts_a_commit_once"),
    (Sin::ForgetsAccounts, "an_account_that_is_full_stops_its_commit"),
    (Sin::IgnoresStopTokens, "a_shelf_changes_only_under_its_token"),
    (Sin::KeepsLiftedStops, "stops_come_change_and_go"),
    (Sin::MixesScopes, "every_scope_is_read_as_it_was_written"),
    (Sin::ForgetsStopRequests, "a_request_for_a_stop_is_done_once"),
    (Sin::MixesShelves, "shelves_are_strangers"),
    (Sin::TurnsTheAuditRound, "the_audit_has_the_latest_first"),
    (Sin::NotesNoHands, "a_hand_is_noted_with_its_commit"),
    (Sin::ForgetsOrigins, "a_hand_is_noted_with_its_commit"),
    (Sin::LendsHandsTwice, "a_hand_that_was_taken_is_not_taken_again_for_as_long"),
    (Sin::NotesAllHands, "only_so_many_hands_are_noted"),
    (Sin::MixesOperators, "operators_do_not_take_each_others_hands"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_sin_is_found_and_every_law_finds_one() {
    let mut found = BTreeSet::new();
    for (sin, law) in SINS {
        let broken = broken_by(*sin).await;
        assert!(broken.contains(law), "{sin:?} is not found by {law}, only by {broken:?}");
        found.extend(broken);
    }
    let all: BTreeSet<&str> = laws::names().collect();
    assert_eq!(found, all, "a law that no sin breaks");
}

#[tokio::test]
async fn a_clocks_law_finds_records_that_stay() {
    let clock = Arc::new(ManualClock::at(Millis(1)));
    // The store goes by another clock, so that no time passes for it.
    let store = Arc::new(MemoryStore::new(Arc::new(ManualClock::at(Millis(1)))));
    assert!(laws::request_records_are_kept(store, &clock, Millis::minutes(60)).await.is_err());
}
