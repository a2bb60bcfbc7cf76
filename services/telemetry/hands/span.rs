//! A span before it has its ids: what happened from when to when, and what is below it.

use rules::Millis;
use tables::Origin;

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A word.
    Text(String),
    /// A number: an amount in minor units, a count, a length in ms.
    Number(u64),
    /// Whether it is so.
    Flag(bool),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

/// Attributes by their names.
pub type Attributes = Vec<(&'static str, Value)>;

/// Something that happened at one moment of a span.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// What.
    pub name: &'static str,
    /// When, ms since the epoch.
    pub at: Millis,
    /// What is told of it.
    pub attributes: Attributes,
}

/// A span.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// What its id is made from; no two spans of a hand have the same.
    pub key: String,
    /// Its name.
    pub name: &'static str,
    /// When it began, ms since the epoch.
    pub start: Millis,
    /// When it ended.
    pub end: Millis,
    /// What is told of it.
    pub attributes: Attributes,
    /// What happened meanwhile.
    pub marks: Vec<Mark>,
    /// The span of the call that ended it.
    pub link: Option<Origin>,
    /// What went wrong, if something did.
    pub fault: Option<&'static str>,
    /// What is below it, in the order in which it began.
    pub children: Vec<Span>,
}

impl Span {
    /// One that begins and ends at this moment.
    #[must_use]
    pub fn new(key: impl Into<String>, name: &'static str, at: Millis) -> Span {
        Span {
            key: key.into(),
            name,
            start: at,
            end: at,
            attributes: Vec::new(),
            marks: Vec::new(),
            link: None,
            fault: None,
            children: Vec::new(),
        }
    }

    /// Says something of it.
    pub fn put(&mut self, name: &'static str, value: impl Into<Value>) {
        self.attributes.push((name, value.into()));
    }

    /// What is said of it under this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.attributes.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    /// The text under this name.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            Value::Number(_) | Value::Flag(_) => None,
        }
    }

    /// The number under this name.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Value::Number(number) => Some(*number),
            Value::Text(_) | Value::Flag(_) => None,
        }
    }

    /// How many spans it is, with all below it.
    #[must_use]
    pub fn count(&self) -> usize {
        1 + self.children.iter().map(Span::count).sum::<usize>()
    }
}
