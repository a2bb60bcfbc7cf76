//! Pages of lists (AIP-158). A token says where the next page begins and to which list it belongs; to its reader it
//! is opaque.

use sha2::{Digest, Sha256};
use tables::OperatorId;
use tonic::Status;

use super::Fields;
use crate::grpc::status;

const USUAL: usize = 50;
pub(in crate::grpc) const MOST: usize = 500;
/// The first byte of a token; another one when tokens change.
const FORMAT: u8 = 1;
/// How much of the list's hash a token carries. It finds mistakes; a token guards nothing, as every page is read in
/// the caller's own scope.
const MARK: usize = 8;
/// The longest place: a name and a little more.
const LONGEST: usize = 80;

/// Which list a page is of: whose, by which call, with which filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListMark([u8; MARK]);

impl ListMark {
    /// The mark of a list. `filter` is the encoded request without page fields.
    #[must_use]
    pub fn new(operator: &OperatorId, method: &str, filter: &[u8]) -> ListMark {
        let mut hash = Sha256::new();
        for part in [operator.as_str().as_bytes(), method.as_bytes(), filter] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let hash: [u8; 32] = hash.finalize().into();
        let mut mark = [0; MARK];
        mark.copy_from_slice(&hash[..MARK]);
        ListMark(mark)
    }

    /// The token of the page after this place.
    #[must_use]
    pub fn token(self, place: &[u8]) -> String {
        let bytes = [FORMAT].into_iter().chain(self.0).chain(place.iter().copied());
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }

    /// The place after which the page begins; `None` for the first page.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the token is none of this list.
    pub fn place<const N: usize>(self, token: &str) -> Result<Option<[u8; N]>, Status> {
        self.place_by(token, |bytes| bytes.try_into().ok())
    }

    /// As [`ListMark::place`], of whatever form `read` reads.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the token is none of this list.
    pub fn place_by<P>(
        self,
        token: &str,
        read: impl FnOnce(&[u8]) -> Option<P>,
    ) -> Result<Option<P>, Status> {
        if token.is_empty() {
            return Ok(None);
        }
        let place = self.read(token).and_then(|bytes| read(&bytes));
        place.map(Some).ok_or_else(status::page_token_invalid)
    }

    /// What a token holds, if it is one of this list.
    pub fn read(self, token: &str) -> Option<Vec<u8>> {
        let bytes = bytes(token)?;
        Some(bytes.strip_prefix(&[FORMAT])?.strip_prefix(&self.0)?.to_vec())
    }
}

fn bytes(token: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).filter(|_| !c.is_ascii_uppercase());
    let byte = |pair: &[u8]| match *pair {
        [high, low] => u8::try_from(digit(high)? * 16 + digit(low)?).ok(),
        _ => None,
    };
    // No token is longer: a caller's megabytes are not turned into bytes first.
    if token.len() > 2 * (1 + MARK + LONGEST) {
        return None;
    }
    token.as_bytes().chunks(2).map(byte).collect()
}

/// How many entries a page has at most.
pub fn size(f: &mut Fields, asked: i32) -> Option<usize> {
    match usize::try_from(asked) {
        Ok(0) => Some(USUAL),
        Ok(size) => Some(size.min(MOST)),
        Err(_) => {
            f.fault("page_size", format!("0 for {USUAL}, or 1 to {MOST}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(operator: &str, filter: &[u8]) -> ListMark {
        ListMark::new(&OperatorId::new(operator).unwrap(), "ListTables", filter)
    }

    #[test]
    fn a_token_leads_back_to_its_place() {
        let mark = mark("a", b"filter");
        let token = mark.token(&[7, 255, 0, 16]);
        assert_eq!(mark.place(&token).unwrap(), Some([7, 255, 0, 16]));
        assert_eq!(mark.place::<4>("").unwrap(), None);
    }

    #[test]
    fn a_token_of_another_list_is_refused() {
        let mine = mark("a", b"filter");
        for other in [mark("b", b"filter"), mark("a", b"other"), mark("a", b"")] {
            assert!(mine.place::<4>(&other.token(&[1, 2, 3, 4])).is_err());
        }
        let good = mine.token(&[1, 2, 3, 4]);
        for bad in
            [&good[1..], &good[2..], &format!("{good}00"), &good.to_uppercase(), "zz", "ä", &"0".repeat(5000)]
        {
            assert!(mine.place::<4>(bad).is_err(), "{bad}");
        }
    }
}
