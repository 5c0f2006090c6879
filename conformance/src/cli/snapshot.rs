//! `snapshot`: what a server offers, as a lock file.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use mcp_conformance::BoxError;

use super::Verdict;
use super::diff::unreachable;
use super::server::{ReadArgs, ServerArgs};

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Write the lock file here. By default it is written to standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
}

impl SnapshotArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        let contract = match self.read.contract(self.server.target()?).await {
            Ok(contract) => contract,
            Err(error) => return unreachable(error.into(), out),
        };
        let lock = contract.to_lock()?;
        let Some(path) = &self.output else {
            write!(out, "{lock}")?;
            return Ok(Verdict::Holds);
        };
        fs::write(path, &lock)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        writeln!(out, "wrote {}: {}, {} bytes", path.display(), contract.summary(), lock.len())?;
        for note in &contract.notes {
            writeln!(out, "note: {note}")?;
        }
        Ok(Verdict::Holds)
    }
}
