//! Decodes messages by their descriptors and looks at each card in them. It knows hardly a message of the contract by
//! name, so that a new one with cards in it is looked at, too.

use fulcrum::pb;
use prost_reflect::{DescriptorPool, DynamicMessage, Kind, ReflectMessage, Value};

use super::book::Moment;
use super::faces;

/// Looks into messages.
pub struct Checker(DescriptorPool);

impl Checker {
    /// One that knows the contract.
    pub fn new() -> Checker {
        Checker(DescriptorPool::decode(pb::DESCRIPTOR).expect("the contract"))
    }

    /// Looks into a message of this name, without its package, and says how many cards were in it. A spectator's name
    /// is empty.
    ///
    /// # Errors
    /// What the viewer must not see at this moment.
    pub fn look(&self, name: &str, bytes: &[u8], viewer: &str, moment: &Moment) -> Result<usize, String> {
        let descriptor = self.0.get_message_by_name(&format!("fulcrum.v1.{name}")).expect("a message");
        let message = DynamicMessage::decode(descriptor, bytes).map_err(|error| error.to_string())?;
        let mut look = Look { viewer, moment, cards: 0, leaks: Vec::new() };
        look.message(&message, None);
        if look.leaks.is_empty() {
            return Ok(look.cards);
        }
        Err(format!("{name} to {viewer:?} in hand {}: {}", moment.hand, look.leaks.join("; ")))
    }
}

/// The viewer, the moment, and what was found.
struct Look<'a> {
    viewer: &'a str,
    moment: &'a Moment,
    cards: usize,
    leaks: Vec<String>,
}

impl Look<'_> {
    /// `seat` is that of the innermost message with one: whose cards these are.
    fn message(&mut self, message: &DynamicMessage, seat: Option<u32>) {
        let own = message.get_field_by_name("seat").and_then(|value| value.as_u32());
        let seat = own.or(seat);
        if message.unknown_fields().count() > 0 {
            self.leaks.push("fields that are not in the contract".into());
        }
        let shown = |seat| self.moment.shown.contains(&seat);
        if message.descriptor().name() == "ShownValue" && !seat.is_some_and(shown) {
            self.leaks.push(format!("the worth of the hidden hand of seat {seat:?}"));
        }
        for (field, value) in message.fields() {
            let pivot = ["pivot_index", "card_index"].contains(&field.name());
            if pivot && !seat.is_some_and(|seat| self.moment.may_see(self.viewer, seat)) {
                self.leaks.push(format!("the pivot of seat {seat:?}"));
            }
            self.value(&field.kind(), value, seat);
        }
    }

    fn value(&mut self, kind: &Kind, value: &Value, seat: Option<u32>) {
        match value {
            Value::Message(message) => self.message(message, seat),
            Value::List(values) => values.iter().for_each(|value| self.value(kind, value, seat)),
            Value::Map(values) => values.values().for_each(|value| self.value(kind, value, seat)),
            Value::EnumNumber(number) if is_card(kind) => self.card(*number, seat),
            Value::String(text) => self.text(text),
            _ => {}
        }
    }

    fn card(&mut self, number: i32, seat: Option<u32>) {
        if number == 0 {
            return;
        }
        self.cards += 1;
        let fine = match seat {
            None => self.moment.board.contains(&number),
            Some(seat) => {
                let his = self.moment.holes.get(&seat).is_some_and(|(_, cards)| cards.contains(&number));
                his && self.moment.may_see(self.viewer, seat)
            }
        };
        if !fine {
            self.leaks.push(format!("card {number} of seat {seat:?}"));
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(card) = faces::find(text) {
            self.leaks.push(format!("the text {text:?} names {card}"));
        }
    }
}

fn is_card(kind: &Kind) -> bool {
    matches!(kind, Kind::Enum(e) if e.full_name() == "fulcrum.v1.Card")
}
