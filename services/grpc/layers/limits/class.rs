//! What a call is worth when not all can be served: one line for each call of the contract.

/// A class of calls, the cheapest to go without first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// Lists, reports, and streams that begin: who is turned away comes again, and no hand notices.
    Cheap,
    /// Reads of one thing.
    Read,
    /// Changes, but those of a running hand.
    Change,
    /// What a running hand waits for, and the stop of an emergency: turned away at the hard bound only.
    Play,
}

use Class::{Change, Cheap, Play, Read};

/// All of them.
#[cfg(test)]
pub const ALL: [Class; 4] = [Cheap, Read, Change, Play];

impl Class {
    /// Its name in metrics.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Cheap => "cheap",
            Read => "read",
            Change => "change",
            Play => "play",
        }
    }

    /// How full the room may be for a call of this class to be let in, in percent.
    #[must_use]
    pub const fn ceiling(self) -> usize {
        match self {
            Cheap => 50,
            Read => 70,
            Change => 85,
            Play => 100,
        }
    }
}

/// The classes of all calls, by their paths below `/fulcrum.v1.`.
const TABLE: &[(&str, Class)] = &[
    ("ActionService/Act", Play),
    ("ActionService/ShowCards", Play),
    ("ActionService/GetTurn", Play),
    ("PivotService/SelectPivot", Play),
    ("ControlService/DisableScope", Play),
    ("ControlService/EnableScope", Change),
    ("ControlService/ListDisabled", Cheap),
    ("ControlService/ListStopAudit", Cheap),
    ("SettlementService/GetSettlement", Read),
    ("SettlementService/GetSessionStatement", Read),
    ("SettlementService/VoidHand", Change),
    ("SettlementService/AckSettlements", Change),
    ("SettlementService/DeleteConsumer", Change),
    ("SettlementService/RetryTransaction", Change),
    ("SettlementService/ProposeResolution", Change),
    ("SettlementService/ConfirmResolution", Change),
    ("SettlementService/GetTrialBalance", Cheap),
    ("SettlementService/ListConsumers", Cheap),
    ("SettlementService/ListSettlements", Cheap),
    ("SettlementService/ListTransactions", Cheap),
    ("SettlementService/StreamSettlements", Cheap),
    ("ServerService/GetServerInfo", Cheap),
    ("TableService/GetTable", Read),
    ("TableService/CreateTable", Change),
    ("TableService/UpdateTable", Change),
    ("TableService/PauseTable", Change),
    ("TableService/ResumeTable", Change),
    ("TableService/CloseTable", Change),
    ("TableService/SeatPlayer", Change),
    ("TableService/StandUp", Change),
    ("TableService/SitOut", Change),
    ("TableService/SitIn", Change),
    ("TableService/AddChips", Change),
    ("TableService/SetPreferences", Change),
    ("TableService/ListTables", Cheap),
    ("TableService/WatchTable", Cheap),
    ("TableService/WatchTables", Cheap),
];

/// The class of the call at this path; of one that is not in the table, the first to be turned away.
#[must_use]
pub fn of(path: &str) -> Class {
    let short = path.strip_prefix("/fulcrum.v1.").unwrap_or_default();
    TABLE.iter().find(|(name, _)| *name == short).map_or(Cheap, |(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use prost::Message;
    use prost_types::FileDescriptorSet;

    use super::*;

    #[test]
    fn every_call_of_the_contract_has_a_class_and_nothing_else_has_one() {
        let set = FileDescriptorSet::decode(crate::pb::DESCRIPTOR).unwrap();
        let mut calls = BTreeSet::new();
        for file in set.file.iter().filter(|file| file.package() == "fulcrum.v1") {
            for service in &file.service {
                calls.extend(service.method.iter().map(|m| format!("{}/{}", service.name(), m.name())));
            }
        }
        let known: BTreeSet<String> = TABLE.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(known, calls);
        assert_eq!(TABLE.len(), known.len(), "one line each");
    }

    #[test]
    fn streams_and_lists_are_the_first_to_be_turned_away_and_what_a_hand_waits_for_is_the_last() {
        let set = FileDescriptorSet::decode(crate::pb::DESCRIPTOR).unwrap();
        for service in set.file.iter().filter(|f| f.package() == "fulcrum.v1").flat_map(|f| &f.service) {
            for method in &service.method {
                let class = of(&format!("/fulcrum.v1.{}/{}", service.name(), method.name()));
                let cheap = method.server_streaming() || method.name().starts_with("List");
                assert!(!cheap || class == Cheap, "{}", method.name());
            }
        }
        assert_eq!(of("/fulcrum.v1.ActionService/Act"), Play);
        assert_eq!(of("/fulcrum.v1.ActionService/act"), Cheap);
        assert_eq!(of("unknown"), Cheap);
        assert!(ALL.is_sorted() && ALL.map(Class::ceiling).is_sorted());
        assert_eq!(Play.ceiling(), 100);
    }
}
