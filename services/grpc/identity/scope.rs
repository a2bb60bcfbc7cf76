//! Whose player a message is about. Every message of the contract says so, or does not compile; it is checked once, where
//! the message is opened.

use tonic::Status;

use super::{Caller, Role};
use crate::grpc::status;
use crate::pb::v1;

/// Whose player a message is about.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// Nobody's: it is about a table, or about what the operator has.
    Nobody,
    /// This one's: something that he does, or that is his.
    Player(&'a str),
    /// What these eyes see.
    Eyes(Option<&'a v1::Viewer>),
}

/// A message that says whose player it is about.
pub trait Scoped {
    /// Whose.
    fn about(&self) -> About<'_>;

    /// In whose name it is asked, where two people have to agree.
    fn person(&self) -> Option<&str> {
        None
    }
}

macro_rules! scoped {
    ($(nobody $nobody:ident;)* $(player $player:ident;)* $(person $person:ident;)* $(eyes $eyes:ident;)*) => {
        $(impl Scoped for v1::$nobody {
            fn about(&self) -> About<'_> {
                About::Nobody
            }
        })*
        $(impl Scoped for v1::$player {
            fn about(&self) -> About<'_> {
                About::Player(&self.player_id)
            }
        })*
        $(impl Scoped for v1::$person {
            fn about(&self) -> About<'_> {
                About::Nobody
            }

            fn person(&self) -> Option<&str> {
                Some(&self.requester)
            }
        })*
        $(impl Scoped for v1::$eyes {
            fn about(&self) -> About<'_> {
                About::Eyes(self.viewer.as_ref())
            }
        })*
        #[cfg(test)]
        const LISTED: [&[&str]; 4] = [
            &[$(stringify!($nobody)),*],
            &[$(stringify!($player)),*],
            &[$(stringify!($person)),*],
            &[$(stringify!($eyes)),*],
        ];
    };
}

scoped! {
    nobody AckSettlementsRequest;
    nobody CloseTableRequest;
    nobody CreateTableRequest;
    nobody DeleteConsumerRequest;
    nobody DisableScopeRequest;
    nobody EnableScopeRequest;
    nobody GetServerInfoRequest;
    nobody GetSettlementRequest;
    nobody ListConsumersRequest;
    nobody ListDisabledRequest;
    nobody ListStopAuditRequest;
    nobody ListTablesRequest;
    nobody PauseTableRequest;
    nobody ResumeTableRequest;
    nobody RetryTransactionRequest;
    nobody StreamSettlementsRequest;
    nobody UpdateTableRequest;
    nobody VoidHandRequest;
    player ActRequest;
    player AddChipsRequest;
    player GetSessionStatementRequest;
    player GetTrialBalanceRequest;
    player ListSettlementsRequest;
    player ListTransactionsRequest;
    player SeatPlayerRequest;
    player SelectPivotRequest;
    player SetPreferencesRequest;
    player ShowCardsRequest;
    player SitInRequest;
    player SitOutRequest;
    player StandUpRequest;
    person ConfirmResolutionRequest;
    person ProposeResolutionRequest;
    eyes GetTableRequest;
    eyes GetTurnRequest;
    eyes WatchTableRequest;
    eyes WatchTablesRequest;
}

/// Whose player the call is, for whoever counts them: the caller himself, or the one that his message names.
pub fn player<'a, T: Scoped>(caller: &'a Caller, message: &'a T) -> Option<&'a str> {
    if let Role::Player(own) = &caller.role {
        return Some(own.as_str());
    }
    let named = match message.about() {
        About::Nobody => None,
        About::Player(player) => Some(player),
        About::Eyes(viewer) => match viewer?.kind.as_ref()? {
            v1::viewer::Kind::PlayerId(player) => Some(player.as_str()),
            v1::viewer::Kind::Spectator(_) => None,
        },
    };
    named.filter(|player| !player.is_empty())
}

/// Whether the caller may ask this, of all that his role may ask.
///
/// # Errors
/// PERMISSION_DENIED if it is about another player, would show what his role does not see, or is asked in another's name.
pub fn check<T: Scoped>(caller: &Caller, message: &T) -> Result<(), Status> {
    let player = |about: &str| match &caller.role {
        Role::Player(own) if own.as_str() != about => Err(status::not_your_player()),
        _ => Ok(()),
    };
    match message.about() {
        About::Nobody => {}
        About::Player(about) => player(about)?,
        About::Eyes(viewer) => match viewer.and_then(|viewer| viewer.kind.as_ref()) {
            None | Some(v1::viewer::Kind::Spectator(_)) => {}
            Some(v1::viewer::Kind::PlayerId(_)) if matches!(caller.role, Role::Support | Role::Auditor) => {
                return Err(status::spectator_only());
            }
            Some(v1::viewer::Kind::PlayerId(about)) => player(about)?,
        },
    }
    match (message.person(), &caller.subject) {
        (Some(named), Some(own)) if named != own => Err(status::not_your_name()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grpc::identity::{RoleName, developer, rights};
    use crate::pb;
    use prost::Message;
    use prost_types::field_descriptor_proto::Type;
    use prost_types::{DescriptorProto, FileDescriptorSet};
    use rules::PlayerId;
    use tonic::Code;
    use tonic_types::StatusExt;

    fn caller(role: Role) -> Caller {
        Caller::of(developer().unwrap(), role)
    }

    fn reason<T: Scoped>(caller: &Caller, message: &T) -> Option<String> {
        let status = check(caller, message).err()?;
        assert_eq!(status.code(), Code::PermissionDenied);
        Some(status.get_error_details().error_info().unwrap().reason.clone())
    }

    fn eyes(player: Option<&str>) -> v1::WatchTableRequest {
        let kind = match player {
            Some(player) => v1::viewer::Kind::PlayerId(player.into()),
            None => v1::viewer::Kind::Spectator(v1::Spectator {}),
        };
        v1::WatchTableRequest { viewer: Some(v1::Viewer { kind: Some(kind) }), ..Default::default() }
    }

    #[test]
    fn a_call_is_its_players_or_the_one_that_it_names() {
        let (operator, ann) = (caller(Role::Operator), caller(Role::Player(PlayerId::new("ann").unwrap())));
        let act = |player: &str| v1::ActRequest { player_id: player.into(), ..Default::default() };
        assert_eq!(player(&operator, &act("bob")), Some("bob"));
        assert_eq!(player(&operator, &act("")), None);
        assert_eq!(player(&operator, &eyes(Some("bob"))), Some("bob"));
        assert_eq!(player(&operator, &eyes(None)), None);
        assert_eq!(player(&operator, &v1::WatchTableRequest::default()), None);
        assert_eq!(player(&operator, &v1::ListTablesRequest::default()), None);
        assert_eq!(player(&ann, &eyes(None)), Some("ann"), "what he sees as a spectator he sees himself");
    }

    /// What names a player inside another message is not compared with the caller: only those may ask it who are bound to
    /// no player.
    #[test]
    fn what_names_a_player_somewhere_inside_is_for_nobody_who_is_bound_to_one() {
        let set = FileDescriptorSet::decode(pb::DESCRIPTOR).unwrap();
        let messages: Vec<_> = set.file.iter().flat_map(|file| &file.message_type).collect();
        let named = |path: &str| {
            let name = path.rsplit('.').next().unwrap();
            *messages.iter().find(|message| message.name() == name).unwrap()
        };
        fn names_one<'a>(of: &'a DescriptorProto, named: &impl Fn(&str) -> &'a DescriptorProto) -> bool {
            of.field.iter().any(|field| match field.type_name() {
                "" => field.name() == "player_id",
                inner if inner.starts_with(".fulcrum.") && field.r#type() == Type::Message => {
                    names_one(named(inner), named)
                }
                _ => false,
            })
        }
        let mut inside = Vec::new();
        for file in &set.file {
            for service in &file.service {
                for method in &service.method {
                    let request = named(method.input_type());
                    let listed = LISTED[0].contains(&request.name()) || LISTED[2].contains(&request.name());
                    if !listed || !names_one(request, &named) {
                        continue;
                    }
                    inside.push(request.name());
                    let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                    for role in [RoleName::Player, RoleName::Support, RoleName::Auditor] {
                        assert!(!rights::of(&path).contains(&role), "{path}");
                    }
                }
            }
        }
        inside.sort_unstable();
        assert_eq!(inside, ["DisableScopeRequest", "EnableScopeRequest"]);
    }

    /// A field that names a player or a viewer must not be overlooked.
    #[test]
    fn every_request_is_in_the_list_that_its_fields_ask_for() {
        let set = FileDescriptorSet::decode(pb::DESCRIPTOR).unwrap();
        let messages: Vec<_> = set.file.iter().flat_map(|file| &file.message_type).collect();
        let methods = set.file.iter().flat_map(|file| &file.service).flat_map(|service| &service.method);
        let mut wanted = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for method in methods {
            let name = method.input_type().rsplit('.').next().unwrap();
            let message = messages.iter().find(|message| message.name() == name).unwrap();
            let has = |field: &str| message.field.iter().any(|known| known.name() == field);
            let list = match name {
                // A name that is written down and agrees with nobody: the backend vouches for it.
                "DisableScopeRequest"
                | "EnableScopeRequest"
                | "VoidHandRequest"
                | "RetryTransactionRequest" => 0,
                _ if has("viewer") => 3,
                _ if has("player_id") => 1,
                _ if has("requester") => 2,
                _ => 0,
            };
            wanted[list].push(name);
        }
        for (listed, mut wanted) in LISTED.iter().zip(wanted) {
            wanted.sort_unstable();
            assert_eq!(*listed, wanted);
        }
    }

    #[test]
    fn a_player_acts_and_sees_for_himself_only() {
        let ann = caller(Role::Player(PlayerId::new("ann").unwrap()));
        let act = |player: &str| v1::ActRequest { player_id: player.into(), ..Default::default() };
        assert_eq!(reason(&ann, &act("ann")), None);
        for other in ["bob", "", "Ann", "ann "] {
            assert_eq!(reason(&ann, &act(other)).as_deref(), Some("NOT_YOUR_PLAYER"), "{other:?}");
        }
        assert_eq!(reason(&ann, &v1::WatchTableRequest::default()), None, "nobody's eyes are a spectator's");
        assert_eq!((reason(&ann, &eyes(None)), reason(&ann, &eyes(Some("ann")))), (None, None));
        assert_eq!(reason(&ann, &eyes(Some("bob"))).as_deref(), Some("NOT_YOUR_PLAYER"));
        // A list without a player is one of all of them.
        let all = v1::ListTransactionsRequest::default();
        assert_eq!(reason(&ann, &all).as_deref(), Some("NOT_YOUR_PLAYER"));
    }

    #[test]
    fn who_only_looks_sees_what_a_spectator_sees() {
        for role in [Role::Support, Role::Auditor] {
            let caller = caller(role);
            assert_eq!(reason(&caller, &eyes(None)), None);
            assert_eq!(reason(&caller, &eyes(Some("ann"))).as_deref(), Some("SPECTATOR_ONLY"));
            let of_ann = v1::GetSessionStatementRequest { player_id: "ann".into(), ..Default::default() };
            assert_eq!(reason(&caller, &of_ann), None);
        }
        assert_eq!(reason(&caller(Role::Operator), &eyes(Some("ann"))), None);
    }

    #[test]
    fn who_has_a_name_asks_in_no_other() {
        let propose = |by: &str| v1::ProposeResolutionRequest { requester: by.into(), ..Default::default() };
        let confirm = |by: &str| v1::ConfirmResolutionRequest { requester: by.into(), ..Default::default() };
        let ada = Caller { subject: Some("ada".into()), ..caller(Role::Operator) };
        assert_eq!((reason(&ada, &propose("ada")), reason(&ada, &confirm("ada"))), (None, None));
        for other in ["bea", "", "Ada"] {
            assert_eq!(reason(&ada, &propose(other)).as_deref(), Some("NOT_YOUR_NAME"));
            assert_eq!(reason(&ada, &confirm(other)).as_deref(), Some("NOT_YOUR_NAME"));
        }
        assert_eq!(reason(&caller(Role::Operator), &confirm("whoever")), None, "nobody's own credentials");
    }
}
