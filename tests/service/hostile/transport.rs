//! What can be done to a server below the calls: slow callers, floods of streams and frames, headers and messages that are
//! bombs, answers that nobody reads. Each against a process of its own, of which an operator notices nothing who plays there;
//! the bounds of its memory are two to three times what was measured with a debug build: 107 MB for 16,000 open streams, 77 MB
//! for 8,000 answers and streams that nobody reads, 62 MB for 2,000 connections, 18 MB for 600 slow callers, 4 MB at the most
//! for each of the others.

mod frames;
mod headers;
mod siege;
mod streams;
pub mod wire;

const MIB: u64 = 1 << 20;
