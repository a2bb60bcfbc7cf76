//! The public contract keeps its promises: what every enum, every changing call and every amount look like.

use fulcrum::pb;
use prost_reflect::{
    DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor,
};

const PACKAGE: &str = "fulcrum.v1";

fn pool() -> DescriptorPool {
    DescriptorPool::decode(pb::DESCRIPTOR).expect("the descriptor set is whole")
}

fn messages() -> Vec<MessageDescriptor> {
    let pool = pool();
    let ours: Vec<_> = pool.all_messages().filter(|m| m.package_name() == PACKAGE).collect();
    assert!(ours.len() > 80, "only {} messages", ours.len());
    ours
}

fn fields() -> Vec<FieldDescriptor> {
    messages().iter().flat_map(|m| m.fields().collect::<Vec<_>>()).collect()
}

fn enums() -> Vec<EnumDescriptor> {
    let pool = pool();
    let ours: Vec<_> = pool.all_enums().filter(|e| e.package_name() == PACKAGE).collect();
    assert!(ours.len() > 20, "only {} enums", ours.len());
    ours
}

fn rpcs() -> Vec<MethodDescriptor> {
    let pool = pool();
    pool.services().flat_map(|s| s.methods().collect::<Vec<_>>()).collect()
}

/// Calls that read. Whoever adds an rpc that changes something need not do anything here: it is held to be one.
fn reads(rpc: &MethodDescriptor) -> bool {
    ["Get", "List", "Watch", "Stream"].iter().any(|verb| rpc.name().starts_with(verb))
}

/// Calls about a consumer's mark: done once or twice is the same, and no table changes.
fn marks(rpc: &MethodDescriptor) -> bool {
    ["AckSettlements", "DeleteConsumer"].contains(&rpc.name())
}

fn has(message: &MessageDescriptor, field: &str, kind: &Kind) -> bool {
    message.get_field_by_name(field).is_some_and(|f| f.kind() == *kind && !f.is_list())
}

#[test]
fn the_services_of_this_version_are_served_and_nothing_else() {
    let pool = pool();
    let packages: Vec<_> = pool.files().map(|f| f.package_name().to_owned()).collect();
    assert!(
        packages.iter().all(|p| p == PACKAGE || p == "google.protobuf"),
        "stored records are never described to anybody: {packages:?}"
    );
    let mut names: Vec<_> =
        rpcs().iter().map(|r| format!("{}/{}", r.parent_service().name(), r.name())).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "ActionService/Act",
            "ActionService/GetTurn",
            "ActionService/ShowCards",
            "ControlService/DisableScope",
            "ControlService/EnableScope",
            "ControlService/ListDisabled",
            "ControlService/ListStopAudit",
            "PivotService/SelectPivot",
            "ServerService/GetServerInfo",
            "SettlementService/AckSettlements",
            "SettlementService/ConfirmResolution",
            "SettlementService/DeleteConsumer",
            "SettlementService/GetSessionStatement",
            "SettlementService/GetSettlement",
            "SettlementService/GetTrialBalance",
            "SettlementService/ListConsumers",
            "SettlementService/ListSettlements",
            "SettlementService/ListTransactions",
            "SettlementService/ProposeResolution",
            "SettlementService/RetryTransaction",
            "SettlementService/StreamSettlements",
            "SettlementService/VoidHand",
            "TableService/AddChips",
            "TableService/CloseTable",
            "TableService/CreateTable",
            "TableService/GetTable",
            "TableService/ListTables",
            "TableService/PauseTable",
            "TableService/ResumeTable",
            "TableService/SeatPlayer",
            "TableService/SetPreferences",
            "TableService/SitIn",
            "TableService/SitOut",
            "TableService/StandUp",
            "TableService/UpdateTable",
            "TableService/WatchTable",
            "TableService/WatchTables",
        ]
    );
}

#[test]
fn reflection_can_serve_the_descriptor() {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(pb::DESCRIPTOR)
        .build_v1()
        .expect("the set holds all that it imports");
}

#[test]
fn the_zero_of_every_enum_is_unspecified() {
    for found in enums() {
        let zero = found.get_value(0).map(|v| v.name().to_owned()).unwrap_or_default();
        assert!(zero.ends_with("_UNSPECIFIED"), "{}: {zero:?}", found.full_name());
    }
}

#[test]
fn every_call_that_changes_something_has_a_request_id_and_says_the_version_it_made() {
    for rpc in rpcs() {
        let (input, output) = (rpc.input(), rpc.output());
        let changes = !reads(&rpc) && !marks(&rpc);
        assert_eq!(has(&input, "request_id", &Kind::String), changes, "{}", rpc.full_name());
        // A stop is made in the registry, which is no table.
        if changes && rpc.parent_service().name() != "ControlService" {
            assert!(has(&output, "sequence", &Kind::Uint64), "{}", rpc.full_name());
        }
    }
}

#[test]
fn calls_that_change_a_table_can_insist_on_its_version() {
    for rpc in rpcs() {
        let of_table = rpc.parent_service().name() == "TableService" && !reads(&rpc);
        let wanted = of_table && rpc.name() != "CreateTable";
        assert_eq!(has(&rpc.input(), "etag", &Kind::String), wanted, "{}", rpc.full_name());
        assert_eq!(has(&rpc.output(), "etag", &Kind::String), of_table, "{}", rpc.full_name());
    }
}

#[test]
fn money_that_crosses_the_edge_of_a_table_names_the_wallet_transaction() {
    for rpc in rpcs().iter().filter(|r| r.parent_service().name() == "TableService") {
        let moves = ["SeatPlayer", "AddChips", "StandUp"].contains(&rpc.name());
        assert_eq!(has(&rpc.input(), "transaction_id", &Kind::String), moves, "{}", rpc.full_name());
    }
}

#[test]
fn decisions_name_their_hand_and_turn() {
    for rpc in rpcs().iter().filter(|r| ["Act", "SelectPivot"].contains(&r.name())) {
        assert!(has(&rpc.input(), "hand_number", &Kind::Uint64), "{}", rpc.full_name());
        assert!(has(&rpc.input(), "turn", &Kind::Uint32), "{}", rpc.full_name());
    }
}

#[test]
fn lists_come_in_pages() {
    let lists: Vec<_> = rpcs().into_iter().filter(|r| r.name().starts_with("List")).collect();
    assert_eq!(lists.len(), 6);
    let balance = rpcs().into_iter().filter(|r| r.name() == "GetTrialBalance");
    for rpc in lists.into_iter().chain(balance) {
        assert!(has(&rpc.input(), "page_size", &Kind::Int32), "{}", rpc.full_name());
        assert!(has(&rpc.input(), "page_token", &Kind::String), "{}", rpc.full_name());
        assert!(has(&rpc.output(), "next_page_token", &Kind::String), "{}", rpc.full_name());
    }
}

/// The operator comes from the credentials; a field for it would be one that somebody believes. Only an administrator, who
/// is none, names one: in what he stops.
#[test]
fn no_field_names_the_operator() {
    let of_stops = |field: &FieldDescriptor| {
        field.parent_message().parent_file().name() == "fulcrum/v1/control_service.proto"
    };
    for field in fields().into_iter().filter(|field| !of_stops(field)) {
        let suspect = ["operator", "tenant"].iter().any(|word| field.name().contains(word));
        assert!(!suspect, "{}", field.full_name());
    }
}

#[test]
fn no_field_is_a_float() {
    for field in fields() {
        assert!(!matches!(field.kind(), Kind::Float | Kind::Double), "{}", field.full_name());
    }
}

#[test]
fn the_cards_are_numbered_as_in_the_rules() {
    let cards = pool().get_enum_by_name("fulcrum.v1.Card").expect("there is a Card");
    let numbers: Vec<_> = cards.values().map(|v| v.number()).collect();
    assert_eq!(numbers, (0..=52).collect::<Vec<_>>());

    let ranks = "TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN JACK QUEEN KING ACE";
    let suits = "CLUBS DIAMONDS HEARTS SPADES";
    for (rank, rank_name) in rules::Rank::ALL.into_iter().zip(ranks.split(' ')) {
        for (suit, suit_name) in rules::Suit::ALL.into_iter().zip(suits.split(' ')) {
            let number = i32::from(rules::Card::new(rank, suit).index()) + 1;
            let value = cards.get_value(number).expect("a card has a value");
            assert_eq!(value.name(), format!("CARD_{rank_name}_OF_{suit_name}"));
        }
    }
}

/// Rules 4.4 and 6.4: what only one player may know must not reach a log through `Debug`.
#[test]
fn private_cards_are_hidden_from_debug() {
    let card = pb::v1::Card::AceOfSpades.into();
    let seat = pb::v1::HandSeat {
        player_id: "alice".into(),
        cards: vec![card, card, card],
        pivot_index: Some(2),
        ..Default::default()
    };
    let hand = pb::v1::HandView { seats: vec![seat], ..Default::default() };
    let dealt = pb::v1::HoleCardsDealt { seat: 1, count: 3, cards: vec![card] };
    let picked = pb::v1::PivotPicked { card_index: Some(2), ..Default::default() };
    let request = pb::v1::SelectPivotRequest { card_index: Some(2), ..Default::default() };
    let response = pb::v1::SelectPivotResponse { card_index: 2, ..Default::default() };
    let text = format!("{hand:?} {dealt:?} {picked:?} {request:?} {response:?}");
    assert!(text.contains("alice"), "{text}");
    for leak in ["Ace", "52", "cards: [", "pivot_index", "card_index"] {
        assert!(!text.contains(leak), "{leak} in {text}");
    }
}

/// A message with private cards that is added later has to be made silent in `build.rs`, too.
#[test]
fn only_known_messages_hold_cards() {
    let card = |f: &FieldDescriptor| matches!(f.kind(), Kind::Enum(e) if e.full_name() == "fulcrum.v1.Card");
    let index = |f: &FieldDescriptor| ["card_index", "pivot_index"].contains(&f.name());
    let mut holders: Vec<_> = messages()
        .into_iter()
        .filter(|m| m.fields().any(|f| card(&f) || index(&f)))
        .map(|m| m.name().to_owned())
        .collect();
    holders.sort();
    let private = ["HandSeat", "HoleCardsDealt", "PivotPicked", "SelectPivotRequest", "SelectPivotResponse"];
    let public = ["HandShown", "HandView", "StreetDealt"];
    let mut known = [&private[..], &public[..]].concat();
    known.sort_unstable();
    assert_eq!(holders, known);
}
