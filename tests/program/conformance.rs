//! `fulcrum conformance`: it passes the operator that comes with the program, and turns the right check red for each kind
//! of broken wallet.

mod wallet;

use std::collections::BTreeSet;
use std::net::SocketAddr;

use fulcrum::pb::wallet_v1::operator_wallet_service_server::OperatorWalletServiceServer;
use rcgen::{CertificateParams, KeyPair};
use serde_json::Value;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server as Transport, ServerTlsConfig};

use self::wallet::{Broken, Wallet};
use crate::child::{Server, ended, fulcrum, run};

/// A wallet in this process, broken in this way.
async fn serve(broken: Option<Broken>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = OperatorWalletServiceServer::new(Wallet::new(broken));
    tokio::spawn(Transport::builder().add_service(service).serve_with_incoming(TcpIncoming::from(listener)));
    address
}

/// Checks the wallet there: exit code and report.
async fn check(address: SocketAddr) -> (i32, Value) {
    let wallet = address.to_string();
    let mut command = fulcrum(["conformance", "--json", "--player", "test", "--wallet", &wallet]);
    let (code, report, errors) =
        tokio::task::spawn_blocking(move || ended(command.output().unwrap())).await.unwrap();
    let report = serde_json::from_str(&report).unwrap_or_else(|_| panic!("{report} {errors}"));
    (code, report)
}

fn failed(report: &Value) -> BTreeSet<&str> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks.filter(|row| row["passed"] == false).map(|row| row["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_operator_of_the_program_passes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("operator.redb");
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "0123456789abcdef0123456789abcdef\n").unwrap();
    let tokens = tokens.to_str().unwrap();
    let operator = Server::of(
        fulcrum(["operator", "--listen", "127.0.0.1:0", "--player", "test=70", "--file"]),
        [file.to_str().unwrap(), "--token-file", tokens],
    );
    let arguments = ["conformance", "--wallet", &operator.address, "--player", "test"];
    let (code, _, errors) = run(arguments);
    assert_eq!(code, 1);
    assert!(errors.contains("--token-file"), "{errors}");

    let (code, text, errors) = run(arguments.iter().chain(&["--token-file", tokens]));
    assert_eq!((code, errors.as_str()), (0, ""), "{text}");
    assert!(text.contains("checks passed. The player has what he had: 70."), "{text}");
    assert!(!text.contains("FAILED") && text.contains("ok      cancel-races-debit"), "{text}");
}

#[tokio::test]
async fn a_wallet_that_is_not_broken_passes() {
    let (code, report) = check(serve(None).await).await;
    assert_eq!((code, failed(&report)), (0, BTreeSet::new()), "{report:#}");
    assert_eq!(report["passed"], report["checks"].as_array().unwrap().len());
    assert_eq!(report["balance_before"], report["balance_after"]);
}

/// Each kind of broken wallet, and the checks that fail for it: those and no others.
const KINDS: &[(Broken, &[&str])] = &[
    (Broken::BooksRepeatedDebits, &["debit-repeated", "debit-repeated-at-once"]),
    (Broken::LooksAndBooksLater, &["debit-repeated-at-once"]),
    (Broken::ForgetsDeclined, &["cancel-of-declined", "declined-for-good", "find-declined"]),
    (
        Broken::TakesMoreThanThereIs,
        &["crowd", "cancel-of-declined", "declined-for-good", "find-declined", "insufficient-funds"],
    ),
    (Broken::ReadsTheBalanceFirst, &["crowd"]),
    (Broken::ForgetsEarlyCancels, &["cancel-before-debit", "cancel-other-content", "find-cancelled"]),
    (Broken::IgnoresTheAmount, &["debit-other-amount", "credit-other-amount", "cancel-other-content"]),
    (Broken::IgnoresThePlayer, &["debit-other-player"]),
    (Broken::IgnoresTheCurrency, &["debit-other-currency"]),
    (Broken::IgnoresTheStay, &["debit-other-stay"]),
    (Broken::IgnoresTheMethod, &["other-method"]),
    (Broken::NamesAnotherTransaction, &["names"]),
    (Broken::NamesAnotherAmount, &["names"]),
    (Broken::RefundsEachTime, &["cancel-repeated"]),
    (Broken::BooksCancelledDebits, &["debit-after-cancel"]),
    (Broken::RefundsDeclinedDebits, &["cancel-of-declined"]),
    (Broken::TakesNegativeAmounts, &["amount-at-least-1"]),
    (
        Broken::DeclinesWithAStatus,
        &["cancel-of-declined", "crowd", "declined-for-good", "find-declined", "insufficient-funds", "names"],
    ),
    (Broken::KnowsEverybody, &["unknown-player"]),
    (Broken::KnowsEveryCurrency, &["unknown-currency"]),
    (Broken::WantsASession, &["credit-after-session"]),
    (Broken::BooksRepeatedCredits, &["credit-repeated"]),
    (Broken::FindsWhatNeverWas, &["find-unknown"]),
    (Broken::FindsNothing, &["find-booked", "find-declined", "find-cancelled", "names"]),
    (Broken::TellsAnotherCurrency, &["balance"]),
];

#[tokio::test]
async fn each_kind_of_broken_wallet_turns_its_checks_red() {
    for (broken, wanted) in KINDS {
        let (code, report) = check(serve(Some(*broken)).await).await;
        assert_eq!(code, 1, "{broken:?}");
        let mut failed = failed(&report);
        // Whether the race meets the fault depends on who is first.
        failed.remove("cancel-races-debit");
        assert_eq!(failed, wanted.iter().copied().collect(), "{broken:?}: {report:#}");
        for row in report["checks"].as_array().unwrap().iter().filter(|row| row["passed"] == false) {
            for field in ["contract", "seen", "advice"] {
                assert!(row[field].as_str().is_some_and(|text| !text.is_empty()), "{row}");
            }
        }
    }
}

#[tokio::test]
async fn what_failed_is_told_with_what_to_do() {
    let address = serve(Some(Broken::RefundsEachTime)).await.to_string();
    let command = ["conformance", "--player", "test", "--wallet", &address].map(str::to_owned);
    let (code, text, errors) = tokio::task::spawn_blocking(move || run(command)).await.unwrap();
    assert_eq!(code, 1);
    assert!(text.contains("FAILED  cancel-repeated\n"), "{text}");
    for label in [
        "contract    Whether money went back",
        "seen        the balance went from",
        "to do       Give back once",
    ] {
        assert!(text.contains(label), "{label}: {text}");
    }
    assert!(errors.contains("checks failed"), "{errors}");
}

#[tokio::test]
async fn a_wallet_behind_tls_is_checked_with_its_authority() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    std::fs::write(&ca, certificate.pem()).unwrap();
    let identity = Identity::from_pem(certificate.pem(), key.serialize_pem());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let mut tls = Transport::builder().tls_config(ServerTlsConfig::new().identity(identity)).unwrap();
    let service = OperatorWalletServiceServer::new(Wallet::new(None));
    tokio::spawn(tls.add_service(service).serve_with_incoming(TcpIncoming::from(listener)));

    let call = |more: &[&str]| {
        let mut command = fulcrum(["conformance", "--player", "test", "--wallet", &url].iter().chain(more));
        tokio::task::spawn_blocking(move || ended(command.output().unwrap()))
    };
    let (code, text, errors) = call(&["--ca-file", ca.to_str().unwrap()]).await.unwrap();
    assert_eq!(code, 0, "{text}{errors}");
    let (code, _, errors) = call(&[]).await.unwrap();
    assert_eq!(code, 1, "nobody has signed it: {errors}");
    assert_eq!(call(&["--ca-file", "not/there"]).await.unwrap().0, 2);
}

#[test]
fn what_cannot_be_checked_is_said() {
    let (code, _, errors) = run(["conformance", "--wallet", "127.0.0.1:1", "--player", "test"]);
    assert_eq!(code, 1);
    assert!(errors.contains("Is a wallet running there?"), "{errors}");
    for bad in [&["--player", "test"][..], &["--wallet", "ftp://a", "--player", "test"], &["--wallet", "a:1"]]
    {
        let (code, output, errors) = run(["conformance"].iter().chain(bad));
        assert_eq!((code, output.as_str()), (2, ""), "{errors}");
    }
}
