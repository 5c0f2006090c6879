//! `fuzz`: broken requests against a server.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use mcp_conformance::{BoxError, Fuzz, FuzzError, FuzzReport, Revision, Target, TargetError};

use super::Verdict;
use super::output::Progress;
use super::server::HeaderArgs;

#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    headers: HeaderArgs,
    /// The cases are the same for the same seed. By default one of chance, which the report names.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How many cases are tried.
    #[arg(long, value_name = "N", default_value = "1000")]
    iterations: u64,
    /// This case of the seed alone, as a report names it.
    #[arg(long, value_name = "NUMBER", requires = "seed")]
    case: Option<u64>,
    /// Begin no case after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    duration: Option<u64>,
    /// Only this revision, such as 2025-11-25. Repeatable; by default the newest of each era that the server speaks.
    #[arg(long, value_name = "DATE")]
    revision: Vec<Revision>,
    /// A tool that may be called with anything though it is not annotated as read-only. Repeatable.
    #[arg(long, value_name = "TOOL")]
    call: Vec<String>,
    /// Wait at most this many seconds for each answer.
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Write each finding to this directory: a transcript for `replay`, or the lines for a shell where none can be written.
    #[arg(long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// How the report is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct PlaceArgs {
    /// The URL of the server's MCP endpoint, such as http://127.0.0.1:3001/mcp.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The command that starts a server on stdin and stdout, in quotes.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// As data.
    Json,
}

impl FuzzArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        let mut fuzz = self
            .target()?
            .iterations(self.iterations)
            .revisions(self.revision.clone())
            .call(self.call.iter().cloned())
            .timeout(Duration::from_secs(self.timeout));
        if let Some(seed) = self.seed {
            fuzz = fuzz.seed(seed);
        }
        if let Some(case) = self.case {
            fuzz = fuzz.case(case);
        }
        if let Some(seconds) = self.duration {
            fuzz = fuzz.duration(Duration::from_secs(seconds));
        }
        let seed = fuzz.seeded();
        let mut progress = Progress::new();
        let run = fuzz.run(|case, findings| {
            progress.step(&format!("case {case} of seed {seed}, {findings} findings"));
        });
        let report = match run.await {
            Ok(report) => report,
            Err(FuzzError::Target(error @ TargetError::Unreachable { .. })) => {
                drop(progress);
                writeln!(out, "{error}")?;
                return Ok(Verdict::Unreachable);
            }
            Err(error) => return Err(error.into()),
        };
        drop(progress);
        if let Some(directory) = &self.output {
            write_findings(&report, directory)?;
        }
        match self.format {
            Format::Text => report.write_text(&mut out)?,
            Format::Json => writeln!(out, "{:#}", report.to_json())?,
        }
        Ok(match report.findings.is_empty() {
            true => Verdict::Holds,
            false => Verdict::Differs,
        })
    }

    fn target(&self) -> Result<Fuzz, BoxError> {
        match (&self.place.url, &self.place.command) {
            (Some(url), _) => Ok(Fuzz::url(self.headers.apply(Target::url(url)?)?)),
            (None, command) => {
                if !self.headers.is_empty() {
                    return Err("a server on pipes gets no headers; give --header and --token-env with --url".into());
                }
                let words = shlex::split(command.as_deref().unwrap_or_default());
                let mut words = words.unwrap_or_default().into_iter();
                let program = words
                    .next()
                    .ok_or("the command is empty or its quotes do not match")?;
                Ok(Fuzz::command(program, words.map(Into::into).collect()))
            }
        }
    }
}

fn write_findings(report: &FuzzReport, directory: &Path) -> Result<(), BoxError> {
    let refused = |path: &Path, error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(directory).map_err(|error| refused(directory, error))?;
    for finding in &report.findings {
        let (kind, text) = match &finding.transcript {
            Some(transcript) => ("jsonl", transcript),
            None => ("sh", &finding.reproduce),
        };
        let path = directory.join(format!("fuzz-{}-{}.{kind}", report.seed, finding.case));
        fs::write(&path, text).map_err(|error| refused(&path, error))?;
    }
    Ok(())
}
