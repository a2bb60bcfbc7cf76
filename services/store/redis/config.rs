//! How to reach Redis and what to expect of it: one URL or one struct.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use rules::Millis;
use tables::store::REQUEST_RETENTION;
use tables::untold::MOST;
use thiserror::Error;

use super::keys::MOST_SHARDS;

/// A host and a port.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "[{}]:{}", self.host, self.port);
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Endpoint {
    /// Reads `host:port`; a host alone means the default port. IPv6 addresses stand in brackets.
    #[must_use]
    pub fn parse(text: &str, default_port: u16) -> Option<Endpoint> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']')?;
                (host, port.strip_prefix(':'))
            }
            None => match text.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = port.map_or(Some(default_port), |port| port.parse().ok())?;
        (!host.is_empty()).then(|| Endpoint { host: host.to_owned(), port })
    }
}

/// What kind of installation Redis is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Topology {
    /// One server.
    Single(Endpoint),
    /// One primary with replicas, watched over by sentinels.
    Sentinel {
        /// The primary's name among the sentinels.
        name: String,
        /// The sentinels; one that answers is enough.
        sentinels: Vec<Endpoint>,
    },
    /// A cluster; the others are found through any node that answers.
    Cluster(Vec<Endpoint>),
}

/// Without the login, for people.
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |hosts: &[Endpoint]| {
            let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            names.join(", ")
        };
        match self {
            Topology::Single(host) => write!(f, "one server at {host}"),
            Topology::Sentinel { name, sentinels } => {
                write!(f, "{name} of the sentinels {}", names(sentinels))
            }
            Topology::Cluster(nodes) => write!(f, "a cluster at {}", names(nodes)),
        }
    }
}

/// When a commit counts as done. What each can lose and what it costs is told in `deploy/redis.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// When the primary has it in memory.
    Memory,
    /// When the primary has it on its disk: `appendonly yes` and `appendfsync always`.
    Fsync,
    /// When so many replicas have it too.
    Replicated(u8),
}

/// A password. It is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Who connects.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Login {
    /// The ACL user; none for the default one.
    pub user: Option<String>,
    /// His password.
    pub password: Option<Password>,
}

/// Encrypted connections. The files are PEM.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tls {
    /// Who signs the servers' certificates; none for the public authorities.
    pub ca: Option<PathBuf>,
    /// Our certificate and its key, where the servers want one.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// Everything about the store in Redis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RedisConfig {
    /// Where.
    pub topology: Topology,
    /// As whom.
    pub login: Login,
    /// As whom with the sentinels, if they want to know.
    pub sentinel_login: Login,
    /// Whether and how encrypted.
    pub tls: Option<Tls>,
    /// How many shards; fixed when the installation is new.
    pub shards: u16,
    /// At least so many commits of each table are kept for watchers who come back.
    pub history: usize,
    /// How long request records are kept, ms.
    pub requests_kept: Millis,
    /// How many hands of an operator are noted as still to be told, at most.
    pub notes: usize,
    /// When a commit counts as done.
    pub durability: Durability,
    /// Starts although what is stored can be lost: for development.
    pub accept_loss: bool,
    /// So long an answer may take.
    pub response_time: Duration,
    /// So long a call is tried again while Redis says that it was not done.
    pub patience: Duration,
    /// So many commands may be on their way to one server.
    pub in_flight: usize,
}

/// The default number of shards.
pub const SHARDS: u16 = 256;
/// The default number of kept commits.
pub const HISTORY: usize = 256;

impl RedisConfig {
    /// The defaults for an installation.
    #[must_use]
    pub fn new(topology: Topology) -> RedisConfig {
        RedisConfig {
            topology,
            login: Login::default(),
            sentinel_login: Login::default(),
            tls: None,
            shards: SHARDS,
            history: HISTORY,
            requests_kept: REQUEST_RETENTION,
            notes: MOST,
            durability: Durability::Memory,
            accept_loss: false,
            response_time: Duration::from_millis(500),
            patience: Duration::from_millis(1500),
            in_flight: 256,
        }
    }

    /// Reads a URL: `redis://host:port`, `redis-sentinel://host:port,host:port/name` or
    /// `redis-cluster://host:port,host:port`, with `rediss` instead of `redis` for TLS, `user:password@` before the
    /// hosts, and settings behind a `?`: `shards`, `history`, `durability` (`memory`, `fsync`, `replicated:1`), `ca`,
    /// `cert`, `key`, `accept-loss=yes`, `sentinel-user`, `sentinel-password`.
    ///
    /// # Errors
    /// [`BadUrl`], which says what is wrong and shows no password.
    pub fn parse(url: &str) -> Result<RedisConfig, BadUrl> {
        let (scheme, rest) = url.split_once("://").ok_or(BadUrl::Scheme)?;
        let (rest, settings) = rest.split_once('?').unwrap_or((rest, ""));
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (login_of(login)?, rest),
            None => (Login::default(), rest),
        };
        let (hosts, name) = rest.split_once('/').unwrap_or((rest, ""));
        let (kind, tls) = match scheme.strip_prefix("rediss") {
            Some(kind) => (kind, Some(Tls::default())),
            None => (scheme.strip_prefix("redis").ok_or(BadUrl::Scheme)?, None),
        };
        let mut config = RedisConfig::new(topology(kind, hosts, name)?);
        config.login = login;
        config.tls = tls;
        for setting in settings.split('&').filter(|setting| !setting.is_empty()) {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            config.set(key, &decode(value).ok_or_else(|| BadUrl::Setting(key.to_owned()))?)?;
        }
        Ok(config)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), BadUrl> {
        let bad = || BadUrl::Setting(key.to_owned());
        match key {
            "shards" => {
                let shards = value.parse().ok().filter(|n| (1..=MOST_SHARDS).contains(n));
                self.shards = shards.ok_or_else(bad)?;
            }
            "history" => self.history = value.parse().ok().filter(|n| *n > 0).ok_or_else(bad)?,
            "durability" => self.durability = durability(value).ok_or_else(bad)?,
            "accept-loss" => self.accept_loss = flag(value).ok_or_else(bad)?,
            "ca" => self.tls.as_mut().ok_or(BadUrl::NoTls)?.ca = Some(value.into()),
            "cert" => self.client_files()?.0 = value.into(),
            "key" => self.client_files()?.1 = value.into(),
            "sentinel-user" => self.sentinel_login.user = Some(value.to_owned()),
            "sentinel-password" => self.sentinel_login.password = Some(Password(value.to_owned())),
            _ => return Err(bad()),
        }
        Ok(())
    }

    fn client_files(&mut self) -> Result<&mut (PathBuf, PathBuf), BadUrl> {
        let tls = self.tls.as_mut().ok_or(BadUrl::NoTls)?;
        Ok(tls.client.get_or_insert_with(Default::default))
    }
}

/// What is wrong with a URL.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadUrl {
    /// It is none of ours.
    #[error(
        "a Redis URL begins with redis://, rediss://, redis-sentinel://, rediss-sentinel://, redis-cluster:// or rediss-cluster://"
    )]
    Scheme,
    /// There is no host, or one that cannot be.
    #[error("{0:?} is not host:port")]
    Host(String),
    /// Sentinels know many primaries.
    #[error("a sentinel URL ends with the primary's name: redis-sentinel://host:26379/name")]
    NoName,
    /// A path where none belongs.
    #[error("{0:?} does not belong behind the hosts: tables live in database 0")]
    Path(String),
    /// User and password cannot be read.
    #[error("user and password cannot be read: write special characters as %XX")]
    Login,
    /// A setting is unknown or cannot be.
    #[error("the setting {0:?} is unknown, or its value cannot be")]
    Setting(String),
    /// Certificates without encryption.
    #[error("ca, cert and key belong to rediss://")]
    NoTls,
}

fn topology(kind: &str, hosts: &str, name: &str) -> Result<Topology, BadUrl> {
    let port = if kind == "-sentinel" { 26_379 } else { 6_379 };
    let endpoint = |text: &str| Endpoint::parse(text, port).ok_or_else(|| BadUrl::Host(text.to_owned()));
    let endpoints = || hosts.split(',').map(endpoint).collect::<Result<Vec<_>, _>>();
    let bare = || match name {
        "" | "0" => Ok(()),
        other => Err(BadUrl::Path(other.to_owned())),
    };
    match kind {
        "" => {
            bare()?;
            Ok(Topology::Single(endpoint(hosts)?))
        }
        "-sentinel" if name.is_empty() => Err(BadUrl::NoName),
        "-sentinel" => Ok(Topology::Sentinel { name: name.to_owned(), sentinels: endpoints()? }),
        "-cluster" => {
            bare()?;
            Ok(Topology::Cluster(endpoints()?))
        }
        _ => Err(BadUrl::Scheme),
    }
}

fn login_of(text: &str) -> Result<Login, BadUrl> {
    let (user, password) = match text.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (text, None),
    };
    let user = decode(user).ok_or(BadUrl::Login)?;
    let password = password.map(|text| decode(text).ok_or(BadUrl::Login)).transpose()?;
    Ok(Login { user: Some(user).filter(|user| !user.is_empty()), password: password.map(Password) })
}

fn durability(text: &str) -> Option<Durability> {
    match text {
        "memory" => Some(Durability::Memory),
        "fsync" => Some(Durability::Fsync),
        _ => {
            let replicas = text.strip_prefix("replicated:")?.parse().ok()?;
            (replicas > 0).then_some(Durability::Replicated(replicas))
        }
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "yes" | "true" | "1" => Some(true),
        "no" | "false" | "0" => Some(false),
        _ => None,
    }
}

/// Undoes `%XX`.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(host: &str, port: u16) -> Endpoint {
        Endpoint { host: host.to_owned(), port }
    }

    #[test]
    fn a_url_names_the_kind_of_installation() {
        let topology = |url: &str| RedisConfig::parse(url).unwrap().topology;
        assert_eq!(topology("redis://localhost"), Topology::Single(endpoint("localhost", 6379)));
        assert_eq!(topology("redis://[::1]:7000/0"), Topology::Single(endpoint("::1", 7000)));
        let sentinels = vec![endpoint("a", 26_379), endpoint("b", 1)];
        let name = "poker".to_owned();
        assert_eq!(topology("redis-sentinel://a,b:1/poker"), Topology::Sentinel { name, sentinels });
        let nodes = vec![endpoint("a", 6379), endpoint("b", 2)];
        assert_eq!(topology("rediss-cluster://a,b:2"), Topology::Cluster(nodes));
    }

    #[test]
    fn a_url_carries_login_tls_and_settings() {
        let url = "rediss://me:p%40ss@db:1?shards=16&history=9&durability=replicated:2&ca=/ca.pem&cert=c&key=k&accept-loss=yes";
        let config = RedisConfig::parse(url).unwrap();
        assert_eq!(config.login.user.as_deref(), Some("me"));
        assert_eq!(config.login.password, Some(Password("p@ss".to_owned())));
        assert!(!format!("{config:?}").contains("p@ss"));
        let tls = config.tls.unwrap();
        assert_eq!((tls.ca, tls.client), (Some("/ca.pem".into()), Some(("c".into(), "k".into()))));
        assert_eq!((config.shards, config.history, config.accept_loss), (16, 9, true));
        assert_eq!(config.durability, Durability::Replicated(2));
    }

    #[test]
    fn a_bad_url_is_told_why_it_is_bad() {
        let bad = |url: &str| RedisConfig::parse(url).unwrap_err();
        assert_eq!(bad("localhost:6379"), BadUrl::Scheme);
        assert_eq!(bad("http://localhost"), BadUrl::Scheme);
        assert_eq!(bad("redis-ring://localhost"), BadUrl::Scheme);
        assert_eq!(bad("redis://"), BadUrl::Host(String::new()));
        assert_eq!(bad("redis://a:port"), BadUrl::Host("a:port".to_owned()));
        assert_eq!(bad("redis://a/3"), BadUrl::Path("3".to_owned()));
        assert_eq!(bad("redis-sentinel://a"), BadUrl::NoName);
        assert_eq!(bad("redis://x:%zz@a"), BadUrl::Login);
        assert_eq!(bad("redis://a?ca=/x"), BadUrl::NoTls);
        for setting in ["shards=0", "shards=4097", "history=0", "durability=replicated:0", "speed=9"] {
            let key = setting.split('=').next().unwrap().to_owned();
            assert_eq!(bad(&format!("redis://a?{setting}")), BadUrl::Setting(key));
        }
    }
}
