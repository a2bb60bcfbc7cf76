//! A collector of traces: takes spans over OTLP as a real one does, on a thread of its own, and tells the test what it was
//! told. It can refuse, dawdle, and go away.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1 as wire;
use prost::Message;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tonic::{Request, Response, Status};

use super::PATIENCE;

/// Attributes by their names, values as text.
pub type Attributes = BTreeMap<String, String>;

/// A span as it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The trace, in hexadecimal digits.
    pub trace: String,
    /// The span, in hexadecimal digits.
    pub id: String,
    /// The span above it, in hexadecimal digits; empty for a root.
    pub parent: String,
    /// Its name.
    pub name: String,
    /// `internal`, `server`, `client`, …
    pub kind: String,
    /// Nanoseconds since the epoch.
    pub start: u64,
    /// Nanoseconds since the epoch.
    pub end: u64,
    /// What is said of it.
    pub attributes: Attributes,
    /// What happened in it: a name and attributes.
    pub events: Vec<(String, Attributes)>,
    /// What it points to: trace, span, attributes.
    pub links: Vec<(String, String, Attributes)>,
    /// `unset`, `ok`, `error`.
    pub status: String,
    /// The caller's state of the trace, as it was sent.
    pub state: String,
    /// Who told it.
    pub resource: Attributes,
}

impl Told {
    /// An attribute, empty if there is none.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// What a collector does with what it is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Manner {
    /// Takes it.
    #[default]
    Takes,
    /// Refuses it for good.
    Refuses,
    /// Says that it has no room now.
    IsBusy,
    /// Takes it, after so long.
    Dawdles(Duration),
}

#[derive(Default)]
struct Book {
    manner: Manner,
    told: Vec<Told>,
    bytes: Vec<u8>,
    calls: usize,
}

/// A running collector.
pub struct Collector {
    /// Where it listens.
    pub address: SocketAddr,
    book: Arc<Mutex<Book>>,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Collector {
    /// One that takes what it is sent.
    pub fn open() -> Collector {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let mut collector = Collector { address, book: Arc::default(), running: None };
        collector.serve(listener);
        collector
    }

    fn serve(&mut self, listener: std::net::TcpListener) {
        listener.set_nonblocking(true).expect("a socket");
        let (stop, stopped) = oneshot::channel::<()>();
        let desk = Desk(Arc::clone(&self.book));
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).expect("a listener");
                let incoming = tonic::transport::server::TcpIncoming::from(listener);
                let serving = tonic::transport::Server::builder()
                    .add_service(TraceServiceServer::new(desk))
                    .serve_with_incoming(incoming);
                // Whoever is connected is cut off: this is how a collector dies.
                tokio::select! {
                    _ = stopped => {}
                    served = serving => served.expect("the collector serves"),
                }
            });
        });
        self.running = Some((stop, thread));
    }

    /// Where spans are to be sent.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on it does this with what it is sent.
    pub fn be(&self, manner: Manner) {
        self.book.lock().unwrap().manner = manner;
    }

    /// Dies: nobody listens any more.
    pub fn die(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            thread.join().expect("the collector does not panic");
        }
    }

    /// Comes back at the same address.
    pub fn come_back(&mut self) {
        let listener = std::net::TcpListener::bind(self.address).expect("its own port");
        self.serve(listener);
    }

    /// Everything that it took so far.
    pub fn told(&self) -> Vec<Told> {
        self.book.lock().unwrap().told.clone()
    }

    /// How often it was called, whatever it said.
    pub fn calls(&self) -> usize {
        self.book.lock().unwrap().calls
    }

    /// Everything that it was sent, as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.book.lock().unwrap().bytes.clone()
    }

    /// Waits until this holds of what it took, and gives that.
    pub async fn until(&self, what: &str, holds: impl Fn(&[Told]) -> bool) -> Vec<Told> {
        let begun = std::time::Instant::now();
        loop {
            let told = self.told();
            if holds(&told) {
                return told;
            }
            assert!(begun.elapsed() < PATIENCE, "never told: {what}; told: {told:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.die();
    }
}

struct Desk(Arc<Mutex<Book>>);

#[tonic::async_trait]
impl TraceService for Desk {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let request = request.into_inner();
        let manner = {
            let mut book = self.0.lock().unwrap();
            book.calls += 1;
            book.bytes.extend(request.encode_to_vec());
            book.manner
        };
        match manner {
            Manner::Takes => {}
            Manner::Refuses => return Err(Status::invalid_argument("not these")),
            Manner::IsBusy => return Err(Status::unavailable("no room")),
            Manner::Dawdles(pause) => tokio::time::sleep(pause).await,
        }
        let mut told = Vec::new();
        for of in request.resource_spans {
            let resource = attributes(of.resource.map(|resource| resource.attributes).unwrap_or_default());
            let spans = of.scope_spans.into_iter().flat_map(|scope| scope.spans);
            told.extend(spans.map(|span| read(span, resource.clone())));
        }
        self.0.lock().unwrap().told.extend(told);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

fn read(span: wire::Span, resource: Attributes) -> Told {
    let kind = span.kind().as_str_name().trim_start_matches("SPAN_KIND_").to_lowercase();
    let status = span.status.as_ref().map_or(wire::status::StatusCode::Unset, wire::Status::code);
    let event = |event: wire::span::Event| (event.name, attributes(event.attributes));
    let link =
        |link: wire::span::Link| (hex(&link.trace_id), hex(&link.span_id), attributes(link.attributes));
    Told {
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        kind,
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        status: status.as_str_name().trim_start_matches("STATUS_CODE_").to_lowercase(),
        attributes: attributes(span.attributes),
        events: span.events.into_iter().map(event).collect(),
        links: span.links.into_iter().map(link).collect(),
        state: span.trace_state,
        name: span.name,
        resource,
    }
}

fn attributes(pairs: Vec<KeyValue>) -> Attributes {
    pairs.into_iter().map(|pair| (pair.key, text(pair.value))).collect()
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::BoolValue(truth)) => truth.to_string(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        Some(Value::ArrayValue(list)) => {
            list.values.into_iter().map(|value| text(Some(value))).collect::<Vec<_>>().join(",")
        }
        _ => String::new(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
