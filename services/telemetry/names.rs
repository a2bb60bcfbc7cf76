//! All metrics in one table. Dashboards and alerts in `deploy` hold on to their names: they do not change. Counters get
//! `_total` at their end when they are told.

use prometheus_client::registry::Unit as Told;

/// What kind of metric it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It only grows, until the process ends.
    Counter,
    /// It is what it is at the moment.
    Gauge,
    /// How often values were how great.
    Histogram,
}

/// What its values are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A number of things, or of minor units of a currency.
    Count,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

/// A metric. Its name ends in its unit, if that is not [`Unit::Count`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its unit.
    pub unit: Unit,
    /// What whoever finds it should know; a full stop is added.
    pub help: &'static str,
    /// The names of its labels.
    pub labels: &'static [&'static str],
}

impl Metric {
    /// The name without the unit, and the unit, as the registry wants them.
    #[must_use]
    pub fn parts(&self) -> (&'static str, Option<Told>) {
        let (end, unit) = match self.unit {
            Unit::Count => return (self.name, None),
            Unit::Seconds => ("_seconds", Told::Seconds),
            Unit::Bytes => ("_bytes", Told::Bytes),
        };
        (self.name.strip_suffix(end).unwrap_or(self.name), Some(unit))
    }

    /// The name by which the metric, or its first series, is asked for.
    #[must_use]
    pub fn exposed(&self) -> String {
        match self.kind {
            Kind::Counter => format!("{}_total", self.name),
            Kind::Gauge | Kind::Histogram => self.name.to_owned(),
        }
    }
}

const fn counter(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric { name, kind: Kind::Counter, unit: Unit::Count, help, labels }
}

const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric { name, kind: Kind::Gauge, unit: Unit::Count, help, labels }
}

const fn histogram(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric { name, kind: Kind::Histogram, unit: Unit::Seconds, help, labels }
}

const fn seconds(metric: Metric) -> Metric {
    Metric { unit: Unit::Seconds, ..metric }
}

const fn bytes(metric: Metric) -> Metric {
    Metric { unit: Unit::Bytes, ..metric }
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $name:ident = $metric:expr;)*) => {
        $($(#[doc = $doc])* pub const $name: Metric = $metric;)*
        /// All of them.
        pub const ALL: &[Metric] = &[$($name),*];
    };
}

metrics! {
    /// Which version this is.
    BUILD_INFO = gauge("fulcrum_build_info", &["version"],
        "1; the label says which version of the service this process is");

    /// Whether the program's file is what was started.
    BINARY_UNCHANGED = gauge("fulcrum_binary_unchanged", &[],
        "1 if the program's file and what runs are what was started, as far as the last look found, which there is once a day; 0 \
         if not, or if they could not be read");

    /// Unary calls.
    RPC_REQUESTS = counter("fulcrum_rpc_requests", &["method", "code"],
        "Unary calls that have ended, by how: the code as gRPC spells it. A caller who gave up counts as CANCELLED; what is not \
         in the contract has the method unknown. Health and reflection are not counted");
    /// How long they take.
    RPC_SECONDS = histogram("fulcrum_rpc_seconds", &["method"],
        "How long unary calls of the contract took, from their headers to the answer, refusals included. Streams are not in it");
    /// Those at work.
    RPC_IN_FLIGHT = gauge("fulcrum_rpc_in_flight", &[], "Unary calls at work; limits.calls bounds them, with streams that begin");
    /// Calls that were turned away.
    CALLS_SHED = counter("fulcrum_calls_shed", &["class", "why"],
        "Calls turned away for load, by what they are worth (play, change, read, cheap): the room was too full for them or tasks \
         ran too late (full, late); the operator's or the player's limit (operator_share, operator_rate, player_rate); too many \
         wait for one table or watch (table, watchers)");
    /// Open streams.
    STREAMS_OPEN = gauge("fulcrum_streams_open", &["method"], "Streams that are open");
    /// Ended streams.
    STREAMS = counter("fulcrum_streams", &["method", "code"],
        "Streams that have ended, by how: UNAVAILABLE is a server that shuts down, CANCELLED a caller who left");

    /// Connections.
    CONNECTIONS = gauge("fulcrum_connections", &[], "Connections of callers that are open; connections.most bounds them");
    /// Ended connections.
    CONNECTIONS_ENDED = counter("fulcrum_connections_ended", &["why"],
        "Connections that have ended: by the caller, or by the server since TLS failed (unsafe), since they were silent, deaf, idle or aged, or since it was left");
    /// Its certificate.
    TLS_CERTIFICATE_END_SECONDS = seconds(gauge("fulcrum_tls_certificate_end_seconds", &[],
        "When the server's certificate, or one that goes with it, ends: seconds since 1970. Nothing without TLS"));

    /// Nobody is asked who he is.
    INSECURE = gauge("fulcrum_insecure", &[],
        "1 if callers are not asked who they are, so that whoever reaches this process may do everything; 0 otherwise");
    /// Readings of keys.
    JWKS_READINGS = counter("fulcrum_jwks_readings", &["outcome"],
        "Times that the keys of an issuer's tokens (jwt.jwks) were read, or could not be read");
    /// Keys that are held.
    JWKS_KEYS = gauge("fulcrum_jwks_keys", &[],
        "Keys of an issuer's tokens that are held; 0 with jwt.jwks set: no JWT is taken");

    /// Begun hands.
    HANDS_STARTED = counter("fulcrum_hands_started", &["operator", "game", "limit"], "Hands that this process dealt");
    /// Ended hands.
    HANDS_ENDED = counter("fulcrum_hands_ended", &["operator", "game", "limit", "outcome"],
        "Hands that ended by a commit of this process: settled or voided");
    /// Voided hands.
    HANDS_VOIDED = counter("fulcrum_hands_voided", &["operator", "reason"],
        "Hands that were voided: by a malfunction, because the store lost history, or as VoidHand requested");
    /// How long hands last.
    HAND_SECONDS = histogram("fulcrum_hand_seconds", &["game"], "How long hands lasted, from the deal to the end");
    /// Decisions.
    ACTIONS = counter("fulcrum_actions", &["game", "action", "by"],
        "Decisions by whose they were: the player's, his clock's, or the rules' at once because he was absent");
    /// How long decisions take.
    DECISION_SECONDS = histogram("fulcrum_decision_seconds", &["game", "kind"],
        "How long players, or their clocks, took to decide, from the prompt to the time that counts for the decision");
    /// Decisions of clocks.
    TIMEOUTS = counter("fulcrum_timeouts", &["game", "kind"], "Decisions that a clock made");
    /// Late clocks.
    CLOCK_LATE_SECONDS = histogram("fulcrum_clock_late_seconds", &[],
        "How much later than its time a commit of the clocks was made. Time-outs wait a margin on purpose, which is not in it");
    /// Used time banks.
    TIME_BANK_SECONDS = seconds(counter("fulcrum_time_bank_seconds", &["game"], "Time that players took from their time banks"));

    /// Commits.
    COMMITS = counter("fulcrum_commits", &["outcome"],
        "Steps of tables that were to be committed, by what became of them. Of unknown ones a server has given up finding out; a \
         conflict is decided anew");
    /// How long they take.
    COMMIT_SECONDS = histogram("fulcrum_commit_seconds", &[],
        "How long it took until it was known what became of a step, repetitions included");
    /// Repeated commits.
    COMMIT_RETRIES = counter("fulcrum_commit_retries", &["why"],
        "Steps decided anew because another one came first (conflict), or sent again because no answer came (unknown)");

    /// Operations on the store.
    STORE_SECONDS = histogram("fulcrum_store_seconds", &["operation"], "How long operations on the store took, failed ones included");
    /// Those that failed.
    STORE_ERRORS = counter("fulcrum_store_errors", &["operation", "kind"],
        "Operations on the store that failed: it was not available, it is unknown whether they happened, a record is corrupt, or it \
         is sealed with a key that is not here");
    /// Whether the store works.
    STORE_UP = gauge("fulcrum_store_up", &[],
        "1 if the store answered its last check, 0 if not; it is checked every second, and not known before the first time");
    /// Its clock.
    STORE_TIME_OFFSET_SECONDS = seconds(gauge("fulcrum_store_time_offset_seconds", &[],
        "The store's clock minus this machine's. All times of play are the store's"));

    /// Round trips to Redis.
    REDIS_ROUND_TRIP_SECONDS = histogram("fulcrum_redis_round_trip_seconds", &["kind"],
        "How long Redis took to answer, with the wait for a place on the connection and, for commits, for replicas");
    /// Its connections.
    REDIS_CONNECTIONS = gauge("fulcrum_redis_connections", &[], "Connections to Redis that are open");
    /// Those made anew.
    REDIS_RECONNECTS = counter("fulcrum_redis_reconnects", &[], "Connections to Redis that were made in place of a broken one");
    /// What is on its way.
    REDIS_IN_FLIGHT = gauge("fulcrum_redis_in_flight", &[], "Calls to Redis that are not answered yet");
    /// Whether it writes to its disk.
    REDIS_PERSISTENCE = gauge("fulcrum_redis_persistence", &["server"],
        "1 if this Redis writes to its disk (appendonly or save), 0 if a restart would lose its tables");
    /// Its replicas.
    REDIS_REPLICAS = gauge("fulcrum_redis_replicas", &["server"], "Replicas that are connected to this Redis and in step");
    /// How far they are behind.
    REDIS_REPLICA_LAG_BYTES = bytes(gauge("fulcrum_redis_replica_lag_bytes", &["server"],
        "How much of this Redis' writes the replica that is furthest behind does not have; 0 without replicas"));
    /// Its memory.
    REDIS_MEMORY_BYTES = bytes(gauge("fulcrum_redis_memory_bytes", &["server"], "Memory that this Redis uses"));
    /// Its limit.
    REDIS_MEMORY_LIMIT_BYTES = bytes(gauge("fulcrum_redis_memory_limit_bytes", &["server"],
        "The memory that this Redis may use (maxmemory); 0 if it has no limit"));

    /// Watchers.
    WATCHERS = gauge("fulcrum_watchers", &[], "Tables that are watched at this process, counted once for each stream");
    /// Those cut off.
    WATCHERS_CUT_OFF = counter("fulcrum_watchers_cut_off", &["why"],
        "Watchers that were ended because they were too slow, or because the store did not answer; they can resume");

    /// Settlement records that a consumer has not acknowledged.
    UNACKNOWLEDGED = gauge("fulcrum_settlements_unacknowledged", &["operator", "consumer"],
        "Settlement records that a consumer has not acknowledged");
    /// How old the oldest of them is.
    OLDEST = seconds(gauge("fulcrum_settlements_oldest_unacknowledged_seconds", &["operator", "consumer"],
        "Age of the oldest settlement record that a consumer has not acknowledged; 0 if there is none"));
    /// Settlement records.
    SETTLEMENTS = counter("fulcrum_settlements", &["operator", "kind"], "Settlement records that this process wrote");
    /// Calls to wallets, by what came of them.
    WALLET_CALLS = counter("fulcrum_wallet_calls", &["operator", "call", "outcome"],
        "Calls to operators' wallets; not_asked is a call that was spared a wallet which did not answer lately");
    /// How long wallets take.
    WALLET_SECONDS = histogram("fulcrum_wallet_call_seconds", &["operator"], "How long operators' wallets take");
    /// Parked payments.
    PAYMENTS_PARKED = counter("fulcrum_payments_parked", &["operator"],
        "Payments that the service has given up: people have to see to them");
    /// Tables that were stopped since an invariant did not hold.
    STOPPED = counter("fulcrum_tables_stopped", &["operator"],
        "Tables that stopped themselves since an invariant did not hold: chips would not have been conserved");
    /// Lost history.
    HISTORY_LOST = counter("fulcrum_history_lost", &["operator"],
        "Times that a table was found without commits that had been seen: the store has lost them");

    /// Open tables.
    TABLES_OPEN = gauge("fulcrum_tables_open", &["operator", "game"],
        "Tables that are not closed, of the whole installation; every server tells the same, looked up once a minute");
    /// Players at tables.
    PLAYERS_SEATED = gauge("fulcrum_players_seated", &["operator", "game"], "Seats that are taken, of the whole installation");
    /// Chips on stacks.
    CHIPS_STACKS = gauge("fulcrum_chips_stacks", &["operator", "currency"],
        "Chips on stacks in minor units, of the whole installation; beyond 32 currencies of an operator: other");
    /// Chips in pots.
    CHIPS_POTS = gauge("fulcrum_chips_pots", &["operator", "currency"], "Chips in pots of running hands, as fulcrum_chips_stacks");

    /// Workers.
    RUNTIME_WORKERS = gauge("fulcrum_runtime_workers", &[], "Threads that work at tasks");
    /// Tasks.
    RUNTIME_TASKS = gauge("fulcrum_runtime_tasks", &[], "Tasks that are alive, most of them waiting");
    /// How late tasks run.
    RUNTIME_LATE_SECONDS = seconds(gauge("fulcrum_runtime_late_seconds", &[],
        "How late a task ran that wanted to run at a moment, the worst of the last ten seconds: clocks are late by as much"));
    /// How busy workers are.
    RUNTIME_BUSY_SECONDS = seconds(counter("fulcrum_runtime_busy_seconds", &[],
        "Time that all workers together were busy; divided by their number it is the share of a second"));
    /// Processor time.
    PROCESS_CPU_SECONDS = seconds(counter("fulcrum_process_cpu_seconds", &[], "Processor time of this process, user and system"));
    /// Memory.
    PROCESS_RESIDENT_BYTES = bytes(gauge("fulcrum_process_resident_bytes", &[], "Memory of this process that is resident"));
    /// Files.
    PROCESS_OPEN_FDS = gauge("fulcrum_process_open_fds", &[], "Files and sockets that this process has open");
    /// The log.
    LOG_LINES = counter("fulcrum_log_lines", &["level"], "Lines of the log; every one of level error is for somebody to read");

    /// Exported spans.
    SPANS_EXPORTED = counter("fulcrum_spans_exported", &[], "Spans that the collector has taken");
    /// Dropped spans.
    SPANS_DROPPED = counter("fulcrum_spans_dropped", &["why"],
        "Spans that nobody will see: the queue was full, the collector did not take them, or too many hands were waiting");
    /// Traces of hands.
    HAND_TRACES = counter("fulcrum_hand_traces", &["outcome"],
        "Hands of which a trace was exported, at once or late by another server, or which were not sampled");
}

#[cfg(test)]
mod tests;
