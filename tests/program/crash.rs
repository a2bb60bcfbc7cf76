//! A server that ends in the middle of a hand, killed or asked to, and is started again: the hand goes on where it was.

use crate::child::Server;
use crate::spectator::{Seen, bot, duel, open_table, read, send_home, watch_until};

const BUY_IN: i64 = 20_000;

#[tokio::test]
async fn a_killed_server_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("fulcrum.redb").to_str().unwrap().to_owned();
    let mut server = Server::start(["--listen", "127.0.0.1:0", "--store", &store]);
    let address = server.address.clone();
    let table_id = open_table(&address, duel(BUY_IN)).await;
    let mut seen = Seen::default();
    watch_until(&address, &table_id, &mut seen, |seen| seen.sequence == 1).await;
    let bots = ["mia", "leo"].map(|player| bot(&address, &table_id, player, "normal"));

    for killed in [true, false, true] {
        let played = seen.settled;
        watch_until(&address, &table_id, &mut seen, |seen| seen.settled > played && seen.in_the_middle())
            .await;
        if killed {
            server.process.kill();
        } else {
            server.process.signal("TERM");
            let (code, _, errors) = server.process.wait();
            assert_eq!(code, 0, "{errors}");
        }
        server = Server::start(["--listen", &address, "--store", &store]);

        // Bots think for longer than this takes: at most the turn that was open has been answered since.
        let table = read(&address, &table_id).await;
        assert!(table.version >= seen.sequence, "what a watcher had seen is gone");
        if table.version == seen.sequence {
            let hand = table.hand.unwrap();
            assert_eq!((hand.number, hand.board.len(), hand.running), (seen.hand, seen.on_board, true));
            assert_eq!(hand.turn.unwrap().number, seen.turn.clone().unwrap().number);
        }
        let (hand, before) = (seen.hand, seen.actions);
        let both = move |seen: &Seen| seen.actions[1] > before[1] && seen.actions[2] > before[2];
        watch_until(&address, &table_id, &mut seen, |seen| seen.settled > hand && both(seen)).await;
    }

    seen.ending = true;
    send_home(bots.into());
    let gone = |seen: &Seen| seen.paid + seen.raked == seen.brought;
    watch_until(&address, &table_id, &mut seen, gone).await;
    assert!(seen.brought >= 2 * BUY_IN);
}
