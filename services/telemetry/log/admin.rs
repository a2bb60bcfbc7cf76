//! The log's levels over HTTP, at the address of the metrics: `GET /log` says what is written, `PUT /log` with a filter as
//! `--log` takes it changes that until the next change or the end of the process.
//!
//! Everybody who reads the metrics may look; only this machine may change something, as a log at its finest level fills
//! disks.

use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::Pin;

use http::{Method, Request, Response, StatusCode};
use http_body::Body;

use super::Levels;

/// The longest filter, in bytes.
const LONGEST: usize = 4096;

/// The answer to a request for `/log` from this address.
pub async fn respond<B>(request: Request<B>, from: IpAddr, levels: Option<&Levels>) -> Response<String>
where
    B: Body + Unpin,
{
    let (status, text) = match answer(request, from, levels).await {
        Ok(filter) => (StatusCode::OK, filter),
        Err((status, why)) => (status, why),
    };
    let mut response = Response::new(format!("{text}\n"));
    *response.status_mut() = status;
    let plain = http::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, plain);
    response
}

async fn answer<B>(
    request: Request<B>,
    from: IpAddr,
    levels: Option<&Levels>,
) -> Result<String, (StatusCode, String)>
where
    B: Body + Unpin,
{
    let no = |status, why: &str| Err((status, why.to_owned()));
    let Some(levels) = levels else {
        return no(StatusCode::NOT_FOUND, "the log of this process is not this program's");
    };
    match *request.method() {
        Method::GET => {}
        // An address of IPv4 may come in the clothes of IPv6.
        Method::PUT if !from.to_canonical().is_loopback() => {
            return no(StatusCode::FORBIDDEN, "only this machine may change the log");
        }
        Method::PUT => {
            let filter = read(request.into_body()).await?;
            let before = levels.now().unwrap_or_default();
            if let Err(why) = levels.change(&filter) {
                return Err((StatusCode::BAD_REQUEST, format!("the filter cannot be read: {why}")));
            }
            tracing::warn!(event = "log_changed", before, now = filter, "the log was changed");
        }
        _ => return no(StatusCode::METHOD_NOT_ALLOWED, "GET or PUT"),
    }
    levels.now().ok_or((StatusCode::INTERNAL_SERVER_ERROR, "what is logged cannot be told".to_owned()))
}

async fn read<B: Body + Unpin>(mut body: B) -> Result<String, (StatusCode, String)> {
    use prost::bytes::Buf;
    let bad = |why: &str| (StatusCode::BAD_REQUEST, why.to_owned());
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| bad("the filter did not come whole"))?;
        if let Ok(mut data) = frame.into_data() {
            if data.remaining() > LONGEST - bytes.len() {
                let why = format!("a filter has {LONGEST} bytes at the most");
                return Err((StatusCode::PAYLOAD_TOO_LARGE, why));
            }
            while data.has_remaining() {
                let chunk = data.chunk();
                let length = chunk.len();
                bytes.extend_from_slice(chunk);
                data.advance(length);
            }
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("the filter is no text"))?;
    match text.trim() {
        // It would be read as one that lets errors through and nothing else.
        "" => Err(bad("the filter is empty; `off` writes nothing")),
        filter => Ok(filter.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::log::{LogFormat, lines};

    #[tokio::test]
    async fn the_log_is_changed_from_this_machine_only() {
        use tracing_subscriber::layer::SubscriberExt;
        let (layer, levels) = lines(LogFormat::Text, "warn", std::io::sink).unwrap();
        let _log = tracing_subscriber::registry().with(layer);
        let mut now = "warn".to_owned();
        for (from, allowed) in [
            ("10.1.2.3", false),
            ("127.0.0.1", true),
            ("192.168.0.1", false),
            ("::1", true),
            ("fe80::1", false),
            ("::ffff:127.0.0.9", true),
            ("::ffff:10.1.2.3", false),
            ("0.0.0.0", false),
        ] {
            let filter = if now == "warn" { "error" } else { "warn" };
            let ask = async |method: Method, body: &str| {
                let request = Request::builder().method(method).body(body.to_owned()).unwrap();
                let answer = respond(request, from.parse().unwrap(), Some(&levels)).await;
                (answer.status().as_u16(), answer.into_body().trim_end().to_owned())
            };
            let (status, told) = ask(Method::PUT, filter).await;
            if allowed {
                now = filter.to_owned();
                assert_eq!((status, told.as_str()), (200, filter), "{from}");
            } else {
                assert_eq!((status, told.as_str()), (403, "only this machine may change the log"), "{from}");
            }
            // Everybody may look, and sees that it is so.
            assert_eq!(ask(Method::GET, "").await, (200, now.clone()), "{from}");
        }
    }
}
