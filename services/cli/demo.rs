//! `fulcrum demo`: a server, two tables, six bots at each, and a teller who says what happens.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::Args;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tonic::Status;

use super::client::{Client, request_id, timed};
use super::failure::Failure;
use super::money::Currency;
use super::node::{Node, Setup};
use super::output::Output;
use super::pace::Pace;
use super::page;
use super::paint::{Paint, Tone};
use super::player::Player;
use super::signals::Stop;
use super::teller::Teller;
use crate::pb::v1::{
    Clocks, CreateTableRequest, Game, Limit, PauseTableRequest, Rake, ResumeTableRequest, Stakes, TableConfig,
};

/// Who plays at which table.
const TABLES: [(&str, Game, [&str; 6]); 2] = [
    ("Emerald", Game::DoubleHoldem, ["Ada", "Boris", "Cleo", "Dario", "Edda", "Finn"]),
    ("Ruby", Game::TexasHoldem, ["Gita", "Hugo", "Iris", "Jonas", "Kaya", "Luis"]),
];
/// So long the end may take.
const END: Duration = Duration::from_secs(10);
/// More seats than bots, so that somebody can join.
const SEATS: u32 = 8;

/// Plays two tables with bots and tells each hand.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct DemoArgs {
    /// Stops after so many hands at each table. Default: plays until Ctrl-C.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    hands: Option<u64>,
    /// How fast the bots play. Default: fast with --hands, else normal.
    #[arg(long, value_enum)]
    pace: Option<Pace>,
    /// Drives the bots' decisions, and nothing else: the cards come from the dealer, whose shuffle nobody can repeat.
    /// Default: another one each time.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum demo --hands 20
      Twenty hands at each table, as fast as they can be played.
  fulcrum demo --pace slow
      At the speed of people, until Ctrl-C. Prints the server's address, to look in with grpcurl or `fulcrum bot`.
  fulcrum demo --hands 100 > hands.txt
      Writes plain text without colours; NO_COLOR=1 switches colours off in a terminal, too.

The server listens on a free port of this machine. Its store is a temporary folder that goes when the demo ends.";

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: DemoArgs) -> Result<(), Failure> {
    let mut stop = Stop::listen()?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::Failed(format!("cannot make a temporary folder for the store: {error}")))?;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let node = Node::start(Setup::for_development(listen, &folder.path().join("demo.redb"))?).await?;
    let played = play(&args, node.address(), &mut stop).await;
    // A drain waits for streams that nobody reads any more: with a second signal nobody waits.
    tokio::select! {
        stopped = node.stop(Instant::now() + END, async {}) => played.and(stopped),
        () = stop.asked() => played,
    }
}

async fn play(args: &DemoArgs, address: SocketAddr, stop: &mut Stop) -> Result<(), Failure> {
    let pace = args.pace.unwrap_or(if args.hands.is_some() { Pace::Fast } else { Pace::Normal });
    let seed = args.seed.unwrap_or_else(super::any_seed);
    let paint = Paint::for_stdout();
    let bar = |hands| Output::with_bar(hands * TABLES.len() as u64, "hands");
    let output = args.hands.map_or_else(Output::plain, bar);

    let mut bots = JoinSet::new();
    let mut tables = Vec::new();
    for (index, (_, _, names)) in (0_u64..).zip(&TABLES) {
        let table = Opened::open(address, index as usize, pace).await?;
        let teller = Teller::begin(&table.client, &table.id, paint, &output, args.hands).await;
        let teller = teller.map_err(|status| table.failed("cannot watch the table", &status))?;
        for (place, name) in (0_u64..).zip(names) {
            let client = Client::new(&address.to_string(), None)?;
            let player = Player::new(client, &table.id, name, pace, seed.wrapping_add(index << 32 | place));
            table.seat(player.closing_with(args.hands), &mut bots).await?;
        }
        tables.push((table, teller));
    }
    output.print(&introduction(&tables, address, args.hands, paint))?;
    for (table, _) in &tables {
        table.resume().await.map_err(|status| table.failed("cannot start the table", &status))?;
    }

    let mut tellers: Vec<Teller> = tables.into_iter().map(|(_, teller)| teller).collect();
    let told = tokio::select! {
        told = tell_all(&mut tellers) => told,
        fault = first_fault(&mut bots) => Err(fault),
        () = stop.asked() => Ok(()),
    };
    output.finish();
    told?;
    tellers.iter().try_for_each(Teller::end)
}

/// Until all tables are closed.
async fn tell_all(tellers: &mut [Teller]) -> Result<(), Failure> {
    match tellers {
        [first, rest @ ..] => tokio::try_join!(first.tell(), Box::pin(tell_all(rest))).map(|_| ()),
        [] => Ok(()),
    }
}

/// The first bot that cannot go on; never returns while all of them can, or have ended because their table has.
async fn first_fault(bots: &mut JoinSet<Result<(), Failure>>) -> Failure {
    loop {
        match bots.join_next().await {
            Some(Ok(Ok(()))) => {}
            Some(Ok(Err(failure))) => return failure,
            Some(Err(broken)) => return Failure::Failed(format!("a bot broke down: {broken}")),
            None => std::future::pending().await,
        }
    }
}

/// A table of the demo.
struct Opened {
    client: Client,
    id: String,
    config: TableConfig,
}

impl Opened {
    /// Opens a table, stopped until everybody sits.
    async fn open(address: SocketAddr, index: usize, pace: Pace) -> Result<Opened, Failure> {
        let client = Client::new(&address.to_string(), None)?;
        let request = CreateTableRequest { request_id: request_id(), config: Some(config(index, pace)) };
        let asked = client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.tables.create_table(request).await }
        });
        let failed = |status: &Status| Failure::call("cannot open a table", client.address(), status);
        let answer = asked.await.map_err(|status| failed(&status))?;
        let table =
            Opened { id: answer.table_id, config: answer.config.unwrap_or_default(), client: client.clone() };
        let request = PauseTableRequest {
            request_id: request_id(),
            table_id: table.id.clone(),
            reason: "the players are taking their seats".to_owned(),
            etag: String::new(),
        };
        let asked = client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.tables.pause_table(request).await }
        });
        asked.await.map_err(|status| failed(&status))?;
        Ok(table)
    }

    async fn resume(&self) -> Result<(), Status> {
        let request = ResumeTableRequest {
            request_id: request_id(),
            table_id: self.id.clone(),
            ..ResumeTableRequest::default()
        };
        let asked = self.client.ask(|mut client| {
            let request = timed(request.clone());
            async move { client.tables.resume_table(request).await }
        });
        asked.await.map(|_| ())
    }

    /// Seats a bot and lets it play.
    async fn seat(&self, mut bot: Player, bots: &mut JoinSet<Result<(), Failure>>) -> Result<(), Failure> {
        let buy_in = self.config.stakes.unwrap_or_default().max_buy_in;
        bot.take_seat(0, buy_in).await.map_err(|status| self.failed("cannot take a seat", &status))?;
        let address = self.client.address().to_owned();
        bots.spawn(async move {
            while bot
                .step()
                .await
                .map_err(|status| Failure::call("a bot cannot play on", &address, &status))?
                .is_some()
            {}
            Ok(())
        });
        Ok(())
    }

    fn failed(&self, what: &str, status: &Status) -> Failure {
        Failure::call(what, self.client.address(), status)
    }
}

fn config(index: usize, pace: Pace) -> TableConfig {
    let (name, game, _) = TABLES[index % TABLES.len()];
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    TableConfig {
        display_name: name.to_owned(),
        currency: "EUR".to_owned(),
        game: game.into(),
        limit: Limit::NoLimit.into(),
        seats: SEATS,
        stakes: Some(Stakes { small_blind: 100, big_blind: 200, max_buy_in: 20_000, ..Stakes::default() }),
        rake: Some(Rake {
            basis_points: 500,
            cap_2: Some(100),
            cap_3_to_4: Some(200),
            cap_5_plus: Some(300),
            unit: 5,
        }),
        clocks: Some(Clocks {
            action: seconds(20),
            pivot: seconds(20),
            between_hands: duration(pace.between_hands()),
            ..Clocks::default()
        }),
        ..TableConfig::default()
    }
}

fn duration(duration: Duration) -> Option<prost_types::Duration> {
    prost_types::Duration::try_from(duration).ok()
}

fn introduction(
    tables: &[(Opened, Teller)],
    address: SocketAddr,
    hands: Option<u64>,
    paint: Paint,
) -> String {
    let mut text = format!("{}\n", paint.heading(&paint.tone(Tone::Title, "Fulcrum demo")));
    text.push_str(&paint.entry("server", &[format!("http://{address}")], ""));
    for (table, _) in tables {
        let stakes = page::stakes(&table.config, &Currency::new(&table.config.currency));
        let game = page::game(table.config.game());
        let line = format!("{}  {} ({game}, {stakes})", table.id, table.config.display_name);
        text.push_str(&paint.entry("table", &[line], ""));
    }
    if let (None, Some((table, _))) = (hands, tables.first()) {
        let id = &table.id;
        let look = format!(
            "grpcurl -plaintext -d '{{\"tableId\": \"{id}\"}}' {address} fulcrum.v1.TableService/WatchTable"
        );
        text.push_str(&paint.entry("look in", &[look], ""));
        text.push_str(&paint.entry(
            "join",
            &[format!("fulcrum bot --address http://{address} --table {id}")],
            "",
        ));
        text.push_str(&paint.entry("end", &["Ctrl-C".to_owned()], ""));
    }
    text.push('\n');
    text
}
