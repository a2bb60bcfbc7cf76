//! Names: of operators, of their tables, and of requests.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

/// The root of all ids that this service derives; a constant, so that every replica and every retry derives the same.
pub(crate) const NAMESPACE: Uuid = Uuid::from_u128(0x6f1d_2c0e_91a4_4b7a_8e35_d0c4_5b7e_9a13);

/// An operator: 1 to 64 small letters, digits, `_` or `-`. It comes from a caller's credentials, never from a message.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorId(Arc<str>);

impl OperatorId {
    /// The operator of that name, or nothing if it is empty, too long or has other characters.
    #[must_use]
    pub fn new(name: &str) -> Option<OperatorId> {
        let legal = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_' || c == b'-';
        let fits = (1..=64).contains(&name.len()) && name.bytes().all(legal);
        fits.then(|| OperatorId(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for OperatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for OperatorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A request that changes something, named by its caller so that it can be repeated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub Uuid);

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub Uuid);

impl TableId {
    /// The table that this request of this operator opens: the same one however often the request is repeated.
    #[must_use]
    pub fn derived(operator: &OperatorId, request: &RequestId) -> TableId {
        // No operator has a slash in its name, so that two pairs never make one text.
        let name = format!("{operator}/{request}");
        TableId(Uuid::new_v5(&NAMESPACE, name.as_bytes()))
    }
}

impl fmt::Debug for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A table as the stores know it: nobody reaches a table without naming its operator.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TableKey {
    /// Whose table it is.
    pub operator: OperatorId,
    /// Which.
    pub table: TableId,
}

impl fmt::Display for TableKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.operator, self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_small_letters_digits_and_two_signs() {
        for good in ["a", "casino-7", "x_y", &"z".repeat(64)] {
            assert_eq!(OperatorId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "A", "a/b", "a b", "a{b}", "ä", &"z".repeat(65)] {
            assert!(OperatorId::new(bad).is_none(), "{bad:?}");
        }
    }

    #[test]
    fn a_repeated_request_names_the_same_table_and_no_other_operators() {
        let (a, b) = (OperatorId::new("a").unwrap(), OperatorId::new("b").unwrap());
        let (r, s) = (RequestId(Uuid::from_u128(1)), RequestId(Uuid::from_u128(2)));
        assert_eq!(TableId::derived(&a, &r), TableId::derived(&a, &r));
        assert_ne!(TableId::derived(&a, &r), TableId::derived(&b, &r));
        assert_ne!(TableId::derived(&a, &r), TableId::derived(&a, &s));
        // Fixed for ever: a table that was opened by an older version is found by a newer one.
        assert_eq!(TableId::derived(&a, &r).to_string(), "c9ac7a16-aec7-52fe-a002-cebb70a59d65");
    }
}
