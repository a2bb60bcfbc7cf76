//! `fulcrum serve`: the server.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use config::Value;
use tokio::time::Instant;

use super::failure::Failure;
use super::node::{Node, Setup};
use super::output::Output;
use super::signals::Stop;
use crate::config::{DEFAULTS, Override, Settings};
use crate::telemetry::traces::CallTraces;
use crate::telemetry::{self, LogFormat, StartError};

/// Serves tables over gRPC.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct ServeArgs {
    /// A file with settings, as --print-config shows them.
    #[arg(long, env = "FULCRUM_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Prints all settings with their defaults and what they mean, and ends.
    #[arg(long)]
    print_config: bool,
    /// Reads the settings and the files that they name, says whether they can be used, and ends. Nothing is made, opened or
    /// listened to.
    #[arg(long)]
    check_config: bool,
    /// Where to listen; port 0 takes a free one. An address that other machines can reach needs credentials.
    /// [setting: listen; default: 127.0.0.1:50051]
    #[arg(long, env = "FULCRUM_LISTEN", value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Where Prometheus reads the metrics, over HTTP at /metrics, without a token; nowhere by default. [setting: metrics]
    #[arg(long, env = "FULCRUM_METRICS", value_name = "ADDRESS:PORT")]
    metrics: Option<String>,
    /// Where health checks are answered in clear, and nothing else is, as probes of Kubernetes need it beside TLS; nowhere by
    /// default but among the calls. [setting: health]
    #[arg(long, env = "FULCRUM_HEALTH", value_name = "ADDRESS:PORT")]
    health: Option<String>,
    /// How many seconds the end may take in all. [setting: drain_seconds; default: 20]
    #[arg(long, env = "FULCRUM_DRAIN_SECONDS", value_name = "SECONDS")]
    drain_seconds: Option<u64>,
    /// How many of them new connections are still taken, behind a balancer that has to notice. [setting: linger_seconds;
    /// default: 0]
    #[arg(long, env = "FULCRUM_LINGER_SECONDS", value_name = "SECONDS")]
    linger_seconds: Option<u64>,

    /// The file with all tables, made if it is not there; "memory" keeps none. [setting: store; default: fulcrum.redb]
    #[arg(long, env = "FULCRUM_STORE", value_name = "FILE", help_heading = "Store")]
    store: Option<String>,
    /// Keeps everything in memory and loses it at the end: short for --store memory.
    #[arg(long, help_heading = "Store")]
    memory: bool,
    /// Redis instead of the file, for any number of servers: redis://…, redis-sentinel://…/name, redis-cluster://…, and
    /// rediss… for TLS. It needs the keys named (--key-file or FULCRUM_CARD_KEY), the same ones at every server. [setting:
    /// redis]
    #[arg(long, env = "FULCRUM_REDIS", value_name = "URL", hide_env_values = true, help_heading = "Store")]
    redis: Option<String>,
    /// How many commits of each table are kept for watchers who come back; with Redis that is ?history= in the URL.
    /// [setting: limits.history; default: 4096]
    #[arg(long, env = "FULCRUM_HISTORY", value_name = "COMMITS", help_heading = "Store")]
    history: Option<u64>,
    /// For how many days request ids are remembered, so that a repeated call does nothing twice. [setting:
    /// limits.request_days; default: 14]
    #[arg(long, env = "FULCRUM_REQUEST_DAYS", value_name = "DAYS", help_heading = "Store")]
    request_days: Option<u64>,
    /// For how many days settlement records are kept, acknowledged or not. [setting: limits.settlement_days; default: 14]
    #[arg(long, env = "FULCRUM_SETTLEMENT_DAYS", value_name = "DAYS", help_heading = "Store")]
    settlement_days: Option<u64>,

    /// Who may call: a line for each token, the operator's name, a space, the token. Without it callers need no token
    /// and are all the operator "dev". [setting: token_file]
    #[arg(long, env = "FULCRUM_TOKEN_FILE", value_name = "FILE", help_heading = "Security")]
    token_file: Option<String>,
    /// Who may stop the service, a game, an operator or a player: a line for each token, a name, a space, the token. Such a
    /// token is good for that only. It needs a token file. [setting: admin_token_file]
    #[arg(long, env = "FULCRUM_ADMIN_TOKEN_FILE", value_name = "FILE", help_heading = "Security")]
    admin_token_file: Option<String>,
    /// Lets other machines in although callers are not asked who they are: whoever reaches the address may do everything.
    /// [setting: insecure]
    #[arg(long, env = "FULCRUM_INSECURE", help_heading = "Security")]
    insecure: bool,
    /// Describes the calls to whoever asks (grpc.reflection.v1), as is done where callers need nothing. [setting: reflection]
    #[arg(long, env = "FULCRUM_REFLECTION", help_heading = "Security")]
    reflection: bool,
    /// The keys that seal the cards in the store: a line for each key, its name, a space, 64 hexadecimal digits. The
    /// variable FULCRUM_CARD_KEY may hold the same instead. Without both: a key file beside the store; with Redis the start is
    /// refused. [setting: key_file]
    #[arg(long, env = "FULCRUM_KEY_FILE", value_name = "FILE", help_heading = "Security")]
    key_file: Option<String>,

    /// The server's certificate and what goes with it, in PEM; new ones are taken without a restart. [setting: tls.cert_file]
    #[arg(long, env = "FULCRUM_TLS_CERT_FILE", value_name = "FILE", help_heading = "Security")]
    tls_cert_file: Option<String>,
    /// Its key, in PEM. [setting: tls.key_file]
    #[arg(long, env = "FULCRUM_TLS_KEY_FILE", value_name = "FILE", help_heading = "Security")]
    tls_key_file: Option<String>,
    /// The authorities that sign callers' certificates, in PEM. [setting: tls.client_ca_file]
    #[arg(long, env = "FULCRUM_TLS_CLIENT_CA_FILE", value_name = "FILE", help_heading = "Security")]
    tls_client_ca_file: Option<String>,
    /// Whether callers show a certificate: none, wanted or required. [setting: tls.client_certificates; default: none]
    #[arg(long, env = "FULCRUM_TLS_CLIENT_CERTIFICATES", value_name = "WHETHER", help_heading = "Security")]
    tls_client_certificates: Option<String>,

    /// How many connections may be open at once. [setting: connections.most; default: 20000]
    #[arg(long, env = "FULCRUM_CONNECTIONS", value_name = "CONNECTIONS", help_heading = "Limits")]
    connections: Option<u64>,
    /// How many minutes old a connection gets before its caller is sent to a new one; 0 for any age. [setting:
    /// connections.age_minutes; default: 30]
    #[arg(long, env = "FULCRUM_CONNECTION_AGE_MINUTES", value_name = "MINUTES", help_heading = "Limits")]
    connection_age_minutes: Option<u64>,
    /// The largest message that is read. [setting: limits.message_bytes; default: 262144]
    #[arg(long, env = "FULCRUM_MESSAGE_BYTES", value_name = "BYTES", help_heading = "Limits")]
    message_bytes: Option<u64>,
    /// How many calls are at work at once; more are refused, to be repeated soon. [setting: limits.calls; default: 4096]
    #[arg(long, env = "FULCRUM_CALLS", value_name = "CALLS", help_heading = "Limits")]
    calls: Option<u64>,
    /// How much of that one operator may take, in percent. [setting: limits.operator_share; default: 40]
    #[arg(long, env = "FULCRUM_OPERATOR_SHARE", value_name = "PERCENT", help_heading = "Limits")]
    operator_share: Option<u64>,
    /// How many calls one operator may make a second; 0 is no limit. [setting: limits.operator_calls_per_second; default: 0]
    #[arg(long, env = "FULCRUM_OPERATOR_CALLS_PER_SECOND", value_name = "CALLS", help_heading = "Limits")]
    operator_calls_per_second: Option<u64>,
    /// How many calls a second may name one player; 0 is no limit. [setting: limits.player_calls_per_second; default: 200]
    #[arg(long, env = "FULCRUM_PLAYER_CALLS_PER_SECOND", value_name = "CALLS", help_heading = "Limits")]
    player_calls_per_second: Option<u64>,
    /// The longest that a call may take. [setting: limits.call_seconds; default: 10]
    #[arg(long, env = "FULCRUM_CALL_SECONDS", value_name = "SECONDS", help_heading = "Limits")]
    call_seconds: Option<u64>,
    /// How many tables may be watched at once, over all streams. [setting: limits.watchers; default: 20000]
    #[arg(long, env = "FULCRUM_WATCHERS", value_name = "STREAMS", help_heading = "Limits")]
    watchers: Option<u64>,
    /// How many tables of one operator may be watched at once. [setting: limits.operator_watchers; default: 15000]
    #[arg(long, env = "FULCRUM_OPERATOR_WATCHERS", value_name = "STREAMS", help_heading = "Limits")]
    operator_watchers: Option<u64>,
    /// How many tables one player may watch with tokens of his own. [setting: limits.player_watchers; default: 100]
    #[arg(long, env = "FULCRUM_PLAYER_WATCHERS", value_name = "STREAMS", help_heading = "Limits")]
    player_watchers: Option<u64>,
    /// How many streams of one table may be open. [setting: limits.watchers_of_a_table; default: 15000]
    #[arg(long, env = "FULCRUM_WATCHERS_OF_A_TABLE", value_name = "STREAMS", help_heading = "Limits")]
    watchers_of_a_table: Option<u64>,
    /// How many commits a stream may be behind before it is ended. [setting: limits.watcher_behind; default: 64]
    #[arg(long, env = "FULCRUM_WATCHER_BEHIND", value_name = "COMMITS", help_heading = "Limits")]
    watcher_behind: Option<u64>,
    /// How many tables are kept in memory, ready for their next commit. [setting: limits.recent_tables; default: 10000]
    #[arg(long, env = "FULCRUM_RECENT_TABLES", value_name = "TABLES", help_heading = "Limits")]
    recent_tables: Option<u64>,

    /// Where traces go: a collector that takes OTLP over gRPC, as http://127.0.0.1:4317; nowhere by default. [setting:
    /// traces.endpoint]
    #[arg(long, env = "FULCRUM_TRACES", value_name = "URL", help_heading = "Traces")]
    traces: Option<String>,
    /// The share of hands and calls that is told, 0 to 1; hands that went wrong always are. [setting: traces.ratio;
    /// default: 0.01]
    #[arg(long, env = "FULCRUM_TRACE_RATIO", value_name = "SHARE", help_heading = "Traces")]
    trace_ratio: Option<f64>,

    /// How log lines look. [setting: log.format; default: text]
    #[arg(long, env = "FULCRUM_LOG_FORMAT", value_name = "FORMAT", value_enum, help_heading = "Log")]
    log_format: Option<LogFormat>,
    /// How much is logged: error, warn, info, debug or trace, also by part: info,fulcrum::grpc=debug. [setting:
    /// log.filter; default: info]
    #[arg(long, env = "FULCRUM_LOG", value_name = "FILTER", help_heading = "Log")]
    log: Option<String>,
}

const EXAMPLES: &str = "\
Settings come from a file, from FULCRUM_… variables and from flags; a variable is stronger than the file, a flag is
stronger than the variable. Operators' wallets ([wallets.NAME] and [wallet]), an issuer's
tokens ([jwt], operators) and certificates ([identities]) are named in the file only.

Examples:
  fulcrum serve
      For development: on 127.0.0.1:50051, tables in ./fulcrum.redb, a key for the cards beside it, no tokens.
  fulcrum serve --memory --listen 127.0.0.1:0
      Nothing is kept; a free port, which the first line of output names.
  fulcrum serve --print-config > fulcrum.toml
  fulcrum serve --config fulcrum.toml
      With settings of your own.
  fulcrum serve --listen 0.0.0.0:50051 --store /var/lib/fulcrum/tables.redb \\
      --token-file /etc/fulcrum/tokens --key-file /etc/fulcrum/keys --log-format json
      For other machines: callers show a token, and the keys lie apart from the store.
  fulcrum serve --redis redis://127.0.0.1:6379 --key-file keys --listen 127.0.0.1:0
      One of several servers that share their tables: start as many as you like.

Ctrl-C or SIGTERM end the server softly: streams are sent away with the place where to go on, running calls are
answered. A hand that is being played goes on where it was when the server is started again with the same store.";

impl ServeArgs {
    /// What variables and flags say, by the names of the settings.
    fn overrides(&self) -> Vec<Override> {
        let number = |number: Option<u64>| number.map(Value::from);
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let format = self.log_format.map(|format| match format {
            LogFormat::Text => Value::from("text"),
            LogFormat::Json => Value::from("json"),
        });
        let store = if self.memory { Some(Value::from("memory")) } else { text(&self.store) };
        let all = [
            ("listen", text(&self.listen)),
            ("metrics", text(&self.metrics)),
            ("health", text(&self.health)),
            ("drain_seconds", number(self.drain_seconds)),
            ("linger_seconds", number(self.linger_seconds)),
            ("connections.most", number(self.connections)),
            ("tls.cert_file", text(&self.tls_cert_file)),
            ("tls.key_file", text(&self.tls_key_file)),
            ("tls.client_ca_file", text(&self.tls_client_ca_file)),
            ("tls.client_certificates", text(&self.tls_client_certificates)),
            ("connections.age_minutes", number(self.connection_age_minutes)),
            ("store", store),
            ("redis", text(&self.redis)),
            ("token_file", text(&self.token_file)),
            ("admin_token_file", text(&self.admin_token_file)),
            ("insecure", self.insecure.then(|| Value::from(true))),
            ("reflection", self.reflection.then(|| Value::from(true))),
            ("key_file", text(&self.key_file)),
            ("limits.history", number(self.history)),
            ("limits.request_days", number(self.request_days)),
            ("limits.settlement_days", number(self.settlement_days)),
            ("limits.message_bytes", number(self.message_bytes)),
            ("limits.calls", number(self.calls)),
            ("limits.operator_share", number(self.operator_share)),
            ("limits.operator_calls_per_second", number(self.operator_calls_per_second)),
            ("limits.player_calls_per_second", number(self.player_calls_per_second)),
            ("limits.call_seconds", number(self.call_seconds)),
            ("limits.watchers", number(self.watchers)),
            ("limits.operator_watchers", number(self.operator_watchers)),
            ("limits.player_watchers", number(self.player_watchers)),
            ("limits.watchers_of_a_table", number(self.watchers_of_a_table)),
            ("limits.watcher_behind", number(self.watcher_behind)),
            ("limits.recent_tables", number(self.recent_tables)),
            ("traces.endpoint", text(&self.traces)),
            ("traces.ratio", self.trace_ratio.map(Value::from)),
            ("log.format", format),
            ("log.filter", text(&self.log)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// So long the spans of the last calls may take to the collector.
const LAST_SPANS: Duration = Duration::from_secs(3);

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: ServeArgs) -> Result<(), Failure> {
    let output = Output::plain();
    if args.print_config {
        return Ok(output.print(DEFAULTS)?);
    }
    let settings = Settings::load(args.config.as_deref(), args.overrides());
    let settings = settings.map_err(|error| Failure::Usage(error.to_string()))?;
    let traces = CallTraces::of(&settings.traces);
    let told = telemetry::start(settings.log.format, &settings.log.filter, traces.as_ref());
    let told = told.map_err(|error| match error {
        StartError::Filter(error) => {
            Failure::Usage(format!("the log filter {:?} cannot be read: {error}", settings.log.filter))
        }
        StartError::Collector(error) => {
            Failure::Usage(format!("traces.endpoint {:?}: {error}", settings.traces.endpoint))
        }
    })?;

    if args.check_config {
        Setup::check(&settings)?;
        return Ok(output.print("the settings can be used\n")?);
    }
    let mut stop = Stop::listen()?;
    let mut node = Node::start(Setup::from_settings(&settings)?).await?;
    if let (Some(told), Some(counts)) = (&told, node.trace_counts()) {
        told.counted_by(counts);
    }
    announce(&node, settings.log.format, &output)?;
    tokio::select! {
        () = stop.asked() => {}
        failure = node.fault() => return Err(failure),
    }
    tracing::info!(event = "stopping", "asked to stop");
    let until = Instant::now() + Duration::from_secs(settings.drain_seconds);
    let ending = async {
        // A collector that does not answer is waited for once.
        let spans = async {
            if let Some(told) = told {
                told.finish(until.saturating_duration_since(Instant::now()).min(LAST_SPANS)).await;
            }
        };
        let stopped = node.stop(until, spans).await;
        tracing::info!(event = "stopped", "stopped");
        stopped
    };
    tokio::select! {
        stopped = ending => stopped,
        () = stop.asked() => Err(Failure::Failed("ended at once, by a second signal".to_owned())),
    }
}

/// The line that says that the server is ready: for people on the standard output, for machines in the log.
fn announce(node: &Node, format: LogFormat, output: &Output) -> Result<(), Failure> {
    let (url, address, store, callers) = (node.url(), node.address(), node.store(), node.callers());
    if format == LogFormat::Json {
        tracing::info!(event = "ready", %address, store, callers, "ready");
        return Ok(());
    }
    let version = env!("CARGO_PKG_VERSION");
    Ok(output
        .print(&format!("fulcrum {version} is ready on {url} (store: {store}; callers: {callers})\n"))?)
}
