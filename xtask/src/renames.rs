//! Half an hour of random renames and edits on the spec server. Its subscribers must not miss any change.

use std::process::Command;

use crate::install::{self, Toolbox};
use crate::programs::judged;
use crate::{Result, interop, root};

/// Runs the script. `true` when nothing was missed.
pub(crate) fn whole() -> Result<bool> {
    let python = install::install(Toolbox::Python, interop::SOURCE)?;
    let mut command = Command::new(python.interpreter());
    command.arg(root().join("xtask/interop/renames.py")).arg(judged("spec-server"));
    Ok(command.status()?.success())
}
