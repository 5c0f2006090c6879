//! `report`: results that were written as JSON, put together and written otherwise.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use mcp_conformance::{BoxError, Results};

use super::Verdict;
use super::output::OutputArgs;

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    output: OutputArgs,
    /// JSON results, either all of `check` or all of `replay`.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl ReportArgs {
    pub(super) fn run(&self, out: impl Write) -> Result<Verdict, BoxError> {
        let known = self.output.known()?;
        let mut all: Option<Results> = None;
        for path in &self.files {
            let refused =
                |problem: String| format!("cannot use the results {}: {problem}", path.display());
            let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
            let results = Results::from_json(&text).map_err(refused)?;
            match &mut all {
                None => all = Some(results),
                Some(all) if all.tool != results.tool => {
                    let problem =
                        "results of `check` and of `replay` cannot be combined in one report"
                            .to_owned();
                    return Err(refused(problem).into());
                }
                Some(all) => {
                    all.at = results.at.max(std::mem::take(&mut all.at));
                    all.targets.extend(results.targets);
                }
            }
        }
        let results = all.ok_or("no results were given")?;
        self.output.finish(results, known.as_ref(), false, out)
    }
}
