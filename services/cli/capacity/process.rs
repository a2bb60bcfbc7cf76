//! What a process has taken of the machine, as Linux tells it.

use std::fs;

use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use crate::cli::failure::Failure;

/// CPU of a process until now, of all its threads, in µs: from its clock, since /proc counts in steps of 10 ms, and a short
/// measurement is over in a few of them.
///
/// # Errors
/// [`Failure::Failed`] if that cannot be read.
pub fn cpu(process: u32) -> Result<u64, Failure> {
    let unknown = || {
        Failure::Failed(format!("what process {process} takes of the CPU cannot be read: it is not there"))
    };
    let id = Pid::from_raw(i32::try_from(process).map_err(|_| unknown())?);
    let used = clock_getcpuclockid(id).and_then(clock_gettime).map_err(|_| unknown())?;
    let used = std::time::Duration::from(used).as_micros();
    u64::try_from(used).map_err(|_| unknown())
}

/// Memory of a process that is in use now, in bytes.
///
/// # Errors
/// [`Failure::Failed`] if that cannot be read.
pub fn memory(process: u32) -> Result<u64, Failure> {
    let path = format!("/proc/{process}/status");
    let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    resident(&text).ok_or_else(|| unreadable(&path, &"it looks different"))
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

fn unreadable(path: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::Failed(format!(
        "{path} cannot be read: {error}\n\nMeasuring needs Linux, whose /proc says what a process has used."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_found() {
        assert_eq!(resident("Name:\tx\nVmHWM:\t  90 kB\nVmRSS:\t  64 kB\n"), Some(65_536));
        assert_eq!(resident(""), None);
    }

    #[test]
    fn this_process_has_used_something() {
        let us = std::process::id();
        assert!(memory(us).unwrap() > 1 << 20);
        let begun = cpu(us).unwrap();
        let started = std::time::Instant::now();
        while started.elapsed().as_millis() < 3 {
            std::hint::black_box((0..1_000_u64).sum::<u64>());
        }
        let used = cpu(us).unwrap() - begun;
        assert!(used > 0 && used != 10_000, "finer than a tick: {used} us");
        assert!(matches!(cpu(u32::MAX), Err(Failure::Failed(_))));
    }
}
