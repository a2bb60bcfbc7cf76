//! Several servers on one Redis, under the load of `fulcrum load`, while servers and wallets are killed and Redis fails.
//!
//! A test program of its own, because its scenarios take options; `cargo test --release --test chaos -- --help` tells.

mod arguments;
mod balancer;
#[path = "../program/child.rs"]
#[allow(dead_code, reason = "only its command is used")]
mod child;
mod envoy;
mod faults;
mod fleet;
mod killing;
mod load;
mod measure;
mod money;
mod process;
#[path = "../store/redis/proxy.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod proxy;
mod rolling;
mod scenario;
#[path = "../store/redis/servers.rs"]
#[allow(dead_code, reason = "the store's tests need more of it")]
mod servers;
mod timeline;
mod unchecked;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use tokio::runtime::Runtime;

use arguments::Arguments;
use scenario::Verdict;

struct Scenario {
    name: &'static str,
    about: &'static str,
    /// Runs only when its whole name is said.
    takes_long: bool,
    run: fn(&Runtime, &Arguments) -> Verdict,
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "measure",
        about: "pauses and recoveries are read rightly from a timeline",
        takes_long: false,
        run: measure::run,
    },
    Scenario {
        name: "replicas",
        about: "servers are killed one after the other; nothing is lost, stopped or late",
        takes_long: false,
        run: killing::run,
    },
    Scenario {
        name: "rolling",
        about: "servers are stopped and started one after the other behind Envoy; nobody notices",
        takes_long: false,
        run: rolling::run,
    },
    Scenario {
        name: "money",
        about: "wallets and servers are killed, hang and answer twice; all books agree to the chip",
        takes_long: false,
        run: money::run,
    },
    Scenario {
        name: "no-token-check",
        about: "commits without their check; the load has to notice",
        takes_long: false,
        run: unchecked::run,
    },
    Scenario {
        name: "restart",
        about: "Redis is killed and started again; nothing is lost",
        takes_long: false,
        run: faults::run_short,
    },
    Scenario {
        name: "faults",
        about: "everything that can happen to Redis, one after the other, as a table (about ten minutes)",
        takes_long: true,
        run: faults::run_all,
    },
];

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        for scenario in SCENARIOS {
            println!("{}: {}", scenario.name, scenario.about);
        }
        return ExitCode::SUCCESS;
    }
    let runtime = Runtime::new().expect("a runtime");
    runtime.spawn(process::end_at_signal());
    let mut failed = Vec::new();
    let wanted = |scenario: &&Scenario| arguments.wants(scenario.name, scenario.takes_long);
    let mut passed = 0;
    for scenario in SCENARIOS.iter().filter(wanted) {
        if verdict(scenario, &runtime, &arguments) { passed += 1 } else { failed.push(scenario.name) }
    }
    runtime.shutdown_background();
    eprintln!("\nchaos: {passed} passed, {} failed {}", failed.len(), failed.join(", "));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one and says how it ended; true if it passed. What it has started is ended also if it panics.
fn verdict(scenario: &Scenario, runtime: &Runtime, arguments: &Arguments) -> bool {
    let Scenario { name, about, .. } = scenario;
    eprintln!("\n{name}: {about} (seed {})", arguments.seed);
    let started = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| (scenario.run)(runtime, arguments)));
    let verdict =
        ended.unwrap_or_else(|_| Verdict::of(Vec::new(), vec!["it panicked, see above".to_owned()]));
    for line in &verdict.told {
        eprintln!("  {line}");
    }
    for fault in &verdict.faults {
        eprintln!("  WRONG: {fault}");
    }
    let passed = verdict.faults.is_empty();
    eprintln!("{name}: {} in {} s", if passed { "passed" } else { "FAILED" }, started.elapsed().as_secs());
    passed
}
