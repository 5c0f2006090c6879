//! The command line: what was given, and what it means.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use mcp_conformance::{BoxError, Era, Replay, Summary, Target, TextReporter, Transcript};

/// Holds MCP servers against transcripts.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit code: 0 all passed, 1 something failed, 2 wrong usage or a broken transcript."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sends the requests of transcripts to a server and compares its answers with theirs.
    Replay(ReplayArgs),
}

#[derive(Debug, Args)]
struct ReplayArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The era to replay in.
    #[arg(long, value_enum, default_value = "both")]
    era: Eras,
    /// Replay only transcripts whose name contains this text.
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
    /// The server is the special one of this name; replay the transcripts that need it instead of the others.
    #[arg(long, value_name = "NAME")]
    fixture: Option<String>,
    /// Wait at most this many seconds for each step.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Transcripts, or directories that hold some.
    #[arg(required = true, value_name = "FILE_OR_DIRECTORY")]
    paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ServerArgs {
    /// The server's base URL, such as http://127.0.0.1:3001.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// A server on pipes: its program and arguments, quoted as in a shell. It is started anew for each `initialize`; what
    /// transcripts say of HTTP itself fails.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
}

impl ServerArgs {
    fn target(&self) -> Result<Target, BoxError> {
        match (&self.url, &self.command) {
            (Some(url), _) => Ok(Target::url(url)?),
            (None, command) => {
                let words = command.as_deref().and_then(shlex::split);
                let mut words = words
                    .ok_or("--command has a quote that does not end")?
                    .into_iter();
                let program = words.next().ok_or("--command names no program")?;
                Ok(Target::command(program, words))
            }
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Eras {
    Legacy,
    Modern,
    Both,
}

/// Does what the arguments say and reports to `out`.
///
/// # Errors
///
/// What was given cannot be used: the URL, a transcript, a filter that leaves nothing; or `out` cannot be written.
pub(crate) async fn run(cli: Cli, out: impl Write, color: bool) -> Result<Summary, BoxError> {
    let Command::Replay(args) = cli.command;
    let mut transcripts = Transcript::read_all(&args.paths)?;
    if let Some(filter) = &args.filter {
        transcripts.retain(|transcript| transcript.name().contains(filter.as_str()));
        if transcripts.is_empty() {
            return Err(format!("no transcript has a name that contains {filter:?}").into());
        }
    }
    let eras: &[Era] = match args.era {
        Eras::Legacy => &[Era::Legacy],
        Eras::Modern => &[Era::Modern],
        Eras::Both => &Era::ALL,
    };
    let mut replay = Replay::new(args.server.target()?)
        .eras(eras.iter().copied())
        .step_timeout(Duration::from_secs(args.timeout));
    if let Some(fixture) = args.fixture {
        replay = replay.fixture(fixture);
    }
    let mut reporter = TextReporter::new(out, color);
    let mut written = Ok(());
    let summary = replay
        .run(&transcripts, |event| {
            if written.is_ok() {
                written = reporter.report(event);
            }
        })
        .await;
    written?;
    Ok(summary)
}
