//! What the chores of the project share: its folders, child processes, installed tools, and the servers to test.

pub mod apt;
pub mod balancer;
pub mod fixture;
pub mod install;
pub mod postgres;
pub mod process;
pub mod programs;
pub mod servers;
pub mod twins;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// A chore's outcome; an error is reported in one line.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The exit code of a chore's outcome. An error is printed.
#[must_use]
pub fn exit_code(passed: &Result<bool>) -> ExitCode {
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nothing can be reported when stderr itself is gone.
            let _ = writeln!(io::stderr(), "xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the project.
#[must_use]
pub fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// The folder where cargo builds, and where chores install their tools.
#[must_use]
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// Prints one line of a chore's answer.
///
/// # Errors
/// When stdout is closed.
pub fn say(line: &str) -> Result<()> {
    writeln!(io::stdout(), "{line}")?;
    Ok(())
}

/// The SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// When it cannot be read.
pub fn digest(file: impl AsRef<Path>) -> Result<String> {
    Ok(HEXLOWER.encode(&Sha256::digest(fs::read(file)?)))
}

/// Whether this is a CI run (`CI=true` or `CI=1`): there, a missing tool is a failure, and is installed if possible.
#[must_use]
pub fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| matches!(value.as_str(), "true" | "1"))
}
