//! The project's chores: `cargo xtask --help`.

mod api;
mod app;
mod audit;
mod ci;
mod dist;
mod docs;
mod interop;
mod lab;
mod lean;
mod oracle;
mod page;
mod public_api;
mod pypi;
mod replay;
mod semantic;
mod suites;
mod tidy;
mod wrappers;

use std::process::ExitCode;

use clap::Parser;

/// The project's chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Holds the REST side of the universe server against its OpenAPI document, by schemathesis.
    Api(api::Arguments),
    /// Shows the view of the universe server in Chromium, inside the official host's side of MCP Apps.
    App(app::Arguments),
    /// Checks dependencies and links by cargo-shear, cargo-deny and lychee.
    Audit,
    /// Compares servers on this library with plain hyper and serde_json and with servers on other libraries: speed,
    /// memory, size (Linux); `--count` and `--short` count the instructions of a call.
    Bench(lab::Arguments),
    /// Runs the whole test: formatting, lints, documentation, tests, search by sense, transcripts against the binaries,
    /// conformance suites, the verdicts of OpenSpec's own tool, packages of npm and PyPI, the live page and the view in
    /// a browser, official clients; with `--full` what takes long, too. With `CI=true` a missing tool is a failure.
    #[command(alias = "test")]
    Ci(ci::Arguments),
    /// Makes what this machine can make of the packages: programs, bundles for MCP clients, entries of the MCP
    /// registry, a Debian package, a Homebrew formula.
    Dist(dist::Arguments),
    /// Writes, checks and builds the documentation: pages made from the programs, links, and every block of commands.
    Docs(docs::Arguments),
    /// Puts the official clients through the universe server, the spec server and the fixture
    /// `mcp-proto/examples/everything.rs`, in both eras, over HTTP and stdio.
    Interop(interop::Arguments),
    /// Checks the library without its features: how many crates the smallest server needs, and what it enforces.
    Lean,
    /// Loads three universe servers on a replicated database while servers, database and networks fail, and compares
    /// what was acknowledged with what is there (Linux, root).
    Nodes(lab::Arguments),
    /// Compares the spec server's verdicts on specs and changes with those of OpenSpec's own tool.
    Oracle(oracle::Arguments),
    /// Puts the official client libraries through restarts, upgrades, frozen peers, odd proxies and large answers, and
    /// writes a table of what they saw (Linux).
    Outlive(lab::Arguments),
    /// Compares the live page of the universe server with its source, and tests it in Chromium.
    Page(page::Arguments),
    /// Tries the client of `mcp-proto` on servers that others wrote, over HTTP and stdio, in each era that they
    /// support.
    Peers(lab::Arguments),
    /// Compares the public interface of the published libraries with the committed lists of it, or writes these.
    PublicApi(public_api::Arguments),
    /// Makes all that a release consists of in a clean clone, and publishes nothing.
    Release(lab::Arguments),
    /// Renames and edits specs for half an hour while clients are subscribed to them: they must not miss a change.
    Renames(lab::Arguments),
    /// Replays the transcripts against the servers, in both eras, over HTTP and stdio.
    Replay,
    /// Tests spec-server with search by meaning, on a model that is installed for it, and prints how good search is.
    Semantic(semantic::Arguments),
    /// Installs published servers, checks them, and writes `conformance/docs/servers.md` (Linux).
    Servers(lab::Arguments),
    /// Attacks the universe server and the fixture in two dozen ways and reports whether another client notices
    /// (Linux).
    Siege(lab::Arguments),
    /// Opens sessions, cancels calls and drops streams by the thousands, and watches the server's memory (Linux).
    Soak(lab::Arguments),
    /// Runs the official conformance suites against the fixture `mcp-proto/examples/everything.rs`.
    Suites(suites::Arguments),
    /// Checks the rules of the house: docs, lengths, dependency arrows, circles, lines of code, the code map.
    Tidy(tidy::Arguments),
    /// Builds the packages of npm and PyPI that carry `mcp-conformance`, installs them and starts it by both.
    Wrappers(wrappers::Arguments),
}

fn main() -> ExitCode {
    if let Some(done) = public_api::in_place_of_rustdoc() {
        return xtask::exit_code(&done);
    }
    xtask::exit_code(&match Chore::parse() {
        Chore::Api(arguments) => api::run(&arguments),
        Chore::App(arguments) => app::run(&arguments),
        Chore::Audit => audit::run(),
        Chore::Bench(arguments) => lab::run("bench", &arguments),
        Chore::Ci(arguments) => ci::run(&arguments),
        Chore::Dist(arguments) => dist::run(&arguments),
        Chore::Docs(arguments) => docs::run(&arguments),
        Chore::Interop(arguments) => interop::run(&arguments),
        Chore::Lean => lean::run(),
        Chore::Nodes(arguments) => lab::run("nodes", &arguments),
        Chore::Oracle(arguments) => oracle::run(&arguments),
        Chore::Outlive(arguments) => lab::run("outlive", &arguments),
        Chore::Page(arguments) => page::run(&arguments),
        Chore::Peers(arguments) => lab::run("peers", &arguments),
        Chore::PublicApi(arguments) => public_api::run(&arguments),
        Chore::Release(arguments) => lab::run("release", &arguments),
        Chore::Renames(arguments) => lab::run("renames", &arguments),
        Chore::Replay => replay::run(),
        Chore::Semantic(arguments) => semantic::run(&arguments),
        Chore::Servers(arguments) => lab::run("servers", &arguments),
        Chore::Siege(arguments) => lab::run("siege", &arguments),
        Chore::Soak(arguments) => lab::run("soak", &arguments),
        Chore::Suites(arguments) => suites::run(&arguments),
        Chore::Tidy(arguments) => tidy::run(&arguments),
        Chore::Wrappers(arguments) => wrappers::run(&arguments),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_options_of_every_chore_can_be_parsed() {
        super::Chore::command().debug_assert();
    }
}
