//! `fuzz`: broken requests against a server.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use mcp_conformance::{BoxError, Fuzz, FuzzError, FuzzReport, TargetError};

use super::Verdict;
use super::output::{Progress, ReportFormat};
use super::server::{AskArgs, ServerArgs};

#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    ask: AskArgs,
    /// The seed of the random generator: the same seed sends the same requests, as long as the server offers the same
    /// tools and lists. By default a random seed, which the report shows.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// The number of cases (broken requests) to try.
    #[arg(long, value_name = "N", default_value = "1000")]
    iterations: u64,
    /// Run only this case of the seed; the report shows the number of each finding's case.
    #[arg(long, value_name = "NUMBER", requires = "seed")]
    case: Option<u64>,
    /// Start no new case after this many seconds. By default only --iterations limits the run.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    duration: Option<u64>,
    /// Write a file for each finding to this directory: a transcript for `replay`, or shell commands if a transcript
    /// cannot express the request.
    #[arg(long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// The format of the report.
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
}

impl FuzzArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        let mut fuzz = Fuzz::new(self.server.target()?)
            .iterations(self.iterations)
            .revisions(self.ask.revision.clone())
            .call(self.ask.named()?)
            .timeout(self.ask.timeout());
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
            ReportFormat::Text => report.write_text(&mut out)?,
            ReportFormat::Json => writeln!(out, "{:#}", report.to_json())?,
        }
        Ok(if report.findings.is_empty() { Verdict::Holds } else { Verdict::Differs })
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
