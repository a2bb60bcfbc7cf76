//! An operator: his wallet as a process with books in a file, and what is done to it.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fulcrum::pb::wallet_v1::operator_wallet_service_client::OperatorWalletServiceClient;
use fulcrum::pb::wallet_v1::{CreditRequest, Purpose};
use tonic::Request;

use crate::process::Process;
use crate::servers::free_port;

/// So long the wallet may take to be ready on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// What every player has, in minor units.
pub const OPENING: i64 = 1_000_000_000;

pub struct Operator {
    pub name: &'static str,
    /// What he shows to the service.
    pub token: String,
    /// The file with what the service shows to his wallet.
    pub wallet_token: PathBuf,
    /// Where his wallet is.
    pub address: String,
    pub folder: PathBuf,
    process: Process,
}

impl Operator {
    pub fn start(folder: &Path, name: &'static str) -> Operator {
        let folder = folder.join(name);
        fs::create_dir(&folder).expect("a folder");
        let wallet_token = folder.join("wallet-token");
        fs::write(&wallet_token, format!("{name}-wallet-0123456789abcdef\n")).expect("a token file");
        let address = format!("127.0.0.1:{}", free_port());
        let process = Process::start(&options(&folder, &address), &folder.join("wallet.log"));
        let token = format!("{name}-token-0123456789abcdef");
        let mut operator = Operator { name, token, wallet_token, address, folder, process };
        operator.until_ready();
        operator
    }

    /// Kills the wallet as a power cut would.
    pub fn stop(&mut self) {
        self.process.kill();
    }

    /// Starts it on the same books, at the same address.
    pub fn start_again(&mut self) {
        let log = self.folder.join("wallet.log");
        self.process = Process::start(&options(&self.folder, &self.address), &log);
        self.until_ready();
    }

    /// Stops it in its tracks (`-STOP`), or lets it go on (`-CONT`).
    pub fn signal(&self, signal: &str) {
        self.process.signal(signal);
    }

    /// Tells it to misbehave; nothing makes it well again.
    pub fn misbehave(&self, fault: &str) {
        let (file, new) = (self.folder.join("faults"), self.folder.join("faults.new"));
        fs::write(&new, format!("{fault}\n")).expect("a file of faults");
        fs::rename(new, file).expect("a file of faults");
    }

    /// The file of its books.
    pub fn books(&self) -> PathBuf {
        self.folder.join("operator.redb")
    }

    /// Pays a player something that nobody asked for.
    pub async fn pay_once_more(&self, player: &str, amount: i64) {
        let address = format!("http://{}", self.address);
        let mut wallet = OperatorWalletServiceClient::connect(address).await.expect("the wallet is up");
        let mut request = Request::new(CreditRequest {
            transaction_id: uuid::Uuid::new_v4().to_string(),
            player_id: player.to_owned(),
            amount,
            currency: "EUR".to_owned(),
            purpose: Purpose::CashOut.into(),
            table_id: uuid::Uuid::new_v4().to_string(),
            session: 1,
        });
        let token = fs::read_to_string(&self.wallet_token).expect("a token file");
        let bearer = format!("Bearer {}", token.trim()).parse().expect("a token");
        request.metadata_mut().insert("authorization", bearer);
        wallet.credit(request).await.expect("a credit is never declined");
    }

    fn until_ready(&mut self) {
        let started = Instant::now();
        while TcpStream::connect(&self.address).is_err() {
            let ended = self.process.ended();
            let words = self.process.last_words();
            let name = self.name;
            assert!(
                ended.is_none() && started.elapsed() < PATIENCE,
                "the wallet of {name} is not ready ({ended:?}):\n{words}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn options(folder: &Path, address: &str) -> Vec<String> {
    let path = |name: &str| folder.join(name).display().to_string();
    let (file, token, faults, opening) =
        (path("operator.redb"), path("wallet-token"), path("faults"), OPENING.to_string());
    let options =
        [["operator", "--listen", address], ["--file", &file, "--token-file"], [&token, "--faults", &faults]];
    let options = options.into_iter().flatten().chain(["--open-balance", &opening]);
    options.map(str::to_owned).collect()
}
