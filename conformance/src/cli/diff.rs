//! `diff`: what changed from one contract to another.

use std::io::Write;
use std::path::Path;

use clap::Args;
use mcp_conformance::{BoxError, Contract, ContractDiff, ContractError, TargetError};

use super::Verdict;
use super::output::ReportFormat;
use super::server::{HeaderArgs, ReadArgs, command};

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The older server: a lock file or the result of a list (*.json), transcripts (*.jsonl, or a directory), a URL, or
    /// the command that starts it on stdin and stdout.
    old: String,
    /// The newer server, given in the same way.
    new: String,
    #[command(flatten)]
    headers: HeaderArgs,
    #[command(flatten)]
    read: ReadArgs,
    /// Show the titles, descriptions and instructions that changed.
    #[arg(long)]
    texts: bool,
    /// The format of the report.
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
}

impl DiffArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        let both = async {
            let old = self.contract(&self.old).await?;
            Ok::<_, BoxError>((old, self.contract(&self.new).await?))
        };
        let (old, new) = match both.await {
            Ok(both) => both,
            Err(error) => return unreachable(error, out),
        };
        let diff = ContractDiff::between(&old, &new);
        match self.format {
            ReportFormat::Text => diff.write_text(self.texts, &mut out)?,
            ReportFormat::Json => writeln!(out, "{:#}", diff.to_json())?,
        }
        Ok(if diff.is_breaking() { Verdict::Differs } else { Verdict::Holds })
    }

    async fn contract(&self, given: &str) -> Result<Contract, BoxError> {
        let path = Path::new(given);
        let is_named = given.ends_with(".json") || given.ends_with(".jsonl");
        let target = if given.starts_with("http://") || given.starts_with("https://") {
            self.headers.target(given)?
        } else if path.is_dir()
            // A command may end with the name of a file.
            || is_named && (path.exists() || !given.contains(char::is_whitespace))
        {
            return Ok(Contract::read(path)?);
        } else {
            command(given)?
        };
        Ok(self.read.contract(target).await?)
    }
}

/// Says that a server cannot be reached, if that is the error.
pub(super) fn unreachable(error: BoxError, mut out: impl Write) -> Result<Verdict, BoxError> {
    let error = error.downcast::<ContractError>()?;
    match *error {
        ContractError::Target(TargetError::Unreachable { .. } | TargetError::NoAnswer { .. })
        | ContractError::Revision(_) => {
            writeln!(out, "{error}")?;
            Ok(Verdict::Unreachable)
        }
        other => Err(other.into()),
    }
}
