//! `mcp`: the server.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use service_host::{EndpointArgs, HostError, block_on, log_to_stderr, stop_signal};

use crate::mcp::{FeedSource, RunError};

use super::{Sources, log, report};

/// What the server is started with.
#[derive(Debug, Clone, Default, Args)]
pub struct ServeArguments {
    /// What it reads.
    #[command(flatten)]
    pub sources: Sources,

    /// A file of killmails, one JSON object a line as zKillboard's feeds deliver them, that grows: camps and fights are
    /// seen as they happen.
    #[arg(long, value_name = "FILE", conflicts_with = "feed_command")]
    pub feed: Option<PathBuf>,

    /// A shell command whose output is such a feed; it is started again when it ends.
    #[arg(long, value_name = "COMMAND")]
    pub feed_command: Option<String>,

    /// Where the server is reached.
    #[command(flatten)]
    pub endpoint: EndpointArgs,
}

/// Serves until stopped.
pub(super) fn run(program: &str, arguments: &ServeArguments) -> ExitCode {
    let (directive, wrong) = log::directive();
    log_to_stderr(directive);
    if let Some(wrong) = wrong {
        report(program, &wrong);
    }
    block_on(program, async {
        let mut server = arguments.sources.server()?;
        let command = arguments.feed_command.clone().map(FeedSource::Command);
        if let Some(source) = arguments.feed.clone().map(FeedSource::File).or(command) {
            server = server.with_feed(source);
        }
        match server.run(&arguments.endpoint, stop_signal()?).await {
            // The client has gone and closed its end of the pipe. That ends the server normally.
            Err(RunError::Host(HostError::Io(error))) if error.kind() == ErrorKind::BrokenPipe => {}
            served => served?,
        }
        Ok::<_, RunError>(ExitCode::SUCCESS)
    })
}
