//! The log: lines on stderr, written by a separate thread, so that no request waits for a reader of the log.

mod lines;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use self::lines::Lines;

/// How often lines that were dropped are reported.
const REPORT: Duration = Duration::from_secs(5);

/// The channel to the writing thread; `None` before the log is set up and after its end.
static LINES: Mutex<Option<Arc<Lines>>> = Mutex::new(None);

/// How a line of the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

/// Logs go to stderr, never to stdout: that may belong to the protocol. `RUST_LOG` overrides `filter`, a level such as
/// `warn`, to which the lines of [`guard`](crate::guard) are added unless it says `audit=off`. Both are levels for
/// everything or for a target: `info,request=warn`. If stderr is no longer read, only log lines are lost.
pub fn log_to_stderr(filter: &str) {
    log_to_stderr_as(filter, LogFormat::Text);
}

/// [`log_to_stderr`] in a format.
pub fn log_to_stderr_as(filter: &str, format: LogFormat) {
    let writer = Arc::new(Lines::to_stderr());
    *lines() = Some(Arc::clone(&writer));
    let given = std::env::var("RUST_LOG").unwrap_or_default();
    // An empty part would be read as a level for everything.
    let parts = given.split(',').map(str::trim);
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    // A word that is no level is read as a target: a level that is mistyped would silence all others.
    let is_level = |part: &&str| part.contains('=') || part.parse::<LevelFilter>().is_ok();
    let targets = parts.join(",").parse::<Targets>().ok().filter(|_| parts.iter().any(is_level));
    let wrong = targets.is_none() && !parts.is_empty();
    let by_default = || {
        let targets = format!("audit=info,{filter}").parse();
        targets.unwrap_or_else(|_| Targets::new().with_default(LevelFilter::WARN))
    };
    let targets = targets.unwrap_or_else(by_default);
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(writer)
        // It would report a closed stderr on stderr, and panic.
        .log_internal_errors(false)
        .with_ansi(io::stderr().is_terminal());
    let log = tracing_subscriber::registry().with(targets);
    match format {
        LogFormat::Text => log.with(lines).init(),
        LogFormat::Json => log.with(lines.json().flatten_event(true)).init(),
    }
    if wrong {
        tracing::warn!(
            RUST_LOG = given,
            "RUST_LOG is not used: it must be levels, such as \"info\" or \"info,request=warn\""
        );
    }
}

/// A text without characters that a terminal obeys, which names from outside may contain. Control characters and
/// characters that change the direction of text are replaced by U+FFFD, except line ends and tabs.
pub fn visible(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.chars().map(visible).collect()
}

/// How many lines of the log were dropped because stderr is read too slowly.
pub fn dropped_lines() -> usize {
    lines().as_ref().map_or(0, |lines| lines.dropped())
}

/// Prints a message for the person who started the program, on stderr, after earlier log lines. If stderr is no longer
/// read, it is lost.
pub fn say(text: &str) {
    let line = format!("{text}\n");
    let _ = match lines().as_deref() {
        Some(mut lines) => lines.write_all(line.as_bytes()),
        None => io::stderr().lock().write_all(line.as_bytes()),
    };
}

/// [`say`] for a text with names from outside, which is made [`visible`].
pub fn complain(text: &str) {
    say(&visible(text));
}

/// Reports dropped lines in the log, forever.
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

/// Writes the waiting lines; later lines are lost.
pub(crate) fn finish() {
    let taken = lines().take();
    if let Some(lines) = taken {
        lines.finish();
    }
}

fn lines() -> MutexGuard<'static, Option<Arc<Lines>>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}
