//! The project's chores: `cargo xtask --help`.

mod api;
mod app;
mod balancer;
mod bench;
mod chromium;
mod debian;
mod dist;
mod docs;
mod fixture;
mod install;
mod interop;
mod lean;
mod nodes;
mod oracle;
mod page;
mod peers;
mod postgres;
mod process;
mod programs;
mod release;
mod renames;
mod semantic;
mod servers;
mod siege;
mod soak;
mod suites;
mod test;
mod tidy;
mod tools;
mod twins;
mod wrappers;

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A chore's outcome; an error is reported in one line.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Debug, Parser)]
#[command(name = "xtask", about)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Holds the REST side of the universe server against its OpenAPI document, by schemathesis.
    Api(api::Arguments),
    /// Shows the view of the universe server in Chromium, inside the official host's side of MCP Apps.
    App(app::Arguments),
    /// Compares servers on this library with plain hyper and serde_json and with servers on other libraries: speed,
    /// memory, size (Linux); `--count` and `--short` count the instructions of a call.
    Bench(bench::Arguments),
    /// Makes what this machine can make of the packages: programs, bundles for MCP clients, entries of the MCP
    /// registry, a Debian package, a Homebrew formula.
    Dist(dist::Arguments),
    /// Writes, checks and builds the documentation: pages made from the programs, links, and every block of commands.
    Docs(docs::Arguments),
    /// Puts the official clients through the universe server, the spec server and the fixture
    /// `mcp-proto/examples/everything.rs`, in both eras, over HTTP and stdio.
    Interop(interop::Arguments),
    /// Loads three universe servers on a replicated database while servers, database and networks fail, and compares
    /// what was acknowledged with what is there (Linux, root).
    Nodes(nodes::Arguments),
    /// Compares the spec server's verdicts on specs and changes with those of OpenSpec's own tool.
    Oracle(oracle::Arguments),
    /// Compares the live page of the universe server with its source, and tests it in Chromium.
    Page(page::Arguments),
    /// Tries the client of `mcp-proto` on servers that others wrote, over HTTP and stdio, in each era that they
    /// support.
    Peers(peers::Arguments),
    /// Checks the crates that are published, and publishes them; `--dry-run` only prints what it would do.
    Release(release::Arguments),
    /// Tests spec-server with search by meaning, on a model that is installed for it, and prints how good search is.
    Semantic(semantic::Arguments),
    /// Attacks the universe server and the fixture in two dozen ways and reports whether another client notices
    /// (Linux).
    Siege(siege::Arguments),
    /// Opens sessions, cancels calls and drops streams by the thousands, and watches the server's memory (Linux).
    Soak(soak::Arguments),
    /// Runs the official conformance suites against the fixture `mcp-proto/examples/everything.rs`.
    Suites(suites::Arguments),
    /// Runs the whole test: formatting, lints, tests, documentation, search by sense, transcripts against the binaries,
    /// conformance suites, the verdicts of OpenSpec's own tool, packages of npm and PyPI, the live page and the view in
    /// a browser, official clients; with `--full` what takes long, too.
    Test(test::Arguments),
    /// Checks the rules of the house: docs, lengths, dependency arrows, licences, the code map.
    Tidy(tidy::Arguments),
    /// Builds the packages of npm and PyPI that carry `mcp-conformance`, installs them and starts it by both.
    Wrappers(wrappers::Arguments),
}

fn main() -> ExitCode {
    let passed = match Arguments::parse().chore {
        Chore::Api(arguments) => api::run(&arguments),
        Chore::App(arguments) => app::run(&arguments),
        Chore::Bench(arguments) => bench::run(&arguments),
        Chore::Dist(arguments) => dist::run(&arguments),
        Chore::Docs(arguments) => docs::run(&arguments),
        Chore::Interop(arguments) => interop::run(&arguments),
        Chore::Nodes(arguments) => nodes::run(&arguments),
        Chore::Oracle(arguments) => oracle::run(&arguments),
        Chore::Page(arguments) => page::run(&arguments),
        Chore::Peers(arguments) => peers::run(&arguments),
        Chore::Release(arguments) => release::run(&arguments),
        Chore::Semantic(arguments) => semantic::run(&arguments),
        Chore::Siege(arguments) => siege::run(&arguments),
        Chore::Soak(arguments) => soak::run(&arguments),
        Chore::Suites(arguments) => suites::run(&arguments),
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Tidy(arguments) => tidy::run(&arguments),
        Chore::Wrappers(arguments) => wrappers::run(&arguments),
    };
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nothing can be reported when stderr itself is gone.
            let _ = writeln!(io::stderr(), "xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// The folder where cargo builds, and where chores install their tools.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// Prints one line of a chore's answer.
fn say(line: &str) -> Result<()> {
    writeln!(io::stdout(), "{line}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_options_of_every_chore_can_be_parsed() {
        super::Arguments::command().debug_assert();
    }
}
