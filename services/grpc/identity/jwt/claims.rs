//! What a verified token says about its bearer.

use std::collections::BTreeSet;

use rules::PlayerId;
use serde_json::{Map, Value};
use tables::OperatorId;

use crate::grpc::identity::{Caller, Role, RoleName};

/// The claims of a token.
pub type Claims = Map<String, Value>;

/// How the claims are called that the service reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimNames {
    /// The operator, by his name.
    pub operator: String,
    /// The role: `operator`, `player`, `support` or `auditor`.
    pub role: String,
    /// The player, by the operator's own id.
    pub player: String,
}

impl Default for ClaimNames {
    fn default() -> ClaimNames {
        ClaimNames { operator: "operator".into(), role: "role".into(), player: "player".into() }
    }
}

/// Who the bearer is; otherwise what is wrong with the claims, for the log.
///
/// A token that names a player is good for him alone, whatever else it says; one that names neither player nor role is
/// good for nothing, so that a token made for something else is not taken for a backend's.
///
/// # Errors
/// Which claim is wrong, and no word of its contents.
pub fn caller(
    claims: &Claims,
    names: &ClaimNames,
    named: &BTreeSet<OperatorId>,
) -> Result<Caller, &'static str> {
    let text = |name: &str| match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err("a claim is not a text"),
    };
    let operator = text(&names.operator)?.and_then(OperatorId::new).ok_or("no operator's name")?;
    if !named.contains(&operator) {
        return Err("an operator for whom no issuer's tokens are taken");
    }
    let (role, player) = (text(&names.role)?, text(&names.player)?);
    let role = match (role, player) {
        (None, Some(player)) => Role::Player(PlayerId::new(player).ok_or("no player's id")?),
        (Some(role), Some(player)) if role == RoleName::Player.word() => {
            Role::Player(PlayerId::new(player).ok_or("no player's id")?)
        }
        (Some(_), Some(_)) => return Err("a player with another role"),
        (Some("operator"), None) => Role::Operator,
        (Some("support"), None) => Role::Support,
        (Some("auditor"), None) => Role::Auditor,
        (Some(_), None) => return Err("no role that a token can give"),
        (None, None) => return Err("neither role nor player"),
    };
    let subject = text("sub")?.map(str::to_owned);
    Ok(Caller { subject, ..Caller::of(operator, role) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(claims: Value) -> Result<Caller, &'static str> {
        let served = BTreeSet::from([OperatorId::new("acme").unwrap()]);
        caller(claims.as_object().unwrap(), &ClaimNames::default(), &served)
    }

    fn role(claims: Value) -> Role {
        read(claims).unwrap().role
    }

    #[test]
    fn claims_say_who_the_bearer_is() {
        let ann = || Role::Player(PlayerId::new("ann").unwrap());
        assert_eq!(role(json!({"operator": "acme", "role": "operator"})), Role::Operator);
        assert_eq!(role(json!({"operator": "acme", "role": "support"})), Role::Support);
        assert_eq!(role(json!({"operator": "acme", "role": "auditor", "player": null})), Role::Auditor);
        assert_eq!(role(json!({"operator": "acme", "role": "player", "player": "ann"})), ann());
        assert_eq!(role(json!({"operator": "acme", "player": "ann"})), ann());
        let caller = read(json!({"operator": "acme", "role": "operator", "sub": "ada"})).unwrap();
        assert_eq!((caller.operator.unwrap().as_str(), caller.subject.as_deref()), ("acme", Some("ada")));
        assert_eq!(caller.administrator, None);
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        for claims in [
            json!({}),
            json!({"role": "operator"}),
            json!({"operator": "acme"}),
            json!({"operator": "acme", "role": ""}),
            json!({"operator": "acme", "role": "player"}),
            json!({"operator": "acme", "role": "administrator"}),
            json!({"operator": "acme", "role": "Operator"}),
            json!({"operator": "acme", "role": ["operator"]}),
            json!({"operator": "acme", "role": "operator", "player": "ann"}),
            json!({"operator": "acme", "role": "support", "player": "ann"}),
            json!({"operator": "acme", "player": "a b"}),
            json!({"operator": "acme", "player": ""}),
            json!({"operator": "acme", "player": 7}),
            json!({"operator": "acme", "role": "operator", "sub": 7}),
            json!({"operator": "other", "role": "operator"}),
            json!({"operator": "ACME", "role": "operator"}),
            json!({"operator": ["acme"], "role": "operator"}),
        ] {
            assert!(read(claims.clone()).is_err(), "{claims}");
        }
    }

    #[test]
    fn the_claims_may_have_other_names() {
        let names = ClaimNames { operator: "https://x/op".into(), role: "r".into(), player: "p".into() };
        let served = BTreeSet::from([OperatorId::new("acme").unwrap()]);
        let claims = json!({"https://x/op": "acme", "p": "ann", "role": "operator", "player": "bob"});
        let caller = caller(claims.as_object().unwrap(), &names, &served).unwrap();
        assert_eq!(caller.role, Role::Player(PlayerId::new("ann").unwrap()));
    }
}
