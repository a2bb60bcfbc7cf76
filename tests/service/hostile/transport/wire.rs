//! Frames of HTTP/2, written by hand as nobody's library would.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RESET: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const WINDOW: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;

/// Who is not read from for so long is one who has stopped reading.
const STALLED: Duration = Duration::from_secs(2);

/// A frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a length").to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A frame of settings: numbers and values.
pub fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let bytes = |(number, value): &(u16, u32)| [&number.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(SETTINGS, 0, 0, &settings.iter().flat_map(bytes).collect::<Vec<u8>>())
}

/// After preface and settings.
pub fn greeted(rest: &[u8]) -> Vec<u8> {
    [PREFACE, &settings(&[]), rest].concat()
}

/// A text in a header block, without Huffman's code.
fn text(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match u8::try_from(text.len()) {
        Ok(length) if length < 127 => bytes.push(length),
        _ => {
            bytes.push(127);
            let mut rest = text.len() - 127;
            while rest >= 128 {
                bytes.push(u8::try_from(rest % 128).expect("seven bits") | 128);
                rest /= 128;
            }
            bytes.push(u8::try_from(rest).expect("seven bits"));
        }
    }
    bytes.extend(text);
    bytes
}

/// A header that the table of the connection does not keep.
pub fn header(name: &str, value: &str) -> Vec<u8> {
    [vec![0], text(name.as_bytes()), text(value.as_bytes())].concat()
}

/// A header that it does keep.
pub fn kept_header(name: &str, value: &str) -> Vec<u8> {
    [vec![0x40], text(name.as_bytes()), text(value.as_bytes())].concat()
}

/// The headers of a call.
pub fn call(path: &str, token: Option<&str>) -> Vec<u8> {
    let mut block = [
        header(":method", "POST"),
        header(":scheme", "http"),
        header(":path", path),
        header(":authority", "localhost"),
        header("content-type", "application/grpc"),
        header("te", "trailers"),
    ]
    .concat();
    if let Some(token) = token {
        block.extend(header("authorization", &format!("Bearer {token}")));
    }
    block
}

/// The headers of a call as the first and as any later one of a connection, which names them by their places in its table.
pub fn short_call(path: &str) -> (Vec<u8>, Vec<u8>) {
    let headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    let first = headers.iter().flat_map(|(name, value)| kept_header(name, value)).collect();
    // The last one that was kept has the place 62.
    (first, (62..62 + 6).rev().map(|place| 0x80 | place).collect())
}

/// A message of gRPC.
pub fn message(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("a length");
    [&[0], &length.to_be_bytes()[..], bytes].concat()
}

/// A whole unary call at this stream.
pub fn whole_call(stream: u32, block: &[u8], bytes: &[u8]) -> Vec<u8> {
    [frame(HEADERS, END_HEADERS, stream, block), frame(DATA, END_STREAM, stream, &message(bytes))].concat()
}

/// The streams that a client opens, in their order.
pub fn streams() -> impl Iterator<Item = u32> {
    (1_u32..).step_by(2)
}

/// A connection.
pub struct Wire(TcpStream);

impl Wire {
    /// One on which nothing was said.
    pub async fn bare(address: &str) -> Wire {
        Wire(TcpStream::connect(address).await.expect("a connection"))
    }

    /// One that has said that it speaks HTTP/2.
    pub async fn open(address: &str) -> Wire {
        let mut wire = Wire::bare(address).await;
        wire.send(&greeted(&[])).await;
        wire
    }

    /// Sends; false if the server has hung up or does not read any more.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        matches!(timeout(STALLED, self.0.write_all(bytes)).await, Ok(Ok(())))
    }

    /// Sends the same again and again, at most so often: how often it was taken.
    pub async fn flood(&mut self, bytes: &[u8], times: usize) -> usize {
        for time in 0..times {
            if !self.send(bytes).await {
                return time;
            }
        }
        times
    }

    /// Reads for so long, or until the server hangs up: the bytes, and whether it has.
    pub async fn read_for(&mut self, long: Duration) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        let read = timeout(long, async {
            let mut part = vec![0; 64 * 1024];
            loop {
                match self.0.read(&mut part).await {
                    Ok(0) | Err(_) => return,
                    Ok(read) => bytes.extend(&part[..read]),
                }
            }
        });
        let hung_up = read.await.is_ok();
        (bytes, hung_up)
    }
}
