//! Who may call what: the one table, by the paths of the contract. A call that has no line here is nobody's.

use RoleName::{Administrator, Auditor, Operator, Player, Support};

use super::RoleName;

/// What is said to whoever may call at all.
const ANYBODY: &[RoleName] = &[Operator, Player, Support, Auditor, Administrator];
/// Changes of tables, and money: the operator's alone.
const OWN: &[RoleName] = &[Operator];
/// What a player does at a table; the operator's backend does it for him.
const PLAY: &[RoleName] = &[Operator, Player];
/// Looking at a table.
const LOOK: &[RoleName] = &[Operator, Player, Support, Auditor];
/// Looking at whose turn it is.
const TURN: &[RoleName] = &[Operator, Player, Support];
/// What support needs to answer a player, and an auditor to follow the money.
const CASE: &[RoleName] = &[Operator, Support, Auditor];
/// The books, read.
const BOOKS: &[RoleName] = &[Operator, Auditor];
/// Stops, made and lifted.
const STOP: &[RoleName] = &[Operator, Administrator];
/// Stops, read.
const STOPPED: &[RoleName] = &[Operator, Support, Auditor, Administrator];
/// Who has stopped what, and why.
const STOPS_AUDIT: &[RoleName] = &[Operator, Auditor, Administrator];

/// The roles that may make each call of the contract.
const RIGHTS: &[(&str, &[RoleName])] = &[
    ("/fulcrum.v1.ActionService/Act", PLAY),
    ("/fulcrum.v1.ActionService/GetTurn", TURN),
    ("/fulcrum.v1.ActionService/ShowCards", PLAY),
    ("/fulcrum.v1.ControlService/DisableScope", STOP),
    ("/fulcrum.v1.ControlService/EnableScope", STOP),
    ("/fulcrum.v1.ControlService/ListDisabled", STOPPED),
    ("/fulcrum.v1.ControlService/ListStopAudit", STOPS_AUDIT),
    ("/fulcrum.v1.PivotService/SelectPivot", PLAY),
    ("/fulcrum.v1.ServerService/GetServerInfo", ANYBODY),
    ("/fulcrum.v1.SettlementService/AckSettlements", OWN),
    ("/fulcrum.v1.SettlementService/ConfirmResolution", OWN),
    ("/fulcrum.v1.SettlementService/DeleteConsumer", OWN),
    ("/fulcrum.v1.SettlementService/GetSessionStatement", CASE),
    ("/fulcrum.v1.SettlementService/GetSettlement", BOOKS),
    ("/fulcrum.v1.SettlementService/GetTrialBalance", BOOKS),
    ("/fulcrum.v1.SettlementService/ListConsumers", BOOKS),
    ("/fulcrum.v1.SettlementService/ListSettlements", BOOKS),
    ("/fulcrum.v1.SettlementService/ListTransactions", CASE),
    ("/fulcrum.v1.SettlementService/ProposeResolution", OWN),
    ("/fulcrum.v1.SettlementService/RetryTransaction", OWN),
    // It takes a consumer's place over: a reader of the books would end the backend's own stream.
    ("/fulcrum.v1.SettlementService/StreamSettlements", OWN),
    ("/fulcrum.v1.SettlementService/VoidHand", OWN),
    ("/fulcrum.v1.TableService/AddChips", OWN),
    ("/fulcrum.v1.TableService/CloseTable", OWN),
    ("/fulcrum.v1.TableService/CreateTable", OWN),
    ("/fulcrum.v1.TableService/GetTable", LOOK),
    ("/fulcrum.v1.TableService/ListTables", CASE),
    ("/fulcrum.v1.TableService/PauseTable", OWN),
    ("/fulcrum.v1.TableService/ResumeTable", OWN),
    ("/fulcrum.v1.TableService/SeatPlayer", OWN),
    ("/fulcrum.v1.TableService/SetPreferences", PLAY),
    ("/fulcrum.v1.TableService/SitIn", PLAY),
    ("/fulcrum.v1.TableService/SitOut", PLAY),
    ("/fulcrum.v1.TableService/StandUp", OWN),
    ("/fulcrum.v1.TableService/UpdateTable", OWN),
    ("/fulcrum.v1.TableService/WatchTable", LOOK),
    ("/fulcrum.v1.TableService/WatchTables", LOOK),
];

/// The roles that may call this path.
#[must_use]
pub fn of(path: &str) -> &'static [RoleName] {
    RIGHTS.iter().find(|(known, _)| *known == path).map_or(&[], |(_, roles)| *roles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pb;
    use prost::Message;
    use prost_types::FileDescriptorSet;

    fn paths() -> Vec<String> {
        let set = FileDescriptorSet::decode(pb::DESCRIPTOR).unwrap();
        let services = set
            .file
            .iter()
            .flat_map(|file| file.service.iter().map(move |service| (file.package(), service)));
        let path = |(package, service): (&str, &prost_types::ServiceDescriptorProto)| {
            let prefix = format!("/{package}.{}/", service.name());
            service.method.iter().map(|method| format!("{prefix}{}", method.name())).collect::<Vec<_>>()
        };
        let mut paths: Vec<String> = services.flat_map(path).collect();
        paths.sort();
        paths
    }

    #[test]
    fn every_call_of_the_contract_has_its_line_and_there_are_no_others() {
        let known: Vec<&str> = RIGHTS.iter().map(|(path, _)| *path).collect();
        assert_eq!(known, paths());
    }

    #[test]
    fn the_operator_may_everything_and_what_is_not_there_is_nobodys() {
        for (path, roles) in RIGHTS {
            assert!(roles.contains(&Operator), "{path}");
        }
        assert!(of("/fulcrum.v1.TableService/Nothing").is_empty());
    }

    /// By the names of the calls, so that a line that is wrong in the table is found by something else than the table.
    #[test]
    fn who_only_looks_changes_nothing_and_players_touch_no_money() {
        for (path, roles) in RIGHTS {
            let (_, call) = path.rsplit_once('/').unwrap();
            let reads = ["Get", "List", "Watch"].iter().any(|word| call.starts_with(word));
            for role in [Support, Auditor] {
                assert!(reads || !roles.contains(&role), "{path}");
            }
            let money =
                path.contains("SettlementService") || ["SeatPlayer", "StandUp", "AddChips"].contains(&call);
            assert!(!(money && roles.contains(&Player)), "{path}");
            let service = path.contains("ControlService") || call == "GetServerInfo";
            assert!(service || !roles.contains(&Administrator), "{path}");
        }
    }

    /// The page for people says the same.
    #[test]
    fn the_page_about_access_has_the_same_table() {
        let page = include_str!("../../../deploy/access.md");
        let mut rows: Vec<String> = page
            .lines()
            .filter(|line| line.starts_with("| `") && line.contains("Service."))
            .map(str::to_owned)
            .collect();
        rows.sort();
        let row = |(path, roles): &(&str, &[RoleName])| {
            let call = path.trim_start_matches("/fulcrum.v1.").replace('/', ".");
            let mark = |role| if roles.contains(role) { " x |" } else { " |" };
            let marks: String = RoleName::ALL.iter().map(mark).collect();
            format!("| `{call}` |{marks}")
        };
        let mut wanted: Vec<String> = RIGHTS.iter().map(row).collect();
        wanted.sort();
        assert_eq!(rows, wanted, "\n{}\n", wanted.join("\n"));
    }
}
