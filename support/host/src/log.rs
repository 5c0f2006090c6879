//! The log: lines on stderr, written by a separate thread, so that a log that is not read delays no request.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

/// How many lines wait to be written. A client that asks faster than the log is read must not slow the others down:
/// further lines are dropped, and counted.
const MAX_WAITING_LINES: usize = 4_096;

/// How often lines that were dropped are reported.
const REPORT: Duration = Duration::from_secs(5);

/// The thread that writes; nothing before the log was set up and after its end.
static WRITER: Mutex<Option<Writer>> = Mutex::new(None);

/// The way to the thread that writes.
struct Writer {
    lines: NonBlocking,
    /// How many lines could not be written.
    errors: ErrorCounter,
    /// Writes what is waiting when it is dropped.
    _guard: WorkerGuard,
}

/// How a line of the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

/// Logs go to stderr, never to stdout: that may belong to the protocol. `RUST_LOG` goes before `filter`, a directive
/// such as `warn`, to which the lines of [`guard`](crate::guard) are added unless it says `audit=off`. If stderr is no
/// longer read, only log lines are lost.
pub fn log_to_stderr(filter: &str) {
    log_to_stderr_as(filter, LogFormat::Text);
}

/// [`log_to_stderr`] in a format.
pub fn log_to_stderr_as(filter: &str, format: LogFormat) {
    let log = tracing_subscriber::fmt()
        .with_writer(writer())
        // It would report a closed stderr on stderr, and panic.
        .log_internal_errors(false)
        .with_ansi(io::stderr().is_terminal())
        .with_env_filter(
            EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| EnvFilter::new(format!("audit=info,{filter}"))),
        );
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}

/// A text without characters that a terminal obeys, as names from outside may have: control characters and those that
/// turn the direction of what follows are replaced by U+FFFD, all but the end of a line and the tabulator.
#[must_use]
pub fn visible(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(visible).collect()
}

/// How many lines of the log were dropped because it is read too slowly.
#[must_use]
pub fn dropped_lines() -> usize {
    let dropped = writing()
        .as_ref()
        .map(|writer| writer.errors.dropped_lines());
    dropped.unwrap_or_default()
}

/// Prints a message for the person who started the program, on stderr, after earlier log lines. If stderr is no longer
/// read, it is lost.
pub fn say(text: &str) {
    let line = format!("{text}\n");
    let lines = writing().as_ref().map(|writer| writer.lines.clone());
    let _ = match lines {
        Some(mut lines) => lines.write_all(line.as_bytes()),
        None => io::stderr().lock().write_all(line.as_bytes()),
    };
}

fn writer() -> NonBlocking {
    let (lines, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(MAX_WAITING_LINES)
        .thread_name("log")
        .finish(io::stderr());
    *writing() = Some(Writer {
        lines: lines.clone(),
        errors: lines.error_counter(),
        _guard: guard,
    });
    lines
}

/// Says in the log how many lines were dropped, for ever.
pub(crate) async fn report_losses() {
    let mut reports = tokio::time::interval(REPORT);
    let mut before = 0;
    loop {
        reports.tick().await;
        let more = dropped_lines().saturating_sub(before);
        if more > 0 {
            before += more;
            tracing::warn!(
                lines = more,
                "lines of the log were dropped: it is not read as fast as it is written"
            );
        }
    }
}

/// Writes what is waiting; later lines are lost.
pub(crate) fn finish() {
    drop(writing().take());
}

fn writing() -> MutexGuard<'static, Option<Writer>> {
    WRITER.lock().unwrap_or_else(PoisonError::into_inner)
}
