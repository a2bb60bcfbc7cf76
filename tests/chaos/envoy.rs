//! Envoy before the servers, as it stands before them in a cluster: each call goes to the next server whose health is
//! SERVING. `tests/run` installs it.

use std::fs::{self, File};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::servers::free_port;

/// So long it may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running Envoy. It is killed when this goes.
pub struct Envoy {
    child: Child,
    /// Where it is, as a URL.
    pub address: String,
}

impl Envoy {
    /// Before the servers at these ports; returns when it has found all of them in health.
    pub fn before(folder: &Path, ports: &[u16]) -> Envoy {
        let (port, settings, log) = (free_port(), folder.join("envoy.json"), folder.join("envoy.log"));
        fs::write(&settings, settings_of(port, ports).to_string()).expect("the settings");
        let log_file = || File::create(&log).expect("a log file");
        let child = Command::new(program())
            .arg("--config-path")
            .arg(&settings)
            // Without it a second one on the machine would be taken for this one's successor.
            .args(["--disable-hot-restart", "--concurrency", "1", "--log-level", "warning"])
            .stdin(Stdio::null())
            .stdout(log_file())
            .stderr(log_file())
            .spawn()
            .expect("Envoy starts; tests/run installs it");
        let mut envoy = Envoy { child, address: format!("http://127.0.0.1:{port}") };
        let started = Instant::now();
        // It listens when the servers' health is known.
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = envoy.child.try_wait().expect("the process is ours");
            assert!(
                ended.is_none() && started.elapsed() < PATIENCE,
                "Envoy is not ready ({ended:?}):\n{}",
                fs::read_to_string(&log).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        envoy
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The one that `tests/run` has installed for the tests, or else whichever is on the path.
fn program() -> PathBuf {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/bin/envoy");
    if installed.is_file() { installed } else { PathBuf::from("envoy") }
}

/// HTTP/2 on both sides. Calls without a bound of its own: the service has them. Only what has certainly not reached a
/// server is tried again elsewhere.
fn settings_of(port: u16, ports: &[u16]) -> Value {
    let place =
        |port: u16| json!({"address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}});
    let servers: Vec<_> = ports.iter().map(|port| json!({"endpoint": place(*port)})).collect();
    let manager = json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "calls",
        "codec_type": "HTTP2",
        "stream_idle_timeout": "0s",
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [{
            "match": {"prefix": "/"},
            "route": {"cluster": "servers", "timeout": "0s", "retry_policy": {
                "retry_on": "connect-failure,refused-stream", "num_retries": 3
            }}
        }]}]},
        "http_filters": [{"name": "envoy.filters.http.router", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
        }}]
    });
    let listener = json!({
        "address": place(port)["address"],
        "filter_chains": [{"filters": [{
            "name": "envoy.filters.network.http_connection_manager", "typed_config": manager
        }]}]
    });
    let http2 = json!({
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {"http2_protocol_options": {}}
    });
    let cluster = json!({
        "name": "servers",
        "type": "STATIC",
        "connect_timeout": "1s",
        "lb_policy": "ROUND_ROBIN",
        // Each watched table is a request that does not end; by default no more than 1024 are let through.
        "circuit_breakers": {"thresholds": [
            {"max_requests": 100_000, "max_pending_requests": 10_000, "max_retries": 1_000}
        ]},
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http2
        },
        "health_checks": [{
            "interval": "0.25s", "timeout": "2s", "unhealthy_threshold": 1, "healthy_threshold": 1,
            "no_traffic_interval": "0.25s", "grpc_health_check": {}
        }],
        "load_assignment": {"cluster_name": "servers", "endpoints": [{"lb_endpoints": servers}]}
    });
    json!({"static_resources": {"listeners": [listener], "clusters": [cluster]}})
}
