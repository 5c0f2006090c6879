//! `replay`: transcripts against a server.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mcp_conformance::{BoxError, Era, Replay, TextReporter, Transcript};

use super::Verdict;
use super::server::ServerArgs;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Eras {
    Legacy,
    Modern,
    Both,
}

impl ReplayArgs {
    pub(super) async fn run(&self, out: impl Write, color: bool) -> Result<Verdict, BoxError> {
        let mut transcripts = Transcript::read_all(&self.paths)?;
        if let Some(filter) = &self.filter {
            transcripts.retain(|transcript| transcript.name().contains(filter.as_str()));
            if transcripts.is_empty() {
                return Err(format!("no transcript has a name that contains {filter:?}").into());
            }
        }
        let eras: &[Era] = match self.era {
            Eras::Legacy => &[Era::Legacy],
            Eras::Modern => &[Era::Modern],
            Eras::Both => &Era::ALL,
        };
        let mut replay = Replay::new(self.server.target()?)
            .eras(eras.iter().copied())
            .step_timeout(Duration::from_secs(self.timeout));
        if let Some(fixture) = &self.fixture {
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
        Ok(match summary {
            summary if summary.unreachable => Verdict::Unreachable,
            summary if summary.is_success() => Verdict::Holds,
            _ => Verdict::Differs,
        })
    }
}
