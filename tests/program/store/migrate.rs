//! `fulcrum store migrate`: it looks who is alive, asks, raises the format once, and never lowers it.

use fulcrum::store::codec::FORMAT;
use redb::{Database, TableDefinition};
use redis::Value;

use super::{folder_with_key, open_file, store_in, url};
use crate::child::{Server as Program, run};
use crate::servers::{Server, until};

const INSTALLATION: &str = "{fulcrum}:installation";

fn format_of(server: &Server) -> String {
    server.ask(&["HGET", INSTALLATION, "format"])
}

fn raised() -> String {
    format!("Raised from format 1 to {FORMAT}")
}

#[test]
fn an_installation_is_raised_once_all_servers_can() {
    let (_folder, key_file) = folder_with_key();
    let server = Server::start();
    let at = url(&server);
    let migrate = |more: &[&str]| run([&["store", "migrate", "--redis", &at][..], more].concat());
    let start = || Program::start(["--listen", "127.0.0.1:0", "--redis", &at, "--key-file", &key_file]);
    drop(start());
    // As the version before left it.
    let _: Value = server.ask(&["HDEL", INSTALLATION, "format"]);
    let _: Value = server.ask(&["DEL", "{fulcrum}:processes"]);
    let program = start();
    until("the server signs", || server.ask::<u64>(&["ZCARD", "{fulcrum}:processes"]) == 1);

    let (code, output, errors) = migrate(&[]);
    assert!(code == 2 && errors.contains("--yes"), "{output} {errors}");
    assert!(output.contains("format 1") && output.contains(&format!("knows format {FORMAT}")), "{output}");
    // A server of the version before signs its name only.
    let now = server.ask::<Vec<String>>(&["TIME"])[0].clone() + "000";
    let old = "6a36c1a2-0f1e-4c0b-8f6b-0123456789ab";
    let _: Value = server.ask(&["ZADD", "{fulcrum}:processes", &now, old]);
    let (code, output, errors) = migrate(&["--yes"]);
    assert!(code == 1 && output.contains(&format!("{old}  knows format 1")), "{output} {errors}");
    assert!(errors.contains("1 of the servers") && errors.contains("--force"), "{errors}");
    assert!(server.ask::<Option<String>>(&["HGET", INSTALLATION, "format"]).is_none(), "nothing was changed");
    let _: Value = server.ask(&["ZREM", "{fulcrum}:processes", old]);

    let (code, output, errors) = migrate(&["--yes"]);
    assert!(code == 0 && output.contains(&raised()), "{output} {errors}");
    assert_eq!(format_of(&server), FORMAT.to_string());
    let (code, output, _) = migrate(&["--yes", "--to", &FORMAT.to_string()]);
    assert!(code == 0 && output.contains("nothing to do"), "{output}");
    let beyond = format!("knows them up to {FORMAT}");
    for (to, words) in [(1, "cannot go back"), (FORMAT - 1, "cannot go back"), (FORMAT + 1, &beyond)] {
        let (code, _, errors) = migrate(&["--yes", "--force", "--to", &to.to_string()]);
        assert!(code == 2 && errors.contains(words), "{errors}");
    }
    assert_eq!(format_of(&server), FORMAT.to_string());
    // Nothing but the server's look for the format asks so.
    let _: Value = server.ask(&["CONFIG", "RESETSTAT"]);
    until("the server looks again, and has taken in what it saw", || {
        let stats: String = server.ask(&["INFO", "commandstats"]);
        stats.lines().any(|line| line.starts_with("cmdstat_hget:") && !line.contains("calls=1,"))
    });
    program.process.signal("TERM");
    let (code, _, errors) = program.process.wait();
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains("newer format"), "the server has followed: {errors}");
}

#[test]
fn an_older_server_can_be_left_behind_on_purpose() {
    let (_folder, key_file) = folder_with_key();
    let server = Server::start();
    let at = url(&server);
    drop(Program::start(["--listen", "127.0.0.1:0", "--redis", &at, "--key-file", &key_file]));
    let _: Value = server.ask(&["HSET", INSTALLATION, "format", "1"]);
    let now = server.ask::<Vec<String>>(&["TIME"])[0].clone() + "000";
    let old = "6a36c1a2-0f1e-4c0b-8f6b-0123456789ab";
    let _: Value = server.ask(&["ZADD", "{fulcrum}:processes", &now, old]);
    let (code, output, errors) = run(["store", "migrate", "--redis", &at, "--yes", "--force"]);
    assert!(code == 0 && output.contains(&raised()), "{output} {errors}");
}

#[test]
fn a_file_is_raised_by_hand_too() {
    let (folder, _) = folder_with_key();
    let (path, file) = store_in(&folder);
    drop(open_file(&path));
    let (code, output, _) = run(["store", "migrate", "--store", &file]);
    assert!(code == 0 && output.contains("nothing to do"), "{output}");
    {
        let database = Database::open(&path).unwrap();
        let transaction = database.begin_write().unwrap();
        let meta: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
        transaction.open_table(meta).unwrap().remove("format").unwrap();
        transaction.commit().unwrap();
    }
    let (code, _, errors) = run(["store", "migrate", "--store", &file]);
    assert!(code == 2 && errors.contains("--yes"), "{errors}");
    let (code, output, errors) = run(["store", "migrate", "--store", &file, "--yes"]);
    assert!(code == 0 && output.contains(&raised()), "{output} {errors}");
    let (code, output, _) = run(["store", "migrate", "--store", &file, "--yes"]);
    assert!(code == 0 && output.contains("nothing to do"), "{output}");
}
