//! Who calls, and what he may: credentials, roles, the table of rights, and whose player a message is about.
//!
//! A call's caller is found out once, before anything else is looked at, and lies beside the call from then on. What is
//! asked of him is refused in three steps: by [`rights`] for his role, by [`scope`] for the player that the message is
//! about, and by the tables themselves, which know each operator's things under his name only.

pub mod certificates;
pub mod credentials;
pub mod insecure;
pub mod jwt;
pub mod rights;
pub mod scope;
pub mod tokens;

use rules::PlayerId;
use tables::OperatorId;
use tokio::time::Instant;

pub use credentials::Credentials;

const DEVELOPER: &str = "dev";

/// Who everybody is where no credentials are asked for.
pub fn developer() -> Option<OperatorId> {
    OperatorId::new(DEVELOPER)
}

/// As what somebody calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// An operator's backend.
    Operator,
    /// One of an operator's players, and nobody else.
    Player(PlayerId),
    /// Who helps an operator's players. He sees no card that a spectator does not see, and changes nothing.
    Support,
    /// Who checks an operator's books, likewise.
    Auditor,
    /// Who runs the service. He has no tables.
    Administrator,
}

impl Role {
    /// The role without its player.
    #[must_use]
    pub const fn name(&self) -> RoleName {
        match self {
            Role::Operator => RoleName::Operator,
            Role::Player(_) => RoleName::Player,
            Role::Support => RoleName::Support,
            Role::Auditor => RoleName::Auditor,
            Role::Administrator => RoleName::Administrator,
        }
    }
}

/// A role without its player.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RoleName {
    /// [`Role::Operator`]
    Operator,
    /// [`Role::Player`]
    Player,
    /// [`Role::Support`]
    Support,
    /// [`Role::Auditor`]
    Auditor,
    /// [`Role::Administrator`]
    Administrator,
}

impl RoleName {
    /// All of them.
    pub const ALL: [RoleName; 5] =
        [RoleName::Operator, RoleName::Player, RoleName::Support, RoleName::Auditor, RoleName::Administrator];

    /// As credentials spell it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RoleName::Operator => "operator",
            RoleName::Player => "player",
            RoleName::Support => "support",
            RoleName::Auditor => "auditor",
            RoleName::Administrator => "administrator",
        }
    }
}

/// An administrator of the service, by his name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Administrator(pub OperatorId);

/// Who calls. Lies in the extensions of every request that was let in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// Whose things he may ask for; an administrator has none.
    pub operator: Option<OperatorId>,
    /// As what he calls.
    pub role: Role,
    /// The person or system that the credentials are of, where they say so: a token's `sub`.
    pub subject: Option<String>,
    /// The administrator. Where no credentials are asked for, the operator `dev` is one too.
    pub administrator: Option<Administrator>,
    /// When his token runs out, if it does: what he has begun with it ends then.
    pub until: Option<Instant>,
}

impl Caller {
    /// Somebody of an operator, of whom no more is known.
    #[must_use]
    pub const fn of(operator: OperatorId, role: Role) -> Caller {
        Caller { operator: Some(operator), role, subject: None, administrator: None, until: None }
    }
}
