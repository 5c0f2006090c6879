//! The programs that chores compile, and their paths: the servers to test, and the test programs of one crate.
//!
//! Cargo chooses the features of shared dependencies by the selected packages. So each kind of program is always built
//! with the same selection: with other packages, nearly everything would be compiled again.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{Result, root, target};

/// The folder of programs that are built as users build them.
const PROFILE: &str = "release";

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

/// The servers and the transcript runner for tests: with the features of [`SHIPPED`], as users build them.
pub const JUDGED: [&str; 1] = ["build --locked --release -p universe-server -p starmap-server \
    -p spec-server -p chat-server -p mcp-conformance --features postgres"];

/// The feature in [`JUDGED`]: packages and containers have it, and a plain build from source has not, for it compiles
/// longer. Without the name of its package: cargo would take `universe-server/postgres` as the feature of the server's
/// dev-dependency on itself, which is not compiled here.
pub const SHIPPED: &str = "postgres";

/// Builds the judged programs, unless they are up to date.
///
/// # Errors
/// When they do not build.
pub fn build_judged() -> Result<()> {
    for line in JUDGED {
        if !cargo_line(line).arg("--quiet").status()?.success() {
            return Err("the servers do not build".into());
        }
    }
    Ok(())
}

/// Builds the judged universe server with one more feature. It replaces the program without that feature.
///
/// # Errors
/// When it does not build.
pub fn build_judged_with(feature: &str) -> Result<()> {
    let [servers, ..] = JUDGED;
    let built = cargo_line(servers).args(["--features", feature, "--quiet"]).status()?;
    if built.success() { Ok(()) } else { Err("the servers do not build".into()) }
}

/// The program at `given`, made absolute, or else the judged one of this name, which is built.
///
/// # Errors
/// When it does not build.
pub fn given_or_judged(given: Option<&PathBuf>, program: &str) -> Result<PathBuf> {
    match given {
        Some(given) => Ok(std::path::absolute(given)?),
        None => {
            build_judged()?;
            Ok(judged(program))
        }
    }
}

/// The path of the judged program with this name.
pub fn judged(program: &str) -> PathBuf {
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    target().join(PROFILE).join(file)
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

/// The test programs of the crate in `folder`, compiled with those of the whole workspace. Documentation tests are not
/// included: only `cargo test --workspace` runs them.
///
/// # Errors
/// When the workspace's tests do not build, or the crate has none.
pub fn tests(folder: &str) -> Result<Vec<TestProgram>> {
    let build = ["test", "--locked", "--workspace", "--no-run"];
    let built = cargo(&build)
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()?;
    if !built.status.success() {
        return Err("the tests do not build".into());
    }
    let folder = root().join(folder);
    let found: Vec<TestProgram> = String::from_utf8(built.stdout)?
        .lines()
        .filter_map(|line| TestProgram::of(&serde_json::from_str(line).ok()?))
        .filter(|program| program.folder == folder)
        .collect();
    match found.is_empty() {
        true => Err(format!("no tests in {}", folder.display()).into()),
        false => Ok(found),
    }
}

/// A test program that cargo has built.
#[derive(Debug)]
pub struct TestProgram {
    /// The name of its target: `it`, or the name of the crate for the tests in its sources.
    pub name: String,
    binary: PathBuf,
    folder: PathBuf,
}

impl TestProgram {
    /// The test program in one of cargo's messages, if the message names one.
    fn of(message: &Value) -> Option<Self> {
        if !message.pointer("/profile/test")?.as_bool()? {
            return None;
        }
        let manifest = PathBuf::from(message.get("manifest_path")?.as_str()?);
        Some(Self {
            name: message.pointer("/target/name")?.as_str()?.to_owned(),
            binary: message.get("executable")?.as_str()?.into(),
            folder: manifest.parent()?.to_path_buf(),
        })
    }

    /// A command that runs it in the same folder as cargo would.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.folder);
        command
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_program_is_what_cargo_says_it_has_built_for_tests() {
        let message = |test: bool, executable: Value| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": "/r/a/Cargo.toml",
                "target": {"name": "it", "kind": ["test"]},
                "profile": {"test": test},
                "executable": executable,
            })
        };
        let program = TestProgram::of(&message(true, json!("/t/it-1"))).expect("a test program");
        assert_eq!(program.name, "it");
        assert_eq!(program.command().get_program(), "/t/it-1");
        assert_eq!(program.command().get_current_dir(), Some("/r/a".as_ref()));
        for other in [
            message(false, json!("/t/it-1")),
            message(true, Value::Null),
            json!({"reason": "build-finished", "success": true}),
        ] {
            assert!(TestProgram::of(&other).is_none(), "{other}");
        }
    }
}
