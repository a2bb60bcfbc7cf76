//! TLS: who is let in with which certificate, and new certificates under open connections.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulcrum::grpc::{ClientCertificates, Connections, Identities, ServeConfig, Tls, TlsFiles};
use fulcrum::pb::v1;
use fulcrum::pb::v1::table_message::Content;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use jsonwebtoken::get_current_timestamp;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;
use tonic::Status;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic_types::StatusExt;

use super::harness::operators::{ALPHA, two_operators};
use super::harness::{House, Setup, in_time, reason, request_id, texas};

/// Somebody who signs certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
#[derive(Clone)]
struct Pair {
    certificate: String,
    key: String,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority"),
        )
    }

    /// A certificate that is good until this year.
    fn sign(&self, name: &str, until: i32) -> Pair {
        self.sign_until(name, date_time_ymd(until, 1, 1) - date_time_ymd(1970, 1, 1))
    }

    /// One that is good for so long after the beginning of 1970.
    fn sign_until(&self, name: &str, until: impl TryInto<Duration>) -> Pair {
        let until = TryInto::<Duration>::try_into(until).ok().expect("after 1970");
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        params.not_after = date_time_ymd(1970, 1, 1) + until;
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        Pair { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    fn pem(&self) -> String {
        self.0.pem()
    }
}

/// The server's files.
struct Files(TempDir);

impl Files {
    fn new(server: &Pair, clients: &Authority) -> Files {
        let files = Files(tempfile::tempdir().expect("a folder"));
        fs::write(files.path("clients.pem"), clients.pem()).expect("a file");
        files.show(&server.certificate, &server.key);
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What the server is to show from now on.
    fn show(&self, certificate: &str, key: &str) {
        fs::write(self.path("server.pem"), certificate).expect("a file");
        fs::write(self.path("server.key"), key).expect("a file");
    }

    async fn house(&self, clients: ClientCertificates) -> House {
        self.house_of(clients, ServeConfig::default()).await
    }

    /// A house that knows its callers so.
    async fn house_of(&self, clients: ClientCertificates, config: ServeConfig) -> House {
        let connections = Connections { hello: Duration::from_millis(500), ..Connections::default() };
        self.house_with(clients, ServeConfig { connections, ..config }).await
    }

    async fn house_with(&self, clients: ClientCertificates, config: ServeConfig) -> House {
        let (certificate, key) = (self.path("server.pem"), self.path("server.key"));
        let tls = Tls::load(TlsFiles { certificate, key, clients }).expect("TLS");
        let config = ServeConfig { tls: Some(Arc::new(tls)), ..config };
        House::with(Setup { config, ..Setup::default() }).await
    }
}

/// A connection of somebody who trusts this authority and shows this certificate.
fn channel(address: SocketAddr, trusted: &Authority, shown: Option<&Pair>) -> Channel {
    let mut tls =
        ClientTlsConfig::new().domain_name("localhost").ca_certificate(Certificate::from_pem(trusted.pem()));
    if let Some(shown) = shown {
        tls = tls.identity(Identity::from_pem(&shown.certificate, &shown.key));
    }
    let endpoint = Endpoint::from_shared(format!("https://{address}")).expect("a URI");
    endpoint.tls_config(tls).expect("TLS").connect_lazy()
}

async fn call(channel: &Channel) -> Result<(), Status> {
    let mut tables = TableServiceClient::new(channel.clone());
    in_time(tables.list_tables(v1::ListTablesRequest::default())).await.map(drop)
}

#[tokio::test]
async fn nobody_is_let_in_with_a_bad_certificate_and_without_one_only_where_none_is_required() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let files = Files::new(&ours.sign("localhost", 2100), &ours);
    let (good, expired, foreign) =
        (ours.sign("acme", 2100), ours.sign("acme", 2020), others.sign("acme", 2100));
    let clients = files.path("clients.pem");
    let cases = [
        (ClientCertificates::None, [true, true, true, true]),
        (ClientCertificates::Wanted(clients.clone()), [true, true, false, false]),
        (ClientCertificates::Required(clients), [false, true, false, false]),
    ];
    for (asked, let_in) in cases {
        let house = files.house(asked.clone()).await;
        for (shown, let_in) in [None, Some(&good), Some(&expired), Some(&foreign)].into_iter().zip(let_in) {
            match call(&channel(house.address, &ours, shown)).await {
                Ok(()) => assert!(let_in, "{asked:?}"),
                Err(status) => {
                    assert!(!let_in, "{asked:?}: {status:?}");
                    assert!(status.get_details_error_info().is_none(), "no call comes so far: {status:?}");
                }
            }
        }
        assert!(
            call(&channel(house.address, &others, Some(&good))).await.is_err(),
            "not the server's authority"
        );
        house.close().await;
    }
}

#[tokio::test]
async fn a_certificate_says_whose_call_it_is_where_there_is_no_token() {
    let ours = Authority::new("ours");
    let files = Files::new(&ours.sign("localhost", 2100), &ours);
    let named = [("backend.acme.example", "acme"), ("desk.acme.example", "acme:support")];
    let named = named.map(|(name, meaning)| (name.to_owned(), meaning.to_owned()));
    let identities =
        Identities::read(named.iter().map(|(name, meaning)| (name, meaning))).expect("identities");
    let tokens = two_operators().tokens;
    let config = ServeConfig { identities, tokens, ..ServeConfig::default() };
    let house = files.house_of(ClientCertificates::Wanted(files.path("clients.pem")), config).await;
    let shows = |name: &str| channel(house.address, &ours, Some(&ours.sign(name, 2100)));
    let (backend, desk) = (shows("backend.acme.example"), shows("desk.acme.example"));

    let create = || v1::CreateTableRequest { request_id: request_id(), config: Some(texas()) };
    let made = in_time(TableServiceClient::new(backend.clone()).create_table(create())).await;
    let table_id = made.expect("his table").into_inner().table_id;
    let get = v1::GetTableRequest { table_id, viewer: None };
    in_time(TableServiceClient::new(desk.clone()).get_table(get.clone())).await.expect("the same operator's");
    let refused = in_time(TableServiceClient::new(desk).create_table(create())).await.expect_err("support");
    assert_eq!(reason(&refused), "ROLE_NOT_ALLOWED");
    for nobody in [shows("acme"), channel(house.address, &ours, None)] {
        assert_eq!(reason(&call(&nobody).await.expect_err("nobody")), "UNAUTHENTICATED");
    }

    // A token is stronger than the certificate, for better or worse.
    let with = |token: &str| {
        let mut request = tonic::Request::new(get.clone());
        let header = format!("Bearer {token}").parse().expect("a token of ASCII");
        request.metadata_mut().insert("authorization", header);
        request
    };
    let mut tables = TableServiceClient::new(backend);
    let alpha = in_time(tables.get_table(with(ALPHA))).await.expect_err("another operator");
    assert_eq!(reason(&alpha), "TABLE_NOT_FOUND");
    let wrong = in_time(tables.get_table(with("wrong-0123456789abcdef"))).await.expect_err("nobody");
    assert_eq!(reason(&wrong), "UNAUTHENTICATED");
    house.close().await;
}

#[tokio::test]
async fn a_connection_gets_no_older_than_the_certificate_that_was_shown() {
    let ours = Authority::new("ours");
    let files = Files::new(&ours.sign("localhost", 2100), &ours);
    let house = files.house(ClientCertificates::Required(files.path("clients.pem"))).await;
    let long = channel(house.address, &ours, Some(&ours.sign("acme", 2100)));
    let create = v1::CreateTableRequest { request_id: request_id(), config: Some(texas()) };
    let made = in_time(TableServiceClient::new(long.clone()).create_table(create)).await;
    let table_id = made.expect("a table").into_inner().table_id;

    let end = get_current_timestamp() + 6;
    let brief = channel(house.address, &ours, Some(&ours.sign_until("acme", Duration::from_secs(end))));
    let watch = v1::WatchTableRequest { table_id, ..Default::default() };
    let stream = in_time(TableServiceClient::new(brief.clone()).watch_table(watch)).await;
    let mut stream = stream.expect("a stream").into_inner();
    let sent_away = async {
        loop {
            let message = stream.message().await.expect("no error").expect("a word of the end");
            if let Some(Content::GoAway(away)) = message.message.expect("a message").content {
                return away.reason();
            }
        }
    };
    assert_eq!(in_time(sent_away).await, v1::GoAwayReason::ConnectionAged);
    assert!(get_current_timestamp() >= end, "not before its time");
    // Nobody comes back with it.
    let again = async { while call(&brief).await.is_ok() {} };
    in_time(again).await;
    call(&long).await.expect("who shows a better one stays");
    house.close().await;
}

#[tokio::test]
async fn what_is_no_tls_is_closed() {
    let ours = Authority::new("ours");
    let house = Files::new(&ours.sign("localhost", 2100), &ours).house(ClientCertificates::None).await;
    for (words, at_once) in [(&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], true), (b"", false)] {
        let begun = Instant::now();
        let mut socket = TcpStream::connect(house.address).await.expect("a connection");
        socket.write_all(words).await.expect("an open connection");
        let mut read = [0; 64];
        while in_time(socket.read(&mut read)).await.is_ok_and(|read| read > 0) {}
        assert_eq!(begun.elapsed() < Duration::from_millis(500), at_once, "{words:?}: {:?}", begun.elapsed());
    }
    house.close().await;
}

#[tokio::test]
async fn those_who_do_not_shake_hands_keep_nobody_else_waiting() {
    let ours = Authority::new("ours");
    let files = Files::new(&ours.sign("localhost", 2100), &ours);
    let connections = Connections { hello: Duration::from_secs(600), ..Connections::default() };
    let config = ServeConfig { connections, ..ServeConfig::default() };
    let house = files.house_with(ClientCertificates::None, config).await;
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(TcpStream::connect(house.address).await.expect("a connection"));
    }
    call(&channel(house.address, &ours, None)).await.expect("a call");
    drop(silent);
    house.close().await;
}

#[tokio::test]
async fn a_new_certificate_is_taken_under_open_connections_and_a_bad_one_is_not() {
    let (ours, next) = (Authority::new("ours"), Authority::new("next"));
    let (first, second) = (ours.sign("localhost", 2100), next.sign("localhost", 2100));
    let files = Files::new(&first, &ours);
    let house = files.house(ClientCertificates::None).await;
    let open = channel(house.address, &ours, None);
    call(&open).await.expect("a call");

    files.show(&second.certificate, &first.key);
    sleep(Duration::from_secs(5)).await;
    call(&channel(house.address, &ours, None)).await.expect("the old pair is kept");
    files.show(&second.certificate, "no key at all");
    sleep(Duration::from_secs(5)).await;
    call(&channel(house.address, &ours, None)).await.expect("the old pair is kept");

    files.show(&second.certificate, &second.key);
    let renewed = async {
        while call(&channel(house.address, &next, None)).await.is_err() {
            sleep(Duration::from_millis(100)).await;
        }
    };
    in_time(renewed).await;
    assert!(call(&channel(house.address, &ours, None)).await.is_err(), "the old one is not shown any more");
    call(&open).await.expect("the open connection stays");
    house.close().await;
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let ours = Authority::new("ours");
    let pair = ours.sign("localhost", 2100);
    let files = Files::new(&pair, &ours);
    let load = |clients| {
        let (certificate, key) = (files.path("server.pem"), files.path("server.key"));
        Tls::load(TlsFiles { certificate, key, clients }).map(drop)
    };
    load(ClientCertificates::Wanted(files.path("clients.pem"))).expect("TLS");
    let fault = |shown: (&str, &str), clients: &str| {
        files.show(shown.0, shown.1);
        load(ClientCertificates::Required(files.path(clients))).expect_err("a fault").to_string()
    };
    let good = (pair.certificate.as_str(), pair.key.as_str());
    assert!(fault(good, "nobody.pem").contains("nobody.pem"));
    assert!(fault(good, "server.key").contains("server.key"), "authorities that are none");
    assert!(fault(("", good.1), "clients.pem").contains("server.pem"));
    assert!(fault((good.0, ""), "clients.pem").contains("server.key"));
    let other = ours.sign("localhost", 2100);
    assert!(fault((good.0, &other.key), "clients.pem").contains("server.pem"), "another's key");
}
