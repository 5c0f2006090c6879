//! Running a command instead of serving.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::CommandFactory as _;

use super::RunError;
use crate::care;
use crate::cli::Verb;
use crate::client::ClientError;
use crate::config::{Arguments, Settings, StoreKind};

/// Runs the command on the universes, in any store.
///
/// # Errors
/// [`RunError`], as a sentence for the person who ran the command.
pub(super) async fn run(
    verb: Verb,
    arguments: &Arguments,
    settings: &Settings,
) -> Result<ExitCode, RunError> {
    let dir = &arguments.data_dir;
    let database = match &arguments.store {
        StoreKind::Shared(url) => Some((url, arguments.store_ca.as_deref())),
        StoreKind::Embedded | StoreKind::Memory => None,
    };
    match verb {
        Verb::Client(verb) if database.is_some() && verb.url().is_none() => {
            return Err(ClientError::Elsewhere.into());
        }
        Verb::Client(verb) => return Ok(verb.run(dir).await?),
        // The command's own arguments name the source and the target.
        Verb::Care(care::Verb::Migrate(given)) => {
            return Ok(given.run(arguments.store_ca.as_deref()).await?);
        }
        Verb::Care(verb) => {
            return Ok(match database {
                Some((url, authorities)) => verb.run_on(url, authorities).await?,
                None => verb.run(dir).await?,
            });
        }
        Verb::CheckConfig { json } => settings.show(json)?,
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(
                shell,
                &mut Arguments::command(),
                "universe-server",
                &mut script,
            );
            io::stdout().lock().write_all(&script)?;
        }
        Verb::Man { dir: None } => {
            clap_mangen::Man::new(Arguments::command()).render(&mut io::stdout().lock())?;
        }
        Verb::Man { dir: Some(dir) } => {
            std::fs::create_dir_all(&dir)?;
            clap_mangen::generate_to(Arguments::command(), &dir)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
