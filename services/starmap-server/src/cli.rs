//! The command line: the server, and commands that use the map without a server.

mod log;
mod maps;
mod serve;
mod tool;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use mcp_proto::BuildError;
use service_host::complain;

use crate::load::{self, LoadError, Losses};
use crate::mcp::UniverseServer;

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
pub struct Sources {
    /// Where the map is.
    #[command(flatten)]
    pub map: MapArguments,
    /// A dump of the public API with what happens in the systems: a .json file, or a folder of them (system_kills,
    /// system_jumps, fw/systems).
    #[arg(long, value_name = "PATH")]
    pub activity: Option<PathBuf>,
    /// Connections besides the gates, such as jump bridges and wormholes: a JSON array of {"from", "to", …}, or what
    /// eve-scout, Wanderer, Pathfinder or a list of bridges has.
    #[arg(long, value_name = "FILE")]
    pub connections: Option<PathBuf>,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("cannot write the answer: {0}")]
    Output(#[from] io::Error),
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
    outcome.unwrap_or_else(|failure| {
        report(PROGRAM, &failure.to_string());
        ExitCode::FAILURE
    })
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
        report(PROGRAM, &warning);
    }
    Ok(loaded)
}

/// Writes a text to stdout. A reader that has closed it wants no more.
fn print(text: &str) -> Result<(), Failure> {
    match service_host::print(text.trim_end()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Writes a message to stderr, if stderr is open.
fn report(program: &str, text: &str) {
    complain(&format!("{program}: {text}"));
}

impl Sources {
    /// A server of them. It has read nothing yet.
    fn server(&self) -> Result<UniverseServer, BuildError> {
        let mut server = UniverseServer::new(self.map.graph.as_deref())?;
        server = server.with_losses(Losses::accepted(self.map.accept_losses));
        if let Some(path) = &self.activity {
            server = server.with_activity(path);
        }
        if let Some(path) = &self.connections {
            server = server.with_connections(path);
        }
        Ok(server)
    }
}
