//! The address at which Prometheus reads the metrics, and at which the log's levels are changed: HTTP/1.1, `/metrics` and
//! `/log`, and nothing else. Metrics are told as OpenMetrics, with exemplars; who accepts only plain text gets the older
//! format.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::header::ACCEPT;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus_client::encoding::prometheus_text;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::log;
use super::metrics::Metrics;

/// Connections at once; more are closed.
const CONNECTIONS: usize = 16;
/// The longest that a request may take to come.
const HEADERS: Duration = Duration::from_secs(5);
/// The longest that a connection may last: some scrapes; then a new one.
const LONGEST: Duration = Duration::from_secs(300);
/// The pause after a connection that could not be accepted: the process may have as many files open as it may.
const REST: Duration = Duration::from_millis(100);
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves the metrics until `stop` becomes true or its sender goes.
pub async fn serve(listener: TcpListener, metrics: Arc<Metrics>, mut stop: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let work = async {
        loop {
            let Ok((socket, _)) = listener.accept().await else {
                sleep(REST).await;
                continue;
            };
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                continue;
            };
            let metrics = Arc::clone(&metrics);
            tokio::spawn(async move {
                let _place = place;
                meet(socket, metrics).await;
            });
        }
    };
    tokio::select! {
        // An error says that the sender is gone.
        _ = stop.wait_for(|stop| *stop) => {}
        () = work => {}
    }
}

async fn meet(socket: TcpStream, metrics: Arc<Metrics>) {
    let from = socket.peer_addr().ok();
    let answer = move |request: Request<Incoming>| {
        let metrics = Arc::clone(&metrics);
        async move {
            Ok::<_, Infallible>(match (request.uri().path(), from) {
                ("/log", Some(from)) => log::admin::respond(request, from.ip(), log::levels()).await,
                _ => respond(&request, &metrics),
            })
        }
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(16 * 1024)
        .serve_connection(TokioIo::new(socket), service_fn(answer));
    // Whoever breaks off a scrape comes again.
    let _ = timeout(LONGEST, connection).await;
}

fn respond(request: &Request<Incoming>, metrics: &Metrics) -> Response<String> {
    let plain = wants_plain_text(request.headers());
    let text = match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") => {
            let text = if plain { metrics.plain_text() } else { metrics.text() };
            text.ok_or(StatusCode::INTERNAL_SERVER_ERROR)
        }
        (_, "/metrics") => Err(StatusCode::METHOD_NOT_ALLOWED),
        _ => Err(StatusCode::NOT_FOUND),
    };
    let (status, text) = match text {
        Ok(text) => (StatusCode::OK, text),
        Err(status) => (status, String::new()),
    };
    let mut response = Response::new(text);
    *response.status_mut() = status;
    let format = if plain { prometheus_text::CONTENT_TYPE } else { OPEN_METRICS };
    response.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static(format));
    response
}

/// Whether the caller accepts plain text by name, and not OpenMetrics.
fn wants_plain_text(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|accepted| accepted.to_str().ok());
    let mut kinds = accepted.flat_map(|accepted| accepted.split(',')).map(|kind| {
        let (kind, _) = kind.split_once(';').unwrap_or((kind, ""));
        kind.trim().to_ascii_lowercase()
    });
    let mut plain = false;
    kinds.all(|kind| {
        plain |= kind == "text/plain" || kind == "text/*";
        kind != "application/openmetrics-text"
    }) && plain
}
