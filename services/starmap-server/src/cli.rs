//! The command line: the server, and commands that use the map without a server.

mod log;
mod maps;
mod print;
mod serve;
mod tool;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::load::{self, LoadError, Losses};

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
    /// Any tool by its name, with its arguments as NAME=VALUE: route Jita Amarr mode=safe
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
    /// Takes a map also if it has lost much of itself, or if its parts do not agree.
    #[arg(long)]
    pub accept_losses: bool,
}

/// The map, and what else there is to know.
#[derive(Debug, Clone, Default, Args)]
struct Sources {
    #[command(flatten)]
    map: MapArguments,
    /// A dump of the public API: kills are shown with the systems.
    #[arg(long, value_name = "PATH")]
    activity: Option<PathBuf>,
    /// Connections besides the gates, such as jump bridges and wormholes: a JSON array of {"from", "to", …}, or what
    /// eve-scout, Wanderer, Pathfinder or a list of bridges has.
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
fn load(path: Option<&Path>, losses: Losses) -> Result<load::Loaded, Failure> {
    let path = load::graph_path(path);
    let loaded = load::load_with(&path, losses)?;
    for warning in loaded.warnings_in_brief(MAX_WARNINGS) {
        print::report(PROGRAM, &warning);
    }
    Ok(loaded)
}

fn losses(accepted: bool) -> Losses {
    if accepted { Losses::Accepted } else { Losses::Refused }
}

impl MapArguments {
    /// What happens to a map that has lost much of itself.
    fn losses(&self) -> Losses {
        losses(self.accept_losses)
    }
}
