//! Programs from crates.io that chores use, each in a pinned version, installed below `target/tools`.

use std::path::PathBuf;

use xtask::programs::cargo;
use xtask::{Result, target};

/// A program that cargo installs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    /// The name of its package and of its program.
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
}

impl Tool {
    /// The path of the program. If it is not installed yet, installs it, which takes minutes.
    ///
    /// # Errors
    /// When it cannot be installed.
    pub(crate) fn installed(self) -> Result<PathBuf> {
        let Self { name, version } = self;
        let tools = target().join("tools");
        let program = tools.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if !program.exists() {
            let words = ["install", name, "--locked", "--version", version, "--root"];
            if !cargo(&words).arg(&tools).status()?.success() {
                return Err(format!("{name} {version} cannot be installed").into());
            }
        }
        Ok(program)
    }
}
