//! What a process has taken of the machine, as Linux tells it.

use std::fs;

use crate::cli::failure::Failure;

/// Linux counts a process's CPU in so many µs for everybody who reads it, whatever the kernel's own ticks are.
const TICK_US: u64 = 10_000;

/// CPU of a process until now, of all its threads, in µs.
///
/// # Errors
/// [`Failure::Failed`] if that cannot be read.
pub fn cpu(process: u32) -> Result<u64, Failure> {
    let path = format!("/proc/{process}/stat");
    let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    ticks(&text).map(|ticks| ticks * TICK_US).ok_or_else(|| unreadable(&path, &"it looks different"))
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

/// Time in user mode and in the kernel. The name of the program, in brackets, may have anything in it.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
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
    fn time_and_memory_are_found_whatever_the_program_is_called() {
        let stat = "42 (a ) b) S 1 42 42 0 -1 4194560 900 0 0 0 130 17 5 5 20 0 4 0 1 2 3";
        assert_eq!(ticks(stat), Some(147));
        assert_eq!(resident("Name:\tx\nVmHWM:\t  90 kB\nVmRSS:\t  64 kB\n"), Some(65_536));
        assert_eq!((ticks("42"), resident("")), (None, None));
    }

    #[test]
    fn this_process_has_used_something() {
        let us = std::process::id();
        assert!(memory(us).unwrap() > 1 << 20);
        let begun = cpu(us).unwrap();
        while cpu(us).unwrap() == begun {
            std::hint::black_box((0..1_000_000_u64).sum::<u64>());
        }
    }
}
