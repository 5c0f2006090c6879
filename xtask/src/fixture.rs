//! The fixtures: `mcp-proto/examples/everything.rs`, which the suites and the official clients test, and
//! `mcp-client/examples/conformance_client.rs`, which the suites test.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use crate::balancer::Balancer;
use crate::process::Server;
use crate::programs::cargo;
use crate::{Result, target};

/// The fixtures as programs.
#[derive(Debug)]
pub struct Fixtures {
    /// `everything`.
    pub server: PathBuf,
    /// `conformance_client`.
    pub client: PathBuf,
}

/// Builds the server with the release profile, and returns its path.
///
/// # Errors
/// When it does not build.
pub fn build() -> Result<PathBuf> {
    build_with(&["--release", "-p", "mcp-proto", "--example", SERVER])?;
    Ok(built("release", SERVER))
}

/// Builds both as `cargo test --workspace` does, so that it need not compile them again, and returns their paths.
///
/// # Errors
/// When they do not build.
pub fn build_for_tests() -> Result<Fixtures> {
    build_with(&["--workspace", "--example", SERVER, "--example", CLIENT])?;
    Ok(Fixtures { server: built("debug", SERVER), client: built("debug", CLIENT) })
}

const SERVER: &str = "everything";
const CLIENT: &str = "conformance_client";

fn build_with(how: &[&str]) -> Result<()> {
    let built = cargo(&["build", "--quiet", "--locked"]).args(how).status()?;
    if built.success() {
        Ok(())
    } else {
        Err("the fixtures in mcp-proto/examples and mcp-client/examples do not build".into())
    }
}

fn built(folder: &str, name: &str) -> PathBuf {
    let binary = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    target().join(folder).join("examples").join(binary)
}

/// Starts the server on a port that it chooses.
///
/// # Errors
/// As [`Server::start`].
pub fn start(binary: &Path) -> Result<Server> {
    let arguments = ["--listen", "127.0.0.1:0"].map(OsString::from);
    Server::start(binary, &arguments)
}

/// Starts two servers that share all state, and a balancer in front of them that alternates between them.
///
/// # Errors
/// As [`Server::start`].
pub fn start_twins(binary: &Path) -> Result<(Server, Balancer)> {
    // This port stays free until the second server takes it. The first server takes any free port.
    let second = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let arguments = ["--twins", "127.0.0.1:0", &second.to_string()].map(OsString::from);
    let server = Server::start(binary, &arguments)?;
    let balancer = Balancer::start(vec![server.address()?, second])?;
    Ok((server, balancer))
}
