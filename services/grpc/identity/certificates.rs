//! Callers who show a certificate: whose it is, by the names in it.

use std::collections::BTreeMap;

use tables::OperatorId;
use thiserror::Error;

use super::{Caller, Role, RoleName};

/// Names in certificates (URIs and DNS names), each with the operator and the role that it stands for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Identities(BTreeMap<String, (OperatorId, Role)>);

/// What is wrong with one of them.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum IdentityFault {
    /// The name is none.
    #[error("the name of a certificate is empty")]
    Name,
    /// It does not say who that is.
    #[error(
        "{0:?}: an operator's name is wanted, or operator:role with the role operator, support or auditor"
    )]
    Meaning(String),
}

impl Identities {
    /// Reads what each name means: `acme` or `acme:support`.
    ///
    /// # Errors
    /// [`IdentityFault`]
    pub fn read<'a>(
        all: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Result<Identities, IdentityFault> {
        let read = |(name, meaning): (&String, &String)| {
            if name.is_empty() {
                return Err(IdentityFault::Name);
            }
            let meant = self::meaning(meaning).ok_or_else(|| IdentityFault::Meaning(name.clone()))?;
            Ok((name.clone(), meant))
        };
        all.into_iter().map(read).collect::<Result<_, _>>().map(Identities)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everybody who is named.
    pub fn operators(&self) -> impl Iterator<Item = &OperatorId> {
        self.0.values().map(|(operator, _)| operator)
    }

    /// Who shows a certificate with these names. If they mean different callers, it is nobody's.
    #[must_use]
    pub fn caller(&self, names: &[String]) -> Option<Caller> {
        let mut meant = names.iter().filter_map(|name| self.0.get(name));
        let (operator, role) = meant.next()?;
        let clear = meant.all(|other| other == &(operator.clone(), role.clone()));
        clear.then(|| Caller::of(operator.clone(), role.clone()))
    }
}

fn meaning(text: &str) -> Option<(OperatorId, Role)> {
    let (operator, role) = text.split_once(':').unwrap_or((text, RoleName::Operator.word()));
    let role = match role {
        "operator" => Role::Operator,
        "support" => Role::Support,
        "auditor" => Role::Auditor,
        // A certificate is a machine's: no player and no administrator has one.
        _ => return None,
    };
    Some((OperatorId::new(operator)?, role))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(all: &[(&str, &str)]) -> Result<Identities, IdentityFault> {
        let all: BTreeMap<String, String> = all.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
        Identities::read(&all)
    }

    #[test]
    fn a_name_in_a_certificate_tells_operator_and_role() {
        let all = [
            ("spiffe://casino.example/acme/backend", "acme"),
            ("desk.acme.example", "acme:support"),
            ("Other", "other:operator"),
        ];
        let identities = read(&all).unwrap();
        let caller = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).into()).collect();
            let caller = identities.caller(&names)?;
            Some((caller.operator?.to_string(), caller.role))
        };
        let acme = |role| Some(("acme".to_owned(), role));
        assert_eq!(caller(&["spiffe://casino.example/acme/backend"]), acme(Role::Operator));
        assert_eq!(caller(&["localhost", "desk.acme.example"]), acme(Role::Support));
        assert_eq!(caller(&["Other"]), Some(("other".into(), Role::Operator)));
        for none in [&[][..], &["other"], &["spiffe://casino.example/acme"], &["desk.acme.example", "Other"]]
        {
            assert_eq!(caller(none), None, "{none:?}");
        }
    }

    #[test]
    fn what_means_nobody_is_refused() {
        for bad in ["", "ACME", "acme:", "acme:player", "acme:administrator", "acme:support:x", ":support"] {
            assert_eq!(read(&[("x", bad)]), Err(IdentityFault::Meaning("x".into())), "{bad}");
        }
        assert_eq!(read(&[("", "acme")]), Err(IdentityFault::Name));
    }
}
