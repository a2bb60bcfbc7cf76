//! What was measured, what it means, and what was simulated: on a page for people.

use super::Report;
use super::measured::{Measured, Phase};
use super::model::{MOST_SERVERS, Need, Plan, Resource, binding};
use super::simulation::{SECOND, Script, Seen};
use super::words::{bars, bytes, columns, cpu, grouped, number, part};
use crate::cli::load::report::span;
use crate::cli::paint::{Paint, Tone};

/// The whole page.
#[must_use]
pub fn page(report: &Report, paint: Paint) -> String {
    let mut page = heading("What was measured", paint);
    page.push_str(&measured(&report.measured, paint));
    page.push_str(&heading(&format!("What {} tables need", number(report.wanted.tables)), paint));
    page.push_str(&plan(report, paint));
    page.push_str(&heading("From few tables to many", paint));
    page.push_str(&plans(&report.plans));
    if !report.simulated.is_empty() {
        page.push_str(&heading("Simulated", paint));
        page.push_str(&simulated(&report.simulated, paint));
    }
    page
}

fn heading(text: &str, paint: Paint) -> String {
    format!("{}\n", paint.heading(&paint.tone(Tone::Title, text)))
}

fn measured(measured: &Measured, paint: Paint) -> String {
    let Measured { server, redis, .. } = measured;
    let mut text = String::new();
    let mut entry = |label: &str, pieces: &[String]| text.push_str(&paint.entry(label, pieces, ", "));
    entry(
        "on",
        &[
            format!("{} cores, shared by servers, Redis and bots", measured.cores),
            format!("Redis {}", measured.redis_version),
            format!("fulcrum {}", measured.version),
        ],
    );
    if measured.debug_build {
        let words = "a debug build: its figures say nothing about one that is used";
        entry("beware", &[paint.tone(Tone::Bad, words)]);
    }
    entry(
        "a decision",
        &[
            format!("server {}", cpu(server.us_per_action)),
            format!("Redis {}", cpu(redis.us_per_action)),
            format!("{} between them", bytes(redis.bytes_per_action)),
            format!("{} commits", number(measured.commits_of_an_action)),
        ],
    );
    entry(
        "a message",
        &[format!("to a watcher: server {}", cpu(server.us_per_message)), bytes(server.bytes_per_message)],
    );
    entry(
        "a commit",
        &[
            format!("told to a further server: there {}", cpu(server.us_per_follower)),
            format!("Redis {}", cpu(redis.us_per_follower)),
            bytes(redis.bytes_per_follower),
        ],
    );
    entry(
        "at rest",
        &[
            format!("a server {} a second", cpu(server.us_per_second)),
            format!("Redis {}", cpu(redis.us_per_second)),
            format!("and {} for each further server", cpu(redis.us_per_second_of_a_server)),
            format!(
                "{} looks at {} what is due for each hand, where one server has all shards",
                number(redis.looks_per_hand.round()),
                cpu(redis.us_per_look)
            ),
            format!("a watcher {}", cpu(server.us_per_second_of_a_watcher)),
        ],
    );
    entry(
        "memory",
        &[
            format!("a server {}", bytes(server.bytes)),
            format!("{} a table", bytes(server.bytes_per_table)),
            format!("{} a watcher", bytes(server.bytes_per_watcher)),
            format!("Redis {} a table", bytes(redis.bytes_per_table)),
            format!("{} a commit in the history", bytes(redis.bytes_per_commit_kept)),
            format!("{} a hand in the settlements", bytes(redis.bytes_per_hand_kept)),
        ],
    );
    text + &phases(&measured.phases)
}

fn phases(phases: &[Phase]) -> String {
    let heading = [
        "",
        "servers",
        "watchers",
        "actions/s",
        "commits/s",
        "messages/s",
        "server",
        "Redis",
        "scripts a commit",
    ];
    let row = |phase: &Phase| {
        vec![
            phase.name.clone(),
            phase.servers.to_string(),
            phase.watchers.to_string(),
            number(phase.actions),
            number(phase.commits),
            number(phase.commits * f64::from(phase.watchers)),
            part(phase.server_us / 1e6),
            part(phase.redis_us / 1e6),
            number(phase.scripts / phase.commits),
        ]
    };
    columns(&heading, &phases.iter().map(row).collect::<Vec<_>>())
}

fn plan(report: &Report, paint: Paint) -> String {
    let Report { plan, wanted, .. } = report;
    let load = [
        format!("{} decisions/s", number(plan.actions)),
        format!("{} commits/s", number(plan.commits)),
        format!("{} watchers", number(plan.watchers)),
        format!("{} messages/s", number(plan.messages)),
    ];
    let mut text = paint.entry("load", &load, ", ");
    let each = |needs: &[Need], most: u32| -> Vec<String> {
        needs.iter().map(|need| format!("{} for {}", count(need.count, most), need.resource.name())).collect()
    };
    let shards = u32::from(wanted.shards);
    let bold = |words: String| vec![paint.tone(Tone::Bold, &words)];
    let machine = format!(
        "{} servers of {} cores and {}",
        count(plan.servers(), MOST_SERVERS),
        number(wanted.server.cores),
        bytes(wanted.server.memory)
    );
    text.push_str(&paint.entry(
        "servers",
        &[bold(machine), each(&plan.servers, MOST_SERVERS)].concat(),
        ", ",
    ));
    let machine = format!(
        "{} for Redis of {} each, without their replicas",
        count(plan.machines(), shards),
        bytes(wanted.redis.memory)
    );
    text.push_str(&paint.entry("machines", &[bold(machine), each(&plan.redis, shards)].concat(), ", "));
    let free = format!("{} of each stays free", part(wanted.headroom));
    text.push_str(&paint.entry("headroom", &[free], ""));
    for (what, label) in [("a server", "one server"), ("a Redis", "one Redis")] {
        let mut room: Vec<_> = report.room.iter().filter(|(of, _, _)| *of == what).collect();
        room.sort_by(|(_, _, one), (_, _, other)| one.total_cmp(other));
        let pieces: Vec<String> = room
            .iter()
            .map(|(_, resource, tables)| format!("{} tables by {}", number(*tables), resource.name()))
            .collect();
        text.push_str(&paint.entry(label, &pieces, ", "));
    }
    text
}

/// How many; more than so many are not looked for.
fn count(count: Option<u32>, most: u32) -> String {
    let more = || format!("more than {}", grouped(u64::from(most)));
    count.map_or_else(more, |count| grouped(u64::from(count)))
}

fn plans(plans: &[Plan]) -> String {
    let heading = [
        "tables",
        "decisions/s",
        "commits/s",
        "messages/s",
        "servers",
        "decided by",
        "Redis",
        "decided by",
        "CPU",
        "memory",
        "network",
    ];
    let row = |plan: &Plan| {
        let decides = |needs: &[Need]| binding(needs).map_or("-", |need| need.resource.name()).to_owned();
        let of = |wanted: Resource| {
            let need = plan.redis.iter().find(|need| need.resource == wanted);
            need.and_then(|need| need.count).map_or_else(|| "-".to_owned(), |count| count.to_string())
        };
        let whole = |count: Option<u32>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
        vec![
            number(plan.tables),
            number(plan.actions.round()),
            number(plan.commits.round()),
            number(plan.messages.round()),
            whole(plan.servers()),
            decides(&plan.servers),
            whole(plan.machines()),
            decides(&plan.redis),
            of(Resource::Cpu),
            of(Resource::Memory),
            of(Resource::Network),
        ]
    };
    columns(&heading, &plans.iter().map(row).collect::<Vec<_>>())
}

fn simulated(seen: &[Seen], paint: Paint) -> String {
    let Script { death, away, back, .. } = Script::USUAL;
    let mut text = paint.entry(
        "course",
        &[
            format!("{} s of play", death / SECOND),
            "then a server dies".to_owned(),
            format!("Redis is away from {} to {} s", away / SECOND, back / SECOND),
        ],
        ", ",
    );
    let heading = [
        "tables",
        "servers",
        "used",
        "Redis",
        "fullest used",
        "/mean",
        "commits/s",
        "peak 1 s",
        "100 ms",
        "fullest shard",
    ];
    text.push_str(&columns(&heading, &seen.iter().map(ordinary).collect::<Vec<_>>()));
    text.push('\n');
    let heading = [
        "tables",
        "clocks late: p50",
        "p99",
        "max",
        "a server dies: p99",
        "max",
        "Redis back: peak",
        "decisions p99",
        "max",
        "done after",
    ];
    text.push_str(&columns(&heading, &seen.iter().map(troubled).collect::<Vec<_>>()));
    text.push_str("\n  Commits of each second, the most of each line as high as it gets:\n");
    for seen in seen {
        let line = bars(&seen.course, paint.is_rich());
        text.push_str(&format!("  {:>9}  {line}\n", grouped(u64::from(seen.setting.tables))));
    }
    text
}

fn ordinary(seen: &Seen) -> Vec<String> {
    let over = |most: f64| format!("x{:.2}", most / seen.commits.max(f64::MIN_POSITIVE));
    vec![
        grouped(u64::from(seen.setting.tables)),
        seen.setting.servers.to_string(),
        part(seen.servers_used),
        seen.setting.machines.to_string(),
        part(seen.redis_used),
        format!("x{:.2}", seen.redis_uneven),
        number(seen.commits.round()),
        over(seen.most_in_a_second),
        over(seen.most_in_100_ms),
        format!("x{:.2}", f64::from(seen.tables_of_fullest_shard) / seen.tables_of_a_shard),
    ]
}

fn troubled(seen: &Seen) -> Vec<String> {
    let ms = |ms: u32| span(u64::from(ms) * 1000);
    let late = |late: &super::simulation::Lateness, ms: u32, show: &dyn Fn(u32) -> String| {
        if late.count == 0 { "-".to_owned() } else { show(ms) }
    };
    let (clocks, orphans, after) = (&seen.clocks, &seen.orphans, &seen.decisions_after);
    vec![
        grouped(u64::from(seen.setting.tables)),
        late(clocks, clocks.p50, &ms),
        late(clocks, clocks.p99, &ms),
        late(clocks, clocks.max, &ms),
        late(orphans, orphans.p99, &ms),
        late(orphans, orphans.max, &ms),
        format!("x{:.1}", seen.most_after / seen.commits.max(f64::MIN_POSITIVE)),
        late(after, after.p99, &ms),
        late(after, after.max, &ms),
        seen.caught_up_ms.map_or_else(|| "never".to_owned(), ms),
    ]
}
