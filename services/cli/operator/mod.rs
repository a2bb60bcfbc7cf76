//! `fulcrum operator`: a small but real operator's backend, for demos, for tests, and as the example to integrate from.

mod booking;
mod books;
mod consumer;
mod faults;
mod line;
mod report;
mod service;
mod settled;
pub mod tokens;
mod writer;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic::transport::Server;
use tonic_health::ServingStatus;

use self::books::{Books, Opening, is_currency};
use self::consumer::Consumer;
use self::faults::{Fault, Faults};
use self::service::Wallet;
use self::tokens::Door;
use self::writer::Writer;
use super::access::Access;
use super::client::Client;
use super::failure::Failure;
use super::output::Output;
use super::signals::Stop;
use crate::pb;
use crate::pb::wallet_v1::operator_wallet_service_server::OperatorWalletServiceServer;

/// The largest message that is read, in bytes.
const LARGEST_MESSAGE: usize = 64 * 1024;
/// How long running calls may take to end when the operator is stopped: those that were told to hang never do.
const DRAIN: Duration = Duration::from_secs(2);

/// Runs an operator's backend: the wallet that Fulcrum calls in the seamless model, with accounts in a file.
///
/// It is small, but does all that the contract asks for: each transaction once, however often it comes; cancels that come
/// before their debits; no balance below zero; answers that are on the disk before they are given. It can be told to
/// misbehave, to see what a table does then. It books the settlement records of the service, too.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct OperatorArgs {
    #[command(subcommand)]
    command: Option<Command>,
    /// Where the wallet listens; port 0 takes a free one. An address that other machines can reach needs a token file.
    #[arg(long, default_value = "127.0.0.1:50061", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// The file of the books, made if it is not there.
    #[arg(long, default_value = "operator.redb", value_name = "FILE")]
    file: PathBuf,
    /// Keeps the books in memory and loses them at the end.
    #[arg(long, conflicts_with = "file")]
    memory: bool,
    /// Callers have to show a token of this file, as "authorization: Bearer TOKEN"; a token a line.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Opens an account, unless it is there: ada=100000 is 1,000.00 in --currency, ada=100000:USD in another one.
    #[arg(long, value_name = "NAME=AMOUNT", help_heading = "Accounts")]
    player: Vec<Account>,
    /// The currency of --player, ISO 4217.
    #[arg(long, default_value = "EUR", value_name = "CODE", value_parser = currency, help_heading = "Accounts")]
    currency: String,
    /// Opens an account with this balance for every player who has none, in the currency that is asked for. Without it only
    /// those of --player and of the file are known.
    #[arg(long, value_name = "AMOUNT", value_parser = clap::value_parser!(i64).range(0..), help_heading = "Accounts")]
    open_balance: Option<i64>,

    /// Consumes and acknowledges the settlement records of the service at this address.
    #[arg(long, value_name = "URL", help_heading = "Settlements")]
    fulcrum: Option<String>,
    #[command(flatten, next_help_heading = "Settlements")]
    access: Access,
    /// The consumer's name there.
    #[arg(long, default_value = "operator", value_name = "NAME", help_heading = "Settlements")]
    consumer: String,

    /// Misbehaves: KIND[=TIME][:SHARE][@CALL]. Several times for several faults.
    #[arg(long, value_name = "FAULT", help_heading = "Faults")]
    fault: Vec<Fault>,
    /// More faults, one a line. The file is read anew whenever it changes; it need not be there.
    #[arg(long, value_name = "FILE", help_heading = "Faults")]
    faults: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Prints the accounts of an operator that is stopped.
    Books(report::BooksArgs),
}

const EXAMPLES: &str = "\
Examples:
  fulcrum operator --player ada=100000 --player boris=50000
      A wallet on 127.0.0.1:50061 that knows two players, with books in ./operator.redb.
  fulcrum operator --memory --open-balance 1000000 --listen 127.0.0.1:0
      Everybody has 10,000.00; nothing is kept; a free port, which the first line of output names.
  fulcrum operator --open-balance 1000000 --fault late=3s:10% --fault drop-after:5%@credit
      Every tenth call is answered late, and the connection breaks after every twentieth credit was booked.
  fulcrum operator --open-balance 1000000 --faults faults.txt
  echo 'hang@debit' > faults.txt
      Told at run time to answer no debit any more; an empty file makes it well again.
  fulcrum operator --player ada=100000 --fulcrum http://127.0.0.1:50051 --token \"$TOKEN\"
      Books each settlement record of that service once, and acknowledges it.
  fulcrum operator books --file operator.redb
      The accounts and what the settlement records come to, once it is stopped.
  grpcurl -plaintext -d '{\"playerId\": \"ada\", \"currency\": \"EUR\"}' 127.0.0.1:50061 \\
      fulcrum.wallet.v1.OperatorWalletService/GetBalance
      What ada has.

Faults, for all calls or one of balance, debit, credit, cancel and find (GetTransaction):
  slow=TIME     waits before it books; the booking comes to pass also if the caller has gone away meanwhile
  hang          never answers, and books nothing          hang-after    books, and never answers
  fail          answers UNAVAILABLE, and books nothing    fail-after    books, and answers UNAVAILABLE
  drop          breaks the connection, books nothing      drop-after    books, and breaks the connection
  late=TIME     books, and answers after this time        twice         takes the call twice at the same time

Ctrl-C or SIGTERM end it softly; a kill loses nothing that was answered.";

/// An account to open.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Account {
    player: String,
    amount: i64,
    currency: Option<String>,
}

impl FromStr for Account {
    type Err = String;

    fn from_str(text: &str) -> Result<Account, String> {
        let bad = || format!("{text:?} is no account: write it as ada=100000 or ada=100000:EUR");
        // The player's name may have an `=` in it; the amount has none.
        let (player, rest) =
            text.rsplit_once('=').filter(|(player, _)| !player.is_empty()).ok_or_else(bad)?;
        let (amount, code) = match rest.split_once(':') {
            Some((amount, code)) => (amount, Some(currency(code)?)),
            None => (rest, None),
        };
        let amount = amount.parse().ok().filter(|amount| *amount >= 0).ok_or_else(bad)?;
        Ok(Account { player: player.to_owned(), amount, currency: code })
    }
}

fn currency(text: &str) -> Result<String, String> {
    let good = is_currency(text).then(|| text.to_owned());
    good.ok_or_else(|| format!("{text:?} is no currency: three capital letters of ISO 4217, as EUR"))
}

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: OperatorArgs) -> Result<(), Failure> {
    if let Some(Command::Books(args)) = args.command {
        return report::run(args).await;
    }
    let mut stop = Stop::listen()?;
    let tokens = args.token_file.as_deref().map(tokens::read).transpose()?;
    if tokens.is_none() && !args.listen.ip().is_loopback() {
        return Err(Failure::Usage(format!(
            "{} can be reached from elsewhere, and whoever reaches it moves the players' money: give a token file with \
             --token-file, or listen on 127.0.0.1",
            args.listen
        )));
    }
    let faults = Faults::new(args.fault.clone(), args.faults.clone())?;
    let books = Arc::new(open(&args)?);
    let writer = Arc::new(Writer::start(Arc::clone(&books))?);
    let consumer = consumer(&args, &writer)?;
    let listener = TcpListener::bind(args.listen).await.map_err(|error| cannot_listen(&args, &error))?;
    let address = listener.local_addr()?;
    let kept = if args.memory { "in memory".to_owned() } else { args.file.display().to_string() };
    let callers = if tokens.is_some() { "with a token" } else { "anybody on this machine" };
    Output::plain().print(&format!(
        "fulcrum operator is ready on http://{address} (books: {kept}; callers: {callers})\n"
    ))?;
    let mut beside = JoinSet::new();
    beside.spawn(Arc::clone(&faults).follow());
    if let Some(consumer) = consumer {
        beside.spawn(consumer.run());
    }
    let wallet = Wallet::new(books, writer, faults);
    let served = serve(wallet, Door::new(tokens.as_deref()), listener, &mut stop).await;
    beside.shutdown().await;
    served
}

fn consumer(args: &OperatorArgs, writer: &Arc<Writer>) -> Result<Option<Consumer>, Failure> {
    let Some(address) = &args.fulcrum else {
        return Ok(None);
    };
    let client = Client::with(address, &args.access)?;
    Ok(Some(Consumer { client, name: args.consumer.clone(), writer: Arc::clone(writer) }))
}

fn open(args: &OperatorArgs) -> Result<Books, Failure> {
    let opening = Opening(args.open_balance);
    let books = if args.memory { Books::in_memory(opening)? } else { Books::open(&args.file, opening)? };
    for Account { player, amount, currency } in &args.player {
        let currency = currency.as_ref().unwrap_or(&args.currency);
        let added = books.add_account(player, currency, *amount);
        added.map_err(|fault| Failure::Failed(fault.to_string()))?;
    }
    Ok(books)
}

/// Serves until it is asked to stop.
async fn serve(wallet: Wallet, door: Door, listener: TcpListener, stop: &mut Stop) -> Result<(), Failure> {
    let wallet = OperatorWalletServiceServer::new(wallet).max_decoding_message_size(LARGEST_MESSAGE);
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_service_status("fulcrum.wallet.v1.OperatorWalletService", ServingStatus::Serving).await;
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(pb::WALLET_DESCRIPTOR)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .include_reflection_service(false)
        .build_v1()
        .map_err(|error| failed(&error))?;
    let (drain, mut draining) = watch::channel(false);
    let router = Server::builder()
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .add_service(tonic::service::interceptor::InterceptedService::new(wallet, door))
        .add_service(health_service)
        .add_service(reflection);
    let serving = router.serve_with_incoming_shutdown(line::lines(listener), async move {
        // An error says that the other side has gone, and then this is over too.
        let _ = draining.wait_for(|drain| *drain).await;
    });
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => return served.map_err(|error| failed(&error)),
        () = stop.asked() => {}
    }
    drain.send_replace(true);
    tokio::select! {
        served = serving => served.map_err(|error| failed(&error)),
        () = tokio::time::sleep(DRAIN) => Ok(()),
        () = stop.asked() => Ok(()),
    }
}

fn failed(error: &dyn fmt::Display) -> Failure {
    Failure::Failed(format!("the wallet cannot be served: {error}"))
}

fn cannot_listen(args: &OperatorArgs, error: &std::io::Error) -> Failure {
    Failure::Failed(format!(
        "cannot listen on {}: {error}\n\n--listen takes an address of this machine and a free port, as 127.0.0.1:50061; \
         port 0 takes a free one.",
        args.listen
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read() {
        let account = |player: &str, amount, currency: Option<&str>| Account {
            player: player.into(),
            amount,
            currency: currency.map(str::to_owned),
        };
        assert_eq!("ada=100".parse(), Ok(account("ada", 100, None)));
        assert_eq!("a=b=0:USD".parse(), Ok(account("a=b", 0, Some("USD"))));
        for bad in
            ["ada", "=5", "ada=", "ada=-1", "ada=1.5", "ada=1:usd", "ada=1:XTS", "ada=9223372036854775808"]
        {
            assert!(bad.parse::<Account>().is_err(), "{bad}");
        }
    }
}
