//! What was begun with a token ends with it.

use std::time::Duration;

use fulcrum::grpc::ServeConfig;
use fulcrum::pb::v1;
use fulcrum::pb::v1::stream_settlements_response::Content as Told;
use fulcrum::pb::v1::table_message::Content;
use jsonwebtoken::get_current_timestamp;
use serde_json::{Value, json};

use super::super::harness::{House, Setup, in_time, texas};
use super::issuer::{claims, keys, player, published, takes, with};

/// A house that does not put up with clocks that differ.
async fn house() -> (House, tempfile::NamedTempFile) {
    let (file, source) = published(&[&keys().0]);
    let mut config: ServeConfig = takes(source);
    config.jwt.as_mut().expect("tokens of an issuer").skew = Duration::ZERO;
    (House::with(Setup { config, ..Setup::default() }).await, file)
}

#[tokio::test]
async fn streams_end_with_the_token_that_began_them() {
    let (house, _file) = house().await;
    let mut backend = house.caller_with(&keys().0.sign(&claims("alpha", "operator"))).await;
    let table = backend.table_of(texas(), &["ann"]).await;

    let end = get_current_timestamp() + 5;
    let short = |claims: Value| keys().0.sign(&with(claims, "exp", json!(end)));
    let mut ann = house.caller_with(&short(player("alpha", "ann"))).await;
    let mut eyes = ann.watch(&table, "ann").await;
    let mut brief = house.caller_with(&short(claims("alpha", "operator"))).await;
    let mut post = brief.stream("books").await;

    // Heartbeats come for ever, so that the whole is waited for, and not each message.
    let sent_away = async {
        loop {
            let message = eyes.next().await.expect("a message before the end");
            if let Some(Content::GoAway(away)) = &message.content {
                assert_eq!(away.reason(), v1::GoAwayReason::TokenEnded);
                return message;
            }
        }
    };
    let away = in_time(sent_away).await;
    assert!(get_current_timestamp() >= end, "not before its time");
    assert_eq!(eyes.next().await, None);
    let no_post = async {
        loop {
            match post.next().await.expect("no error") {
                Some(Told::GoAway(away)) => return away.reason(),
                Some(_) => {}
                None => panic!("no word of the end"),
            }
        }
    };
    assert_eq!(in_time(no_post).await, v1::GoAwayReason::TokenEnded);
    // With a new one he goes on where he was.
    let changed = backend.prefer(&table, "ann").await;
    let mut ann = house.caller_with(&keys().0.sign(&player("alpha", "ann"))).await;
    let mut eyes = ann.watch_with(&table, "ann", away.resume_token).await.expect("a stream");
    assert_eq!(eyes.next().await.expect("what he missed").sequence, changed);
    house.close().await;
}
