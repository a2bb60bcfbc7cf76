//! The way of a call's spans to the collector: a queue of bounded length, and a thread that empties it. Whoever ends a span
//! puts it there and goes on; what does not fit, or does not get there, is counted.
//!
//! Our own instead of the SDK's batch processor, which drops without a word and needs somebody else's runtime.

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    SdkTracer, SdkTracerProvider, Span, SpanData, SpanExporter as Exporter, SpanProcessor,
};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::counts::{SpanDrop, TraceCounts};
use super::sampling::Sampling;
use super::{CallTraces, exporter_to, resource};

/// So many spans wait for the collector at most.
const QUEUE: usize = 8192;
/// So many are sent together.
const BATCH: usize = 512;
/// The longest that a span waits for company.
const COMPANY: Duration = Duration::from_millis(500);
/// How often a batch is sent again that was not taken, after pauses that double.
const AGAIN: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The log tells of what is lost not more often than this.
const COMPLAINT: Duration = Duration::from_secs(30);

/// Takes the spans of calls to the collector.
pub struct Pipeline {
    provider: SdkTracerProvider,
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    spans: Mutex<Vec<SpanData>>,
    /// Rings when a batch is there, and at the end.
    bell: Notify,
    closing: AtomicBool,
    /// Everything that was in it is sent or given up.
    ended: AtomicBool,
    end: Notify,
    exported: AtomicU64,
    full: AtomicU64,
    failed: AtomicU64,
    counts: OnceLock<Arc<dyn TraceCounts>>,
}

impl Pipeline {
    /// Begins.
    ///
    /// # Errors
    /// If the endpoint is no address.
    pub fn start(settings: &CallTraces) -> Result<Arc<Pipeline>, ExporterBuildError> {
        let queue = Arc::new(Queue::default());
        let (told, built) = mpsc::sync_channel(1);
        let (of_thread, settings_of_thread) = (Arc::clone(&queue), settings.clone());
        let spawned = thread::Builder::new().name("fulcrum-traces".to_owned()).spawn(move || {
            // Its own runtime: tables do not wait for spans to be written, not even for a processor.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = told.send(Err(ExporterBuildError::InternalFailure(error.to_string())));
                    return;
                }
            };
            runtime.block_on(async {
                match exporter_to(&settings_of_thread.endpoint) {
                    Ok(mut exporter) => {
                        exporter.set_resource(&resource());
                        let _ = told.send(Ok(()));
                        of_thread.empty(&exporter).await;
                    }
                    Err(error) => {
                        let _ = told.send(Err(error));
                    }
                }
            });
        });
        let broken = |why: String| ExporterBuildError::InternalFailure(why);
        drop(spawned.map_err(|error| broken(error.to_string()))?);
        built.recv().map_err(|error| broken(error.to_string()))??;
        let provider = SdkTracerProvider::builder()
            .with_sampler(Sampling::of(settings))
            .with_resource(resource())
            .with_span_processor(Door(Arc::clone(&queue)))
            .build();
        Ok(Arc::new(Pipeline { provider, queue }))
    }

    /// What makes spans.
    #[must_use]
    pub fn tracer(&self) -> SdkTracer {
        self.provider.tracer("fulcrum")
    }

    /// From now on these count, with what was before.
    pub fn counted_by(&self, counts: Arc<dyn TraceCounts>) {
        if self.queue.counts.set(Arc::clone(&counts)).is_ok() {
            let [exported, full, failed] = self.counted();
            counts.spans_exported(exported);
            counts.spans_dropped(SpanDrop::QueueFull, full);
            counts.spans_dropped(SpanDrop::ExportFailed, failed);
        }
    }

    /// Spans that the collector has, that did not fit in the queue, that the collector did not take.
    #[must_use]
    pub fn counted(&self) -> [u64; 3] {
        let Queue { exported, full, failed, .. } = &*self.queue;
        [exported, full, failed].map(|count| count.load(Ordering::Relaxed))
    }

    /// Sends what is still there, for so long at most. Spans that end later are lost.
    pub async fn finish(&self, within: Duration) {
        self.queue.closing.store(true, Ordering::Release);
        self.queue.bell.notify_one();
        let ended = async {
            loop {
                let end = self.queue.end.notified();
                if self.queue.ended.load(Ordering::Acquire) {
                    return;
                }
                end.await;
            }
        };
        if timeout(within, ended).await.is_err() {
            let lost = self.queue.lock().len();
            tracing::warn!(
                event = "spans_dropped",
                lost,
                "the collector did not take all spans before the end"
            );
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.queue.closing.store(true, Ordering::Release);
        self.queue.bell.notify_one();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Vec<SpanData>> {
        // A vector: nothing to be left half done.
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, span: SpanData) {
        let mut spans = self.lock();
        if spans.len() >= QUEUE || self.closing.load(Ordering::Relaxed) {
            drop(spans);
            self.dropped(SpanDrop::QueueFull, 1);
            return;
        }
        spans.push(span);
        // A bell for each span would wake the thread for each.
        let rings = spans.len() == BATCH;
        drop(spans);
        if rings {
            self.bell.notify_one();
        }
    }

    fn dropped(&self, why: SpanDrop, count: u64) {
        let own = if why == SpanDrop::QueueFull { &self.full } else { &self.failed };
        own.fetch_add(count, Ordering::Relaxed);
        if let Some(counts) = self.counts.get() {
            counts.spans_dropped(why, count);
        }
    }

    /// Sends what comes, until the end.
    async fn empty(&self, exporter: &SpanExporter) {
        let mut complaint = Complaint::default();
        loop {
            // An error says that nobody rang: what is there goes, however few.
            let _ = timeout(COMPANY, self.bell.notified()).await;
            let closing = self.closing.load(Ordering::Acquire);
            let waiting = mem::take(&mut *self.lock());
            let mut waiting = waiting.into_iter();
            loop {
                let batch: Vec<SpanData> = waiting.by_ref().take(BATCH).collect();
                if batch.is_empty() {
                    break;
                }
                self.send(exporter, batch, &mut complaint).await;
            }
            complaint.of(self);
            if closing && self.lock().is_empty() {
                self.ended.store(true, Ordering::Release);
                self.end.notify_waiters();
                return;
            }
        }
    }

    async fn send(&self, exporter: &SpanExporter, batch: Vec<SpanData>, complaint: &mut Complaint) {
        let count = batch.len() as u64;
        let mut pause = FIRST_PAUSE;
        for _ in 0..AGAIN {
            match exporter.export(batch.clone()).await {
                Ok(()) => return self.sent(count),
                Err(error) => complaint.why = error.to_string(),
            }
            sleep(pause).await;
            pause *= 2;
        }
        match exporter.export(batch).await {
            Ok(()) => self.sent(count),
            Err(error) => {
                complaint.why = error.to_string();
                self.dropped(SpanDrop::ExportFailed, count);
            }
        }
    }

    fn sent(&self, count: u64) {
        self.exported.fetch_add(count, Ordering::Relaxed);
        if let Some(counts) = self.counts.get() {
            counts.spans_exported(count);
        }
    }
}

/// Tells the log of what is lost, now and then.
#[derive(Default)]
struct Complaint {
    told: u64,
    last: Option<Instant>,
    why: String,
}

impl Complaint {
    fn of(&mut self, queue: &Queue) {
        let full = queue.full.load(Ordering::Relaxed);
        let lost = full + queue.failed.load(Ordering::Relaxed);
        if lost > self.told && self.last.is_none_or(|last| last.elapsed() >= COMPLAINT) {
            let (more, why) = (lost - self.told, mem::take(&mut self.why));
            tracing::warn!(
                event = "spans_dropped",
                lost = more,
                why,
                "spans were lost on their way to the collector"
            );
            (self.told, self.last) = (lost, Some(Instant::now()));
        }
    }
}

/// Where the SDK hands spans in.
struct Door(Arc<Queue>);

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Door")
    }
}

impl SpanProcessor for Door {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() {
            self.0.push(span);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.bell.notify_one();
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}
