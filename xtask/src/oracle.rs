//! Compares the spec server's verdicts and archives with those of OpenSpec's own tool.
//!
//! The tests are in the crate (`services/spec-server/tests/it/oracle.rs`). This module installs the tool and runs them.

use std::path::PathBuf;

use clap::Args;

use xtask::install::{self, Toolbox};
use xtask::programs::{SERVICES, cargo_line};
use xtask::{Result, is_ci};

/// The folder below `xtask` with the lock file of the tool.
pub(crate) const SOURCE: &str = "oracle";

/// The tool's script in the installed folder.
const SCRIPT: &str = "node_modules/@fission-ai/openspec/bin/openspec.js";

#[derive(Debug, Default, Args)]
pub(crate) struct Arguments {
    /// Compare the verdicts on this OpenSpec repository instead; may be given more than once.
    #[arg(long = "repository", value_name = "DIR")]
    repositories: Vec<PathBuf>,
    /// Write what differs, in full, into this file.
    #[arg(long, value_name = "FILE")]
    details: Option<PathBuf>,
}

/// Compares the verdicts and the results of archiving. `true` when none differs without a listed reason.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let installed = install::install(Toolbox::Node, SOURCE);
    let Some(installed) = install::or_report("the oracle", installed)? else {
        return Ok(!is_ci());
    };
    let tests: &[&str] = if arguments.repositories.is_empty() {
        &["oracle::verdicts_on_the_", "oracle::archives_"]
    } else {
        &["oracle::verdicts_on_repositories_"]
    };
    let mut command = cargo_line(SERVICES);
    command
        .args(tests)
        .args(["--ignored", "--nocapture", "--test-threads", "1"])
        .env("ORACLE_NODE", installed.interpreter())
        .env("ORACLE_SCRIPT", installed.folder().join(SCRIPT));
    if !arguments.repositories.is_empty() {
        let absolute: std::io::Result<Vec<PathBuf>> =
            arguments.repositories.iter().map(std::path::absolute).collect();
        command.env("ORACLE_REPOSITORIES", std::env::join_paths(absolute?)?);
    }
    if let Some(details) = &arguments.details {
        command.env("ORACLE_DETAILS", std::path::absolute(details)?);
    }
    Ok(command.status()?.success())
}
