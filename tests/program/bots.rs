//! `fulcrum bot` at a table where things go wrong: broke, killed, doubled.

use crate::child::Server;
use crate::spectator::{Seen, bot, duel, open_table, send_home, watch_until};

/// Five big blinds: somebody is broke soon.
const BUY_IN: i64 = 1_000;

async fn server() -> (Server, String, Seen) {
    let server = Server::start(["--memory", "--listen", "127.0.0.1:0"]);
    let table_id = open_table(&server.address, duel(BUY_IN)).await;
    let mut seen = Seen::default();
    watch_until(&server.address, &table_id, &mut seen, |seen| seen.sequence == 1).await;
    (server, table_id, seen)
}

#[tokio::test]
async fn a_broken_bot_buys_in_again_and_the_game_goes_on() {
    let (Server { address, process: _process, .. }, table_id, mut seen) = server().await;
    let bots = ["mia", "leo"].map(|player| bot(&address, &table_id, player, "fast"));
    watch_until(&address, &table_id, &mut seen, |seen| seen.added >= 2).await;
    assert_eq!(seen.brought, BUY_IN * i64::from(2 + seen.added));
    let hand = seen.hand;
    watch_until(&address, &table_id, &mut seen, |seen| seen.settled > hand + 1).await;
    send_home(bots.into());
    seen.ending = true;
    watch_until(&address, &table_id, &mut seen, |seen| seen.paid + seen.raked == seen.brought).await;
}

#[tokio::test]
async fn a_bot_that_is_started_again_goes_on_in_its_seat() {
    let (Server { address, process: _process, .. }, table_id, mut seen) = server().await;
    let [mia, leo] = ["mia", "leo"].map(|player| bot(&address, &table_id, player, "fast"));
    watch_until(&address, &table_id, &mut seen, |seen| seen.settled >= 2).await;
    mia.kill();
    let hand = seen.hand;
    let mia = bot(&address, &table_id, "mia", "fast");
    watch_until(&address, &table_id, &mut seen, |seen| seen.settled > hand + 2).await;
    assert_eq!(seen.seated, 2, "nobody took a second seat");
    send_home(vec![mia, leo]);
}

#[tokio::test]
async fn two_bots_for_one_player_do_not_disturb_each_other() {
    let (Server { address, process: _process, .. }, table_id, mut seen) = server().await;
    // Each turn of mia's is answered twice, mostly with different answers: one counts, the other is passed over.
    let bots = ["mia", "leo", "mia"].map(|player| bot(&address, &table_id, player, "fast"));
    watch_until(&address, &table_id, &mut seen, |seen| seen.settled >= 10).await;
    assert_eq!(seen.seated, 2);
    send_home(bots.into());
}
