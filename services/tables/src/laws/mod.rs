//! The laws of a store: one suite that every store has to pass, the one in memory too.
//!
//! A test of a store is one line: `assert_eq!(laws::broken(|setting| async move { … }).await, [])`.

mod accounts;
mod calendar;
mod commits;
mod cursors;
pub(crate) mod fixture;
mod histories;
mod listings;
mod races;
mod requests;
mod retention;
mod stops;
mod untold;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use fixture::Verdict;
use rules::Millis;

use crate::store::Store;
use crate::time::ManualClock;

/// What a law wants of the store that it is tried on. The store is empty, and nobody else uses it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// At least so many commits of each table are kept, and not for ever more.
    pub history: usize,
    /// So many hands of an operator are noted as still to be told, at most.
    pub notes: usize,
}

/// A law that a store does not keep.
#[derive(Clone, PartialEq, Eq)]
pub struct BrokenLaw {
    /// The law.
    pub law: &'static str,
    /// How it was broken.
    pub why: String,
}

impl fmt::Debug for BrokenLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.law, self.why)
    }
}

type Trial = Pin<Box<dyn Future<Output = Verdict> + Send>>;

struct Law {
    name: &'static str,
    history: usize,
    trial: fn(Arc<dyn Store>) -> Trial,
}

/// Commits kept where a law is not about their going.
const PLENTY: usize = 4096;
/// Commits kept where it is.
const FEW: usize = 8;
/// Hands that are noted.
const NOTES: usize = 8;

macro_rules! laws {
    ($($history:ident $module:ident :: $law:ident),* $(,)?) => {
        &[$(Law {
            name: stringify!($law),
            history: $history,
            trial: |store| Box::pin(async move { $module::$law(&store).await }),
        }),*]
    };
}

const LAWS: &[Law] = laws![
    PLENTY commits::a_table_is_opened_once,
    PLENTY commits::the_token_decides_and_not_the_version,
    PLENTY commits::a_conflict_shows_the_present_and_changes_nothing,
    PLENTY commits::a_commit_is_there_as_a_whole,
    PLENTY commits::what_is_read_is_what_was_written,
    PLENTY requests::a_repetition_gets_the_first_answer,
    PLENTY requests::a_request_that_was_declined_stays_so,
    PLENTY requests::an_id_is_bound_to_its_payload,
    PLENTY requests::the_record_comes_before_the_token_and_the_token_before_the_time,
    PLENTY requests::an_id_belongs_to_its_operator,
    PLENTY histories::history_is_contiguous_and_in_order,
    FEW histories::old_history_goes_and_the_rest_stays_whole,
    PLENTY histories::a_checkpoint_is_a_state_that_was,
    FEW histories::a_checkpoint_is_a_state_that_was,
    PLENTY calendar::the_earliest_is_due_first,
    PLENTY calendar::a_commit_replaces_its_tables_due_time,
    PLENTY calendar::nothing_is_committed_before_its_time,
    PLENTY calendar::nothing_is_stamped_with_a_time_to_come,
    PLENTY calendar::time_goes_forward,
    PLENTY calendar::a_new_store_has_not_been_away,
    PLENTY listings::pages_of_tables_are_stable,
    PLENTY listings::pages_of_settlements_are_stable,
    PLENTY listings::settlements_are_found_by_what_they_are_about,
    PLENTY listings::settlements_are_found_by_kind_and_time,
    PLENTY listings::operators_are_strangers,
    PLENTY cursors::a_cursor_is_taken_over,
    PLENTY cursors::an_acknowledgement_does_not_go_back,
    PLENTY cursors::an_operator_has_so_many_cursors,
    PLENTY cursors::a_backlog_is_what_lies_behind,
    PLENTY retention::old_settlements_go_and_the_rest_stays,
    PLENTY retention::positions_go_on_after_all_records_went,
    PLENTY accounts::accounts_add_up_over_tables,
    PLENTY accounts::an_account_counts_a_commit_once,
    PLENTY accounts::an_account_that_is_full_stops_its_commit,
    PLENTY races::racing_writers_make_one_history,
    PLENTY races::readers_see_whole_commits,
    PLENTY untold::a_hand_is_noted_with_its_commit,
    PLENTY untold::a_hand_that_was_taken_is_not_taken_again_for_as_long,
    PLENTY untold::only_so_many_hands_are_noted,
    PLENTY untold::operators_do_not_take_each_others_hands,
    PLENTY stops::a_shelf_changes_only_under_its_token,
    PLENTY stops::stops_come_change_and_go,
    PLENTY stops::every_scope_is_read_as_it_was_written,
    PLENTY stops::a_request_for_a_stop_is_done_once,
    PLENTY stops::shelves_are_strangers,
    PLENTY stops::the_audit_has_the_latest_first,
];

/// The names of all laws, in the order in which they are tried.
pub fn names() -> impl Iterator<Item = &'static str> {
    LAWS.iter().map(|law| law.name)
}

/// Tries every law on a store of its own and says which ones are broken.
pub async fn broken<M, F>(make: M) -> Vec<BrokenLaw>
where
    M: Fn(Setting) -> F,
    F: Future<Output = Arc<dyn Store>>,
{
    let mut broken = Vec::new();
    for law in LAWS {
        let store = make(Setting { history: law.history, notes: NOTES }).await;
        if let Err(why) = (law.trial)(store).await {
            broken.push(BrokenLaw { law: law.name, why });
        }
    }
    broken
}

/// Tries every law and panics with the list of the broken ones.
///
/// # Panics
/// If there are any.
pub async fn all<M, F>(make: M)
where
    M: Fn(Setting) -> F,
    F: Future<Output = Arc<dyn Store>>,
{
    let broken = broken(make).await;
    assert!(broken.is_empty(), "broken laws of the store: {broken:#?}");
}

/// The one law that needs to turn a clock: a store that goes by this clock keeps request records so long, ms, and not
/// for ever.
///
/// # Errors
/// How it is broken.
pub async fn request_records_are_kept(
    store: Arc<dyn Store>,
    clock: &ManualClock,
    kept: Millis,
) -> Result<(), BrokenLaw> {
    let verdict = requests::records_are_kept(&store, clock, kept).await;
    verdict.map_err(|why| BrokenLaw { law: "request_records_are_kept", why })
}
