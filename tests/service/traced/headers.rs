//! What callers write into the headers of a trace, whoever they are.

use fulcrum::pb::v1;
use tonic::Request;
use tonic::metadata::{AsciiMetadataValue, MetadataMap};

use super::{SPAN, TRACE, Tower};
use crate::harness::caller::eyes_of;
use crate::harness::{Caller, House, in_time, texas};

const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

async fn look(caller: &mut Caller, table: &str, dress: impl FnOnce(&mut MetadataMap)) {
    let mut request = Request::new(v1::GetTableRequest { table_id: table.into(), viewer: eyes_of("") });
    dress(request.metadata_mut());
    in_time(caller.tables.get_table(request)).await.expect("the call is answered all the same");
}

fn value(bytes: &[u8]) -> AsciiMetadataValue {
    AsciiMetadataValue::try_from(bytes).expect("bytes that may be sent")
}

#[tokio::test]
async fn a_parent_that_is_none_names_no_trace() {
    let tower = Tower::open(1.0);
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.open_table(texas()).await;
    let long = format!("01-{TRACE}-{SPAN}-01-{}", "0".repeat(5000));
    let bad: Vec<&[u8]> = vec![
        b"",
        b"-",
        b"---",
        b"garbage",
        b"00",
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        b"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        b"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        b"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        b"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        b"00-4bf92f3577b34da6a3ce929d0e0e47364bf92f3577b34da6-00f067aa0ba902b7-01",
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-zz",
        b"00-\xf0\x9f\x82\xa1-00f067aa0ba902b7-01",
        b"\xff\xfe\xfd",
        long.as_bytes(),
    ];
    for parent in &bad {
        look(&mut caller, &table, |headers| {
            headers.insert("traceparent", value(parent));
        })
        .await;
    }
    look(&mut caller, &table, |headers| {
        headers.append("traceparent", value(GOOD.as_bytes()));
        headers.append("traceparent", value(GOOD.as_bytes()));
    })
    .await;
    look(&mut caller, &table, |headers| {
        for _ in 0..150 {
            headers.append("traceparent", value(b"00-1-2-3"));
            headers.append("tracestate", value(b"a=b"));
        }
    })
    .await;
    let count = bad.len() + 3;
    let told = tower.collector.until("all", |told| told.len() >= count).await;
    for span in told {
        assert_eq!(span.parent, "", "a trace of its own: {span:?}");
        assert_ne!(span.trace, TRACE);
    }
    house.close().await;
}

#[tokio::test]
async fn a_state_that_is_none_or_too_long_is_left_behind() {
    let tower = Tower::open(0.0);
    let house = House::open().await;
    let mut caller = house.caller().await;
    let table = caller.open_table(texas()).await;
    let long = format!("vendor={}", "x".repeat(5000));
    let many: Vec<String> = (0..100).map(|number| format!("v{number}=1")).collect();
    let many = many.join(",");
    let bad: [&[u8]; 6] = [b"", b"=,=,=", b"no pairs", b"\xff\xfe", long.as_bytes(), many.as_bytes()];
    for state in bad {
        look(&mut caller, &table, |headers| {
            headers.insert("traceparent", value(GOOD.as_bytes()));
            headers.insert("tracestate", value(state));
        })
        .await;
    }
    look(&mut caller, &table, |headers| {
        headers.insert("traceparent", value(GOOD.as_bytes()));
        headers.insert("tracestate", value(b"vendor=kept"));
    })
    .await;
    let told = tower.collector.until("all", |told| told.len() > bad.len()).await;
    assert!(told.iter().all(|span| (span.trace.as_str(), span.parent.as_str()) == (TRACE, SPAN)), "{told:?}");
    let states: Vec<&str> = told.iter().map(|span| span.state.as_str()).collect();
    assert_eq!(states, ["", "", "", "", "", "", "vendor=kept"]);
    house.close().await;
}
