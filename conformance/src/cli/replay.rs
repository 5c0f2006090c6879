//! `replay`: transcripts against a server.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mcp_conformance::{
    BoxError, Era, Event, Replay, Results, Subject, TextReporter, Tool, Transcript, Update,
};

use super::Verdict;
use super::output::{OutputArgs, Progress};
use super::server::ServerArgs;

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Replay only as a client of this era of the protocol.
    #[arg(long, value_enum, default_value = "both")]
    era: Eras,
    /// Replay only transcripts whose name contains this text.
    #[arg(long, value_name = "NAME")]
    filter: Option<String>,
    /// Replay only the transcripts whose header has this `fixture`: a server that was prepared for them. By default,
    /// only transcripts without one are replayed.
    #[arg(long, value_name = "NAME")]
    fixture: Option<String>,
    /// Wait at most this many seconds for each step.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Write what the server answers now into the transcripts, in place of what differs. Matchers that accept the
    /// answer stay. The exit code is 0 if nothing else differs.
    #[arg(long, conflicts_with_all = ["baseline", "write_baseline", "format", "output"])]
    update: bool,
    #[command(flatten)]
    output: OutputArgs,
    /// The name of the server in reports. By default the URL or the program.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Transcripts, or directories with *.jsonl files.
    #[arg(required = true, value_name = "FILE_OR_DIRECTORY")]
    paths: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Eras {
    /// With a handshake and sessions: revisions up to 2025-11-25.
    Legacy,
    /// Without sessions: revision 2026-07-28.
    Modern,
    /// In each era that the transcript supports.
    Both,
}

impl ReplayArgs {
    pub(super) async fn run(&self, mut out: impl Write, color: bool) -> Result<Verdict, BoxError> {
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
        let known = self.output.known()?;
        let target = self.server.target()?;
        let mut subject = Subject::replayed(target.to_string());
        let mut replay = Replay::new(target)
            .eras(eras.iter().copied())
            .step_timeout(Duration::from_secs(self.timeout));
        if let Some(fixture) = &self.fixture {
            replay = replay.fixture(fixture);
        }
        let mut reporter = self.output.is_text().then(|| TextReporter::new(&mut out, color));
        let mut update = Update::default();
        let mut progress = Progress::new();
        let mut written = Ok(());
        let summary = replay
            .run(&transcripts, |event| {
                subject.add(event);
                update.add(event);
                match (&mut reporter, event) {
                    (Some(reporter), _) if written.is_ok() => written = reporter.report(event),
                    (None, Event::Started { transcript, era }) => {
                        progress.step(&format!("{} ({era})", transcript.name()));
                    }
                    _ => {}
                }
            })
            .await;
        written?;
        drop(progress);
        if self.update && !summary.unreachable && summary.passed + summary.failed > 0 {
            return write(&update, &mut out);
        }
        let mut results = Results::new(Tool::Replay);
        results.targets.push(subject.named(self.name.clone()));
        let verdict = self.output.finish(results, known.as_ref(), true, &mut out)?;
        Ok(match verdict {
            // A replay of nothing shows nothing.
            Verdict::Holds if summary.passed + summary.failed == 0 => Verdict::Differs,
            verdict => verdict,
        })
    }
}

/// Writes the transcripts, and says what became of them.
fn write(update: &Update, out: &mut impl Write) -> Result<Verdict, BoxError> {
    let mut verdict = Verdict::Holds;
    for file in update.write()? {
        let lines: Vec<_> = file.lines.iter().map(ToString::to_string).collect();
        match lines.as_slice() {
            [] => writeln!(out, "not updated: {}", file.path.display())?,
            lines => writeln!(out, "updated {}: lines {}", file.path.display(), lines.join(", "))?,
        }
        for left in file.left {
            writeln!(out, "  still differs: {left}")?;
            verdict = Verdict::Differs;
        }
    }
    Ok(verdict)
}
