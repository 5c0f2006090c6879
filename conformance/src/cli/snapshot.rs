//! `snapshot`: what a server offers, as a lock file.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use mcp_conformance::{BoxError, Contract, Revision};

use super::Verdict;
use super::diff::{newest_of, unreachable};
use super::server::{ServerAddress, ServerArgs};

#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Write the lock file here. By default it is written to standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read the server in this revision of the protocol. Repeatable; of several, and by default of all, the newest that
    /// the server supports is used.
    #[arg(long, value_name = "DATE")]
    revision: Vec<Revision>,
    /// Wait at most this many seconds for each answer.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

impl SnapshotArgs {
    pub(super) async fn run(self, mut out: impl Write) -> Result<Verdict, BoxError> {
        let timeout = Duration::from_secs(self.timeout);
        let revisions = newest_of(&self.revision);
        let read = match self.server.address()? {
            ServerAddress::Url(target) => Contract::of_url(target, &revisions, timeout).await,
            ServerAddress::Command(program, arguments) => {
                Contract::of_command(program, arguments, &revisions, timeout).await
            }
        };
        let contract = match read {
            Ok(contract) => contract,
            Err(error) => return unreachable(error.into(), out),
        };
        let lock = contract.to_lock();
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
