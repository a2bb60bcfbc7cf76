//! Scenario: what the others measure with. A ruler that shows no pause where there is one would let everything pass.

use tokio::runtime::Runtime;

use crate::arguments::Arguments;
use crate::scenario::Verdict;
use crate::timeline::{Tick, Timeline};

pub fn run(_: &Runtime, _: &Arguments) -> Verdict {
    // Ten actions each 100 ms for 5 s, none for 2 s, a trickle for 3 s, then as before for 5 s.
    let speeds = [(50, 10), (20, 0), (30, 1), (50, 10)];
    let acked = speeds.iter().flat_map(|(ticks, acked)| std::iter::repeat_n(*acked, *ticks));
    let ticks = (1..).zip(acked).map(|(tick, acked)| Tick { t_ms: tick * 100, acked, errors: 0 });
    let timeline = Timeline::of(ticks.collect());
    let (before, after) = ((0, 5_000), (5_000, 15_000));
    let mut faults = Vec::new();
    let mut expect = |what: &str, seen: u64, right: u64| {
        if seen != right {
            faults.push(format!("{what}: {seen}, it is {right}"));
        }
    };
    expect("all actions", timeline.acked(), 500 + 30 + 500);
    expect("actions before", timeline.acked_in(before), 500);
    let pause = timeline.longest_pause(after);
    expect("the pause begins", pause.0, 5_000);
    expect("the pause ends", pause.1, 7_100);
    let none = timeline.longest_pause(before);
    expect("the pause where there is none", none.1 - none.0, 100);
    // 80 of 100 a second: from the second that has at most two ticks of the trickle.
    expect("as before", timeline.as_before(before, 80, (pause.1, after.1)).unwrap_or_default(), 9_800);
    let within = timeline.as_before(before, 80, (pause.1, 10_000));
    expect("as before within the trickle", within.unwrap_or_default(), 0);
    let open_end = timeline.longest_pause((15_000, 18_000));
    expect("a pause without end", open_end.1 - open_end.0, 3_000);
    Verdict::of(Vec::new(), faults)
}
