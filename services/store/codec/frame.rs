//! What is around every record: its bytes, then the first eight of their SHA-256.
//!
//! A message of protocol buffers that lost its end, or a few bits, often still reads as one, with zeros where chips were.
//! The check finds that before anything is read. It stays the same in all formats, so that the format of a later record
//! can be told from damage.

use prost::Message;
use sha2::{Digest, Sha256};

use super::CodecError;
use super::format::Formats;
use crate::pb::store_v1 as wire;

const CHECK_LEN: usize = 8;

/// The record as it is stored.
pub(super) fn close(record: &impl Message) -> Vec<u8> {
    let mut bytes = record.encode_to_vec();
    let check = check(&bytes);
    bytes.extend_from_slice(&check);
    bytes
}

/// The record that was stored, if it is whole and of a format that is known.
pub(super) fn open<M: Message + Default>(bytes: &[u8], formats: &Formats) -> Result<M, CodecError> {
    let (record, found) = bytes.split_last_chunk::<CHECK_LEN>().ok_or(CodecError::Damaged)?;
    if check(record) != *found {
        return Err(CodecError::Damaged);
    }
    formats.check_known(wire::AnyRecord::decode(record)?.format)?;
    Ok(M::decode(record)?)
}

/// The format of a record, also of one that is not known.
pub(super) fn format(bytes: &[u8]) -> Result<u32, CodecError> {
    let (record, _) = bytes.split_last_chunk::<CHECK_LEN>().ok_or(CodecError::Damaged)?;
    Ok(wire::AnyRecord::decode(record)?.format)
}

fn check(record: &[u8]) -> [u8; CHECK_LEN] {
    let mut check = [0; CHECK_LEN];
    for (byte, hashed) in check.iter_mut().zip(Sha256::digest(record)) {
        *byte = hashed;
    }
    check
}
