//! A first integration in Rust: opens a Double Hold'em table, seats two players, plays one hand by checking and calling,
//! and prints what it paid. Start `fulcrum serve --memory` first.

use std::error::Error;
use std::time::Duration;

use fulcrum::pb::v1 as pb;
use pb::action_service_client::ActionServiceClient;
use pb::pivot_service_client::PivotServiceClient;
use pb::settlement_service_client::SettlementServiceClient;
use pb::table_service_client::TableServiceClient;
use tonic::transport::Channel;
use uuid::Uuid;

const SERVER: &str = "http://127.0.0.1:50051";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let channel = Channel::from_static(SERVER).connect().await?;
    let table_id = open_table(&channel).await?;
    for player in ["anna", "bert"] {
        seat(&channel, &table_id, player).await?;
    }
    play_a_hand(&channel, &table_id).await?;
    print_settlement(&channel, &table_id).await
}

/// A UUID for each request. Whoever repeats a request, after a time-out for instance, sends the same one again.
fn request_id() -> String {
    Uuid::new_v4().to_string()
}

async fn open_table(channel: &Channel) -> Result<String, Box<dyn Error>> {
    let stakes = pb::Stakes {
        small_blind: 50,
        big_blind: 100,
        min_buy_in: 4_000,
        max_buy_in: 10_000,
        ..Default::default()
    };
    let config = pb::TableConfig {
        display_name: "Main hall 1".to_owned(),
        currency: "EUR".to_owned(),
        game: pb::Game::DoubleHoldem.into(),
        limit: pb::Limit::NoLimit.into(),
        seats: 6,
        stakes: Some(stakes),
        ..Default::default()
    };
    let request = pb::CreateTableRequest { request_id: request_id(), config: Some(config) };
    let table = TableServiceClient::new(channel.clone()).create_table(request).await?.into_inner();
    println!("table {} is open", table.table_id);
    Ok(table.table_id)
}

async fn seat(channel: &Channel, table_id: &str, player: &str) -> Result<(), Box<dyn Error>> {
    let request = pb::SeatPlayerRequest {
        request_id: request_id(),
        table_id: table_id.to_owned(),
        player_id: player.to_owned(),
        buy_in: 10_000,
        transaction_id: format!("wallet-{player}-1"),
        ..Default::default()
    };
    let seated = TableServiceClient::new(channel.clone()).seat_player(request).await?.into_inner();
    println!("{player} has seat {}", seated.seat);
    Ok(())
}

/// Follows the table as a spectator does, and answers every turn of its first hand.
async fn play_a_hand(channel: &Channel, table_id: &str) -> Result<(), Box<dyn Error>> {
    let watch = pb::WatchTableRequest { table_id: table_id.to_owned(), ..Default::default() };
    let mut stream = TableServiceClient::new(channel.clone()).watch_table(watch).await?.into_inner();
    while let Some(response) = stream.message().await? {
        let Some(pb::table_message::Content::Update(update)) = response.message.and_then(|m| m.content)
        else {
            continue;
        };
        let settled =
            |event: &pb::TableEvent| matches!(event.event, Some(pb::table_event::Event::HandSettled(_)));
        if update.events.iter().any(settled) {
            break;
        }
        if let Some(turn) = update.turn {
            answer(channel, table_id, &turn).await?;
        }
    }
    Ok(())
}

async fn answer(channel: &Channel, table_id: &str, turn: &pb::Turn) -> Result<(), Box<dyn Error>> {
    let Some(seat) = turn.seats.first() else {
        return Ok(());
    };
    let player_id = if *seat == 1 { "anna" } else { "bert" }.to_owned();
    let (table_id, hand_number, turn_number) = (table_id.to_owned(), turn.hand_number, turn.number);
    tokio::time::sleep(Duration::from_millis(100)).await;
    if turn.kind() == pb::TurnKind::Pick {
        let request = pb::SelectPivotRequest {
            request_id: request_id(),
            table_id,
            hand_number,
            turn: turn_number,
            player_id: player_id.clone(),
            card_index: Some(0),
        };
        PivotServiceClient::new(channel.clone()).select_pivot(request).await?;
        println!("{player_id} picks the first card as pivot");
        return Ok(());
    }
    let legal = turn.legal.unwrap_or_default();
    let action = if legal.can_check { pb::Action::Check } else { pb::Action::Call };
    let request = pb::ActRequest {
        request_id: request_id(),
        table_id,
        hand_number,
        turn: turn_number,
        player_id: player_id.clone(),
        action: action.into(),
        to: 0,
    };
    ActionServiceClient::new(channel.clone()).act(request).await?;
    println!("{player_id}: {}", action.as_str_name());
    Ok(())
}

async fn print_settlement(channel: &Channel, table_id: &str) -> Result<(), Box<dyn Error>> {
    let request =
        pb::ListSettlementsRequest { table_id: table_id.to_owned(), hand_number: 1, ..Default::default() };
    let page = SettlementServiceClient::new(channel.clone()).list_settlements(request).await?.into_inner();
    for settlement in page.settlements {
        println!("{settlement:#?}");
    }
    Ok(())
}
