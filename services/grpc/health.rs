//! What health checks are told: whether calls can be answered, which is whether the store answers.

pub mod alone;

use std::time::Duration;

use tables::Tables;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use super::actions::Actions;
use super::control::Control;
use super::info::Info;
use super::pivot::Pivots;
use super::settlements::Settlements;
use super::tables::TablesOfOperators;
use crate::pb::v1::action_service_server::ActionServiceServer;
use crate::pb::v1::control_service_server::ControlServiceServer;
use crate::pb::v1::pivot_service_server::PivotServiceServer;
use crate::pb::v1::server_service_server::ServerServiceServer;
use crate::pb::v1::settlement_service_server::SettlementServiceServer;
use crate::pb::v1::table_service_server::TableServiceServer;

/// How often the store is asked.
const EVERY: Duration = Duration::from_secs(1);
/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The names under which health is told; the empty one is the whole server.
const NAMES: [&str; 7] = [
    "",
    <TableServiceServer<TablesOfOperators> as NamedService>::NAME,
    <ActionServiceServer<Actions> as NamedService>::NAME,
    <PivotServiceServer<Pivots> as NamedService>::NAME,
    <SettlementServiceServer<Settlements> as NamedService>::NAME,
    <ControlServiceServer<Control> as NamedService>::NAME,
    <ServerServiceServer<Info> as NamedService>::NAME,
];

/// The name of the process's own health: SERVING while it lives, whatever its store does and while it drains. To kill and
/// start a server anew whose store is away would help nobody.
const LIVENESS: &str = "fulcrum.liveness";

/// The largest question, in bytes: the name of a service.
const QUESTION: usize = 1024;

/// The health, as it is told beside the calls, where that ends with them, and at a listener for health alone, where it is
/// told to the last.
#[derive(Clone)]
pub(super) struct Health {
    calls: HealthReporter,
    alone: HealthReporter,
}

impl Health {
    /// Good, from the first moment on.
    pub async fn begin() -> Health {
        let health = Health { calls: HealthReporter::new(), alone: HealthReporter::new() };
        for told in [&health.calls, &health.alone] {
            told.set_service_status(LIVENESS, ServingStatus::Serving).await;
        }
        health.set(ServingStatus::Serving).await;
        health
    }

    /// The service that tells it beside the calls.
    pub fn with_calls(&self) -> HealthServer<HealthService> {
        service(&self.calls)
    }

    /// The service that tells it where nothing else is told.
    pub fn alone(&self) -> HealthServer<HealthService> {
        service(&self.alone)
    }

    pub async fn set(&self, status: ServingStatus) {
        for told in [&self.calls, &self.alone] {
            for name in NAMES {
                told.set_service_status(name, status).await;
            }
        }
    }

    /// Ends the streams of whoever watches the health beside his calls: an open one would hold the server up.
    pub async fn end(mut self) {
        for name in NAMES.into_iter().chain([LIVENESS]) {
            self.calls.clear_service_status(name).await;
        }
    }
}

fn service(told: &HealthReporter) -> HealthServer<HealthService> {
    let service = HealthService::from_health_reporter(told.clone());
    HealthServer::new(service).max_decoding_message_size(QUESTION)
}

/// Says NOT_SERVING while the store does not answer, and SERVING again when it does, until the server drains.
pub(super) async fn follow_store(health: Health, tables: Tables, draining: watch::Receiver<bool>) {
    let mut told = ServingStatus::Serving;
    loop {
        sleep(EVERY).await;
        let fault = match timeout(PATIENCE, tables.store().check()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(format!("no answer within {PATIENCE:?}")),
        };
        // A closed channel says that the server is gone.
        if *draining.borrow() || draining.has_changed().is_err() {
            return;
        }
        let status = if fault.is_none() { ServingStatus::Serving } else { ServingStatus::NotServing };
        if status != told {
            let (serving, why) = (fault.is_none(), fault.unwrap_or_default());
            tracing::warn!(
                event = "health_changed",
                serving,
                why,
                "the store's answer has changed the health"
            );
            health.set(status).await;
            told = status;
            // It may have begun to drain just now: that is the last word.
            if *draining.borrow() {
                health.set(ServingStatus::NotServing).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;
    use prost_types::FileDescriptorSet;

    #[test]
    fn every_service_of_the_contract_has_its_health() {
        let set = FileDescriptorSet::decode(crate::pb::DESCRIPTOR).unwrap();
        let services =
            set.file.iter().filter(|file| file.package() == "fulcrum.v1").flat_map(|file| &file.service);
        let mut served: Vec<_> = services.map(|service| format!("fulcrum.v1.{}", service.name())).collect();
        served.push(String::new());
        served.sort();
        let mut told = NAMES;
        told.sort_unstable();
        assert_eq!(served, told);
    }
}
