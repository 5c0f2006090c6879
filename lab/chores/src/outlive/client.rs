//! The official client libraries, the eras that each speaks, and the programs that drive them.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::era::Era;
use xtask::install::{self, Toolbox};
use xtask::programs::cargo;
use xtask::{Result, root};

/// An official client library. The versions are those of the lock files in `lab/peers/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Library {
    #[value(name = "typescript-2")]
    TypeScript2,
    #[value(name = "typescript-1")]
    TypeScript1,
    #[value(name = "python-2")]
    Python2,
    #[value(name = "python-1")]
    Python1,
    Rmcp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Http,
    Stdio,
}

/// A client in one era over one transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) library: Library,
    pub(super) era: Era,
    pub(super) transport: Transport,
}

/// The command that runs a driver, without its arguments.
#[derive(Debug)]
pub(super) struct Program(pub(super) Vec<PathBuf>);

impl Library {
    /// Installs the library as its lock file pins it, or builds the driver.
    ///
    /// # Errors
    /// When that fails, or the interpreter is missing.
    pub(super) fn install(self) -> Result<Program> {
        let peers = root().join("lab/peers");
        let (toolbox, folder, driver) = match self {
            Self::TypeScript2 => (Toolbox::Node, "typescript", "outlive-client.mjs"),
            Self::TypeScript1 => (Toolbox::Node, "typescript", "outlive-sdk.mjs"),
            Self::Python2 => (Toolbox::Python, "python2", "python2.py"),
            Self::Python1 => (Toolbox::Python, "python1", "python1.py"),
            Self::Rmcp => return Ok(Program(vec![rmcp()?])),
        };
        let installed =
            install::install_from(toolbox, &peers.join(folder), &format!("peers-{folder}"))?;
        let driver = match toolbox {
            // Node.js looks for packages beside the script.
            Toolbox::Node => installed.folder().join(driver),
            Toolbox::Python => peers.join("outlive").join(driver),
        };
        Ok(Program(vec![installed.interpreter().to_owned(), driver]))
    }

    /// The eras that the library speaks, each over both transports.
    pub(super) fn rows(self) -> impl Iterator<Item = Row> {
        let eras: &[Era] = match self {
            Self::TypeScript2 | Self::Python2 | Self::Rmcp => &[Era::Legacy, Era::Modern],
            Self::TypeScript1 | Self::Python1 => &[Era::Legacy],
        };
        let transports = [Transport::Http, Transport::Stdio];
        let on = move |transport| {
            eras.iter().map(move |era| Row { library: self, era: *era, transport })
        };
        transports.into_iter().flat_map(on)
    }
}

fn rmcp() -> Result<PathBuf> {
    let how = ["build", "--quiet", "--locked", "-p", "rmcp-outlive", "--manifest-path"];
    let manifest = root().join("lab/peers/Cargo.toml");
    if !cargo(&how).arg(manifest).status()?.success() {
        return Err("the driver on rmcp does not build".into());
    }
    Ok(super::debug(Path::new("rmcp-outlive")))
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TypeScript2 => "TypeScript client 2.4",
            Self::TypeScript1 => "TypeScript sdk 1.32",
            Self::Python2 => "Python mcp 2.3",
            Self::Python1 => "Python mcp 1.30",
            Self::Rmcp => "rmcp 3.11",
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} | {} | {}", self.library, self.era.name(), self.transport)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "HTTP",
            Self::Stdio => "stdio",
        })
    }
}
