//! `mcp`: the server.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use service_host::{EndpointArgs, HostError, block_on, log_to_stderr, stop_signal};

use crate::mcp::{FeedSource, RunError, UniverseServer};

use super::{MapArguments, log, print};

/// What the server is started with.
#[derive(Debug, Clone, Default, Args)]
pub struct ServeArguments {
    /// Where the map is.
    #[command(flatten)]
    pub map: MapArguments,

    /// A dump of the public API with what happens in the systems: a .json file, or a folder of them (system_kills,
    /// system_jumps, fw/systems).
    #[arg(long, value_name = "PATH")]
    pub activity: Option<PathBuf>,

    /// A file of killmails, one JSON object a line as zKillboard's feeds deliver them, that grows: camps and fights are
    /// seen as they happen.
    #[arg(long, value_name = "FILE", conflicts_with = "feed_command")]
    pub feed: Option<PathBuf>,

    /// A shell command whose output is such a feed; it is started again when it ends.
    #[arg(long, value_name = "COMMAND")]
    pub feed_command: Option<String>,

    /// Connections besides the gates, such as jump bridges and wormholes: a JSON array of {"from", "to", …}, or what
    /// eve-scout, Wanderer, Pathfinder or a list of bridges has.
    #[arg(long, value_name = "FILE")]
    pub connections: Option<PathBuf>,

    /// Where the server is reached.
    #[command(flatten)]
    pub endpoint: EndpointArgs,
}

/// Serves until stopped.
pub(super) fn run(program: &str, arguments: &ServeArguments) -> ExitCode {
    let (directive, wrong) = log::directive();
    log_to_stderr(directive);
    if let Some(wrong) = wrong {
        print::report(program, &wrong);
    }
    let mut server = match UniverseServer::new(arguments.map.graph.as_deref()) {
        Ok(server) => server.with_losses(arguments.map.losses()),
        Err(error) => {
            print::report(program, &error.to_string());
            return ExitCode::FAILURE;
        }
    };
    if let Some(path) = &arguments.activity {
        server = server.with_activity(path);
    }
    let command = arguments.feed_command.clone().map(FeedSource::Command);
    if let Some(source) = arguments.feed.clone().map(FeedSource::File).or(command) {
        server = server.with_feed(source);
    }
    if let Some(path) = &arguments.connections {
        server = server.with_connections(path);
    }
    block_on(program, async {
        match server.run(&arguments.endpoint, stop_signal()?).await {
            // The client has gone and closed its end of the pipe. That ends the server normally.
            Err(RunError::Host(HostError::Io(error))) if error.kind() == ErrorKind::BrokenPipe => {}
            served => served?,
        }
        Ok::<_, RunError>(ExitCode::SUCCESS)
    })
}
