//! The calls of the contract and their fields, read from its descriptor: a call or a field that is new and for which
//! there is no case makes a test fail.

use fulcrum::pb;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage, Value,
};

/// A call.
#[derive(Clone)]
pub struct Call {
    /// `SeatPlayer`.
    pub name: String,
    /// `/fulcrum.v1.TableService/SeatPlayer`.
    pub path: String,
    /// What it is asked with.
    pub input: MessageDescriptor,
}

impl Call {
    /// Whether it changes something.
    pub fn mutates(&self) -> bool {
        self.input.get_field_by_name("request_id").is_some()
    }

    /// Whether its request ids are remembered: turns are known by their numbers instead.
    pub fn remembered(&self) -> bool {
        self.mutates() && self.input.get_field_by_name("turn").is_none()
    }
}

/// All calls of the contract.
pub fn calls() -> Vec<Call> {
    let pool = DescriptorPool::decode(pb::DESCRIPTOR).expect("the contract");
    let ours: Vec<_> = pool.services().filter(|service| service.package_name() == "fulcrum.v1").collect();
    let methods = ours.iter().flat_map(|service| service.methods().collect::<Vec<_>>());
    let calls: Vec<Call> = methods
        .map(|method| Call {
            name: method.name().to_owned(),
            path: format!("/{}/{}", method.parent_service().full_name(), method.name()),
            input: method.input(),
        })
        .collect();
    assert!(calls.len() >= 22, "{}", calls.len());
    calls
}

/// The call of this name.
pub fn call(name: &str) -> Call {
    calls().into_iter().find(|call| call.name == name).expect("a call of the contract")
}

/// The paths of all fields that hold a value of their own: `config.stakes.big_blind`.
pub fn leaves(message: &MessageDescriptor) -> Vec<String> {
    let mut leaves = Vec::new();
    for field in message.fields() {
        match field.kind() {
            Kind::Message(inner) if !is_time(&inner) => {
                leaves
                    .extend(self::leaves(&inner).into_iter().map(|leaf| format!("{}.{leaf}", field.name())));
            }
            _ => leaves.push(field.name().to_owned()),
        }
    }
    leaves
}

fn is_time(message: &MessageDescriptor) -> bool {
    ["google.protobuf.Duration", "google.protobuf.Timestamp"].contains(&message.full_name())
}

/// What is put into a field.
#[derive(Clone, Copy, Debug)]
pub enum Put {
    /// Nothing: the field is not there.
    Gone,
    /// A text.
    Text(&'static str),
    /// So many letters.
    Long(usize),
    /// A number, or the number of an enum's value.
    Number(i128),
    /// A duration, or a point in time since the epoch: seconds and nanoseconds.
    Time(i64, i32),
    /// The first element of a list, so many times.
    Times(usize),
}

/// Puts a value into the field at this path; into the first element where a list is on the way.
pub fn put(message: &mut DynamicMessage, path: &str, what: Put) {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let field = message.descriptor().get_field_by_name(name).unwrap_or_else(|| panic!("no field {name}"));
    match rest {
        Some(rest) => match message.get_field_mut(&field) {
            Value::Message(inner) => put(inner, rest, what),
            Value::List(elements) => match elements.first_mut() {
                Some(Value::Message(inner)) => put(inner, rest, what),
                other => panic!("{name}: {other:?}"),
            },
            other => panic!("{name}: {other:?}"),
        },
        None => put_here(message, &field, what),
    }
}

fn put_here(message: &mut DynamicMessage, field: &FieldDescriptor, what: Put) {
    let value = match what {
        Put::Gone => return message.clear_field(field),
        Put::Times(times) => {
            let list = message.get_field_mut(field).as_list_mut().expect("a list");
            let first = list[0].clone();
            return *list = vec![first; times];
        }
        Put::Text(text) => self::text(&field.kind(), text.to_owned()),
        Put::Long(length) => self::text(&field.kind(), "x".repeat(length)),
        Put::Number(number) => self::number(&field.kind(), number),
        Put::Time(seconds, nanos) => time(field, seconds, nanos),
    };
    let value = if field.is_list() { Value::List(vec![value]) } else { value };
    message.set_field(field, value);
}

fn text(kind: &Kind, text: String) -> Value {
    match kind {
        Kind::Bytes => Value::Bytes(text.into_bytes().into()),
        _ => Value::String(text),
    }
}

fn number(kind: &Kind, number: i128) -> Value {
    match kind {
        Kind::Int32 => Value::I32(number as i32),
        Kind::Int64 => Value::I64(number as i64),
        Kind::Uint32 => Value::U32(number as u32),
        Kind::Uint64 => Value::U64(number as u64),
        Kind::Enum(_) => Value::EnumNumber(number as i32),
        Kind::Bool => Value::Bool(number != 0),
        other => panic!("a number for {other:?}"),
    }
}

fn time(field: &FieldDescriptor, seconds: i64, nanos: i32) -> Value {
    let Kind::Message(descriptor) = field.kind() else { panic!("a time for {field:?}") };
    let mut time = DynamicMessage::new(descriptor);
    time.set_field_by_name("seconds", Value::I64(seconds));
    time.set_field_by_name("nanos", Value::I32(nanos));
    Value::Message(time)
}
