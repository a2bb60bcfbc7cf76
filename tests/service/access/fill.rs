//! Requests made from the descriptors alone: each field is filled by its name and kind with what there is at a real table, so
//! that a new call is asked for something real without anybody's doing.

use prost::Message;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};

use super::super::harness::request_id;

/// What there is to ask for.
#[derive(Clone, Debug)]
pub struct Real {
    pub table: String,
    pub hand: u64,
    pub turn: u32,
    pub player: String,
    pub settlement: String,
    pub transaction: String,
    pub consumer: String,
    pub position: String,
    /// Whether the request is for the player's eyes.
    pub eyes: bool,
    /// Whether it is about the whole service rather than a table.
    pub whole: bool,
}

impl Real {
    /// A request of this kind about these things.
    pub fn request(&self, message: &MessageDescriptor) -> DynamicMessage {
        let mut filled = DynamicMessage::new(message.clone());
        for field in message.fields() {
            // Of a choice only one: a table where there is one, else what comes first.
            if let Some(choice) = field.containing_oneof()
                && choice.fields().count() > 1
                && !choice.fields().max_by_key(|field| self.rank(field)).is_some_and(|best| best == field)
            {
                continue;
            }
            if let Some(value) = self.value(&field) {
                filled.set_field(&field, if field.is_list() { Value::List(vec![value]) } else { value });
            }
        }
        filled
    }

    fn value(&self, field: &FieldDescriptor) -> Option<Value> {
        let text = |text: &str| Some(Value::String(text.to_owned()));
        match (field.name(), field.kind()) {
            ("viewer", _) if !self.eyes => None,
            ("request_id", _) => text(&request_id()),
            ("table_id", _) => text(&self.table),
            ("player_id", _) => text(&self.player),
            ("settlement_id", _) => text(&self.settlement),
            ("transaction_id", _) => text(&self.transaction),
            ("consumer", _) => text(&self.consumer),
            ("position", _) => text(&self.position),
            ("hand_number", Kind::Uint64) => Some(Value::U64(self.hand)),
            ("turn", Kind::Uint32) => Some(Value::U32(self.turn)),
            ("reason", Kind::String) => text("the matrix"),
            ("requester", Kind::String) => text("operator-1"),
            // Settings have to fit each other, and an amount its action.
            ("config", Kind::Message(of)) => {
                let bytes = super::super::harness::texas().encode_to_vec();
                DynamicMessage::decode(of, &bytes[..]).ok().map(Value::Message)
            }
            ("to", Kind::Int64) => None,
            // Which of a table's stops: the one that people make.
            ("scope", Kind::Enum(_)) => None,
            // Those of the caller, from the beginning, at any version: what is not given.
            (_, Kind::String | Kind::Bytes) => None,
            (_, Kind::Enum(of)) => Some(Value::EnumNumber(of.values().nth(1)?.number())),
            (_, Kind::Message(of)) if of.full_name().starts_with("google.") => None,
            (_, Kind::Message(of)) => Some(Value::Message(self.request(&of))),
            (_, Kind::Uint32) => Some(Value::U32(1)),
            (_, Kind::Int32) => Some(Value::I32(1)),
            (_, Kind::Uint64) if field.name() == "session" => Some(Value::U64(1)),
            (_, Kind::Int64) => Some(Value::I64(1_000)),
            _ => None,
        }
    }

    /// What a field of a choice is worth: one with a table most, then one with a player, and the first before the others.
    fn rank(&self, field: &FieldDescriptor) -> (bool, bool, i64) {
        let names = |name: &str| match field.kind() {
            Kind::Message(of) => of.fields().any(|inner| inner.name() == name),
            _ => field.name() == name,
        };
        let named = |name: &str| names(name) && !self.whole;
        (named("table_id"), named("player_id"), -i64::from(field.number()))
    }
}

/// Whether a request of this kind names something of an operator's: a table or a record.
pub fn names_something(message: &MessageDescriptor) -> bool {
    message.fields().any(|field| match field.kind() {
        Kind::Message(of) => names_something(&of),
        _ => ["table_id", "settlement_id"].contains(&field.name()),
    })
}

/// Whether it is about a player or for his eyes.
pub fn is_about_a_player(message: &MessageDescriptor) -> bool {
    message.fields().any(|field| ["player_id", "viewer"].contains(&field.name()))
}
