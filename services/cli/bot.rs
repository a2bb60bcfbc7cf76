//! `fulcrum bot`: a bot that joins a table of a running server.

use clap::Args;
use rules::pivot_order;
use tonic::Status;
use uuid::Uuid;

use super::access::Access;
use super::client::{Client, timed};
use super::failure::Failure;
use super::follow::News;
use super::money::Currency;
use super::output::Output;
use super::pace::Pace;
use super::page;
use super::paint::{Paint, Tone};
use super::player::Player;
use super::signals::Stop;
use crate::pb::v1::table_event::Event;
use crate::pb::v1::{GetTableRequest, ListTablesRequest, SettledPlayer, Table, TableSummary, Update};

/// The most tables that are named when one is to be chosen.
const NAMED: i32 = 20;

/// Joins a table of a running server and plays until Ctrl-C.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct BotArgs {
    /// Where the server is.
    #[arg(long, env = "FULCRUM_ADDRESS", default_value = "http://127.0.0.1:50051", value_name = "URL")]
    address: String,
    /// The table's id; not needed if the server has one table only.
    #[arg(long, value_name = "ID")]
    table: Option<Uuid>,
    /// The player's id: up to 64 letters, digits, dots, underscores, colons and hyphens. A player who sits there
    /// already goes on. Default: a new one.
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// The seat, from 1; 0: the free one with the lowest number.
    #[arg(long, default_value_t = 0, value_name = "SEAT")]
    seat: u32,
    /// What to buy in for, in minor units of the table's currency (cents). Default: the most that the table allows.
    #[arg(long, value_name = "AMOUNT", value_parser = clap::value_parser!(i64).range(1..))]
    buy_in: Option<i64>,
    #[command(flatten)]
    access: Access,
    /// Stands up after so many hands. Default: plays until Ctrl-C.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    hands: Option<u64>,
    /// How long it thinks.
    #[arg(long, value_enum, default_value_t = Pace::Normal)]
    pace: Pace,
    /// Drives the bot's decisions, and nothing else. Default: another one each time.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum bot --table 0f6c2c1e-3f7c-5a53-9c57-0d7d0a6f7b11
      Joins the table of the server on this machine.
  fulcrum bot --address http://10.0.0.7:50051 --token \"$TOKEN\" --player mia --buy-in 20000 --hands 50
      Plays 50 hands as mia, with 200.00 in a currency of hundredths, and stands up.

Ctrl-C lets the bot stand up after the hand; a second Ctrl-C ends it at once, and its player stays seated.";

/// Runs the command.
///
/// # Errors
/// [`Failure`]
pub async fn run(args: BotArgs) -> Result<(), Failure> {
    let mut stop = Stop::listen()?;
    let client = Client::with(&args.address, &args.access)?;
    let called = |what: &'static str| {
        let address = client.address().to_owned();
        move |status: Status| Failure::call(what, &address, &status)
    };
    let table_id = match args.table {
        Some(id) => id.to_string(),
        None => only_table(&client).await?,
    };
    let table = read_table(&client, &table_id).await.map_err(called("cannot read the table"))?;
    let name = args.player.unwrap_or_else(|| format!("bot-{}", &Uuid::new_v4().simple().to_string()[..6]));
    let seed = args.seed.unwrap_or_else(super::any_seed);
    let mut player = Player::new(client.clone(), &table_id, &name, args.pace, seed);
    let most = table.config.as_ref().and_then(|config| config.stakes).unwrap_or_default().max_buy_in;
    let seated = player.take_seat(args.seat, args.buy_in.unwrap_or(most)).await;
    seated.map_err(called("cannot take a seat"))?;

    let diary = Diary::new(&table, &name);
    let playing = async { play(&mut player, &diary, args.hands).await };
    let ended = tokio::select! {
        ended = playing => ended?,
        () = stop.asked() => Ended::Enough,
    };
    if ended == Ended::Enough {
        diary.say("stands up")?;
        let leaving = async {
            player.stand_up().await?;
            until_gone(&mut player).await
        };
        tokio::select! {
            left = leaving => left.map_err(called("cannot stand up"))?,
            () = stop.asked() => return Err(Failure::Failed(format!("{name} is still seated: ended at once"))),
        }
    }
    diary.paid(player.sight().paid)
}

/// Why the playing ended.
#[derive(PartialEq, Eq)]
enum Ended {
    /// So many hands were to be played, or somebody pressed Ctrl-C.
    Enough,
    /// The player has no seat any more.
    Gone,
}

async fn play(player: &mut Player, diary: &Diary, hands: Option<u64>) -> Result<Ended, Failure> {
    let mut sat = false;
    loop {
        let step = player.step().await;
        let news = step.map_err(|status| Failure::call("cannot play on", player.address(), &status))?;
        match &news {
            Some(News::Update(update)) => diary.note(update, player)?,
            Some(News::Snapshot(_)) if !sat => diary.sits(player)?,
            Some(_) => {}
            None => return Ok(Ended::Gone),
        }
        sat |= player.sight().seat.is_some();
        if sat && player.sight().seat.is_none() {
            return Ok(Ended::Gone);
        }
        if hands.is_some_and(|hands| player.sight().played >= hands) {
            return Ok(Ended::Enough);
        }
    }
}

/// Goes on until the player has no seat any more.
async fn until_gone(player: &mut Player) -> Result<(), Status> {
    while player.sight().seat.is_some() {
        if player.step().await?.is_none() {
            break;
        }
    }
    Ok(())
}

async fn read_table(client: &Client, table_id: &str) -> Result<Table, Status> {
    let request = timed(GetTableRequest { table_id: table_id.to_owned(), viewer: None });
    // Once: a server that is not there is to be told at once.
    let answer = client.tables.clone().get_table(request).await?.into_inner();
    answer.table.ok_or_else(|| Status::internal("the server answered without a table"))
}

/// The server's table, if it has one only.
async fn only_table(client: &Client) -> Result<String, Failure> {
    let request = timed(ListTablesRequest { page_size: NAMED, ..ListTablesRequest::default() });
    let answer = client.tables.clone().list_tables(request).await;
    let answer =
        answer.map_err(|status| Failure::call("cannot list the tables", client.address(), &status))?;
    match answer.into_inner().tables.as_slice() {
        [table] => Ok(table.table_id.clone()),
        [] => Err(Failure::Failed(format!(
            "{} has no open table. TableService/CreateTable opens one; `fulcrum demo` shows two.",
            client.address()
        ))),
        tables => {
            let lines: Vec<String> = tables.iter().map(in_a_line).collect();
            Err(Failure::Usage(format!("which table? Say it with --table:\n{}", lines.join("\n"))))
        }
    }
}

fn in_a_line(table: &TableSummary) -> String {
    let config = table.config.clone().unwrap_or_default();
    let stakes = page::stakes(&config, &Currency::new(&config.currency));
    let (game, taken, seats) = (page::game(config.game()), table.seats_taken, config.seats);
    format!(
        "  {}  {} ({game}, {stakes}, {taken} of {seats} seats taken)",
        table.table_id, config.display_name
    )
}

/// What the bot says while it plays: its own cards and its own result, a line a hand.
struct Diary {
    name: String,
    table: String,
    currency: Currency,
    paint: Paint,
    output: Output,
}

impl Diary {
    fn new(table: &Table, name: &str) -> Diary {
        let config = table.config.clone().unwrap_or_default();
        let currency = Currency::new(&config.currency);
        let stakes = page::stakes(&config, &currency);
        let table = format!("{} ({}, {stakes})", config.display_name, page::game(config.game()));
        Diary { name: name.to_owned(), table, currency, paint: Paint::for_stdout(), output: Output::plain() }
    }

    fn say(&self, what: &str) -> Result<(), Failure> {
        Ok(self.output.print(&format!("{} {what}\n", self.paint.tone(Tone::Title, &self.name)))?)
    }

    fn sits(&self, player: &Player) -> Result<(), Failure> {
        match player.sight().seat {
            Some(seat) => self.say(&format!("sits in seat {seat} at {}", self.table)),
            None => Ok(()),
        }
    }

    fn note(&self, update: &Update, player: &Player) -> Result<(), Failure> {
        for event in update.events.iter().filter_map(|event| event.event.as_ref()) {
            if let Event::HandSettled(settled) = event
                && let Some(hand) = &settled.hand
                && let Some(own) = hand.players.iter().find(|own| own.player_id == self.name)
            {
                self.hand(hand.hand_number, own, player)?;
            }
        }
        Ok(())
    }

    fn hand(&self, number: u64, own: &SettledPlayer, player: &Player) -> Result<(), Failure> {
        let hand = &player.sight().hand;
        let cards = match (<&[_; 3]>::try_from(hand.cards.as_slice()), hand.pick) {
            (Ok(three), Some(pick)) => {
                let [left, pivot, right] = pivot_order(three, pick).map(|card| self.paint.card(card));
                format!("{left} [{pivot}] {right}")
            }
            _ => self.paint.cards(&hand.cards),
        };
        let result = own.stack_after - own.stack_before;
        let tone = if result < 0 { Tone::Bad } else { Tone::Good };
        let result = self.paint.tone(tone, &self.currency.change(result));
        self.say(&format!("hand {number}: {cards}  {result}, now {}", self.currency.amount(own.stack_after)))
    }

    fn paid(&self, paid: Option<i64>) -> Result<(), Failure> {
        match paid {
            Some(paid) => {
                self.say(&format!("was paid {} {}", self.currency.amount(paid), self.currency.code()))
            }
            None => self.say("has left"),
        }
    }
}
