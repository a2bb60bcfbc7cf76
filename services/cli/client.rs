//! A small client of our own contract: one connection, credentials, and calls that are repeated until they have an
//! answer.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};
use tonic_types::StatusExt;
use uuid::Uuid;

use super::access::Access;
use super::failure::Failure;
use crate::pb::v1::action_service_client::ActionServiceClient;
use crate::pb::v1::pivot_service_client::PivotServiceClient;
use crate::pb::v1::settlement_service_client::SettlementServiceClient;
use crate::pb::v1::table_service_client::TableServiceClient;
use crate::pb::v1::{ErrorReason, Viewer, viewer};

/// How long a call may take.
const CALL: Duration = Duration::from_secs(10);
/// How long calls are repeated while nobody answers: long enough for a server to be restarted.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// The first pause before a call is repeated; each one is twice as long as the one before, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A connection with credentials on it.
pub type Connection = InterceptedService<Channel, Bearer>;

/// A client of a server. Clones share its connection.
#[derive(Clone)]
pub struct Client {
    /// Tables and seats.
    pub tables: TableServiceClient<Connection>,
    /// Betting.
    pub actions: ActionServiceClient<Connection>,
    /// Pivots.
    pub pivots: PivotServiceClient<Connection>,
    /// Settlement records.
    pub settlements: SettlementServiceClient<Connection>,
    address: String,
}

/// Adds the caller's token to each call.
#[derive(Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

impl Client {
    /// A client of the server at this address: `http://host:port`, or `host:port`. It connects with its first call,
    /// and again when the connection is lost.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the address is none or the token cannot be sent.
    pub fn new(address: &str, token: Option<&str>) -> Result<Client, Failure> {
        Client::with(address, &Access::by_token(token))
    }

    /// The same with certificates, at `https://host:port` too.
    ///
    /// # Errors
    /// As [`Client::new`]; and if the certificates cannot be used.
    pub fn with(address: &str, access: &Access) -> Result<Client, Failure> {
        let (connection, address) = connection(address, access)?;
        Ok(Client {
            tables: TableServiceClient::new(connection.clone()),
            actions: ActionServiceClient::new(connection.clone()),
            pivots: PivotServiceClient::new(connection.clone()),
            settlements: SettlementServiceClient::new(connection),
            address,
        })
    }

    /// Where the server is.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Makes a call, and repeats it while it has no definite answer. The call has to be one that may be repeated: by
    /// its request id, or by its turn.
    ///
    /// # Errors
    /// The refusal; or, after [`PATIENCE`], that nobody answers.
    pub async fn ask<T, C, F>(&self, mut call: C) -> Result<T, Status>
    where
        C: FnMut(Client) -> F,
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let give_up = Instant::now() + PATIENCE;
        let mut pauses = Pauses::default();
        loop {
            match call(self.clone()).await {
                Ok(response) => return Ok(response.into_inner()),
                Err(status) if is_transient(&status) && Instant::now() < give_up => {
                    pauses.next(&status).await
                }
                Err(status) => return Err(status),
            }
        }
    }
}

/// A connection to the server at this address, and the address as a URL.
fn connection(address: &str, access: &Access) -> Result<(Connection, String), Failure> {
    let address = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let endpoint = Endpoint::from_shared(address.clone()).map_err(|_| bad_address(&address))?;
    let known = matches!(endpoint.uri().scheme_str(), Some("http" | "https"));
    if !known || endpoint.uri().host().is_none() {
        return Err(bad_address(&address));
    }
    Ok((connect(access.tls.at(endpoint)?, access.token.as_deref())?, address))
}

/// A connection to this endpoint. It connects with its first call, and again when it is lost.
///
/// # Errors
/// [`Failure::Usage`] if the token cannot be sent.
pub fn connect(endpoint: Endpoint, token: Option<&str>) -> Result<Connection, Failure> {
    let channel = endpoint
        .connect_timeout(Duration::from_secs(5))
        .tcp_nodelay(true)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10))
        .connect_lazy();
    Ok(InterceptedService::new(channel, Bearer(token.map(bearer).transpose()?)))
}

/// Growing pauses between repetitions.
pub struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses(FIRST_PAUSE)
    }
}

impl Pauses {
    /// Waits: as long as the server asked for, or longer than the last time.
    pub async fn next(&mut self, status: &Status) {
        let asked = status.get_details_retry_info().and_then(|info| info.retry_delay);
        sleep(asked.unwrap_or(self.0).min(LONGEST_PAUSE * 5)).await;
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
    }
}

/// A message as a call with a deadline.
pub fn timed<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(CALL);
    request
}

/// A new request id.
pub fn request_id() -> String {
    Uuid::new_v4().to_string()
}

/// For a player's eyes.
pub fn as_player(player: &str) -> Option<Viewer> {
    Some(Viewer { kind: Some(viewer::Kind::PlayerId(player.to_owned())) })
}

/// Why the service refused; nothing if it was not the service that spoke.
pub fn reason(status: &Status) -> Option<ErrorReason> {
    let info = status.get_details_error_info().filter(|info| info.domain == "fulcrum")?;
    ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason))
}

/// Whether the same call may have another answer a moment later: the contract's three codes, and whatever a connection
/// says that breaks.
pub fn is_transient(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable | Code::DeadlineExceeded => true,
        Code::ResourceExhausted => status.get_details_retry_info().is_some(),
        Code::Unknown | Code::Internal | Code::Cancelled => reason(status).is_none(),
        _ => false,
    }
}

/// Whether it is worth asking again, here or elsewhere. A server that is full says so without a time to come back where
/// others may have room.
pub fn again(status: &Status) -> bool {
    is_transient(status) || status.code() == Code::ResourceExhausted
}

fn bearer(token: &str) -> Result<MetadataValue<Ascii>, Failure> {
    let bad = |_| {
        Failure::Usage("the token has characters that no token has: it is one line of visible ASCII".into())
    };
    let mut value: MetadataValue<Ascii> = format!("Bearer {token}").parse().map_err(bad)?;
    value.set_sensitive(true);
    Ok(value)
}

fn bad_address(address: &str) -> Failure {
    Failure::Usage(format!("{address:?} is no address of a server: give one as http://127.0.0.1:50051"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic_types::ErrorDetails;

    #[tokio::test]
    async fn addresses_come_with_and_without_a_scheme() {
        for good in ["127.0.0.1:50051", "http://[::1]:50051", "table.example:80", "https://a:1"] {
            assert!(Client::new(good, None).is_ok(), "{good}");
        }
        for bad in ["", "ftp://a:1", "http://", "a b"] {
            assert!(matches!(Client::new(bad, None), Err(Failure::Usage(_))), "{bad:?}");
        }
        assert!(matches!(Client::new("a:1", Some("two\nlines")), Err(Failure::Usage(_))));
    }

    #[test]
    fn a_refusal_is_not_repeated_and_a_broken_connection_is() {
        let refusal = |code, reason: &str| {
            let details =
                ErrorDetails::with_error_info(reason, "fulcrum", [("rule".to_owned(), "5.8".to_owned())]);
            Status::with_error_details(code, "no", details)
        };
        let passed = refusal(Code::FailedPrecondition, "TURN_PASSED");
        assert_eq!(reason(&passed), Some(ErrorReason::TurnPassed));
        assert!(!is_transient(&passed));
        assert!(!is_transient(&refusal(Code::Internal, "INTERNAL")), "the service's own fault is told once");
        assert!(is_transient(&refusal(Code::Unavailable, "OUTCOME_UNKNOWN")));
        assert!(is_transient(&Status::unknown("transport error")));
        assert!(!is_transient(&Status::resource_exhausted("too many")), "only with a time to come back");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_repeated_until_it_is_answered() {
        let client = Client::new("127.0.0.1:1", None).unwrap();
        let mut tries = 0;
        let answer = client.ask(|_| {
            tries += 1;
            let done = tries == 4;
            async move { if done { Ok(Response::new(7)) } else { Err(Status::unavailable("away")) } }
        });
        assert_eq!(answer.await.unwrap(), 7);
        assert_eq!(tries, 4);
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let client = Client::new("127.0.0.1:1", None).unwrap();
        let begun = Instant::now();
        let answer: Result<(), Status> = client.ask(|_| async { Err(Status::unavailable("away")) }).await;
        assert_eq!(answer.unwrap_err().code(), Code::Unavailable);
        assert!((PATIENCE..PATIENCE + LONGEST_PAUSE * 2).contains(&begun.elapsed()));
    }
}
