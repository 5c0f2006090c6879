//! The cost of calls, compared with plain hyper and serde_json for the same bytes, and with servers on other libraries.
//!
//! The whole comparison runs all servers in turn, round by round, so that a disturbance affects them all.
//! The results are ratios to the floor within a round. Every answer is checked. The counts run under
//! `valgrind --tool=callgrind`, with few calls and with many, and the difference of the two totals is divided by the
//! difference in calls, so that starting, connecting and stopping cancel out. They cover user space only: the kernel's
//! share is the same for all servers.

mod case;
mod compare;
mod connection;
mod contestant;
mod count;
mod exchange;
mod figure;
mod load;
mod page;
mod pipe;
mod report;
mod universe;
mod wire;

pub(crate) use connection::Connection;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::Args;

use self::case::{CASES, Case, Program};
use self::compare::Plan;
use self::contestant::BUILD_DEADLINE;
use self::count::Counted;
use xtask::programs::cargo;
use xtask::{Result, apt, is_ci, process, say, target};

/// How much more than its baseline a call may cost.
const TOLERANCE: f64 = 1.03;
/// The workspace of this program, and the one of the universe server, as the manifests that cargo reads.
const LAB: &str = "lab/Cargo.toml";
const SERVERS: &str = "Cargo.toml";
/// How many calls the short form counts: enough for figures that differ by less than a thousandth.
const SHORT_CALLS: u64 = 400;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only count the instructions of a call, of the library and the universe server.
    #[arg(long, conflicts_with = "short")]
    count: bool,
    /// Only count the instructions of a call of the library, in programs as tests are built, as a step of the test.
    #[arg(long)]
    short: bool,
    /// Only write the page of figures again, from the last whole run and from what is written down elsewhere.
    #[arg(long, conflicts_with_all = ["count", "short"])]
    page: bool,
    /// How many more calls the second run of a count makes than the first; more calls, less noise.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(100..=100_000))]
    calls: u64,
    /// Measure only servers, or count only cases, whose name contains this; the floors are always measured.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// The universe server to measure; by default it is built, and only counted if it is there.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// How often each server is measured.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    rounds: u64,
    /// How long each measurement lasts, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 3_000, value_parser = clap::value_parser!(u64).range(100..=60_000))]
    duration: u64,
    /// How many idle sessions and open streams there are. Each stream takes a file in both processes.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(200..=50_000))]
    sessions: u64,
}

/// The paths of the programs to count.
struct Programs {
    /// The folder of the floor and of the server on the library.
    folder: PathBuf,
    server: PathBuf,
}

/// Measures, or counts. `true` if all of the project's own servers could be measured, and every call of the library
/// itself is within its limit.
///
/// # Errors
/// When a program cannot be built or started, or an answer is not the one expected.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    if arguments.short {
        return short();
    }
    if arguments.page {
        return report::write_again().map(|()| true);
    }
    if cfg!(debug_assertions) && !arguments.count {
        return as_optimised();
    }
    let valgrind = apt::program(&["valgrind"], "valgrind");
    match (arguments.count, valgrind) {
        (true, Ok(_)) => optimised(arguments),
        (true, Err(missing)) => Err(format!("{missing}: it counts the instructions").into()),
        (false, valgrind) => whole(arguments, valgrind.err()),
    }
}

/// Runs an optimised build of this program: otherwise the load would be slower than the servers.
fn as_optimised() -> Result<bool> {
    build(LAB, &["--release", "-p", "lab"])?;
    let optimised = target().join("release").join(format!("lab{}", std::env::consts::EXE_SUFFIX));
    let mut again = Command::new(optimised);
    Ok(again.args(std::env::args_os().skip(1)).status()?.success())
}

/// Counts the library's calls in programs built as for tests. A run of the test has already built them.
///
/// # Errors
/// As [`run`].
pub(crate) fn short() -> Result<bool> {
    if let Err(missing) = apt::program(&["valgrind"], "valgrind") {
        say(&format!(
            "instructions of a call are skipped: {missing} (set CI=true to make this a failure)"
        ))?;
        return Ok(!is_ci());
    }
    build(LAB, &["--workspace", "--bins"])?;
    let programs = Programs { folder: target().join("debug"), server: PathBuf::new() };
    let cases = CASES.iter().filter(|case| case.program != Program::Universe);
    table(&programs, cases, SHORT_CALLS, |case| case.baseline)
}

/// Counts calls in programs built as for packages, but with the names that profilers show. They have no limits.
fn optimised(arguments: &Arguments) -> Result<bool> {
    build(LAB, &["--profile", "bench", "-p", "bench-floor", "-p", "bench-ours"])?;
    let folder = target().join("release");
    let server = arguments.server.clone().unwrap_or_else(|| folder.join("universe-server"));
    let programs = Programs { folder, server };
    let is_wanted =
        |case: &&Case| case.program == Program::Floor || case.name.contains(&arguments.only);
    table(&programs, CASES.iter().filter(is_wanted), arguments.calls, |_| None)
}

/// Counts each case and prints a table. `true` when none costs more than its baseline allows.
fn table<'c>(
    programs: &Programs,
    cases: impl Iterator<Item = &'c Case>,
    calls: u64,
    baseline: impl Fn(&Case) -> Option<f64>,
) -> Result<bool> {
    say("| case | answer bytes | instructions per call | × floor |")?;
    say("|---|---|---|---|")?;
    let mut floor = f64::NAN;
    let mut within = true;
    for case in cases {
        let path = programs.path(case.program);
        if !path.is_file() {
            say(&format!("| {} | – | skipped: no {} | – |", case.name, path.display()))?;
            continue;
        }
        let data = target().join("bench").join("counted.data");
        let counted = Counted {
            name: case.name,
            program: &path,
            arguments: case.program.arguments(&data),
            data: Some(&data),
            prepare: &|connection| case.prepare(connection),
        };
        let count = count::per_call(&counted, calls)?;
        if case.program == Program::Floor {
            floor = count.instructions;
        }
        let ratio = count.instructions / floor;
        say(&format!(
            "| {} | {} | {:.0} | {ratio:.3} |",
            case.name, count.answer_bytes, count.instructions
        ))?;
        if let Some(baseline) = baseline(case)
            && ratio > TOLERANCE * baseline
        {
            within = false;
            say(&format!(
                "{} FAILED: {ratio:.3} × the floor is more than its baseline of {baseline:.3} and 3 % \
                 (lab/chores/src/bench/case.rs)",
                case.name
            ))?;
        }
    }
    Ok(within)
}

/// Runs the whole comparison and writes its tables, its JSON and the page of figures.
fn whole(arguments: &Arguments, missing: Option<String>) -> Result<bool> {
    let plan = Plan {
        rounds: usize::try_from(arguments.rounds)?,
        duration: Duration::from_millis(arguments.duration),
        sessions: usize::try_from(arguments.sessions)?,
        calls: arguments.calls,
    };
    say("building the servers")?;
    let (contestants, mut skipped) = contestant::all(&arguments.only)?;
    let server = match &arguments.server {
        Some(server) => server.clone(),
        None => {
            build(SERVERS, &["--release", "-p", "universe-server", "--bin", "universe-server"])?;
            target().join("release").join("universe-server")
        }
    };
    let can_count = missing.is_none();
    skipped.extend(missing.map(|missing| ("Instructions of a call".to_owned(), missing)));
    for (name, reason) in &skipped {
        say(&format!("{name} is skipped: {reason}"))?;
    }
    let machine = report::Machine::now();
    let mut figures = compare::figures(&contestants, plan, can_count)?;
    figures.extend(universe::figures(&contestants, &server, plan)?);
    report::write(&figures, &machine.about(plan), &skipped)?;
    let rows = || figures.iter().flat_map(|figure| &figure.rows);
    Ok(!rows().any(|row| row.is_own() && row.failure.is_some()))
}

fn build(manifest: &str, how: &[&str]) -> Result<()> {
    let mut cargo = cargo(&["build", "--quiet", "--locked", "--manifest-path", manifest]);
    process::succeed(cargo.args(how), BUILD_DEADLINE)
}

impl Programs {
    fn path(&self, program: Program) -> PathBuf {
        match program {
            Program::Floor => self.folder.join("bench-floor"),
            Program::Ours => self.folder.join("bench-ours"),
            Program::Universe => self.server.clone(),
        }
    }
}
