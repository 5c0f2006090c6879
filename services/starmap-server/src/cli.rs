//! The command line: the server, and commands that use the map without a server.

mod log;
mod maps;
mod print;
mod route;
mod serve;
mod show;
mod tool;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};

use crate::errors::UniverseError;
use crate::load::{self, LoadError};
use crate::mcp::{Snapshot, connections_on, seconds_now};

pub use serve::ServeArguments;

/// The name of the program in its messages.
const PROGRAM: &str = "starmap-server";

/// How many left-out entries of a map are reported one by one.
const MAX_WARNINGS: usize = 10;

/// Routes through New Eden, for programs by MCP and for people here.
#[derive(Debug, Parser)]
#[command(name = PROGRAM, version, after_help = tool::HELP)]
struct StarmapServerArgs {
    #[command(subcommand)]
    command: Command,
}

/// The server under the name of its contract: starts at once, on stdin and stdout unless it listens.
#[derive(Debug, Parser)]
#[command(name = crate::mcp::SERVER_NAME, version)]
struct AriaUniverse {
    #[command(flatten)]
    serve: ServeArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves MCP on stdin and stdout, or over HTTP with --listen.
    Mcp(Box<ServeArguments>),
    /// Makes a map file from what others publish: ARIA's universe_cache.json, a folder of CSV files, the SDE's zip.
    Build(maps::Build),
    /// Judges a map.
    Verify(maps::Verify),
    /// Counts what is on a map.
    Stats(maps::Stats),
    /// Shows the differences between two maps.
    Diff(maps::Diff),
    /// Finds the way between two systems.
    Route(route::Route),
    /// Shows a system, a region or a constellation.
    Show(show::Show),
    /// Any tool by its name, with its arguments as NAME=VALUE: nearest origin=Jita among=trade_hubs
    #[command(external_subcommand)]
    Tool(Vec<String>),
}

/// Where the map is.
#[derive(Debug, Clone, Default, Args)]
pub struct MapArguments {
    /// The map: a built file, or anything that build takes. Default: ARIA_UNIVERSE_GRAPH, else the file that build
    /// writes.
    #[arg(long, value_name = "PATH")]
    pub graph: Option<PathBuf>,
}

/// The map, and what else there is to know.
#[derive(Debug, Clone, Default, Args)]
struct Sources {
    #[command(flatten)]
    map: MapArguments,
    /// A dump of the public API: kills are shown with the systems.
    #[arg(long, value_name = "PATH")]
    activity: Option<PathBuf>,
    /// Connections besides the gates, such as jump bridges: a .json file with an array of {"from", "to", "both_ways",
    /// "cost", "max_ship", "expires"}.
    #[arg(long, value_name = "FILE")]
    connections: Option<PathBuf>,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The reader of stdout has closed it.
    #[error("the pipe is closed")]
    Closed,
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("{}", .0.sentence())]
    Query(#[from] UniverseError),
    #[error(transparent)]
    Replace(#[from] service_host::ReplaceError),
    #[error(transparent)]
    File(#[from] crate::files::FileError),
    #[error("{0}")]
    Other(String),
}

/// Runs the program `starmap-server` with the arguments of the process. The exit code is 0 for success, 1 for failure
/// (no such system, no route, a map that fails the checks), 2 if the command line cannot be parsed.
pub fn main() -> ExitCode {
    let outcome = match StarmapServerArgs::parse().command {
        Command::Mcp(arguments) => return serve::run(PROGRAM, &arguments),
        Command::Build(arguments) => maps::build(&arguments),
        Command::Verify(arguments) => maps::verify(&arguments),
        Command::Stats(arguments) => maps::stats(&arguments),
        Command::Diff(arguments) => maps::diff(&arguments),
        Command::Route(arguments) => route::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Tool(words) => return tool::run(&words),
    };
    match outcome {
        Ok(code) => code,
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(failure) => {
            print::report(PROGRAM, &failure.to_string());
            ExitCode::FAILURE
        }
    }
}

/// Runs the program `aria-universe` with the arguments of the process: starts the server immediately.
pub fn aria_universe() -> ExitCode {
    serve::run(crate::mcp::SERVER_NAME, &AriaUniverse::parse().serve)
}

/// Reads a map, and reports left-out entries on stderr.
fn load(path: Option<&Path>) -> Result<load::Loaded, Failure> {
    let path = load::graph_path(path);
    let loaded = load::load(&path)?;
    for warning in loaded.warnings_in_brief(MAX_WARNINGS) {
        print::report(PROGRAM, &warning);
    }
    Ok(loaded)
}

/// A snapshot of the map, with an overlay and connections if their files are named.
fn snapshot(
    map: &MapArguments,
    activity: Option<&Path>,
    connections: Option<&Path>,
) -> Result<Snapshot, Failure> {
    let activity = activity.map(crate::activity::load).transpose()?;
    let connections = connections.map(crate::connections::load).transpose()?;
    let map = load(map.graph.as_deref())?.map;
    let connections = Arc::new(connections.unwrap_or_default());
    let (travel, left_out) = connections_on(&map, &connections, None, seconds_now());
    for warning in left_out {
        print::report(PROGRAM, &warning);
    }
    Ok(Snapshot {
        map: Arc::new(map),
        activity: activity.map(Arc::new),
        travel: Arc::new(travel),
        connections,
        problems: Vec::new(),
        stop: tokio_util::sync::CancellationToken::new(),
    })
}
