//! The count of a table's log: each commit is that of one pair or of the clock, has the one effect of its call, and the
//! books balance.

use std::collections::{BTreeMap, HashSet};
use std::mem::discriminant;

use fulcrum::pb::v1;
use fulcrum::pb::v1::settlement_service_client::SettlementServiceClient;
use fulcrum::pb::v1::table_event::Event;
use fulcrum::pb::v1::table_message::Content;
use tonic::transport::Endpoint;

use crate::spectator::connect;

/// What a table's events add up to.
#[derive(Default)]
struct Books {
    brought: i64,
    paid: i64,
    raked: i64,
    /// Records that there have to be, by kind.
    records: BTreeMap<i32, usize>,
}

impl Books {
    fn event(&mut self, event: &Event) {
        use v1::SettlementKind as Kind;
        let mut record = |kind: Kind| *self.records.entry(kind.into()).or_default() += 1;
        match event {
            Event::PlayerSeated(seated) => {
                record(Kind::BuyIn);
                self.brought += seated.buy_in;
            }
            Event::ChipsAdded(added) => {
                record(Kind::AddChips);
                self.brought += added.added;
            }
            Event::PlayerStoodUp(left) => {
                record(Kind::CashOut);
                self.paid += left.paid;
            }
            Event::HandSettled(settled) => {
                record(Kind::Hand);
                self.raked += settled.hand.as_ref().map_or(0, |hand| hand.rake);
            }
            Event::HandVoided(_) => record(Kind::Void),
            _ => {}
        }
    }
}

/// Whether an event is the effect of this call.
fn is_effect(path: &str, event: &Event) -> bool {
    match path.rsplit('/').next().unwrap_or_default() {
        "CreateTable" => matches!(event, Event::TableOpened(_)),
        "UpdateTable" => matches!(event, Event::ConfigChanged(_)),
        "PauseTable" => matches!(event, Event::TableStopped(_)),
        "ResumeTable" => matches!(event, Event::TableResumed(_)),
        "CloseTable" => matches!(event, Event::TableClosed(_) | Event::TableClosing(_)),
        "SeatPlayer" => matches!(event, Event::PlayerSeated(_)),
        "StandUp" => matches!(event, Event::PlayerLeaving(_)),
        "SitOut" => match event {
            Event::SitOutRequested(wish) => wish.from() != v1::SitOutFrom::Unspecified,
            event => matches!(event, Event::PlayerSatOut(_)),
        },
        "SitIn" => match event {
            Event::SitOutRequested(wish) => wish.from() == v1::SitOutFrom::Unspecified,
            event => matches!(event, Event::PlayerSatIn(_)),
        },
        "AddChips" => matches!(event, Event::ChipsAdded(_) | Event::ChipsRequested(_)),
        "SetPreferences" => matches!(event, Event::PreferencesSet(_)),
        "ShowCards" => matches!(event, Event::HandShown(_)),
        "VoidHand" => matches!(event, Event::HandVoided(_)),
        "Act" => matches!(event, Event::PlayerActed(acted) if acted.by() == v1::ActedBy::Player),
        "SelectPivot" => matches!(event, Event::PivotPicked(picked) if picked.by() == v1::ActedBy::Player),
        other => panic!("no effect is known of {other}"),
    }
}

/// Whether an event can only be the effect of a call of its own.
fn is_called_for(event: &Event) -> bool {
    match event {
        Event::PlayerActed(acted) => acted.by() == v1::ActedBy::Player,
        Event::PivotPicked(picked) => picked.by() == v1::ActedBy::Player,
        event => matches!(
            event,
            Event::TableOpened(_)
                | Event::ConfigChanged(_)
                | Event::TableStopped(_)
                | Event::TableResumed(_)
                | Event::PlayerSeated(_)
                | Event::PlayerLeaving(_)
                | Event::SitOutRequested(_)
                | Event::PlayerSatIn(_)
                | Event::PreferencesSet(_)
                | Event::ChipsRequested(_)
                | Event::HandVoided(_)
        ),
    }
}

/// Reads the log of a closed table from its first commit to its last, and says how many hands it had.
pub async fn check(address: &str, table_id: &str, commits: &BTreeMap<u64, &'static str>) -> usize {
    let request = v1::WatchTableRequest {
        table_id: table_id.to_owned(),
        after_sequence: Some(0),
        ..Default::default()
    };
    let mut stream = connect(address).watch_table(request).await.expect("a stream").into_inner();
    let (mut books, mut sequence, mut hands) = (Books::default(), 0, 0);
    while let Some(message) = stream.message().await.expect("the log") {
        let message = message.message.expect("a message");
        let Some(Content::Update(update)) = message.content else {
            continue;
        };
        sequence += 1;
        assert_eq!(message.sequence, sequence, "no commit is missing");
        let events: Vec<Event> = update.events.into_iter().filter_map(|event| event.event).collect();
        events.iter().for_each(|event| books.event(event));
        hands += events.iter().filter(|event| matches!(event, Event::HandStarted(_))).count();
        let called_for = events.iter().filter(|event| is_called_for(event)).count();
        match commits.get(&sequence) {
            Some(path) => {
                // A wish that is granted at once is told as both, each once.
                let effects = events.iter().filter(|event| is_effect(path, event)).map(discriminant);
                let effects: Vec<_> = effects.collect();
                let once = effects.iter().collect::<HashSet<_>>().len() == effects.len();
                assert!(!effects.is_empty() && once && called_for <= 1, "{path} at {sequence}: {events:?}");
            }
            None => {
                let clock = matches!(events.first(), Some(Event::HandStarted(_) | Event::ClocksShifted(_)));
                assert!(clock && called_for == 0, "nobody has asked for {sequence}: {events:?}");
            }
        }
    }
    assert_eq!(
        commits.last_key_value().map(|(last, _)| *last),
        Some(sequence),
        "nothing acknowledged is missing"
    );
    assert_eq!(books.brought, books.paid + books.raked, "the chips");
    assert_eq!(records(address, table_id).await, books.records, "one record for each movement");
    hands
}

/// How many settlement records of each kind the table has.
async fn records(address: &str, table_id: &str) -> BTreeMap<i32, usize> {
    let channel = Endpoint::from_shared(format!("http://{address}")).expect("an address").connect_lazy();
    let mut client = SettlementServiceClient::new(channel);
    let mut request =
        v1::ListSettlementsRequest { table_id: table_id.to_owned(), page_size: 500, ..Default::default() };
    let mut kinds = BTreeMap::new();
    loop {
        let page = client.list_settlements(request.clone()).await.expect("records").into_inner();
        for record in page.settlements {
            *kinds.entry(record.kind).or_default() += 1;
        }
        if page.next_page_token.is_empty() {
            return kinds;
        }
        request.page_token = page.next_page_token;
    }
}
