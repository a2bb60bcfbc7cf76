//! The process: its version, the runtime, and what the operating system gives it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use tokio::runtime::Handle;

use super::Register;
use super::lateness::Lateness;
use crate::telemetry::binary::{BUILD, State};
use crate::telemetry::names;

/// In which processor time is told: a hundredth of a second, on every machine of today.
const TICKS: f64 = 100.0;

type Seconds = Counter<f64, AtomicU64>;

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct OfVersion {
    version: &'static str,
}

/// The process.
pub struct Process {
    unchanged: Gauge,
    workers: Gauge,
    tasks: Gauge,
    late: Gauge<f64, AtomicU64>,
    lateness: Arc<Lateness>,
    busy: Seconds,
    cpu: Seconds,
    resident: Gauge,
    files: Gauge,
}

impl Process {
    pub(super) fn new(register: &mut Register) -> Process {
        let build: Family<OfVersion, Gauge> = Family::default();
        build.get_or_create(&OfVersion { version: BUILD.version }).set(1);
        let process = Process {
            unchanged: Gauge::default(),
            workers: Gauge::default(),
            tasks: Gauge::default(),
            late: Gauge::default(),
            lateness: Arc::default(),
            busy: Seconds::default(),
            cpu: Seconds::default(),
            resident: Gauge::default(),
            files: Gauge::default(),
        };
        // Until the first look, a moment later, nothing speaks against it.
        process.unchanged.set(1);
        register.enter(&names::BUILD_INFO, build);
        register.enter(&names::BINARY_UNCHANGED, process.unchanged.clone());
        register.enter(&names::RUNTIME_WORKERS, process.workers.clone());
        register.enter(&names::RUNTIME_TASKS, process.tasks.clone());
        register.enter(&names::RUNTIME_LATE_SECONDS, process.late.clone());
        register.enter(&names::RUNTIME_BUSY_SECONDS, process.busy.clone());
        register.enter(&names::PROCESS_CPU_SECONDS, process.cpu.clone());
        register.enter(&names::PROCESS_RESIDENT_BYTES, process.resident.clone());
        register.enter(&names::PROCESS_OPEN_FDS, process.files.clone());
        process
    }

    /// How late tasks are, to be measured by [`super::lateness::run`].
    pub(super) fn lateness(&self) -> Arc<Lateness> {
        Arc::clone(&self.lateness)
    }

    /// The program's file was looked at.
    pub(super) fn binary_looked_at(&self, found: State) {
        self.unchanged.set(i64::from(found == State::Unchanged));
    }

    /// Looks how things are. Without a runtime, or on another system than Linux, something is missing.
    pub(super) fn look(&self) {
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        if let Ok(handle) = Handle::try_current() {
            let runtime = handle.metrics();
            self.workers.set(number(runtime.num_workers()));
            self.tasks.set(number(runtime.num_alive_tasks()));
            #[cfg(target_has_atomic = "64")]
            {
                let busy = |worker| runtime.worker_total_busy_duration(worker).as_secs_f64();
                put(&self.busy, (0..runtime.num_workers()).map(busy).sum());
            }
        }
        self.late.set(self.lateness.worst().as_secs_f64());
        if let Some(cpu) = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(processor_time) {
            put(&self.cpu, cpu);
        }
        if let Some(bytes) = fs::read_to_string("/proc/self/status").ok().as_deref().and_then(resident) {
            self.resident.set(bytes);
        }
        if let Some(files) = open_files() {
            self.files.set(files);
        }
    }
}

fn put(counter: &Seconds, value: f64) {
    counter.inner().store(value.to_bits(), Ordering::Relaxed);
}

/// User and system time; the program's name before them may hold anything.
fn processor_time(stat: &str) -> Option<f64> {
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((fields.next()?.ok()? + fields.next()?.ok()?) / TICKS)
}

fn resident(status: &str) -> Option<i64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Newer systems tell how many there are; in older ones they are counted, this look among them.
fn open_files() -> Option<i64> {
    let told = fs::metadata("/proc/self/fd").ok()?.len();
    let files = if told > 0 { told } else { fs::read_dir("/proc/self/fd").ok()?.count() as u64 };
    i64::try_from(files).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_and_memory_are_read_as_the_system_tells_them() {
        let stat = "4711 (a) b (c)) S 1 4711 4711 0 -1 4194560 1 0 0 0 250 75 0 0 20 0 9 0 1 2 3";
        assert_eq!(processor_time(stat), Some(3.25));
        assert_eq!(processor_time("4711 (x"), None);
        assert_eq!(resident("VmPeak:\t 9 kB\nVmRSS:\t    2048 kB\n"), Some(2048 * 1024));
        assert_eq!(resident("VmPeak:\t 9 kB\n"), None);
    }
}
