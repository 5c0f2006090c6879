//! What one small `tools/call` over HTTP keep-alive costs, beside plain hyper and serde_json doing the same bytes.
//!
//! Time depends on the machine and on its other load; instructions hardly do. Each server runs twice under
//! `valgrind --tool=callgrind`, with few calls and with many, and the difference of the two totals is divided by the
//! difference in calls, so that starting, connecting and stopping cancel out. Every answer is checked. The call counts
//! in user space only: the kernel's share is the same for all servers.

mod case;
mod connection;
mod count;
mod load;

pub(crate) use connection::Connection;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::Args;

use self::case::{CASES, Program};
use crate::programs::cargo;
use crate::{Result, process, say, target};

/// How much more than its baseline a call may cost.
const TOLERANCE: f64 = 1.03;
/// How long cargo may take to build what is measured.
const BUILD_DEADLINE: Duration = Duration::from_secs(1_200);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many more calls the second run makes than the first; more calls, less noise.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(100..=100_000))]
    calls: u64,
    /// Measure only cases whose name contains this; the floors are always measured.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// The universe server to measure; its cases are skipped when it is not there.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// Measure requests per second and CPU time too, with 16 connections for 5 s each.
    #[arg(long)]
    load: bool,
}

/// Where the programs to measure are.
struct Programs {
    built: PathBuf,
    server: PathBuf,
}

/// Measures and prints the table. The verdict is whether every call of the library itself is within the limit.
///
/// # Errors
/// When valgrind is missing, a program cannot be built or started, or an answer is not the one expected.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let mut valgrind = Command::new("valgrind");
    process::succeed(valgrind.arg("--version"), Duration::from_secs(20))
        .map_err(|_| "valgrind is not installed: it counts the instructions")?;
    build()?;
    let built = target().join("dist");
    let server = arguments.server.clone();
    let programs = Programs {
        server: server.unwrap_or_else(|| built.join("universe-server")),
        built,
    };
    say("| case | answer bytes | instructions per call | × floor |")?;
    say("|---|---|---|---|")?;
    let mut floor = f64::NAN;
    let mut within = true;
    for case in CASES {
        let is_floor = case.program == Program::Floor;
        if !is_floor && !case.name.contains(&arguments.only) {
            continue;
        }
        if !programs.path(case.program).is_file() {
            say(&format!(
                "| {} | – | skipped: no {} | – |",
                case.name,
                programs.path(case.program).display()
            ))?;
            continue;
        }
        let count = count::per_call(&programs, &case, arguments.calls)?;
        if is_floor {
            floor = count.instructions;
        }
        let ratio = count.instructions / floor;
        if let Some(baseline) = case.baseline
            && ratio > TOLERANCE * baseline
        {
            within = false;
            say(&format!(
                "{} costs {ratio:.2} × the floor: more than its baseline of {baseline:.2} and 3 %",
                case.name
            ))?;
        }
        say(&format!(
            "| {} | {} | {:.0} | {ratio:.2} |",
            case.name, count.answer_bytes, count.instructions
        ))?;
    }
    if arguments.load {
        load::table(&programs)?;
    }
    Ok(within)
}

/// Builds the two examples for measuring: as packages contain them.
fn build() -> Result<()> {
    let mut cargo = cargo(&["build", "--quiet", "--profile", "dist", "-p", "mcp-proto"]);
    cargo.args(["--example", "floor", "--example", "echo"]);
    // The profiles that are left show where the cost is.
    cargo.env("CARGO_PROFILE_DIST_STRIP", "none");
    process::succeed(&mut cargo, BUILD_DEADLINE)
}

impl Programs {
    fn path(&self, program: Program) -> PathBuf {
        match program {
            Program::Floor => self.built.join("examples").join("floor"),
            Program::Echo => self.built.join("examples").join("echo"),
            Program::Universe => self.server.clone(),
        }
    }
}
