//! `spec-server mcp`

use std::process::ExitCode;

use clap::Args;
use service_host::{EndpointArgs, Host, block_on, log_to_stderr, stop_signal};

use super::search::Options;
use super::{CliError, PROGRAM, Repository};
use crate::mcp::{self, Settings};
use crate::view::Budget;

#[derive(Debug, Clone, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    endpoint: EndpointArgs,

    #[command(flatten)]
    search: Options,

    /// Offers the tools that write: new_change, write_artifact, archive_change and complete_task.
    #[arg(long)]
    allow_writes: bool,

    /// Finds changes by looking every few seconds alone: for file systems that report no events, such as network
    /// drives.
    #[arg(long)]
    no_events: bool,

    /// The most characters of an answer, at least 2000; about four make a token. What does not fit is named and can be
    /// requested.
    #[arg(long, value_name = "CHARACTERS", default_value_t = Budget::DEFAULT.0, value_parser = budget)]
    max_output: usize,
}

impl ServeArgs {
    pub(super) fn run(self, repository: Repository) -> Result<ExitCode, CliError> {
        let settings = Settings {
            repository,
            allow_writes: self.allow_writes,
            budget: Budget(self.max_output),
            search: self.search.settings()?,
            without_events: self.no_events,
            // A client on another machine has different folders.
            use_roots: self.endpoint.address().is_none(),
        };
        log_to_stderr("warn");
        Ok(block_on(PROGRAM, async {
            let stop = stop_signal()?;
            let server = mcp::server(settings)?;
            Host::default().run(server, &self.endpoint, PROGRAM, stop).await?;
            Ok::<_, CliError>(ExitCode::SUCCESS)
        }))
    }
}

fn budget(given: &str) -> Result<usize, String> {
    let budget: usize = given.parse().map_err(|_| "it is not a whole number".to_owned())?;
    if budget >= Budget::MIN.0 {
        Ok(budget)
    } else {
        Err(format!("it is less than {}", Budget::MIN.0))
    }
}
