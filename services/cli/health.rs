//! `fulcrum health`: asks a running server for its health; for containers, which have no other program to ask with.

use std::time::Duration;

use clap::Args;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::access::Tls;
use super::failure::Failure;
use super::output::Output;

/// Asks a server for its health (grpc.health.v1), and ends with exit code 0 if it is SERVING, with 1 if it is not.
///
/// Nothing else is needed for it: no token, and no certificate at the listener of `--health`.
#[derive(Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct HealthArgs {
    /// The server, or its listener for health alone (setting: health).
    #[arg(long, env = "FULCRUM_ADDRESS", value_name = "URL", default_value = "http://127.0.0.1:50051")]
    address: String,
    /// Of which part: empty for the whole server, which is well while its store answers; fulcrum.liveness for the process
    /// alone; or a service, as fulcrum.v1.TableService.
    #[arg(long, value_name = "NAME", default_value = "")]
    service: String,
    #[command(flatten)]
    tls: Tls,
    /// How long to wait for the answer.
    #[arg(long, value_name = "TIME", default_value = "3s")]
    patience: humantime::Duration,
}

const EXAMPLES: &str = "\
Examples:
  fulcrum health
      Whether the server on this machine serves.
  fulcrum health --address http://127.0.0.1:50052 --service fulcrum.liveness
      Whether the process lives, whatever its store does.

In a container:  HEALTHCHECK CMD [\"/fulcrum\", \"health\"]";

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] if the server does not serve, or does not answer.
pub async fn run(args: HealthArgs) -> Result<(), Failure> {
    let HealthArgs { address, service, tls, patience } = args;
    let patience = Duration::from(patience);
    let address = if address.contains("://") { address } else { format!("http://{address}") };
    let usage = |error| Failure::Usage(format!("{address:?} is no address of a server: {error}"));
    let endpoint = Endpoint::from_shared(address.clone()).map_err(usage)?;
    let endpoint = tls.at(endpoint)?.connect_timeout(patience);
    let asked = async {
        let mut client = HealthClient::new(endpoint.connect_lazy());
        client.check(HealthCheckRequest { service: service.clone() }).await
    };
    let answer = tokio::time::timeout(patience, asked).await;
    let answer =
        answer.map_err(|_| Failure::Failed(format!("{address} did not answer within {patience:?}")))?;
    match answer.map(|answer| answer.into_inner().status()) {
        Ok(ServingStatus::Serving) => Ok(Output::plain().print("SERVING\n")?),
        Ok(status) => Err(Failure::Failed(format!("{address} says {}", status.as_str_name()))),
        Err(status) if status.code() == Code::NotFound => {
            Err(Failure::Failed(format!("{address} knows no service {service:?}")))
        }
        Err(status) => Err(Failure::call("no health", &address, &status)),
    }
}
