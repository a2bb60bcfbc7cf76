//! What health checks are told: whether calls can be answered, which is whether the store answers.

use std::time::Duration;

use tables::Tables;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;

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

/// From the first moment on.
pub(super) async fn begin(health: &HealthReporter) {
    health.set_service_status(LIVENESS, ServingStatus::Serving).await;
    set(health, ServingStatus::Serving).await;
}

pub(super) async fn set(health: &HealthReporter, status: ServingStatus) {
    for name in NAMES {
        health.set_service_status(name, status).await;
    }
}

/// Ends the streams of whoever watches the health: an open one would hold the server up.
pub(super) async fn end(mut health: HealthReporter) {
    for name in NAMES.into_iter().chain([LIVENESS]) {
        health.clear_service_status(name).await;
    }
}

/// Says NOT_SERVING while the store does not answer, and SERVING again when it does, until the server drains.
pub(super) async fn follow_store(health: HealthReporter, tables: Tables, draining: watch::Receiver<bool>) {
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
            set(&health, status).await;
            told = status;
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
