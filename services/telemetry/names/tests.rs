//! Whether what is told is what the table says, and whether alerts and dashboards hold on to nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use prometheus_client::metrics::MetricType;

use super::*;
use crate::telemetry::metrics::Metrics;

fn told(text: &str, what: &str) -> Vec<(String, String)> {
    let line = |line: &str| {
        let (name, rest) = line.strip_prefix(what)?.split_once(' ')?;
        Some((name.to_owned(), rest.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn the_registry_has_exactly_what_the_table_says() {
    let metrics = Metrics::new(&[]);
    let kind = |kind: &MetricType| match kind {
        MetricType::Counter => Kind::Counter,
        MetricType::Gauge => Kind::Gauge,
        MetricType::Histogram => Kind::Histogram,
        other => panic!("{other:?}"),
    };
    let mut entered: Vec<(&str, Kind)> =
        metrics.entered().iter().map(|(name, of)| (*name, kind(of))).collect();
    let mut wanted: Vec<(&str, Kind)> = ALL.iter().map(|metric| (metric.name, metric.kind)).collect();
    entered.sort_unstable_by_key(|(name, _)| *name);
    wanted.sort_unstable_by_key(|(name, _)| *name);
    assert_eq!(entered, wanted);
    for metric in ALL {
        assert!(metric.name.starts_with("fulcrum_") && metric.help.len() > 10, "{metric:?}");
        assert!(!metric.help.ends_with('.') && !metric.help.contains('\n'), "{metric:?}");
    }
}

#[test]
fn metrics_are_told_by_their_names_with_their_units() {
    let text = Metrics::new(&[]).text().unwrap();
    let names: BTreeSet<String> = told(&text, "# TYPE ").into_iter().map(|(name, _)| name).collect();
    assert!(
        names.len() > 15 && names.iter().all(|name| ALL.iter().any(|metric| metric.name == name)),
        "{names:?}"
    );
    for (name, unit) in told(&text, "# UNIT ") {
        let metric = ALL.iter().find(|metric| metric.name == name).unwrap();
        assert_eq!(format!("{:?}", metric.unit).to_lowercase(), unit, "{name}");
    }
}

/// Words of these files, below this folder of `deploy`, that are names of metrics or of their series.
fn held_on_to(folder: &str, ends: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(folder);
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(ends) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
        names.extend(
            words.filter(|word| word.starts_with("fulcrum_") && !word.ends_with('_')).map(str::to_owned),
        );
    }
    names
}

#[test]
fn alerts_and_dashboards_hold_on_to_metrics_that_are_there() {
    let mut known = BTreeSet::new();
    for metric in ALL {
        known.insert(metric.exposed());
        if metric.kind == Kind::Histogram {
            known.extend(["bucket", "sum", "count"].map(|part| format!("{}_{part}", metric.name)));
        }
    }
    for (folder, ends, least) in [("alerts", ".yml", 20), ("dashboards", ".json", 30)] {
        let named = held_on_to(folder, ends);
        assert!(named.len() >= least, "{folder}: {named:?}");
        let unknown: Vec<&String> = named.difference(&known).collect();
        assert!(unknown.is_empty(), "{folder}: {unknown:?}");
    }
}
