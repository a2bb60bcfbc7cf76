//! Soft stops and their audit.

use tables::stops::{Act, AuditEntry, Author, Scope, StopEntry, StopState};

use super::{config, timestamp};
use crate::pb::v1;

fn scope(scope: &Scope) -> v1::Scope {
    use v1::scope::Scope as Shown;
    let shown = match scope {
        Scope::Service => Shown::Service(v1::ServiceScope {}),
        Scope::Operator(operator) => Shown::Operator(v1::OperatorScope { operator: operator.to_string() }),
        Scope::Game(operator, game) => Shown::Game(v1::GameScope {
            game: config::game(*game).into(),
            operator: operator.as_ref().map(ToString::to_string).unwrap_or_default(),
        }),
        Scope::Table(key) => Shown::Table(v1::TableScope { table_id: key.table.to_string() }),
        Scope::Player(operator, player) => {
            Shown::Player(v1::PlayerScope { player_id: player.to_string(), operator: operator.to_string() })
        }
    };
    v1::Scope { scope: Some(shown) }
}

const fn author(author: &Author) -> v1::StopAuthor {
    match author {
        Author::Operator(_) => v1::StopAuthor::Operator,
        Author::Administrator(_) => v1::StopAuthor::Administrator,
    }
}

/// A stop.
#[must_use]
pub fn disabled(entry: &StopEntry) -> v1::Disabled {
    let state = match entry.state {
        StopState::Active => v1::DisabledState::Active,
        StopState::Lifting => v1::DisabledState::Lifting,
    };
    v1::Disabled {
        scope: Some(scope(&entry.scope)),
        reason: entry.reason.clone(),
        requester: entry.requester.clone(),
        author: author(&entry.author).into(),
        author_name: entry.author.name().to_string(),
        since: Some(timestamp(entry.since)),
        state: state.into(),
        shown: entry.swept,
    }
}

/// An entry of the audit.
#[must_use]
pub fn audit(entry: &AuditEntry) -> v1::StopAuditEntry {
    let act = match entry.act {
        Act::Disabled => v1::StopAct::Disabled,
        Act::Enabled => v1::StopAct::Enabled,
    };
    v1::StopAuditEntry {
        number: entry.number,
        time: Some(timestamp(entry.at)),
        act: act.into(),
        scope: Some(scope(&entry.scope)),
        reason: entry.reason.clone(),
        requester: entry.requester.clone(),
        author: author(&entry.author).into(),
        author_name: entry.author.name().to_string(),
    }
}
