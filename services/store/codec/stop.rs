//! Stops and their audit in records.

use tables::stops::{Act, AuditEntry, Author, Scope, StopEntry, StopState};
use tables::{OperatorId, TableId, TableKey};

use super::CodecError;
use super::field::{Field, Record};
use crate::pb::store_v1 as wire;
use wire::stopped_scope::Scope as Wired;

fn put_scope(scope: &Scope) -> wire::StoppedScope {
    let scope = match scope {
        Scope::Service => Wired::Service(wire::StoppedService {}),
        Scope::Operator(operator) => Wired::Operator(operator.to_string()),
        Scope::Game(operator, game) => {
            let operator = operator.as_ref().map(ToString::to_string).unwrap_or_default();
            Wired::Game(wire::StoppedGame { operator, game: game.put() })
        }
        Scope::Table(TableKey { operator, table }) => {
            Wired::Table(wire::StoppedTable { operator: operator.to_string(), table: table.0.put() })
        }
        Scope::Player(operator, player) => {
            Wired::Player(wire::StoppedPlayer { operator: operator.to_string(), player: player.put() })
        }
    };
    wire::StoppedScope { scope: Some(scope) }
}

fn operator(name: &str, at: &'static str) -> Result<OperatorId, CodecError> {
    OperatorId::new(name).ok_or(CodecError::Invalid(at))
}

fn take_scope(scope: Option<wire::StoppedScope>) -> Result<Scope, CodecError> {
    let scope = scope.and_then(|scope| scope.scope).ok_or(CodecError::Missing("StoppedScope.scope"))?;
    Ok(match scope {
        Wired::Service(wire::StoppedService {}) => Scope::Service,
        Wired::Operator(name) => Scope::Operator(operator(&name, "StoppedScope.operator")?),
        Wired::Game(game) => {
            let of = Some(game.operator).filter(|name| !name.is_empty());
            let of = of.map(|name| operator(&name, "StoppedGame.operator")).transpose()?;
            Scope::Game(of, Field::take(game.game, "StoppedGame.game")?)
        }
        Wired::Table(table) => Scope::Table(TableKey {
            operator: operator(&table.operator, "StoppedTable.operator")?,
            table: TableId(Field::take(table.table, "StoppedTable.table")?),
        }),
        Wired::Player(player) => Scope::Player(
            operator(&player.operator, "StoppedPlayer.operator")?,
            Field::take(player.player, "StoppedPlayer.player")?,
        ),
    })
}

impl Record for Author {
    type Wire = wire::StopAuthor;

    fn to_wire(&self) -> wire::StopAuthor {
        wire::StopAuthor { name: self.name().to_string(), administrator: self.is_administrator() }
    }

    fn from_wire(author: wire::StopAuthor) -> Result<Author, CodecError> {
        let name = operator(&author.name, "StopAuthor.name")?;
        Ok(if author.administrator { Author::Administrator(name) } else { Author::Operator(name) })
    }
}

pub(super) fn put(entry: &StopEntry, format: u32) -> wire::StopRecord {
    let StopEntry { scope, author, reason, requester, since, changed, version, state, swept } = entry;
    wire::StopRecord {
        format,
        scope: Some(put_scope(scope)),
        author: author.put(),
        reason: reason.put(),
        requester: requester.put(),
        since: since.put(),
        changed: changed.put(),
        version: version.put(),
        lifting: *state == StopState::Lifting,
        swept: swept.put(),
    }
}

pub(super) fn take(record: wire::StopRecord) -> Result<StopEntry, CodecError> {
    Ok(StopEntry {
        scope: take_scope(record.scope)?,
        author: Field::take(record.author, "StopRecord.author")?,
        reason: record.reason,
        requester: record.requester,
        since: Field::take(record.since, "StopRecord.since")?,
        changed: Field::take(record.changed, "StopRecord.changed")?,
        version: record.version,
        state: if record.lifting { StopState::Lifting } else { StopState::Active },
        swept: record.swept,
    })
}

pub(super) fn put_audit(entry: &AuditEntry, format: u32) -> wire::StopAuditRecord {
    let AuditEntry { number, at, author, act, scope, reason, requester } = entry;
    wire::StopAuditRecord {
        format,
        number: number.put(),
        at: at.put(),
        author: author.put(),
        enabled: *act == Act::Enabled,
        scope: Some(put_scope(scope)),
        reason: reason.put(),
        requester: requester.put(),
    }
}

pub(super) fn take_audit(record: wire::StopAuditRecord) -> Result<AuditEntry, CodecError> {
    Ok(AuditEntry {
        number: record.number,
        at: Field::take(record.at, "StopAuditRecord.at")?,
        author: Field::take(record.author, "StopAuditRecord.author")?,
        act: if record.enabled { Act::Enabled } else { Act::Disabled },
        scope: take_scope(record.scope)?,
        reason: record.reason,
        requester: record.requester,
    })
}
