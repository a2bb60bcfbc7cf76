//! The names of the metrics. Dashboards and the alerts in `deploy/alerts` hold on to them: they do not change. Counters get
//! `_total` at their end when they are told.

/// Settlement records that a consumer has not acknowledged.
pub const UNACKNOWLEDGED: &str = "fulcrum_settlements_unacknowledged";
/// How old the oldest of them is, in seconds; 0 if there is none.
pub const OLDEST: &str = "fulcrum_settlements_oldest_unacknowledged_seconds";
/// Tables that were stopped since an invariant did not hold.
pub const STOPPED: &str = "fulcrum_tables_stopped";
/// Calls to wallets, by what came of them.
pub const WALLET_CALLS: &str = "fulcrum_wallet_calls";
/// How long wallets take.
pub const WALLET_SECONDS: &str = "fulcrum_wallet_call_seconds";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alerts_hold_on_to_metrics_that_are_there() {
        let alerts = include_str!("../../deploy/alerts/money.yml");
        let counters = [STOPPED, WALLET_CALLS].map(|name| format!("{name}_total"));
        let others = [UNACKNOWLEDGED, OLDEST, WALLET_SECONDS];
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let named = alerts.split(|c| !letter(c)).filter(|word| word.starts_with("fulcrum_"));
        let mut count = 0;
        for name in named {
            count += 1;
            assert!(counters.iter().any(|known| known == name) || others.contains(&name), "{name}");
        }
        assert!(count >= 3, "{count}");
    }
}
