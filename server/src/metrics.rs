//! The figures of this process, as Prometheus reads them. Names are those of the OpenTelemetry conventions for HTTP and
//! MCP where they define one. No label has values from outside: routes are templates, tools and methods are the
//! existing ones.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, SystemTime};

use http::Method;
use mcp_proto::Operation;
use mcp_proto::budget::Usage;
use mcp_proto::session::MemorySessions;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry, Unit};

use crate::store::Size;

/// Bucket bounds in seconds, from OpenTelemetry's conventions: for HTTP requests, and for MCP operations.
const HTTP_BUCKETS: [f64; 14] =
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
const MCP_BUCKETS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// Bucket bounds for appends to the log, in seconds: an fsync takes between a tenth of a millisecond and seconds.
const APPEND_BUCKETS: [f64; 13] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

/// The metrics of this process.
static METRICS: LazyLock<Metrics> = LazyLock::new(Metrics::new);

/// Counts the sessions if they are not in memory alone.
static SESSIONS_ELSEWHERE: OnceLock<Box<dyn Fn() -> usize + Send + Sync>> = OnceLock::new();

type Durations<L> = Family<L, Histogram, fn() -> Histogram>;

struct Metrics {
    registry: Registry,
    http: Durations<HttpLabels>,
    mcp: Durations<McpLabels>,
    commands: Family<OutcomeLabels, Counter>,
    append: Histogram,
    universes: Gauge,
    size: Gauge,
    free: Gauge,
    write_ahead: Gauge,
    readers: Gauge,
    sessions: Gauge,
    open_sessions: Arc<MemorySessions>,
    used: Family<BoundLabels, Gauge>,
    limit: Family<BoundLabels, Gauge>,
    refused: Family<BoundLabels, Counter>,
    dropped_lines: Counter,
    memory: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HttpLabels {
    http_request_method: &'static str,
    http_route: &'static str,
    http_response_status_code: u32,
    error_type: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct McpLabels {
    mcp_method_name: String,
    gen_ai_tool_name: String,
    error_type: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BoundLabels {
    bound: &'static str,
}

/// An open feed. It is counted until this is dropped.
pub(crate) struct Reader(());

/// Counts an HTTP request. The duration of a stream ends when it begins.
pub(crate) fn request(method: &Method, route: &'static str, status: u16, duration: Duration) {
    let labels = HttpLabels {
        http_request_method: known_method(method),
        http_route: route,
        http_response_status_code: status.into(),
        error_type: match status {
            500.. => status.to_string(),
            _ => String::new(),
        },
    };
    let histogram = METRICS.http.get_or_create(&labels);
    histogram.observe(duration.as_secs_f64());
}

/// Counts an MCP request.
pub(crate) fn operation(operation: &Operation) {
    let labels = McpLabels {
        mcp_method_name: operation.method.clone(),
        gen_ai_tool_name: operation.tool.clone().unwrap_or_default(),
        error_type: operation.error.map(|error| error.to_string()).unwrap_or_default(),
    };
    let histogram = METRICS.mcp.get_or_create(&labels);
    histogram.observe(operation.duration.as_secs_f64());
}

/// Counts commands by their outcome.
pub(crate) fn commands(outcome: &'static str, count: usize) {
    let labels = OutcomeLabels { outcome };
    METRICS.commands.get_or_create(&labels).inc_by(count as u64);
}

/// Counts an attempt to write a batch to the store, with its duration.
pub(crate) fn appended(duration: Duration) {
    METRICS.append.observe(duration.as_secs_f64());
}

/// The in-memory store of sessions, which is counted.
pub(crate) fn sessions() -> Arc<MemorySessions> {
    Arc::clone(&METRICS.open_sessions)
}

/// Sets a function that counts sessions in another store than [`sessions`].
pub(crate) fn count_sessions(count: impl Fn() -> usize + Send + Sync + 'static) {
    // There is one store in a process. A second function is ignored.
    let _ = SESSIONS_ELSEWHERE.set(Box::new(count));
}

/// All metrics as text in the format of OpenMetrics. The arguments have the values that are kept elsewhere.
pub(crate) fn render(
    universes: Option<u64>,
    size: Option<Size>,
    usage: &[Usage],
) -> Result<String, fmt::Error> {
    let metrics = &*METRICS;
    if let Some(universes) = universes {
        metrics.universes.set(universes.cast_signed());
    }
    if let Some(Size { file, free, log }) = size {
        metrics.size.set(file.cast_signed());
        metrics.free.set(free.cast_signed());
        metrics.write_ahead.set(log.cast_signed());
    }
    let sessions = match SESSIONS_ELSEWHERE.get() {
        Some(count) => count(),
        None => metrics.open_sessions.len(),
    };
    metrics.sessions.set(signed(sessions));
    for usage in usage {
        let labels = BoundLabels { bound: usage.kind.name() };
        metrics.used.get_or_create(&labels).set(signed(usage.held));
        metrics.limit.get_or_create(&labels).set(signed(usage.max));
        let refused = metrics.refused.get_or_create(&labels);
        refused.inner().store(usage.refused as u64, Ordering::Relaxed);
    }
    let dropped = service_host::dropped_lines() as u64;
    metrics.dropped_lines.inner().store(dropped, Ordering::Relaxed);
    metrics.memory.set(resident_bytes().unwrap_or_default());
    let mut text = String::new();
    text::encode(&mut text, &metrics.registry)?;
    Ok(text)
}

impl Reader {
    pub(crate) fn open() -> Self {
        METRICS.readers.inc();
        Self(())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        METRICS.readers.dec();
    }
}

impl Metrics {
    fn new() -> Self {
        let mut all = Adding(Registry::default());
        let metrics = Self {
            http: all.seconds(
                "http_server_request_duration",
                "Time until a response began",
                Family::new_with_constructor(|| Histogram::new(HTTP_BUCKETS)),
            ),
            mcp: all.seconds(
                "mcp_server_operation_duration",
                "Time until a request of MCP was answered, over HTTP and on pipes",
                Family::new_with_constructor(|| Histogram::new(MCP_BUCKETS)),
            ),
            commands: all.plain(
                "universe_commands",
                "Commands by their outcome: done and durable, or refused",
            ),
            append: all.seconds(
                "universe_store_append_duration",
                "Time until a batch of commands was durable",
                Histogram::new(APPEND_BUCKETS),
            ),
            universes: all.plain("universe_universes", "Universes"),
            size: all.bytes(
                "universe_store_size",
                "The file of the universes; 0 where they are in memory alone",
            ),
            free: all.bytes("universe_store_free", "The part of it that is free"),
            write_ahead: all.bytes("universe_store_log", "The write-ahead log beside it"),
            readers: all.plain("universe_feed_readers", "Open feeds of REST"),
            sessions: all
                .plain("mcp_server_sessions", "Sessions of the older revisions of MCP over HTTP"),
            open_sessions: Arc::default(),
            used: all.plain(
                "universe_budget_used",
                "What clients make the server hold: places, or bytes of memory",
            ),
            limit: all.plain("universe_budget_limit", "What they may make it hold"),
            refused: all
                .plain("universe_budget_refusals", "Requests that were refused for a bound"),
            dropped_lines: all.plain(
                "universe_log_dropped_lines",
                "Lines of the log that were dropped since it is read too slowly",
            ),
            memory: all.bytes("process_resident_memory", "Memory of the process"),
            registry: Registry::default(),
        };
        let began = "When the process began, since 1970";
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let since = since.map_or(0, |since| since.as_secs().cast_signed());
        all.seconds("process_start_time", began, Gauge::<i64>::default()).set(since);
        let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        all.0.register("universe_server", "The program", version);
        Self { registry: all.0, ..metrics }
    }
}

/// The registry while metrics are added to it, each of which is returned to be counted.
struct Adding(Registry);

impl Adding {
    fn plain<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M {
        let metric = M::default();
        self.0.register(name, help, metric.clone());
        metric
    }

    fn bytes(&mut self, name: &str, help: &str) -> Gauge {
        self.in_unit(Unit::Bytes, name, help, Gauge::default())
    }

    fn seconds<M: Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.in_unit(Unit::Seconds, name, help, metric)
    }

    fn in_unit<M: Metric + Clone>(&mut self, unit: Unit, name: &str, help: &str, metric: M) -> M {
        self.0.register_with_unit(name, help, unit, metric.clone());
        metric
    }
}

/// The name of a known method. All other methods share one name.
pub(crate) fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The resident memory of the process, if the system reports it.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
