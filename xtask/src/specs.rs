//! The spec server on the projects below `services/spec-server/tests/fixtures`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::Server;
use crate::{Result, root, target};

/// A server that transcripts need, or clients are turned on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Specs {
    /// As transcripts call it; `None` for the one that any will do for.
    pub(crate) fixture: Option<&'static str>,
    project: &'static str,
    with: &'static [&'static str],
}

/// All of them; the first is the one without anything special.
pub(crate) const SERVERS: [Specs; 4] = [
    Specs {
        fixture: None,
        project: "library",
        with: &[],
    },
    Specs {
        fixture: Some("empty"),
        project: "empty",
        with: &[],
    },
    Specs {
        fixture: Some("broken"),
        project: "broken",
        with: &[],
    },
    Specs {
        fixture: Some("no-index"),
        project: "library",
        with: &["--index", "explicit"],
    },
];

/// Builds the server as it is used, in release, and tells where it is.
///
/// # Errors
/// When it does not build.
pub(crate) fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--locked",
            "--release",
            "-p",
            "spec-server",
        ])
        .current_dir(root())
        .status()?;
    if !built.success() {
        return Err("the spec server does not build".into());
    }
    Ok(binary())
}

/// Where it is built.
pub(crate) fn binary() -> PathBuf {
    target().join(format!(
        "release/spec-server{}",
        std::env::consts::EXE_SUFFIX
    ))
}

impl Specs {
    /// What it is started with, before the choice of a transport.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let projects = root().join("services/spec-server/tests/fixtures");
        let mut arguments: Vec<OsString> = vec!["mcp".into(), "--root".into()];
        arguments.push(projects.join(self.project).into());
        arguments.extend(self.with.iter().map(OsString::from));
        arguments
    }

    /// Starts it on a port of its own choice.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub(crate) fn start(&self, binary: &Path) -> Result<Server> {
        let mut arguments = self.arguments();
        arguments.extend(["--listen", "127.0.0.1:0"].map(OsString::from));
        Server::start(binary, &arguments)
    }
}
