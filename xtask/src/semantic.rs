//! Tests spec-server's search by meaning, on a real model that is installed for the tests.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use xtask::install::{self, Toolbox};
use xtask::programs::{SERVICES, cargo_line};
use xtask::{Result, is_ci, process};

/// The folder below `xtask` with the lock file of the model.
pub(crate) const SOURCE: &str = "semantic";

/// How long the interpreter may take to print the folder of the model.
const WHERE_DEADLINE: Duration = Duration::from_secs(60);

/// The environment variable in which the tests look for the model.
const MODEL: &str = "SPEC_SERVER_MODEL";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder of the model; by default one is installed.
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
}

/// Installs the model. Returns the environment variable in which the tests look for it, and its folder. `None` if it
/// cannot be installed, outside CI.
///
/// # Errors
/// In CI, when it cannot be installed.
pub(crate) fn model() -> Result<Option<(&'static str, PathBuf)>> {
    let model = install::or_report("search by sense", install_model())?;
    match model {
        None if is_ci() => Err("there is no model".into()),
        model => Ok(model.map(|model| (MODEL, model))),
    }
}

/// Installs the model and runs the tests. `true` when nothing failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let model = match arguments.model.clone() {
        Some(model) => Some((MODEL, model)),
        None => model()?,
    };
    let mut tests = cargo_line(SERVICES);
    // Shows the output of the tests, which reports how good search is.
    tests.args(["search_semantic::", "--show-output"]).env_remove(MODEL).envs(model);
    Ok(tests.status()?.success())
}

fn install_model() -> std::result::Result<PathBuf, String> {
    let installed = install::install(Toolbox::Python, SOURCE)?;
    let told = process::run(&mut installed.command("where.py"), WHERE_DEADLINE);
    let told = told.map_err(|error| error.to_string())?;
    let model = PathBuf::from(told.stdout.trim());
    if model.join("model.safetensors").is_file() {
        Ok(model)
    } else {
        Err(format!("no model in {}", installed.folder().display()))
    }
}
