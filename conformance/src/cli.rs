//! The command line: what was given, and what it means.

mod check;
mod client;
mod convert;
mod fuzz;
mod load;
mod output;
mod record;
mod replay;
mod report;
mod server;

use std::io::Write;

use clap::{Parser, Subcommand};
use mcp_conformance::{BoxError, transcript_schema};

/// Records MCP sessions and holds MCP servers against them.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit code: 0 all holds, 1 something differs, 2 wrong usage or a broken transcript, 3 no server answers."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sends the requests of transcripts to a server and compares its answers with theirs.
    Replay(replay::ReplayArgs),
    /// Holds a server against the rules of the protocol; it needs no fixture.
    Check(check::CheckArgs),
    /// Holds a client against the rules of the protocol, by servers that play a part.
    Client(client::ClientArgs),
    /// Measures how many requests a server answers in a second, and how long each takes.
    Load(load::LoadArgs),
    /// Sends broken requests to a server, which must bear them.
    Fuzz(fuzz::FuzzArgs),
    /// Stands between a client and a server, and writes a transcript of each session.
    Record(record::RecordArgs),
    /// Turns exchanges that were recorded elsewhere into transcripts.
    Convert(convert::ConvertArgs),
    /// Puts results together that were written as JSON, and writes them in another format.
    Report(report::ReportArgs),
    /// Prints the JSON Schema of a line of a transcript.
    Schema,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All holds.
    Holds = 0,
    /// Something differs.
    Differs = 1,
    /// What was given cannot be used.
    Unusable = 2,
    /// The server cannot be reached.
    Unreachable = 3,
}

/// Does what the arguments say and reports to `out`.
///
/// # Errors
///
/// An argument cannot be used: the URL, a transcript, a filter that matches nothing; or `out` cannot be written.
pub(crate) async fn run(cli: Cli, mut out: impl Write, color: bool) -> Result<Verdict, BoxError> {
    match cli.command {
        Command::Replay(args) => args.run(out, color).await,
        Command::Check(args) => args.run(out).await,
        Command::Client(args) => args.run(out).await,
        Command::Load(args) => args.run(out).await,
        Command::Fuzz(args) => args.run(out).await,
        Command::Record(args) => args.run().await,
        Command::Convert(args) => args.run(out),
        Command::Report(args) => args.run(out),
        Command::Schema => {
            writeln!(out, "{:#}", transcript_schema())?;
            Ok(Verdict::Holds)
        }
    }
}
