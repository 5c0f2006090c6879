//! The official client libraries on the universe server, while servers, peers and proxies do what they do in the field.
//!
//! Each client is a small driver (`lab/peers/`: Node.js, Python, Rust) that keeps one client object and carries out one
//! order a line. For each client, era, transport and [`Step`], a server is started on a fresh data directory, the
//! client subscribes to a resource, and the step happens. Then the same client object must work ([`play`]): its next
//! call succeeds and the next updates arrive, or the error says what to do. The table goes into
//! `mcp-proto/docs/peers.md`.
//!
//! This is not a step of the test, since it depends on other projects as much as on this one.

mod client;
mod driver;
mod play;
mod proxy;
mod step;
mod table;
mod universe;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};

use self::client::Library;
use self::play::Stage;
use self::step::Step;
use self::table::{Cell, Table};
use xtask::programs::cargo;
use xtask::{Result, say, target};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only this client; repeatable.
    #[arg(long, value_enum, value_name = "NAME")]
    client: Vec<Library>,
    /// Only this step; repeatable.
    #[arg(long, value_enum, value_name = "NAME")]
    step: Vec<Step>,
    /// The universe server to test; by default it is built, with debug assertions.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
}

/// Plays the steps, prints the table, and writes it into the page. `true` when no cell failed.
///
/// # Errors
/// When a client cannot be installed or built, or the server cannot be started.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let server = match &arguments.server {
        Some(given) => std::path::absolute(given)?,
        None => built()?,
    };
    let libraries = wanted(&arguments.client);
    let steps = wanted(&arguments.step);
    let folder = target().join("outlive");
    fs::create_dir_all(&folder)?;
    let mut table = Table::new(&steps);
    for library in libraries {
        let program = library.install()?;
        for row in library.rows() {
            let stage = Stage { server: &server, program: &program, row, folder: &folder };
            let cells: Result<Vec<Cell>> = steps.iter().map(|step| cell(&stage, *step)).collect();
            table.add(row, cells?);
        }
    }
    say(&table.to_string())?;
    table.write()?;
    say(&table.closing_line())?;
    Ok(!table.has_failures())
}

/// Plays a step, and prints how it went.
fn cell(stage: &Stage<'_>, step: Step) -> Result<Cell> {
    let begun = Instant::now();
    let cell = match step.not_applicable(stage.row) {
        Some(reason) => Cell::NotApplicable(reason),
        None => stage.play(step)?,
    };
    let time = begun.elapsed().as_secs_f64();
    say(&format!("{} | {}: {cell} ({time:.1} s)", stage.row, step.name()))?;
    Ok(cell)
}

/// The chosen values, or all if none is chosen.
fn wanted<T: ValueEnum + PartialEq + Copy>(chosen: &[T]) -> Vec<T> {
    let all = T::value_variants().iter().copied();
    all.filter(|one| chosen.is_empty() || chosen.contains(one)).collect()
}

/// The server as a debug build: it has all checks, and how fast it is does not matter here.
fn built() -> Result<PathBuf> {
    let build = ["build", "--quiet", "--locked", "-p", "universe-server"];
    if !cargo(&build).status()?.success() {
        return Err("the server does not build".into());
    }
    Ok(debug(Path::new("universe-server")))
}

/// The path of a program of a debug build.
fn debug(program: &Path) -> PathBuf {
    target().join("debug").join(program).with_extension(std::env::consts::EXE_EXTENSION)
}
