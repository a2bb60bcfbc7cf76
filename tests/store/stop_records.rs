//! Records of stops and of their audit: of each scope, read back exactly.

use rules::{Game, PlayerId};
use tables::TableKey;
use tables::stops::{Act, AuditEntry, Author, Scope, Shelf, StopChange, StopEntry, StopState};

use crate::fixtures::{AT, codec, key, operator, token};

/// The first change of an operator's shelf: it stops all his tables.
pub fn a_stop() -> StopChange {
    let author = Author::Operator(key(1).operator);
    let stop = stop(Scope::Operator(key(1).operator), author);
    let audit = Some(audit(&stop));
    let shelf = Shelf::Operator(key(1).operator);
    StopChange {
        shelf,
        expected: None,
        token: token(1),
        put: vec![stop],
        remove: Vec::new(),
        audit,
        request: None,
    }
}

/// A stop in which no field is empty.
pub fn stop(scope: Scope, author: Author) -> StopEntry {
    StopEntry {
        scope,
        author,
        reason: "an inspection".to_owned(),
        requester: "somebody".to_owned(),
        since: AT,
        changed: AT,
        version: 1,
        state: StopState::Lifting,
        swept: true,
    }
}

/// What the audit says of it.
pub fn audit(stop: &StopEntry) -> AuditEntry {
    AuditEntry {
        number: stop.version,
        at: stop.changed,
        author: stop.author.clone(),
        act: Act::Enabled,
        scope: stop.scope.clone(),
        reason: stop.reason.clone(),
        requester: stop.requester.clone(),
    }
}

/// One of each scope, by name.
pub fn scopes() -> Vec<(&'static str, Scope)> {
    let TableKey { operator: own, .. } = key(1);
    let player = PlayerId::new("alice").expect("a name");
    vec![
        ("service", Scope::Service),
        ("operator", Scope::Operator(own.clone())),
        ("game", Scope::Game(None, Game::DoubleHoldem)),
        ("game-of-operator", Scope::Game(Some(own.clone()), Game::TexasHoldem)),
        ("table", Scope::Table(key(1))),
        ("player", Scope::Player(own, player)),
    ]
}

#[test]
fn stops_are_read_back_exactly() {
    let codec = codec();
    for (name, scope) in scopes() {
        for author in [Author::Operator(key(1).operator), Author::Administrator(operator("admin"))] {
            let lifted = stop(scope.clone(), author);
            let made = StopEntry { state: StopState::Active, swept: false, ..lifted.clone() };
            for stop in [lifted, made] {
                let read = codec.read_stop(&codec.write_stop(&stop).unwrap()).unwrap();
                assert_eq!(read, stop, "{name}");
                for act in [Act::Enabled, Act::Disabled] {
                    let entry = AuditEntry { act, ..audit(&stop) };
                    let read = codec.read_stop_audit(&codec.write_stop_audit(&entry).unwrap()).unwrap();
                    assert_eq!(read, entry, "{name}");
                }
            }
        }
    }
}
