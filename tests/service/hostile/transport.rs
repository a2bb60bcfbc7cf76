//! What can be done to a server below the calls: slow callers, floods of streams and frames, headers and messages that are
//! bombs, answers that nobody reads. Each against a process of its own, of which an operator notices nothing who plays there;
//! the bounds of its memory are two to three times what was measured with a debug build: 118 MB for 240,000
//! streams on 30 connections (more than a gigabyte where they are read as fast as they come), 94 MB for messages without their
//! last byte (310 MB), 44 MB for 16,000 open streams, 37 MB for 8,000 answers and streams that nobody reads, 72 MB for 2,000
//! connections, 22 MB for 600 slow callers, 6 MB at the most for each of the others.

mod frames;
mod headers;
mod siege;
mod streams;
pub mod wire;

const MIB: u64 = 1 << 20;
