//! Every call of the contract with missing, unknown, negative, oversized and stale fields: a precise refusal each, and
//! nothing has changed.

use std::collections::BTreeSet;

use prost_reflect::prost::Message;
use tonic::{Code, Status};
use tonic_types::StatusExt;

use super::super::harness::raw::Line;
use super::super::harness::{House, in_time, reason};
use super::contract::{Call, Put, calls, leaves, put};
use super::scene::Scene;
use super::table_of_faults::{FAULTS, FREE, Fault, is_about};

#[tokio::test]
async fn there_is_a_case_for_every_field_of_every_call() {
    let mut missing = BTreeSet::new();
    for call in calls() {
        for leaf in leaves(&call.input) {
            let faulty = FAULTS.iter().any(|fault| fault.path == leaf && is_about(fault.calls, &call.name));
            let free = FREE.iter().any(|(calls, path, _)| *path == leaf && is_about(calls, &call.name));
            if faulty == free {
                missing.insert(format!("{}.{leaf}", call.name));
            }
        }
    }
    assert!(missing.is_empty(), "without a case, or with contradicting ones: {missing:#?}");
    let used = |fault: &Fault| {
        let names = calls().into_iter().filter(|call| is_about(fault.calls, &call.name));
        names.map(|call| call.input).any(|input| has(&input, fault.path))
    };
    let idle: Vec<_> = FAULTS.iter().filter(|fault| !used(fault)).map(|fault| fault.path).collect();
    assert!(idle.is_empty(), "of no call: {idle:?}");
}

/// Whether the message has a field at this path.
fn has(message: &prost_reflect::MessageDescriptor, path: &str) -> bool {
    let all = leaves(message);
    all.iter().any(|leaf| leaf == path || leaf.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

#[tokio::test]
async fn a_faulty_field_is_named_and_nothing_changes() {
    let house = House::open().await;
    let (mut refusals, mut wrong) = (0, Vec::new());
    for call in calls() {
        let mut scene = Scene::set(&house, &call, None).await;
        let mut line = Line::open(house.address, None).await;
        let before = scene.mark().await;
        for fault in FAULTS.iter().filter(|f| is_about(f.calls, &call.name) && has(&call.input, f.path)) {
            for what in fault.put {
                let mut bad = scene.good.clone();
                put(&mut bad, fault.path, *what);
                let answer = in_time(line.first(&call.path, bad.encode_to_vec())).await;
                let checked = match answer {
                    Ok(_) => Err("accepted".into()),
                    Err(status) => check(fault, *what, &status),
                };
                wrong.extend(
                    checked.err().map(|why| format!("{} with {} {what:?}: {why}", call.name, fault.path)),
                );
                refusals += 1;
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(scene.mark().await, before, "{}: nothing has changed", call.name);
        fine(&mut line, &call, &scene).await;
    }
    println!("{refusals} refusals");
    assert!(refusals > 700, "{refusals}");
    house.close().await;
}

/// The request without a fault is accepted: it was the fault that was refused.
async fn fine(line: &mut Line, call: &Call, scene: &Scene) {
    let answer = in_time(line.first(&call.path, scene.good.encode_to_vec())).await;
    answer.unwrap_or_else(|status| panic!("{}: {status:?}", call.name));
}

/// What is wrong with the refusal, if something is.
fn check(fault: &Fault, what: Put, status: &Status) -> Result<(), String> {
    let demand = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{what}: {status:?}")) };
    demand(reason(status) == fault.reason, fault.reason)?;
    let code = match fault.reason {
        "INVALID_ARGUMENT" | "BAD_CONFIG" | "FIXED_SETTING" | "NO_SUCH_SEAT" | "PAGE_TOKEN_INVALID" => {
            Code::InvalidArgument
        }
        "HAND_UNKNOWN" | "CONSUMER_NOT_FOUND" | "SESSION_NOT_FOUND" | "PAYMENT_UNKNOWN" => Code::NotFound,
        "ETAG_MISMATCH" => Code::Aborted,
        _ => Code::FailedPrecondition,
    };
    demand(status.code() == code, "the code")?;
    demand(status.message().len() < 2_000, "a short message")?;
    let details = status.get_error_details();
    let violations = details.bad_request().map(|bad| bad.field_violations.clone()).unwrap_or_default();
    let Some(field) = fault.named else {
        return demand(violations.is_empty(), "no field is at fault by itself");
    };
    // A message that is missing misses its fields, too.
    let within =
        |name: &str| name.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    demand(violations.iter().any(|violation| violation.field == field), "the field is named")?;
    demand(violations.iter().all(|violation| within(&violation.field)), "and no other one")?;
    demand(violations.iter().all(|violation| violation.description.len() > 3), "with what would be right")?;
    match what {
        Put::Text(text) if text.len() > 3 => {
            demand(!status.message().contains(text), "what came in does not go out")
        }
        _ => Ok(()),
    }
}

#[tokio::test]
async fn a_field_of_which_every_value_is_legal_may_have_every_value() {
    let house = House::open().await;
    for call in calls() {
        for (_, path, what) in FREE.iter().filter(|f| is_about(f.0, &call.name) && has(&call.input, f.1)) {
            let mut scene = Scene::set(&house, &call, None).await;
            put(&mut scene.good, path, *what);
            fine(&mut Line::open(house.address, None).await, &call, &scene).await;
        }
    }
    house.close().await;
}

/// All faults of a message are told at once.
#[tokio::test]
async fn a_message_without_anything_has_all_its_required_fields_named() {
    let house = House::open().await;
    let mut line = Line::open(house.address, None).await;
    for call in calls() {
        let answer = in_time(line.first(&call.path, Vec::new())).await;
        let wanted: BTreeSet<_> = FAULTS
            .iter()
            .filter(|fault| fault.reason == "INVALID_ARGUMENT" && !fault.path.contains('.'))
            .filter(|fault| is_about(fault.calls, &call.name) && has(&call.input, fault.path))
            .filter(|fault| fault.put.iter().any(|put| matches!(put, Put::Gone)))
            // An amount of no action is none; a hand of no table is no fault without a hand.
            .filter(|fault| {
                !["to", "tables[0].table_id"].contains(&fault.path)
                    && !["ListSettlements", "ListTransactions"].contains(&&*call.name)
            })
            .map(|fault| fault.path.to_owned())
            .collect();
        let named: BTreeSet<_> = match answer {
            Ok(_) => BTreeSet::new(),
            Err(status) => {
                let details = status.get_error_details();
                let bad = details.bad_request().map(|bad| bad.field_violations.clone()).unwrap_or_default();
                bad.into_iter().map(|violation| violation.field).collect()
            }
        };
        assert_eq!(named, wanted, "{}", call.name);
    }
    house.close().await;
}
