//! The calls of the contract by their paths: which are unary, which are streams. Read from the descriptor, so that a
//! new call is known as soon as it is in the contract.

use std::collections::HashMap;

use prost::Message;
use prost_types::FileDescriptorSet;

use super::limits::class::{self, Class};
use crate::grpc::identity::{RoleName, rights};
use crate::pb;

/// The name of all calls that are not in the contract.
pub const UNKNOWN: &str = "unknown";

/// How a call is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Has a deadline.
    Unary,
    /// Lasts as long as both sides like.
    Stream,
    /// Health and reflection: for everybody, so many at once.
    Open,
    /// Not in the contract.
    Unknown,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name for spans and logs: never what a caller wrote himself.
    pub name: &'static str,
    /// How it is treated.
    pub kind: Kind,
    /// Who may make it.
    pub roles: &'static [RoleName],
    /// What it is worth when not all can be served.
    pub class: Class,
}

/// All calls.
pub struct Methods(HashMap<&'static str, Method>);

const OPEN: [(&str, &str); 2] =
    [("/grpc.health.v1.Health/", "health"), ("/grpc.reflection.v1.ServerReflection/", "reflection")];

impl Methods {
    /// The calls of the contract.
    ///
    /// # Errors
    /// If the descriptor is broken: then the build is.
    pub fn of_contract() -> Result<Methods, prost::DecodeError> {
        let set = FileDescriptorSet::decode(pb::DESCRIPTOR)?;
        let mut methods = HashMap::new();
        for file in &set.file {
            for service in &file.service {
                for method in &service.method {
                    let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                    let streams = method.client_streaming() || method.server_streaming();
                    let kind = if streams { Kind::Stream } else { Kind::Unary };
                    // A few dozen names for the life of the process.
                    let name: &'static str = Box::leak(path.into_boxed_str());
                    methods
                        .insert(name, Method { name, kind, roles: rights::of(name), class: class::of(name) });
                }
            }
        }
        Ok(Methods(methods))
    }

    /// The call at this path.
    #[must_use]
    pub fn find(&self, path: &str) -> Method {
        let open = OPEN.iter().find(|(prefix, _)| path.starts_with(prefix));
        let open = open.map(|(_, name)| Method { name, kind: Kind::Open, roles: &[], class: Class::Cheap });
        let unknown = Method { name: UNKNOWN, kind: Kind::Unknown, roles: &[], class: Class::Cheap };
        self.0.get(path).copied().or(open).unwrap_or(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_paths() {
        let methods = Methods::of_contract().unwrap();
        assert!(methods.0.len() >= 22);
        let kind = |path: &str| methods.find(path).kind;
        assert_eq!(kind("/fulcrum.v1.ActionService/Act"), Kind::Unary);
        assert_eq!(kind("/fulcrum.v1.TableService/WatchTable"), Kind::Stream);
        assert_eq!(kind("/fulcrum.v1.TableService/WatchTables"), Kind::Stream);
        assert_eq!(kind("/fulcrum.v1.SettlementService/StreamSettlements"), Kind::Stream);
        assert_eq!(kind("/grpc.health.v1.Health/Check"), Kind::Open);
        assert_eq!(kind("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"), Kind::Open);
        for path in ["/", "", "/fulcrum.v1.ActionService/act", "/fulcrum.v1.ActionService/Act/"] {
            assert_eq!(kind(path), Kind::Unknown, "{path}");
        }
        let streams = methods.0.values().filter(|m| m.kind == Kind::Stream).count();
        assert_eq!(streams, 3);
    }
}
