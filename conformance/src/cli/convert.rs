//! `convert`: exchanges that something else recorded.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use mcp_conformance::{BoxError, Recorder};

use super::Verdict;
use super::record::summary;

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The directory for the transcripts; it is created if it does not exist.
    #[arg(long, value_name = "DIRECTORY", default_value = "transcripts")]
    out: PathBuf,
    /// Write a separate transcript for each request, with the earlier steps whose values it uses.
    #[arg(long)]
    split: bool,
    /// Files with recorded exchanges.
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
                "{exchanges} exchanges were left out: their sessions began before the recording, or a limit was reached"
            )?,
        }
        Ok(Verdict::Holds)
    }
}
