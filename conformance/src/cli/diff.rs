//! `diff`: what changed from one contract to another.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use mcp_conformance::{BoxError, Contract, ContractDiff, ContractError, Revision, TargetError};

use super::Verdict;
use super::output::ReportFormat;
use super::server::{HeaderArgs, words};

/// How much of a command is shown, in characters.
const SHOWN: usize = 60;

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The older server: a lock file or the result of a list (*.json), transcripts (*.jsonl, or a directory), a URL, or
    /// the command that starts it on stdin and stdout.
    old: String,
    /// The newer server, given in the same way.
    new: String,
    #[command(flatten)]
    headers: HeaderArgs,
    /// Read live servers in this revision of the protocol. Repeatable; of several, and by default of all, the newest
    /// that the server supports is used.
    #[arg(long, value_name = "DATE")]
    revision: Vec<Revision>,
    /// Show the titles, descriptions and instructions that changed.
    #[arg(long)]
    texts: bool,
    /// Wait at most this many seconds for each answer.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
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
        let timeout = Duration::from_secs(self.timeout);
        let revisions = newest_of(&self.revision);
        if given.starts_with("http://") || given.starts_with("https://") {
            let target = self.headers.target(given)?;
            return Ok(Contract::of_url(target, &revisions, timeout).await?);
        }
        let path = Path::new(given);
        let is_named = given.ends_with(".json") || given.ends_with(".jsonl");
        // A command may end with the name of a file.
        if path.is_dir() || is_named && (path.exists() || !given.contains(char::is_whitespace)) {
            return Ok(Contract::read(path)?);
        }
        let (program, arguments) = words(given)?;
        let mut contract = Contract::of_command(program, arguments, &revisions, timeout).await?;
        // Two releases of a server are often started by the same program.
        contract.source = given.chars().take(SHOWN).collect();
        Ok(contract)
    }
}

/// The revisions that may be used.
pub(super) fn newest_of(given: &[Revision]) -> Vec<Revision> {
    if given.is_empty() { Revision::ALL.to_vec() } else { given.to_vec() }
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
