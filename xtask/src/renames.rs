//! The spec server under half an hour of random renames and edits, with subscribers that are to miss nothing.

use std::process::Command;

use crate::install::{self, Toolbox};
use crate::programs::judged;
use crate::{Result, interop, root};

/// Runs the script. `true` when nothing was missed.
pub(crate) fn whole() -> Result<bool> {
    let python = install::install(Toolbox::Python, interop::SOURCE)?;
    let mut command = Command::new(python.interpreter());
    command
        .arg(root().join("xtask/interop/renames.py"))
        .arg(judged("spec-server"));
    Ok(command.status()?.success())
}
