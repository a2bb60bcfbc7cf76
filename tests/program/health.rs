//! `fulcrum health`, health at a listener of its own, and settings that are looked at before they are used.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::Instant;

use futures_util::{poll, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use prost::bytes::Bytes;
use tonic::body::Body;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tower::{Service, ServiceExt};

use crate::child::{LONG, Server, run};
use crate::raw::Line;
use crate::redis::health;
use crate::servers::free_port;
use crate::tls::certificates_required;

const LIVENESS: &str = "fulcrum.liveness";

#[test]
fn a_server_is_asked_for_its_health() {
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0"]);
    for service in ["", "fulcrum.liveness", "fulcrum.v1.TableService"] {
        let (code, output, errors) = run(["health", "--address", &server.address, "--service", service]);
        assert_eq!((code, output.as_str(), errors.as_str()), (0, "SERVING\n", ""), "{service:?}");
    }
    let (code, output, errors) =
        run(["health", "--address", &server.address, "--service", "fulcrum.v1.Roulette"]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.contains("knows no service \"fulcrum.v1.Roulette\""), "{errors}");
}

#[test]
fn nobody_at_an_address_is_not_healthy() {
    let address = format!("http://127.0.0.1:{}", crate::servers::free_port());
    let (code, output, errors) = run(["health", "--address", &address]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.contains(&address) && errors.contains("fulcrum serve"), "{errors}");
    let (code, _, errors) = run(["health", "--address", "not an address"]);
    assert_eq!(code, 2, "{errors}");
}

#[test]
fn settings_are_checked_without_making_or_opening_anything() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let check = |more: &[&str]| run([&["serve", "--check-config"], more].concat());
    let (store, keys, tokens) = (path("tables.redb"), path("keys"), path("tokens"));
    assert_eq!(check(&["--store", &store]), (0, "the settings can be used\n".to_owned(), String::new()));
    // Nobody is there, and nobody is asked.
    let redis = ["--redis", "redis://192.0.2.1:6379", "--key-file", &keys];
    assert_eq!(check(&redis).0, 2, "there is no key file yet");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");

    fs::write(&keys, format!("k1 {}\n", "5a".repeat(32))).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&tokens, "acme short\n").unwrap();
    assert_eq!(check(&redis).0, 0);
    for (wrong, word) in [
        (vec!["--redis", "rediss-cluster:6379", "--key-file", &keys], "redis"),
        (vec!["--memory", "--token-file", &tokens], "16 characters"),
        (vec!["--memory", "--trace-ratio", "2"], "traces.ratio"),
    ] {
        let (code, output, errors) = check(&wrong);
        assert_eq!((code, output.as_str()), (2, ""), "{wrong:?}");
        assert!(errors.contains(word), "{wrong:?}: {errors}");
    }
}

#[tokio::test]
async fn beside_tls_the_health_is_told_in_clear_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    // Beyond this machine, though nobody has a token there.
    let mut arguments = certificates_required(folder.path());
    arguments.extend(["--reflection".to_owned(), "--health".to_owned(), format!("0.0.0.0:{port}")]);
    let server = Server::start(arguments);
    let (calls, alone) = (format!("https://{}", server.address), format!("127.0.0.1:{port}"));
    for service in ["", LIVENESS, "fulcrum.v1.TableService"] {
        let asked = |address: &str| run(["health", "--address", address, "--service", service]);
        assert_eq!(asked(&alone), (0, "SERVING\n".to_owned(), String::new()), "{service:?}");
        assert_eq!(asked(&calls).0, 1, "a probe has no certificate to show");
    }
    let mut line = Line::open(alone.parse().unwrap(), None).await;
    for path in [
        "/fulcrum.v1.TableService/ListTables",
        "/fulcrum.v1.ServerService/GetServerInfo",
        "/grpc.health.v2.Health/Check",
    ] {
        let refused = line.answer(path, Vec::new()).await.expect_err(path);
        assert_eq!(refused.code(), Code::Unimplemented, "{path}: {refused:?}");
    }
    let reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    assert_eq!(line.first(reflection, Vec::new()).await.expect_err("none").code(), Code::Unimplemented);
    // A name longer than any is no reason to hold on to it.
    let long = HealthCheckRequest { service: "a".repeat(100_000) };
    let refused = HealthClient::new(channel(&alone)).check(long).await.expect_err("too long");
    assert_eq!(refused.code(), Code::OutOfRange, "{refused:?}");
    server.process.signal("TERM");
    assert_eq!(server.process.wait().0, 0);
}

fn channel(address: &str) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect_lazy()
}

/// A call at work, for as long as this is kept: the server waits for the rest of it.
async fn unfinished(address: &str) -> impl Sized {
    let mut channel = channel(address);
    let endless = StreamBody::new(stream::pending::<Result<Frame<Bytes>, Status>>());
    let request = http::Request::post(format!("http://{address}/fulcrum.v1.TableService/ListTables"))
        .header("content-type", "application/grpc")
        .body(Body::new(endless))
        .unwrap();
    let mut call = Box::pin(channel.ready().await.unwrap().call(request));
    assert!(poll!(&mut call).is_pending());
    // It comes after that one on the same connection.
    HealthClient::new(channel).check(HealthCheckRequest::default()).await.unwrap();
    call
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_server_drains_its_health_is_told_to_the_last() {
    let alone = format!("127.0.0.1:{}", free_port());
    let more = ["--drain-seconds", "110", "--call-seconds", "100"];
    let server =
        Server::start(["--memory", "--listen", "127.0.0.1:0", "--health", &alone].iter().chain(&more));
    let call = unfinished(&server.address).await;
    let request = HealthCheckRequest::default();
    let mut pulse = HealthClient::new(channel(&alone)).watch(request).await.unwrap().into_inner();
    assert_eq!(pulse.message().await.unwrap().unwrap().status(), ServingStatus::Serving);

    server.process.signal("TERM");
    assert_eq!(pulse.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    let asked = Instant::now();
    while TcpStream::connect(&server.address).is_ok() {
        assert!(asked.elapsed() < LONG, "it still takes calls");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(health(&alone, "").await, Some(ServingStatus::NotServing));
    assert_eq!(health(&alone, LIVENESS).await, Some(ServingStatus::Serving), "there is no reason to kill it");
    let (code, output, errors) = run(["health", "--address", &alone]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.contains("NOT_SERVING"), "{errors}");

    drop(call);
    let (code, _, log) = tokio::task::spawn_blocking(|| server.process.wait()).await.unwrap();
    assert_eq!(code, 0, "{log}");
    assert!(!log.contains("drain_cut_short"), "{log}");
    assert!(!matches!(pulse.message().await, Ok(Some(_))), "it is over");
    assert!(TcpStream::connect(&alone).is_err());
}

/// So many connections of one address are kept at the listener for health.
const OF_AN_ADDRESS: usize = 32;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_at_the_listener_for_health_harms_nobody() {
    let alone = format!("127.0.0.1:{}", free_port());
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0", "--health", &alone]);
    let files = || fs::read_dir(format!("/proc/{}/fd", server.process.id())).unwrap().count();
    let (before, mut most) = (files(), 0);
    let mut crowd: Vec<TcpStream> = Vec::new();
    let open = |crowd: &mut Vec<TcpStream>| {
        crowd.retain_mut(|socket| match socket.read(&mut [0; 1024]) {
            Err(error) => error.kind() == ErrorKind::WouldBlock,
            Ok(read) => read > 0,
        });
        crowd.len()
    };
    for _ in 0..400 {
        let socket = TcpStream::connect(&alone).unwrap();
        socket.set_nonblocking(true).unwrap();
        crowd.push(socket);
        most = most.max(files());
    }
    let begun = Instant::now();
    while open(&mut crowd) > OF_AN_ADDRESS {
        most = most.max(files());
        assert!(begun.elapsed() < LONG, "{} are open", crowd.len());
    }
    // One connection may be accepted and looked at besides.
    assert!(most <= before + OF_AN_ADDRESS + 8, "{most} files, {before} before");
    assert_eq!(
        health(&server.address, "").await,
        Some(ServingStatus::Serving),
        "callers have their own places"
    );
    // And so has the kubelet, at another address.
    let elsewhere = Endpoint::from_shared(format!("http://{alone}")).unwrap();
    let elsewhere = elsewhere.local_address(Some([127, 0, 0, 2].into())).connect_lazy();
    let told = HealthClient::new(elsewhere).check(HealthCheckRequest::default()).await.unwrap();
    assert_eq!(told.into_inner().status(), ServingStatus::Serving);
    while open(&mut crowd) > 0 {
        assert!(begun.elapsed() < LONG, "who says nothing is not kept");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(health(&alone, "").await, Some(ServingStatus::Serving), "there is room again");

    crowd.extend((0..8).map(|_| TcpStream::connect(&alone).unwrap()));
    server.process.signal("TERM");
    let (code, _, log) = tokio::task::spawn_blocking(|| server.process.wait()).await.unwrap();
    assert_eq!(code, 0, "{log}");
    assert!((1..40).contains(&log.matches("connections_full").count()), "now and then, not for each: {log}");
}

#[test]
fn an_address_for_health_that_cannot_be_had_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = |health: &str| run(["serve", "--memory", "--listen", "127.0.0.1:0", "--health", health]);
    let (code, _, errors) = serve(&address);
    assert_eq!(code, 1, "{errors}");
    assert!(errors.contains(&format!("health: cannot listen on {address}")), "{errors}");
    let (code, _, errors) = serve("50052");
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("health: \"50052\" is no address and port"), "{errors}");
}
