//! Processes of the program, ended with the test that started them.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
pub const LONG: Duration = Duration::from_secs(120);

/// The program with these arguments, without settings from the surroundings.
pub fn fulcrum<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(arguments: I) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fulcrum"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("FULCRUM_") {
            command.env_remove(name);
        }
    }
    command
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program to its end: exit code, output, errors.
pub fn run<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(arguments: I) -> (i32, String, String) {
    ended(fulcrum(arguments).output().unwrap())
}

/// What a process that has ended left.
pub fn ended(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

/// A running process. It is killed when this goes.
pub struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// Reads its errors, so that it never waits for somebody to do so.
    errors: Option<JoinHandle<String>>,
}

impl Running {
    /// Starts it.
    pub fn start(mut command: Command) -> Running {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut from = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut errors = Vec::new();
            let _ = from.read_to_end(&mut errors);
            String::from_utf8_lossy(&errors).into_owned()
        });
        Running { child, lines, errors: Some(errors) }
    }

    /// The next line of its output; empty at the end of it.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// The process's number.
    #[allow(dead_code)]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal: `TERM`, `INT`.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Whether it has ended by itself.
    #[allow(dead_code)]
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end: exit code, the rest of its output, its errors.
    pub fn wait(mut self) -> (i32, String, String) {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > LONG => panic!("it does not end"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let mut output = String::new();
        self.lines.read_to_string(&mut output).unwrap();
        let errors = self.errors.take().unwrap().join().unwrap();
        (status.code().unwrap_or(-1), output, errors)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that is ready.
pub struct Server {
    /// The process.
    pub process: Running,
    /// What it said when it was ready.
    pub greeting: String,
    /// Where it is, as `127.0.0.1:1234`.
    pub address: String,
}

impl Server {
    /// Starts `fulcrum serve` with these arguments and waits until it is ready.
    pub fn start<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(arguments: I) -> Server {
        Server::of(fulcrum([OsStr::new("serve")]), arguments)
    }

    /// Adds the arguments to this command, starts it and waits until it is ready.
    pub fn of<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut command: Command, arguments: I) -> Server {
        command.args(arguments);
        let mut process = Running::start(command);
        let greeting = process.line();
        let Some(address) = greeting.split("://").nth(1).and_then(|rest| rest.split(' ').next()) else {
            let (code, output, errors) = process.wait();
            panic!("not ready: {greeting:?} {code} {output} {errors}");
        };
        let address = address.to_owned();
        Server { process, greeting, address }
    }
}
