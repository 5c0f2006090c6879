//! The fixture `mcp-proto/examples/everything.rs`, which the suites and the official clients are turned on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::Server;
use crate::{Result, root, target};

/// Builds the fixture as it is measured, in release, and tells where it is.
///
/// # Errors
/// When it does not build.
pub(crate) fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--release"])
        .args(["-p", "mcp-proto", "--example", "everything"])
        .current_dir(root())
        .status()?;
    if !built.success() {
        return Err("the fixture, mcp-proto/examples/everything.rs, does not build".into());
    }
    let binary = format!(
        "release/examples/everything{}",
        std::env::consts::EXE_SUFFIX
    );
    Ok(target().join(binary))
}

/// Starts it on a port of its own choice.
///
/// # Errors
/// As [`Server::start`].
pub(crate) fn start(binary: &Path) -> Result<Server> {
    let arguments = ["--listen", "127.0.0.1:0"].map(OsString::from);
    Server::start(binary, &arguments)
}
