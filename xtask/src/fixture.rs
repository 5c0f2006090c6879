//! The fixture `mcp-proto/examples/everything.rs`, which the suites and the official clients are turned on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::process::Server;
use crate::programs::cargo;
use crate::{Result, target};

/// Builds the fixture as it is measured, in release, and tells where it is.
///
/// # Errors
/// When it does not build.
pub(crate) fn build() -> Result<PathBuf> {
    build_with(&["--release", "-p", "mcp-proto"], "release")
}

/// Builds the fixture as `cargo test --workspace` does, which makes it nothing to do after that, and tells where it is.
///
/// # Errors
/// When it does not build.
pub(crate) fn build_for_tests() -> Result<PathBuf> {
    build_with(&["--workspace"], "debug")
}

fn build_with(how: &[&str], folder: &str) -> Result<PathBuf> {
    let built = cargo(&["build", "--quiet", "--locked", "--example", "everything"])
        .args(how)
        .status()?;
    if !built.success() {
        return Err("the fixture, mcp-proto/examples/everything.rs, does not build".into());
    }
    let binary = format!("everything{}", std::env::consts::EXE_SUFFIX);
    Ok(target().join(folder).join("examples").join(binary))
}

/// Starts it on a port of its own choice.
///
/// # Errors
/// As [`Server::start`].
pub(crate) fn start(binary: &Path) -> Result<Server> {
    let arguments = ["--listen", "127.0.0.1:0"].map(OsString::from);
    Server::start(binary, &arguments)
}
