//! The programs that chores compile, and their paths.
//!
//! Cargo chooses the features of shared dependencies by the selected packages. So each kind of program is always built
//! with the same selection: with other packages, nearly everything would be compiled again.

use std::path::PathBuf;
use std::process::Command;

use crate::{Result, root, target};

/// The workspaces of the project: the name of each, and its manifest.
const WORKSPACES: [(&str, &str); 4] = [
    ("root", "Cargo.toml"),
    ("services", "services/Cargo.toml"),
    ("contrib", "contrib/Cargo.toml"),
    ("lab", "lab/Cargo.toml"),
];

/// The workspaces of the project: the name of each, and its manifest.
pub fn workspaces() -> impl Iterator<Item = (&'static str, &'static str)> {
    WORKSPACES.into_iter().filter(|(_, manifest)| root().join(manifest).exists())
}

/// The commands that build the servers and the transcript runner, without a profile. Packages and containers have the
/// feature `postgres`; a plain build from source has not, for it compiles longer. It is given without the name of its
/// package: cargo would take `universe-server/postgres` as the feature of the server's dev-dependency on itself, which
/// is not compiled here.
pub const SHIPPED: [&str; 2] = [
    "build --locked -p universe-server -p mcp-conformance --features postgres",
    "build --locked --manifest-path services/Cargo.toml --bin spec-server --bin chat-server --bin starmap-server",
];

/// The command that runs some of the services' tests, in the programs that `cargo test --workspace` makes; what follows
/// selects them.
pub const SERVICES: &str =
    "test --locked --manifest-path services/Cargo.toml --workspace --test it --";

/// The commands that build what chores judge: the server and the runner as users build them, and the services as their
/// tests have them. To optimise the services, too, would take a quarter of the whole test.
pub const JUDGED: [&str; 2] = [
    "build --locked -p universe-server -p mcp-conformance --features postgres --release",
    "test --locked --manifest-path services/Cargo.toml --workspace --no-run",
];

/// The programs of the first command.
const OF_ROOT: [&str; 2] = ["universe-server", "mcp-conformance"];

/// Builds all judged programs, unless they are up to date.
///
/// # Errors
/// When they do not build.
pub fn build_judged() -> Result<()> {
    JUDGED.into_iter().try_for_each(build)
}

fn build(line: &str) -> Result<()> {
    let built = cargo_line(line).arg("--quiet").status()?;
    if built.success() { Ok(()) } else { Err("the servers do not build".into()) }
}

/// The program at `given`, made absolute, or else the judged one of this name, which is built.
///
/// # Errors
/// When it does not build.
pub fn given_or_judged(given: Option<&PathBuf>, program: &str) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(std::path::absolute(given)?);
    }
    let [root, services] = JUDGED;
    build(if OF_ROOT.contains(&program) { root } else { services })?;
    Ok(judged(program))
}

/// The path of the judged program with this name.
pub fn judged(program: &str) -> PathBuf {
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    target().join(if OF_ROOT.contains(&program) { "release" } else { "debug" }).join(file)
}

/// A cargo command, to be run in the workspace, as from a shell.
///
/// `cargo run` sets environment variables about this program's package, which the command does not inherit. The build
/// script of `ring` depends on them, so cargo would treat them as a change and compile everything that uses `ring`
/// again each time that it is run from elsewhere.
pub fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Like [`cargo`], with the arguments in one line, separated by spaces.
pub fn cargo_line(line: &str) -> Command {
    cargo(&line.split_whitespace().collect::<Vec<_>>())
}
