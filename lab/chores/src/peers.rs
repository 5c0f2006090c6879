//! Tests the library's client against third-party servers: server × transport × era, each as a row of the table in
//! `mcp-client/docs/peers.md`.
//!
//! `mcp-client/examples/peers.rs` defines what the client does and how the result is judged. The servers come from npm,
//! and a small one on each of four SDKs is in `lab/peers/`. This is not a step of the test, since it depends on other
//! projects as much as on this one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use clap::Args;

use xtask::install::{self, Installed, Toolbox};
use xtask::process::{self, Server};
use xtask::programs::cargo;
use xtask::{Result, root, say, target};

/// The time limit for all steps with one server.
const DEADLINE: Duration = Duration::from_secs(300);

const EVERYTHING: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
const FILESYSTEM: &str = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

const HEAD: &str = "\
| server | transport | connect | list | call | progress | updates | list changes | log | cancel | task | elicit | sample \
| roots | close |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The servers to try, by a part of their names; by default all.
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
}

/// A third-party server.
struct Peer {
    name: &'static str,
    program: PathBuf,
    /// Its arguments for stdin and stdout, and for listening.
    stdio: Option<Vec<OsString>>,
    http: Option<Vec<OsString>>,
    /// Whether it supports both eras. If so, the older one is tried as well.
    is_dual: bool,
}

/// Installs or builds the servers, tries each, and prints the table. `true` when no step failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let built =
        cargo(&["build", "--quiet", "--locked", "-p", "mcp-proto-client", "--example", "peers"]);
    build(built)?;
    let client = target().join("debug/examples/peers");
    let peers = peers()?.into_iter();
    say(HEAD)?;
    let mut has_passed = true;
    for peer in peers.filter(|peer| peer.name.contains(&arguments.only)) {
        let eras: &[&str] = if peer.is_dual { &["found", "legacy"] } else { &["found"] };
        if let Some(words) = &peer.stdio {
            for era in eras {
                let mut command = Command::new(&client);
                command.args([peer.name, era, "--command"]);
                has_passed &= row(command.arg(&peer.program).args(words))?;
            }
        }
        if let Some(words) = &peer.http {
            let server = Server::start(&peer.program, words)?;
            for era in eras {
                has_passed &=
                    row(Command::new(&client).args([peer.name, era, "--url", server.url()]))?;
            }
        }
    }
    Ok(has_passed)
}

/// Prints the row of one server. `true` when no step failed.
fn row(command: &mut Command) -> Result<bool> {
    let finished = process::run(command, DEADLINE)?;
    say(finished.stdout.trim_end())?;
    Ok(finished.success)
}

fn build(mut command: Command) -> Result<()> {
    if command.status()?.success() {
        Ok(())
    } else {
        Err("the client or the server on rmcp does not build".into())
    }
}

fn peers() -> Result<Vec<Peer>> {
    let typescript = installed(Toolbox::Node, "typescript")?;
    let python = [installed(Toolbox::Python, "python1")?, installed(Toolbox::Python, "python2")?];
    let manifest = root().join("lab/peers/Cargo.toml");
    let mut command =
        cargo(&["build", "--quiet", "--locked", "-p", "rmcp-peer", "--manifest-path"]);
    command.arg(manifest);
    build(command)?;
    let node = |name, stdio: Option<&str>, http: Option<&str>, more: &[&str]| {
        let words = |script: &str| {
            let script = typescript.folder().join(script).into_os_string();
            let more = more.iter().copied().map(OsString::from);
            std::iter::once(script).chain(more).collect()
        };
        Peer {
            name,
            program: typescript.interpreter().to_owned(),
            stdio: stdio.map(words),
            http: http.map(words),
            is_dual: false,
        }
    };
    let small = |name, program: PathBuf, script: Option<PathBuf>, is_dual| {
        let script: Vec<OsString> = script.into_iter().map(PathBuf::into_os_string).collect();
        let http = [script.clone(), vec!["--http".into()]].concat();
        Peer { name, program, stdio: Some(script), http: Some(http), is_dual }
    };
    let of = |name, installed: &Installed, script: &str, is_dual| {
        let script = installed.folder().join(script);
        small(name, installed.interpreter().to_owned(), Some(script), is_dual)
    };
    // It serves the roots of its client, and does not start without a folder.
    let folder = typescript.folder().to_string_lossy();
    let binary = format!("rmcp-peer{}", std::env::consts::EXE_SUFFIX);
    let [python1, python2] = &python;
    Ok(vec![
        node("server-everything 2026.8.31 (npm)", Some(EVERYTHING), Some("everything.mjs"), &[]),
        node("server-filesystem 2026.8.31 (npm)", Some(FILESYSTEM), None, &[&folder]),
        of("TypeScript SDK 2.4.0", &typescript, "small.mjs", true),
        of("Python FastMCP 1.30.0", python1, "small.py", false),
        of("Python mcp 2.3.0", python2, "small.py", true),
        small("rmcp 3.11.0", target().join("debug").join(binary), None, true),
    ])
}

/// Installs the packages that a folder of `lab/peers/` pins.
fn installed(toolbox: Toolbox, folder: &str) -> Result<Installed> {
    let source = root().join("lab/peers").join(folder);
    Ok(install::install_from(toolbox, &source, &format!("peers-{folder}"))?)
}
