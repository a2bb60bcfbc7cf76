//! Calls of which every byte is the test's own.

use std::net::SocketAddr;
use std::time::Duration;

use prost::bytes::{Buf, BufMut, Bytes};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::{Channel, Endpoint};
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
    let mut line = Line::open(address, None).await;
    line.client.ready().await.expect("a ready connection");
    let path = http::uri::PathAndQuery::from_static(path);
    Ok(line.client.unary(Request::new(message), path, Verbatim).await?.into_inner())
}

/// A connection for calls of which every byte is the test's own.
#[derive(Clone)]
pub struct Line {
    client: tonic::client::Grpc<Channel>,
    token: Option<String>,
}

impl Line {
    /// A connection, with a token or none.
    pub async fn open(address: SocketAddr, token: Option<&str>) -> Line {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("a URI");
        let channel = endpoint.connect().await.expect("a connection");
        // Messages as large as a test likes: it is the server that has a limit.
        Line {
            client: tonic::client::Grpc::new(channel),
            token: token.map(|token| format!("Bearer {token}")),
        }
    }

    /// The answer to a unary call, if it is not refused.
    pub async fn answer(&mut self, path: &'static str, message: Vec<u8>) -> Result<Bytes, Status> {
        self.client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let path = http::uri::PathAndQuery::from_static(path);
        Ok(self.client.unary(self.request(message), path, Verbatim).await?.into_inner())
    }

    /// As [`Line::answer`], for a caller who does not wait longer than this.
    pub async fn answer_within(
        &mut self,
        path: &'static str,
        message: Vec<u8>,
        deadline: Duration,
    ) -> Result<Bytes, Status> {
        self.client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let mut request = self.request(message);
        request.set_timeout(deadline);
        let path = http::uri::PathAndQuery::from_static(path);
        Ok(self.client.unary(request, path, Verbatim).await?.into_inner())
    }

    /// The first message of what comes back, if the call is not refused.
    pub async fn first(&mut self, path: &str, message: Vec<u8>) -> Result<Bytes, Status> {
        self.client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        let path = path.parse().expect("a path");
        let mut stream =
            self.client.server_streaming(self.request(message), path, Verbatim).await?.into_inner();
        stream.message().await?.ok_or_else(|| Status::unknown("no message"))
    }

    fn request(&self, message: Vec<u8>) -> Request<Vec<u8>> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", token.parse().expect("a token of ASCII"));
        }
        request
    }
}
