//! The command line: what was given, and what it means.

mod check;
mod client;
mod convert;
mod diff;
mod fuzz;
mod load;
mod login;
mod mock;
mod output;
mod record;
mod replay;
mod report;
mod server;
mod snapshot;

use std::io::Write;

use clap::{Parser, Subcommand};
use mcp_conformance::{BoxError, transcript_schema};

/// Tests MCP servers and clients: checks them against the rules of the specification, records sessions and replays
/// them, serves them as a mock server, measures load, and sends broken requests.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 no problem, 1 a problem was found, 2 wrong arguments or an unusable file, 3 the server \
                  cannot be reached or the client cannot be run"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sends the requests in transcripts to a server and compares its answers with the expected ones.
    ///
    /// A transcript is a file of requests and expected answers (JSON Lines). `record` writes transcripts from real
    /// sessions; they can be edited or written by hand. Each difference is reported with its line and JSON path.
    Replay(replay::ReplayArgs),
    /// Checks a server against the rules of the MCP specification; needs only the server.
    ///
    /// Each rule is checked in every protocol revision that the server supports. A finding shows the rule, what was
    /// seen, and what to change. Tools are called only if they are annotated as read-only or named with --call.
    Check(check::CheckArgs),
    /// Checks a client against the rules of the MCP specification, by running it against test servers.
    ///
    /// The client is run 11 times, each time against another local test server (a scene): some behave normally, others
    /// send event streams, lose the session, break off, need input, or misbehave. The findings show the requests that
    /// the client sent.
    Client(client::ClientArgs),
    /// Measures how many requests a server answers per second, and how long the answers take.
    ///
    /// Several connections send requests at the same time. Every answer is checked; a wrong one counts as failed and
    /// makes the exit code 1. The report has a line for each call: requests, answers per second, the times in
    /// milliseconds within which 50 %, 90 % and 99 % of the answers came, the longest time, and failures.
    Load(load::LoadArgs),
    /// Sends broken requests to a server, and checks that it handles them and keeps working.
    ///
    /// Each case is a valid request with one to three changes, followed by a valid request that must be answered as
    /// before. A finding is a server error (5xx), a missing or invalid answer, or a server that stops working. It is
    /// confirmed in a new session or process and made as small as possible. Use it only on a server whose data you can
    /// lose.
    Fuzz(fuzz::FuzzArgs),
    /// Records the sessions between clients and a server as transcripts.
    ///
    /// For a server over HTTP, give --upstream and connect the client to the address of --listen. For a server on stdin
    /// and stdout, give its command after `--`, and configure `mcp-conformance record … -- COMMAND` as the server's
    /// command in the client. A transcript is written when its session ends; sessions that are still open are written
    /// on Ctrl-C or SIGTERM, or when the client closes stdin. Tokens and other secrets are masked. With --calls no
    /// client is needed: the server's lists are read, and the calls in a file are made.
    Record(record::RecordArgs),
    /// Serves transcripts as a mock server, over HTTP or on stdin and stdout.
    ///
    /// Each request is answered as it was recorded: by its method and params, with the id of the request. A request
    /// that was recorded several times is answered in that order. A request that was not recorded gets an error that
    /// names the nearest recorded one. Clients of both eras are served, each from the transcripts of its era.
    Mock(mock::MockArgs),
    /// Says in words what changed from one server to another, and whether it breaks callers of the older one.
    ///
    /// Tools, prompts and resources are compared by name: which were removed, added or renamed, and which arguments and
    /// results take more or less than before. Each server is a lock file, transcripts, a URL or a command. The exit
    /// code is 0 if nothing breaks callers, 1 if something does, 2 for wrong arguments or an unusable file, and 3 if a
    /// server cannot be reached.
    Diff(diff::DiffArgs),
    /// Writes what a server offers to a lock file, for `diff`. No client is needed, and no tool is called.
    ///
    /// The file has the server's tools, prompts and resources by name, as JSON that can be read in the history of a
    /// repository. Two snapshots of the same server are the same, whatever the order of its lists.
    Snapshot(snapshot::SnapshotArgs),
    /// Converts HTTP exchanges that another tool recorded into transcripts.
    ///
    /// Each line of an input file is a JSON object with `request` (`method`, `headers`, `body`) and `response`
    /// (`status`, `headers`, and `body` or `events`). One transcript is written for each session.
    Convert(convert::ConvertArgs),
    /// Combines results of `check` or `replay`, and writes them in another format.
    ///
    /// Each input file was written with --format json. The report has the servers of all files, in the order of the
    /// files.
    Report(report::ReportArgs),
    /// Prints the JSON Schema of one line of a transcript.
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
        Command::Replay(args) => until_stopped(args.run(out, color)).await,
        Command::Check(args) => until_stopped(args.run(out)).await,
        Command::Client(args) => until_stopped(args.run(out)).await,
        Command::Load(args) => until_stopped(args.run(out)).await,
        Command::Fuzz(args) => until_stopped(args.run(out)).await,
        Command::Record(args) => args.run(out).await,
        Command::Mock(args) => args.run().await,
        Command::Diff(args) => args.run(out).await,
        Command::Snapshot(args) => args.run(out).await,
        Command::Convert(args) => args.run(out),
        Command::Report(args) => args.run(out),
        Command::Schema => {
            writeln!(out, "{:#}", transcript_schema())?;
            Ok(Verdict::Holds)
        }
    }
}

/// The same until Ctrl-C or SIGTERM, so that the programs that were started end too.
async fn until_stopped(
    run: impl Future<Output = Result<Verdict, BoxError>>,
) -> Result<Verdict, BoxError> {
    tokio::select! {
        done = run => done,
        () = interrupted() => Err("it was stopped by a signal".into()),
    }
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut ended) = signal(SignalKind::terminate()) else {
        return drop(tokio::signal::ctrl_c().await);
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = ended.recv() => {}
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    drop(tokio::signal::ctrl_c().await);
}
