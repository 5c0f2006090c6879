//! `migrate`: universes from one store to another, and back, also while servers write to the one they come from.
//!
//! Both sides are read through the port, not as tables: so it works between any two adapters, and compares what the
//! servers would read.

mod copy;
mod source;
mod verify;

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use service_host::stop_signal;
use tokio_util::sync::CancellationToken;

use self::copy::Copying;
use self::source::Source;
use super::{CareError, Result, counted, database, off, say};
use crate::config::store::StoreUrl;
use crate::store::sqlite::Options;
use crate::store::{SqliteStore, UniverseLog};

/// The interval at which the source is checked for new entries.
const LOOK: Duration = Duration::from_millis(500);

/// Where from and where to.
#[derive(Debug, Clone, Args)]
pub struct MigrateArgs {
    /// Where the universes are: a data directory, or the URL of a database. Servers may continue to use it.
    #[arg(long, env = "UNIVERSE_FROM", hide_env_values = true, value_name = "DIR|URL")]
    pub from: Location,

    /// The destination: a data directory or the URL of a database, which no server uses yet. If it has universes, they
    /// must be earlier states of the same universes.
    #[arg(long, env = "UNIVERSE_TO", hide_env_values = true, value_name = "DIR|URL")]
    pub to: Location,

    /// Also copies new changes, until the server of the data directory has ended, or, for a database, until this is
    /// stopped (Ctrl-C, SIGTERM) after its servers have ended. Then it compares the rest and ends.
    #[arg(long)]
    pub follow: bool,
}

/// Where universes are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A data directory.
    Directory(PathBuf),
    /// A database.
    Database(StoreUrl),
}

/// The error for a failed migration.
fn failed(problem: impl fmt::Display) -> CareError {
    CareError::Migrate(problem.to_string())
}

impl MigrateArgs {
    /// Copies and compares the universes.
    ///
    /// # Errors
    /// [`CareError`], as a sentence for the person who ran the command.
    pub(crate) async fn run(self, authorities: Option<&Path>) -> Result<ExitCode> {
        let stop = stop_signal()?;
        if self.from == self.to {
            return Err(failed("--from and --to are the same place"));
        }
        let from = Source::open(&self.from, authorities).await?;
        let to = self.to.open(authorities).await?;
        let mut copying = Copying::begin(from, Arc::clone(&to)).await?;
        let done = if self.follow {
            follow(&mut copying, &self.to, &stop).await
        } else {
            tokio::select! {
                done = copying.pass() => done,
                () = stop.cancelled() => Err(failed("stopped; the same command continues from there")),
            }
        };
        done?;
        let (universes, revisions) = copying.verified();
        say(&format!(
            "{} with {revisions} revisions are the same in {} and {}",
            counted(universes),
            self.from,
            self.to
        ))?;
        if copying.source().may_change() {
            say(match self.from {
                Location::Directory(_) => {
                    "a server uses the directory and may have written since: stop it and run this again, or use --follow"
                }
                Location::Database(_) => {
                    "if servers still write to the database, stop them and run this again, or use --follow"
                }
            })?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Continues copying until the source is released.
async fn follow(copying: &mut Copying, to: &Location, stop: &CancellationToken) -> Result<()> {
    let mut is_told = false;
    loop {
        let is_last = stop.is_cancelled() || copying.settle().await?;
        copying.pass().await?;
        if is_last {
            return Ok(());
        }
        if !is_told {
            is_told = true;
            let (universes, revisions) = copying.verified();
            let what = if copying.source().is_directory() {
                "let the server of the directory end, and this ends soon after"
            } else {
                "let the servers of the database end, and then this (Ctrl-C)"
            };
            say(&format!(
                "{} with {revisions} revisions are in {to}, and what is written meanwhile comes after them: {what}",
                counted(universes)
            ))?;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => {}
        }
    }
}

impl Location {
    /// Opens the store at this location for writing.
    async fn open(&self, authorities: Option<&Path>) -> Result<Arc<dyn UniverseLog>> {
        match self {
            Self::Directory(dir) => {
                let dir = dir.clone();
                let store = off(move || Ok(SqliteStore::open(&dir, Options::default())?)).await?;
                Ok(Arc::new(store))
            }
            Self::Database(url) => database::open(url, authorities).await,
        }
    }
}

impl FromStr for Location {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text.contains("://") {
            Self::Database(StoreUrl::new(text))
        } else {
            Self::Directory(PathBuf::from(text))
        })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(dir) => dir.display().fmt(f),
            Self::Database(url) => url.fmt(f),
        }
    }
}
