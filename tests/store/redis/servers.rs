//! Real Redis servers, started by the tests on free ports and stopped when they are dropped.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use fulcrum::store::redis::{Durability, Endpoint, RedisConfig, Topology};
use redis::{FromRedisValue, Value};
use tempfile::TempDir;

/// How long anything may take to be ready.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with its folder.
pub struct Server {
    child: Child,
    pub port: u16,
    folder: TempDir,
    arguments: Vec<String>,
}

impl Server {
    /// A server that keeps what it is told.
    pub fn start() -> Server {
        Server::with(&["--appendonly", "yes"])
    }

    /// A server with settings.
    pub fn with(settings: &[&str]) -> Server {
        let mut arguments: Vec<String> = ["--save", "", "--bind", "127.0.0.1"].map(str::to_owned).to_vec();
        arguments.extend(settings.iter().map(|setting| (*setting).to_owned()));
        Server::run(arguments)
    }

    /// A server that watches over the primary of that port.
    fn sentinel(primary: u16) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let config = folder.path().join("sentinel.conf");
        let text = format!(
            "bind 127.0.0.1\nsentinel monitor poker 127.0.0.1 {primary} 2\nsentinel down-after-milliseconds poker 400\n\
             sentinel failover-timeout poker 3000\n"
        );
        std::fs::write(&config, text).expect("a configuration");
        let arguments = vec![config.display().to_string(), "--sentinel".to_owned()];
        let port = free_port();
        let child = spawn(port, folder.path(), &arguments);
        Server { child, port, folder, arguments }.ready()
    }

    fn run(arguments: Vec<String>) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_port();
        let child = spawn(port, folder.path(), &arguments);
        Server { child, port, folder, arguments }.ready()
    }

    fn ready(self) -> Server {
        until("a server answers", || self.try_ask::<String>(&["PING"]).is_ok());
        self
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint { host: "127.0.0.1".to_owned(), port: self.port }
    }

    /// Dies without a word.
    pub fn kill(&mut self) {
        self.child.kill().expect("the server runs");
        self.child.wait().expect("the server ran");
    }

    /// Comes back with what it has on its disk.
    pub fn restart(&mut self) {
        self.child = spawn(self.port, self.folder.path(), &self.arguments);
        until("a server answers again", || self.try_ask::<String>(&["PING"]).is_ok());
    }

    /// What it has on its disk now.
    #[allow(dead_code, reason = "not every test that starts servers needs it")]
    pub fn copy_disk(&self) -> TempDir {
        let copy = tempfile::tempdir().expect("a folder");
        copy_folder(self.folder.path(), copy.path());
        copy
    }

    /// Puts an earlier state of its disk in the place of the present one. It must not run.
    #[allow(dead_code, reason = "not every test that starts servers needs it")]
    pub fn restore_disk(&self, copy: &TempDir) {
        let data = self.folder.path().join("appendonlydir");
        std::fs::remove_dir_all(&data).expect("it writes an append-only file");
        copy_folder(copy.path(), self.folder.path());
    }

    /// Stops it in its tracks, or lets it go on.
    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args([signal, &id]).status().expect("kill is there");
        assert!(status.success());
    }

    /// One command.
    pub fn ask<T: FromRedisValue>(&self, command: &[&str]) -> T {
        self.try_ask(command).unwrap_or_else(|error| panic!("{command:?}: {error}"))
    }

    pub fn try_ask<T: FromRedisValue>(&self, command: &[&str]) -> redis::RedisResult<T> {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port))?;
        let mut connection = client.get_connection_with_timeout(Duration::from_secs(1))?;
        connection.set_read_timeout(Some(Duration::from_secs(2)))?;
        let mut packed = redis::cmd(command[0]);
        for argument in &command[1..] {
            packed.arg(*argument);
        }
        packed.query(&mut connection)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("a file");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn spawn(port: u16, folder: &Path, arguments: &[String]) -> Child {
    let mut command = Command::new("redis-server");
    // A sentinel's configuration file has to come first.
    command.args(arguments.iter().take_while(|argument| !argument.starts_with("--")));
    command.args(arguments.iter().skip_while(|argument| !argument.starts_with("--")));
    command.arg("--port").arg(port.to_string()).arg("--dir").arg(folder);
    command
        .arg("--logfile")
        .arg(folder.join("log"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("redis-server is installed: tests/run does it")
}

/// A port that is free, and so is the one that a cluster node uses beside it. None of those that the system gives to
/// outgoing connections: one of them could take a port whose server is just away.
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let spread = (std::process::id() % 50) as u16 * 200;
    loop {
        let port = 10_000 + (spread + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if free(port) && free(port + 10_000) {
            return port;
        }
    }
}

/// Waits for something that has to happen.
pub fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let started = Instant::now();
    while !happened() {
        assert!(started.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn cluster_nodes(count: usize) -> Vec<Server> {
    let settings = [
        "--appendonly",
        "yes",
        "--cluster-enabled",
        "yes",
        "--cluster-node-timeout",
        "2000",
        "--repl-diskless-sync-delay",
        "0",
    ];
    (0..count).map(|_| Server::with(&settings)).collect()
}

/// Makes a cluster of the servers; the first three share the slots.
fn join_up(servers: &[Server]) {
    for (server, (first, last)) in servers.iter().zip([(0, 5460), (5461, 10_922), (10_923, 16_383)]) {
        let (first, last) = (first.to_string(), last.to_string());
        let _: Value = server.ask(&["CLUSTER", "ADDSLOTSRANGE", &first, &last]);
    }
    for server in &servers[1..] {
        let port = server.port.to_string();
        let _: Value = servers[0].ask(&["CLUSTER", "MEET", "127.0.0.1", &port]);
    }
    let all = format!("cluster_known_nodes:{}\r\n", servers.len());
    for server in servers {
        until("the cluster stands", || {
            let info: String = server.ask(&["CLUSTER", "INFO"]);
            info.contains("cluster_state:ok") && info.contains(&all)
        });
    }
}

/// Begins to move a slot: what is not at the source any more is looked for at the target.
pub fn begin_to_migrate(servers: &[Server], slot: u16, from: usize, to: usize) {
    let id = |server: &Server| server.ask::<String>(&["CLUSTER", "MYID"]);
    let (slot, source, target) = (slot.to_string(), id(&servers[from]), id(&servers[to]));
    let _: Value = servers[to].ask(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source]);
    let _: Value = servers[from].ask(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target]);
}

/// Moves a key of such a slot.
pub fn migrate_key(servers: &[Server], key: &str, from: usize, to: usize) {
    let port = servers[to].port.to_string();
    let _: Value = servers[from].ask(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]);
}

/// Moves a slot with its keys, slowly enough for calls to meet it half-way.
pub fn migrate(servers: &[Server], slot: u16, from: usize, to: usize) {
    begin_to_migrate(servers, slot, from, to);
    let (slot, target) = (slot.to_string(), servers[to].ask::<String>(&["CLUSTER", "MYID"]));
    loop {
        let keys: Vec<String> = servers[from].ask(&["CLUSTER", "GETKEYSINSLOT", &slot, "1"]);
        let Some(key) = keys.first() else {
            break;
        };
        migrate_key(servers, key, from, to);
        std::thread::sleep(Duration::from_millis(5));
    }
    for server in [to, from] {
        let _: Value = servers[server].ask(&["CLUSTER", "SETSLOT", &slot, "NODE", &target]);
    }
}

/// The slots that have keys at a server.
pub fn slots_in_use(server: &Server) -> Vec<u16> {
    let keys: Vec<String> = server.ask(&["KEYS", "{s*"]);
    let mut slots: Vec<u16> = keys.iter().map(|key| server.ask(&["CLUSTER", "KEYSLOT", key])).collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// What a test has of Redis.
pub struct Installation {
    /// The servers that have tables, a primary first.
    pub servers: Vec<Server>,
    /// Stopped with the rest.
    _sentinels: Vec<Server>,
    pub topology: Topology,
}

impl Installation {
    pub fn single() -> Installation {
        Installation::of(Server::start())
    }

    /// One server with settings of its own.
    pub fn of(server: Server) -> Installation {
        let topology = Topology::Single(server.endpoint());
        Installation { servers: vec![server], _sentinels: Vec::new(), topology }
    }

    /// One primary, two replicas, three sentinels.
    pub fn sentinel() -> Installation {
        let primary = Server::start();
        let port = primary.port.to_string();
        let replica = || {
            Server::with(&[
                "--appendonly",
                "yes",
                "--replicaof",
                "127.0.0.1",
                &port,
                "--repl-diskless-sync-delay",
                "0",
            ])
        };
        let servers = vec![replica(), replica()];
        until("the replicas follow", || {
            let info: String = primary.ask(&["INFO", "replication"]);
            info.contains("connected_slaves:2") && info.matches("state=online").count() == 2
        });
        let sentinels: Vec<Server> = (0..3).map(|_| Server::sentinel(primary.port)).collect();
        for sentinel in &sentinels {
            until("a sentinel knows all others", || {
                let info: String = sentinel.ask(&["INFO", "sentinel"]);
                info.contains("status=ok") && info.contains("slaves=2") && info.contains("sentinels=3")
            });
        }
        let endpoints = sentinels.iter().map(Server::endpoint).collect();
        let topology = Topology::Sentinel { name: "poker".to_owned(), sentinels: endpoints };
        Installation {
            servers: std::iter::once(primary).chain(servers).collect(),
            _sentinels: sentinels,
            topology,
        }
    }

    /// Lets the sentinels wait so long, ms, for a primary. On a busy machine a short time makes them give up the new
    /// primary as soon as the old one is gone.
    #[allow(dead_code, reason = "not every test that starts servers needs it")]
    pub fn give_up_after(&self, ms: u32) {
        for sentinel in &self._sentinels {
            let ms = ms.to_string();
            let _: Value = sentinel.ask(&["SENTINEL", "SET", "poker", "down-after-milliseconds", &ms]);
        }
    }

    /// Three primaries.
    pub fn cluster() -> Installation {
        let servers = cluster_nodes(3);
        join_up(&servers);
        let topology = Topology::Cluster(servers.iter().map(Server::endpoint).collect());
        Installation { servers, _sentinels: Vec::new(), topology }
    }

    /// Three primaries, then a replica of each in the same order.
    pub fn cluster_with_replicas() -> Installation {
        let servers = cluster_nodes(6);
        join_up(&servers);
        let (primaries, replicas) = servers.split_at(3);
        for (primary, replica) in primaries.iter().zip(replicas) {
            let id: String = primary.ask(&["CLUSTER", "MYID"]);
            let _: Value = replica.ask(&["CLUSTER", "REPLICATE", &id]);
        }
        for primary in primaries {
            until("the replica follows", || {
                let info: String = primary.ask(&["INFO", "replication"]);
                info.contains("connected_slaves:1") && info.contains("state=online")
            });
        }
        // Who does not know that they are replicas would not let them take over.
        for server in &servers {
            until("everybody knows the replicas", || {
                let nodes: String = server.ask(&["CLUSTER", "NODES"]);
                nodes.lines().filter(|node| node.contains("slave")).count() == replicas.len()
            });
        }
        let topology = Topology::Cluster(servers.iter().map(Server::endpoint).collect());
        Installation { servers, _sentinels: Vec::new(), topology }
    }

    pub fn config(&self) -> RedisConfig {
        RedisConfig::new(self.topology.clone())
    }

    pub fn with_durability(&self, durability: Durability) -> RedisConfig {
        RedisConfig { durability, ..self.config() }
    }

    /// Nothing was ever stored. For a primary each: a replica forgets with its primary.
    pub fn empty(&self) {
        for server in &self.servers {
            if server.ask::<Vec<Value>>(&["ROLE"]).first() == Some(&Value::BulkString(b"master".to_vec())) {
                let _: Value = server.ask(&["FLUSHALL"]);
            }
        }
    }
}
