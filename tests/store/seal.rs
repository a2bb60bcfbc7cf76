//! What is sealed opens at its place, with its key, and nowhere else.

use fulcrum::store::{Keyring, Place, Purpose, SealError, Sealed};
use uuid::Uuid;

use crate::fixtures::TEST_KEY;

const SECRET: &[u8] = &[5, 17, 40];

fn keys(text: &str) -> Keyring {
    Keyring::parse(text).unwrap()
}

fn place() -> Place<'static> {
    Place { operator: "casino-1", subject: Uuid::from_u128(1), hand: 7, seat: 3, purpose: Purpose::Holes }
}

fn sealed() -> Sealed {
    keys(TEST_KEY).seal(&place(), SECRET).unwrap()
}

#[test]
fn it_opens_at_its_place() {
    assert_eq!(keys(TEST_KEY).open(&place(), &sealed()).unwrap().as_slice(), SECRET);
}

#[test]
fn it_opens_at_no_other_place() {
    let moved = [
        ("operator", Place { operator: "casino-2", ..place() }),
        ("longer operator", Place { operator: "casino-11", ..place() }),
        ("table", Place { subject: Uuid::from_u128(2), ..place() }),
        ("hand", Place { hand: 8, ..place() }),
        ("seat", Place { seat: 4, ..place() }),
        ("purpose", Place { purpose: Purpose::Pick, ..place() }),
    ];
    for (what, place) in moved {
        let opened = keys(TEST_KEY).open(&place, &sealed());
        assert_eq!(opened.unwrap_err(), SealError::DoesNotOpen("test".to_owned()), "moved to another {what}");
    }
}

#[test]
fn changed_bytes_do_not_open() {
    let whole = sealed();
    for at in 0..whole.ciphertext.len() {
        let mut changed = whole.clone();
        changed.ciphertext[at] ^= 1;
        assert!(keys(TEST_KEY).open(&place(), &changed).is_err(), "byte {at} of the ciphertext");
    }
    for at in 0..whole.nonce.len() {
        let mut changed = whole.clone();
        changed.nonce[at] ^= 1;
        assert!(keys(TEST_KEY).open(&place(), &changed).is_err(), "byte {at} of the nonce");
    }
    for len in 0..whole.ciphertext.len() {
        let cut = Sealed { ciphertext: whole.ciphertext[..len].to_vec(), ..whole.clone() };
        assert!(keys(TEST_KEY).open(&place(), &cut).is_err(), "cut to {len} bytes");
    }
    for len in [0, 12, 23, 25] {
        let nonce = Sealed { nonce: vec![0; len], ..whole.clone() };
        assert!(keys(TEST_KEY).open(&place(), &nonce).is_err(), "a nonce of {len} bytes");
    }
}

#[test]
fn the_same_secret_is_never_sealed_to_the_same_bytes() {
    let (one, other) = (sealed(), sealed());
    assert_ne!(one.nonce, other.nonce);
    assert_ne!(one.ciphertext, other.ciphertext);
    assert!(!one.ciphertext.windows(SECRET.len()).any(|bytes| bytes == SECRET));
}

#[test]
fn an_older_key_still_opens_and_the_first_one_seals() {
    let new_key = "next ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";
    let both = keys(&format!("{new_key}\n{TEST_KEY}\n"));
    assert_eq!(both.open(&place(), &sealed()).unwrap().as_slice(), SECRET);
    let newly = both.seal(&place(), SECRET).unwrap();
    assert_eq!(newly.key_id, "next");
    assert_eq!(keys(TEST_KEY).open(&place(), &newly).unwrap_err(), SealError::UnknownKey("next".to_owned()));
}

#[test]
fn another_key_of_the_same_name_does_not_open() {
    let wrong = keys("test ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff");
    assert_eq!(wrong.open(&place(), &sealed()).unwrap_err(), SealError::DoesNotOpen("test".to_owned()));
}
