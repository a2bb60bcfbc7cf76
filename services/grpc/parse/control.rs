//! Requests about soft stops: what they cover, and whether the caller may.

use prost::Message;
use sha2::{Digest, Sha256};
use tables::OperatorId;
use tables::stops::{Author, Order, Scope, Shelf, StopEntry};
use tonic::Status;

use super::Fields;
use super::config::game;
use super::page::{ListMark, size};
use crate::grpc::request::Mutating;
use crate::grpc::status;
use crate::pb::v1;

/// Who calls: an operator, an administrator of the service, or, where nobody has a token, both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// The operator.
    pub operator: Option<OperatorId>,
    /// The administrator's name.
    pub administrator: Option<OperatorId>,
}

impl Caller {
    /// As whom he asks for something that is this operator's, or everybody's.
    fn author(&self, of: Option<&OperatorId>) -> Result<Author, Status> {
        let own = self.operator.as_ref().filter(|own| Some(*own) == of);
        let own = own.cloned().map(Author::Operator);
        let author = own.or_else(|| self.administrator.clone().map(Author::Administrator));
        author.ok_or_else(status::administrator_required)
    }

    /// The name by which his pages of lists are told from others'; nobody gets here without one.
    fn name(&self) -> Result<&OperatorId, Status> {
        self.operator.as_ref().or(self.administrator.as_ref()).ok_or_else(status::unauthenticated)
    }
}

fn operator_of(scope: &Scope) -> Option<&OperatorId> {
    match scope {
        Scope::Service | Scope::Game(None, _) => None,
        Scope::Operator(operator) | Scope::Game(Some(operator), _) | Scope::Player(operator, _) => {
            Some(operator)
        }
        Scope::Table(key) => Some(&key.operator),
    }
}

impl Fields {
    /// An operator by his name, or the caller's own.
    fn operator(&mut self, field: &str, caller: &Caller, name: &str) -> Option<OperatorId> {
        let named = if name.is_empty() { caller.operator.clone() } else { OperatorId::new(name) };
        self.check(field, named, "an operator's name: 1 to 64 small letters, digits, underscores or hyphens")
    }

    fn scope(&mut self, caller: &Caller, scope: Option<&v1::Scope>) -> Option<Scope> {
        use v1::scope::Scope as Sent;
        match scope.and_then(|scope| scope.scope.as_ref()) {
            None => {
                self.fault("scope", "one of service, operator, game, table and player");
                None
            }
            Some(Sent::Service(_)) => Some(Scope::Service),
            Some(Sent::Operator(sent)) => {
                self.operator("scope.operator.operator", caller, &sent.operator).map(Scope::Operator)
            }
            Some(Sent::Game(sent)) => {
                let everybody = sent.operator.is_empty() && caller.operator.is_none();
                let of = match everybody {
                    true => Some(None),
                    false => self.operator("scope.game.operator", caller, &sent.operator).map(Some),
                }?;
                Some(Scope::Game(of, self.choice::<v1::Game>("scope.game.game", sent.game).and_then(game)?))
            }
            Some(Sent::Table(sent)) => match &caller.operator {
                Some(own) => self.table_at("scope.table.table_id", own, &sent.table_id).map(Scope::Table),
                None => {
                    self.fault("scope.table", "another scope: single tables are their operators'");
                    None
                }
            },
            Some(Sent::Player(sent)) => {
                let of = self.operator("scope.player.operator", caller, &sent.operator)?;
                Some(Scope::Player(of, self.player("scope.player.player_id", &sent.player_id)?))
            }
        }
    }
}

fn order<M: Mutating>(
    caller: &Caller,
    message: &M,
    scope: Option<&v1::Scope>,
    (reason, requester): (&str, &str),
) -> Result<Order, Status> {
    let mut f = Fields::default();
    let id = f.request_id(message.request_id());
    let scope = f.scope(caller, scope);
    let reason = f.text("reason", reason, 1..=200);
    let requester = f.text("requester", requester, 1..=100);
    let all = || Some((id?, scope?, reason?, requester?));
    let value = all();
    let (id, scope, reason, requester) = f.done(value)?;
    let author = caller.author(operator_of(&scope))?;
    let request = tables::Request { id, payload: message.fingerprint() };
    Ok(Order { author, scope, reason, requester, request })
}

/// # Errors
/// INVALID_ARGUMENT with every fault; PERMISSION_DENIED if the scope is not the caller's.
pub fn disable_scope(caller: &Caller, m: &v1::DisableScopeRequest) -> Result<Order, Status> {
    order(caller, m, m.scope.as_ref(), (&m.reason, &m.requester))
}

/// # Errors
/// As [`disable_scope`].
pub fn enable_scope(caller: &Caller, m: &v1::EnableScopeRequest) -> Result<Order, Status> {
    order(caller, m, m.scope.as_ref(), (&m.reason, &m.requester))
}

/// Where a stop stands in a list: those of the service first, then by age. It stays there whatever comes or goes.
pub type Place = [u8; 16];

/// A page of a list about stops.
#[derive(Debug)]
pub struct Page<const N: usize> {
    /// Whose; `None`: those of the service only.
    pub operator: Option<OperatorId>,
    /// The last one of the page before.
    pub after: Option<[u8; N]>,
    /// How many at most.
    pub size: usize,
    mark: ListMark,
}

impl<const N: usize> Page<N> {
    /// The token of the page after this place.
    #[must_use]
    pub fn token(&self, last: &[u8; N]) -> String {
        self.mark.token(last)
    }

    fn read(
        caller: &Caller,
        (method, filter): (&str, &[u8]),
        operator: &str,
        page: (i32, &str),
    ) -> Result<Page<N>, Status> {
        let mut f = Fields::default();
        let size = size(&mut f, page.0);
        let service = operator.is_empty() && caller.operator.is_none();
        let of = if service { Some(None) } else { f.operator("operator", caller, operator).map(Some) };
        let (size, operator) = f.done(size.zip(of))?;
        caller.author(operator.as_ref())?;
        let mark = ListMark::new(caller.name()?, method, filter);
        let after = mark.place(page.1)?;
        Ok(Page { operator, after, size, mark })
    }
}

/// # Errors
/// INVALID_ARGUMENT with every fault, or for the page token; PERMISSION_DENIED if the operator is another one.
pub fn list_disabled(caller: &Caller, m: &v1::ListDisabledRequest) -> Result<Page<16>, Status> {
    let bare = v1::ListDisabledRequest { page_size: 0, page_token: String::new(), ..m.clone() };
    let list = ("ListDisabled", &bare.encode_to_vec()[..]);
    Page::read(caller, list, &m.operator, (m.page_size, &m.page_token))
}

/// # Errors
/// As [`list_disabled`].
pub fn list_stop_audit(caller: &Caller, m: &v1::ListStopAuditRequest) -> Result<Page<8>, Status> {
    let bare = v1::ListStopAuditRequest { page_size: 0, page_token: String::new(), ..m.clone() };
    let list = ("ListStopAudit", &bare.encode_to_vec()[..]);
    Page::read(caller, list, &m.operator, (m.page_size, &m.page_token))
}

/// The place of a stop in a list.
#[must_use]
pub fn place(entry: &StopEntry) -> Place {
    let own = u64::from(entry.scope.shelf() != Shelf::Service) << 63;
    let name: [u8; 32] = Sha256::digest(entry.name().to_string()).into();
    let mut place = [0; 16];
    place[..8].copy_from_slice(&(own | entry.since.0).to_be_bytes());
    place[8..].copy_from_slice(&name[..8]);
    place
}
