//! Calls of which every byte is the test's own.

use std::net::SocketAddr;

use prost::bytes::{Buf, BufMut, Bytes};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Endpoint;
use tonic::{Request, Status};

/// Messages as they are.
#[derive(Clone, Copy, Default)]
struct Verbatim;

impl Codec for Verbatim {
    type Encode = Vec<u8>;
    type Decode = Bytes;
    type Encoder = Verbatim;
    type Decoder = Verbatim;

    fn encoder(&mut self) -> Verbatim {
        Verbatim
    }

    fn decoder(&mut self) -> Verbatim {
        Verbatim
    }
}

impl Encoder for Verbatim {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Verbatim {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

/// Sends these bytes as the message of a unary call, and gives the answer's bytes.
pub async fn call(address: SocketAddr, path: &'static str, message: Vec<u8>) -> Result<Bytes, Status> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("a URI");
    let channel = endpoint.connect().await.expect("a connection");
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.expect("a ready connection");
    let path = http::uri::PathAndQuery::from_static(path);
    Ok(client.unary(Request::new(message), path, Verbatim).await?.into_inner())
}
