//! Round trips to Redis as spans of the call that they are made for. No argument of a command is told.

use ::redis::{Arg, Cmd};

use super::config::Endpoint;
use super::fault::Fault;
use crate::telemetry::conventions::{DB_BATCH, DB_OPERATION, DB_SYSTEM, REDIS, SERVER_ADDRESS, SERVER_PORT};
use crate::telemetry::spans::{Child, Kind, child, is_told};

/// A round trip with these commands.
pub(super) fn trip(to: &Endpoint, commands: &[Cmd]) -> Child {
    if !is_told() {
        return Child::default();
    }
    let name = operation(commands);
    let trip = child(Kind::Client, &name);
    trip.set(DB_SYSTEM, REDIS);
    trip.set(DB_OPERATION, name);
    trip.set(SERVER_ADDRESS, to.host.clone());
    trip.set(SERVER_PORT, i64::from(to.port));
    if commands.len() > 1 {
        trip.set(DB_BATCH, i64::try_from(commands.len()).unwrap_or(i64::MAX));
    }
    trip
}

/// How it ended.
pub(super) fn told<T>(trip: &Child, result: &Result<T, Fault>) {
    match result {
        Ok(_) => {}
        Err(Fault::Refused(_)) => trip.failed("refused"),
        Err(Fault::Again(..)) => trip.failed("again"),
        Err(Fault::Unknown(_)) => trip.failed("unknown"),
    }
}

/// As the conventions name commands that are sent together.
fn operation(commands: &[Cmd]) -> String {
    let word = |command: &Cmd| match command.args_iter().next() {
        Some(Arg::Simple(word)) => String::from_utf8_lossy(word).into_owned(),
        _ => String::new(),
    };
    let Some((first, others)) = commands.split_first() else {
        return "PIPELINE".to_owned();
    };
    let first = word(first);
    match others {
        [] => first,
        others if others.iter().all(|other| word(other) == first) => format!("PIPELINE {first}"),
        _ => "PIPELINE".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::redis::cmd;

    #[test]
    fn commands_are_named_and_their_arguments_are_not() {
        let get = || {
            let mut get = cmd("GET");
            get.arg("{fulcrum:7}:state");
            get
        };
        assert_eq!(operation(&[get()]), "GET");
        assert_eq!(operation(&[get(), get()]), "PIPELINE GET");
        assert_eq!(operation(&[get(), cmd("TIME")]), "PIPELINE");
        assert_eq!(operation(&[]), "PIPELINE");
    }
}
