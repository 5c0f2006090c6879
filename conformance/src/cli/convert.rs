//! `convert`: exchanges that something else recorded.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use mcp_conformance::{BoxError, Recorder};

use super::Verdict;
use super::record::summary;

/// Each line of a file is a JSON object with `request` (`method`, `headers`, `body`) and `response` (`status`,
/// `headers`, and `body` or `events`).
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The folder for the transcripts.
    #[arg(long, value_name = "DIRECTORY", default_value = "transcripts")]
    out: PathBuf,
    /// Write one behaviour per file.
    #[arg(long)]
    split: bool,
    /// Files of exchanges.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl ConvertArgs {
    pub(super) fn run(&self, mut out: impl Write) -> Result<Verdict, BoxError> {
        let recorder = Recorder::new(&self.out, self.split)
            .map_err(|error| format!("cannot write to {}: {error}", self.out.display()))?;
        for file in &self.files {
            let text =
                fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            recorder.import(&file.display().to_string(), &text)?;
        }
        for file in recorder.finish()? {
            writeln!(out, "{}", summary(&file))?;
        }
        match recorder.left_out() {
            0 => {}
            exchanges => writeln!(
                out,
                "{exchanges} exchanges were not kept: their sessions began before this, or there were too many"
            )?,
        }
        Ok(Verdict::Holds)
    }
}
