//! What a shown hand is worth, from its message alone, as records write it.

use std::collections::HashMap;
use std::sync::LazyLock;

use conformance::ranking;
use fulcrum::pb::v1;

/// The place of each value among all 7,462, by category and ranks.
static PLACES: LazyLock<HashMap<(i32, Vec<i32>), usize>> = LazyLock::new(|| {
    let values = ranking::values().iter().map(|value| super::messages::value(*value));
    let places: HashMap<_, _> =
        values.zip(1..).map(|(value, place)| ((value.category, value.ranks), place)).collect();
    assert_eq!(places.len(), 7462, "category and ranks tell any two values apart");
    places
});

/// Rank, 1 for the best, and class.
pub fn rank_and_class(value: &v1::HandValue) -> (usize, String) {
    let place = PLACES.get(&(value.category, value.ranks.clone()));
    let class = value.category().as_str_name().trim_start_matches("HAND_CATEGORY_");
    (place.copied().unwrap_or_default(), class.to_lowercase().replace('_', " "))
}
