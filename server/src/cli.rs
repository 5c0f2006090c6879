//! Commands of the program other than serving.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Subcommand};
use clap_complete::Shell;

use crate::care;
use crate::client::{self, ClientError};
use crate::config::{Arguments, Settings, StoreKind};
use crate::run::RunError;

/// A verb.
#[derive(Debug, Clone, Subcommand)]
#[non_exhaustive]
pub enum Verb {
    /// What people do with universes.
    #[command(flatten)]
    Client(Box<client::Verb>),
    /// Care of the data.
    #[command(flatten)]
    Care(care::Verb),
    /// Shows the value of every option and its source: a flag, the environment, the file or the default.
    CheckConfig {
        /// Writes JSON instead of text for people.
        #[arg(long)]
        json: bool,
    },
    /// Writes the completions of a shell to stdout.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Writes the manual page to stdout, or into a directory with a page for each verb.
    Man {
        /// The directory.
        dir: Option<PathBuf>,
    },
}

impl Verb {
    /// Runs the command on the universes, in any store.
    ///
    /// # Errors
    /// [`RunError`], as a sentence for the person who ran the command.
    pub(crate) async fn run(
        self,
        arguments: &Arguments,
        settings: &Settings,
    ) -> Result<ExitCode, RunError> {
        let dir = &arguments.data_dir;
        let database = match &arguments.store {
            StoreKind::Shared(url) => Some((url, arguments.store_ca.as_deref())),
            StoreKind::Embedded | StoreKind::Memory => None,
        };
        match self {
            Self::Client(verb) if database.is_some() && verb.url().is_none() => {
                return Err(ClientError::Elsewhere.into());
            }
            Self::Client(verb) => return Ok(verb.run(dir).await?),
            // The command's own arguments name the source and the target.
            Self::Care(care::Verb::Migrate(given)) => {
                return Ok(given.run(arguments.store_ca.as_deref()).await?);
            }
            Self::Care(verb) => {
                return Ok(match database {
                    Some((url, authorities)) => verb.run_on(url, authorities).await?,
                    None => verb.run(dir).await?,
                });
            }
            Self::CheckConfig { json } => settings.show(json)?,
            Self::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(
                    shell,
                    &mut Arguments::command(),
                    "universe-server",
                    &mut script,
                );
                io::stdout().lock().write_all(&script)?;
            }
            Self::Man { dir: None } => {
                clap_mangen::Man::new(Arguments::command()).render(&mut io::stdout().lock())?;
            }
            Self::Man { dir: Some(dir) } => {
                std::fs::create_dir_all(&dir)?;
                clap_mangen::generate_to(Arguments::command(), &dir)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
