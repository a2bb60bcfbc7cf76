//! Headers: without an end, large, many, and small ones that become large.

use std::time::Duration;

use super::super::super::harness::operators::ALPHA;
use super::super::contract;
use super::MIB;
use super::siege::Siege;
use super::wire::{
    CONTINUATION, END_HEADERS, HEADERS, Wire, call, frame, header, kept_header, settings, streams,
};

/// A header block in as many frames as it takes.
fn in_frames(stream: u32, block: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = block.chunks(16_384).collect();
    let last = parts.len() - 1;
    let part = |(number, part): (usize, &&[u8])| {
        let kind = if number == 0 { HEADERS } else { CONTINUATION };
        frame(kind, if number == last { END_HEADERS } else { 0 }, stream, part)
    };
    parts.iter().enumerate().flat_map(part).collect()
}

fn path() -> String {
    contract::call("ListTables").path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_without_an_end() {
    let siege = Siege::lay().await;
    let more = frame(CONTINUATION, 0, 1, &header("x", &"y".repeat(16_000)));
    let nothing = frame(CONTINUATION, 0, 1, &[]);
    for token in [None, Some(ALPHA)] {
        for part in [&more, &nothing] {
            for _ in 0..4 {
                let mut wire = Wire::open(&siege.address).await;
                wire.send(&frame(HEADERS, 0, 1, &call(&path(), token))).await;
                let taken = wire.flood(part, 20_000).await;
                assert!(taken < 20_000, "the server hangs up sooner or later");
            }
        }
    }
    siege.lift("headers without an end", 32 * MIB).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_headers_many_headers_and_small_ones_that_become_large() {
    let siege = Siege::lay().await;
    let call = |token| call(&path(), token);
    let large = header("x-large", &"x".repeat(1 << 20));
    let many: Vec<u8> = (0..20_000).flat_map(|number| header(&format!("x-{number}"), "y")).collect();
    // Kept once at the first place of the connection's own table, named by a byte as often as there is room.
    let swelling = [kept_header("x", &"y".repeat(4_000)), vec![0x80 | 62; 60_000]].concat();
    // The table is to be as large as a table can be, and small again, many times.
    let resized = [&[0x3f, 0xe1, 0xff, 0xff, 0xff, 0x0f][..], &[0x20][..]].concat().repeat(1_000);
    for token in [None, Some(ALPHA)] {
        for bomb in [&large, &many, &swelling] {
            let mut wire = Wire::open(&siege.address).await;
            for stream in streams().take(20) {
                if !wire.send(&in_frames(stream, &[call(token), bomb.clone()].concat())).await {
                    break;
                }
            }
            let (answer, hung_up) = wire.read_for(Duration::from_millis(200)).await;
            assert!(hung_up || !answer.is_empty(), "it says something, if only good-bye");
        }
        let mut wire = Wire::open(&siege.address).await;
        wire.send(&settings(&[(1, u32::MAX)])).await;
        wire.send(&in_frames(1, &[resized.clone(), call(token)].concat())).await;
        for stream in streams().skip(1).take(200) {
            let kept: Vec<u8> =
                (0..30).flat_map(|n| kept_header(&format!("x-{stream}-{n}"), &"y".repeat(400))).collect();
            if !wire.send(&in_frames(stream, &[call(token), kept].concat())).await {
                break;
            }
        }
    }
    siege.lift("header bombs", 32 * MIB).await;
}
