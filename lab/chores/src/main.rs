//! The chores that only maintainers run; `cargo xtask` passes them on to this program.

mod bench;
mod era;
mod nodes;
mod outlive;
mod peers;
mod release;
mod renames;
mod servers;
mod siege;
mod soak;

use std::process::ExitCode;

use clap::Parser;

/// A chore that only maintainers run.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Compares servers on this library with plain hyper and serde_json and with servers on other libraries: speed,
    /// memory, size (Linux); `--count` and `--short` count the instructions of a call.
    Bench(bench::Arguments),
    /// Loads three universe servers on a replicated database while servers, database and networks fail, and compares
    /// what was acknowledged with what is there (Linux, root).
    Nodes(nodes::Arguments),
    /// Puts the official client libraries through restarts, upgrades, frozen peers, odd proxies and large answers, and
    /// writes a table of what they saw (Linux).
    Outlive(outlive::Arguments),
    /// Tries the client of `mcp-proto` on servers that others wrote, over HTTP and stdio, in each era that they
    /// support.
    Peers(peers::Arguments),
    /// Makes all that a release consists of in a clean clone, and publishes nothing.
    Release(release::Arguments),
    /// Renames and edits specs for half an hour while clients are subscribed to them: they must not miss a change.
    Renames(renames::Arguments),
    /// Installs published servers, checks them, and writes `conformance/docs/servers.md` (Linux).
    Servers(servers::Arguments),
    /// Attacks the universe server and the fixture in two dozen ways and reports whether another client notices
    /// (Linux).
    Siege(siege::Arguments),
    /// Opens sessions, cancels calls and drops streams by the thousands, and watches the server's memory (Linux).
    Soak(soak::Arguments),
}

fn main() -> ExitCode {
    xtask::exit_code(&match Chore::parse() {
        Chore::Bench(arguments) => bench::run(&arguments),
        Chore::Nodes(arguments) => nodes::run(&arguments),
        Chore::Outlive(arguments) => outlive::run(&arguments),
        Chore::Peers(arguments) => peers::run(&arguments),
        Chore::Release(arguments) => release::run(&arguments),
        Chore::Renames(arguments) => renames::run(&arguments),
        Chore::Servers(arguments) => servers::run(&arguments),
        Chore::Siege(arguments) => siege::run(&arguments),
        Chore::Soak(arguments) => soak::run(&arguments),
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
