//! Tests the universe server's REST API against its own description (`/openapi.json`) with schemathesis. The requests
//! include kinds that the document allows and kinds that it does not.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::Args;

use xtask::install::{self, Toolbox};
use xtask::process::{self, Server};
use xtask::{Result, is_ci, programs, say};

/// The folder below `xtask` with the lock file of the tool and its configuration.
pub(crate) const SOURCE: &str = "api";

const DEADLINE: Duration = Duration::from_secs(600);

/// The seed that gives the same requests on every machine.
const SEED: &str = "20260728";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The universe server to test; by default it is built.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// How many requests are made of each operation, at least; more take longer.
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    examples: u32,
}

/// Makes the requests. `true` when every response matched the description.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let installed = install::install(Toolbox::Python, SOURCE);
    let Some(installed) = install::or_report("the API", installed)? else {
        return Ok(!is_ci());
    };
    let binary = programs::given_or_judged(arguments.server.as_ref(), "universe-server")?;
    let words = ["--demo", "--store", "memory", "--listen", "127.0.0.1:0"];
    let server = Server::start(&binary, &words.map(Into::into))?;
    let described = server.url().replace("/mcp", "/openapi.json");
    let config = installed.folder().join("schemathesis.toml");
    let mut command = Command::new(installed.interpreter());
    command
        .args(["-m", "schemathesis.cli"])
        .current_dir(installed.folder())
        .arg("--config-file")
        .arg(config)
        .args(["run", &described, "--seed", SEED])
        .args(["--max-examples", &arguments.examples.to_string()])
        .args(["--generation-database", "none", "--no-color"]);
    let finished = process::run(&mut command, DEADLINE)?;
    say(finished.stdout.trim_end())?;
    if !finished.success {
        say(finished.stderr.trim_end())?;
    }
    Ok(finished.success)
}
