//! The results of a whole run as JSON, with a description of the machine.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Map, json};

use super::compare::Plan;
use super::contestant::Skipped;
use super::figure::Figure;
use super::page;
use xtask::{Result, process, target};

/// The machine of the measurement. Its load is included, because other work makes the results worse.
pub(super) struct Machine {
    load_before: String,
}

impl Machine {
    /// The state of the machine before measuring.
    pub(super) fn now() -> Self {
        Self { load_before: load() }
    }

    /// Names and values for the report, after measuring.
    pub(super) fn about(&self, plan: Plan) -> [(&'static str, String); 5] {
        let Plan { rounds, sessions, .. } = plan;
        let duration = plan.duration.as_millis();
        let plan = format!("{rounds} rounds of {duration} ms, {sessions} sessions and streams");
        [
            ("processor", processor()),
            (
                "load of the machine before and after, its own included (1, 5 and 15 minutes)",
                format!("{}; {}", self.load_before, load()),
            ),
            ("commit", output(Command::new("git").args(["rev-parse", "--short", "HEAD"]))),
            ("compiler", output(Command::new("rustc").arg("--version"))),
            ("plan", plan),
        ]
    }
}

/// Writes the results below `target`, and the page about them.
///
/// # Errors
/// When they cannot be written.
pub(super) fn write(
    figures: &[Figure],
    about: &[(&str, String)],
    skipped: &[Skipped],
) -> Result<()> {
    let about: Map<_, _> =
        about.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let figures: Vec<_> = figures.iter().map(Figure::to_json).collect();
    let results = json!({ "about": about, "skipped": skipped, "figures": figures });
    fs::create_dir_all(target().join("bench"))?;
    fs::write(kept(), serde_json::to_string_pretty(&results)?)?;
    page::write(&results)
}

/// Writes the page about the last whole run again.
///
/// # Errors
/// When there was none, or the page cannot be written.
pub(super) fn write_again() -> Result<()> {
    let results = fs::read_to_string(kept());
    let results = results.map_err(|error| format!("no whole run was kept: {error}"))?;
    page::write(&serde_json::from_str(&results)?)
}

/// Where the results of the last whole run are.
fn kept() -> PathBuf {
    target().join("bench").join("results.json")
}

/// The name and number of processors.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{count} × {}", name.unwrap_or("of unknown name"))
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// The output of a command; empty when it fails.
fn output(command: &mut Command) -> String {
    let finished = process::run(command, Duration::from_secs(20));
    finished.map_or_else(|_| String::new(), |finished| finished.stdout.trim().to_owned())
}
