//! TLS of the real program: who is let in, and a new certificate at SIGHUP.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use fulcrum::pb::v1;
use fulcrum::pb::v1::table_service_client::TableServiceClient;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tokio::time::sleep;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::child::{Server, run};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Authority::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate of this name and its key, in PEM.
fn sign(authority: &Authority, name: &str) -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    (params.signed_by(&key, authority).unwrap().pem(), key.serialize_pem())
}

/// Whether somebody who trusts this authority, and shows this, gets an answer.
async fn answers(server: &Server, trusted: &Authority, shown: Option<&(String, String)>) -> bool {
    let mut tls =
        ClientTlsConfig::new().domain_name("localhost").ca_certificate(Certificate::from_pem(trusted.pem()));
    if let Some((certificate, key)) = shown {
        tls = tls.identity(Identity::from_pem(certificate, key));
    }
    let endpoint = Endpoint::from_shared(format!("https://{}", server.address)).unwrap();
    let mut tables = TableServiceClient::new(endpoint.tls_config(tls).unwrap().connect_lazy());
    tables.list_tables(v1::ListTablesRequest::default()).await.is_ok()
}

fn arguments(folder: &Path) -> Vec<String> {
    let file = |name: &str| folder.join(name).display().to_string();
    let files = ["cert.pem", "key.pem", "clients.pem"].map(file);
    let flags = ["--tls-cert-file", "--tls-key-file", "--tls-client-ca-file"];
    let named = flags.iter().zip(files).flat_map(|(flag, file)| [(*flag).to_owned(), file]);
    let more = ["--tls-client-certificates", "required", "--memory", "--listen", "127.0.0.1:0"];
    named.chain(more.map(str::to_owned)).collect()
}

/// Arguments with which callers have to show a certificate, and the files that they name.
pub fn certificates_required(folder: &Path) -> Vec<String> {
    let ours = authority("ours");
    let (certificate, key) = sign(&ours, "localhost");
    for (name, text) in [("cert.pem", certificate), ("key.pem", key), ("clients.pem", ours.pem())] {
        fs::write(folder.join(name), text).unwrap();
    }
    arguments(folder)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_show_certificates_and_the_server_a_new_one_at_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let (ours, next) = (authority("ours"), authority("next"));
    let (certificate, key) = sign(&ours, "localhost");
    write("cert.pem", &certificate);
    write("key.pem", &key);
    write("clients.pem", &ours.pem());
    let server = Server::start(arguments(folder.path()));
    assert!(server.greeting.contains("on https://127.0.0.1:"), "{}", server.greeting);
    let caller = sign(&ours, "acme");
    assert!(answers(&server, &ours, Some(&caller)).await);
    assert!(!answers(&server, &ours, None).await);

    let (certificate, key) = sign(&next, "localhost");
    write("cert.pem", &certificate);
    write("key.pem", &key);
    server.process.signal("HUP");
    let asked = Instant::now();
    while !answers(&server, &next, Some(&caller)).await {
        assert!(asked.elapsed() < Duration::from_secs(30), "the new certificate is not taken");
        sleep(Duration::from_millis(20)).await;
    }
    server.process.signal("TERM");
    let (code, _, log) = tokio::task::spawn_blocking(|| server.process.wait()).await.unwrap();
    assert_eq!(code, 0, "{log}");
    assert!(log.contains("certificate_renewed"), "{log}");
}

#[test]
fn files_that_are_no_certificates_are_bad_usage() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, _) = sign(&authority("ours"), "localhost");
    fs::write(folder.path().join("cert.pem"), &certificate).unwrap();
    fs::write(folder.path().join("clients.pem"), &certificate).unwrap();
    let (code, _, errors) = run([vec!["serve".to_owned()], arguments(folder.path())].concat());
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("key.pem"), "{errors}");
    fs::write(folder.path().join("key.pem"), "none").unwrap();
    let (code, _, errors) = run([vec!["serve".to_owned()], arguments(folder.path())].concat());
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("key.pem") && !errors.contains("panicked"), "{errors}");
}
