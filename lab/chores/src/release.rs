//! A release without its publication, in a clean clone: packages, packed crates, a bill of materials, checksums, and an
//! unsigned statement of where they come from.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use xtask::install::{self, Toolbox};
use xtask::programs::cargo_line;
use xtask::{Result, digest, process, root, say, target};

/// The time limit for a step that compiles.
const DEADLINE: Duration = Duration::from_secs(3600);
/// Writes bills of materials in the form of CycloneDX.
const BILLS: &str = "cargo-cyclonedx@0.5.9";
/// The crates of which users get programs, with the folder of each.
const PROGRAMS: [&str; 5] = [
    "server",
    "conformance",
    "services/spec-server",
    "services/chat-server",
    "services/starmap-server",
];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The arguments of `cargo xtask dist`, such as --static, --base-url URL and --namespace NAME.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    dist: Vec<String>,
}

/// Makes everything in `target/release-trial/packages`, and publishes nothing. `true` when no step failed.
///
/// # Errors
/// When a step cannot be run, or fails.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let trial = target().join("release-trial");
    if trial.exists() {
        fs::remove_dir_all(&trial)?;
    }
    let tree = trial.join("tree");
    let mut clone = Command::new("git");
    step("clone", clone.args(["clone", "--quiet"]).arg(root()).arg(&tree))?;
    let mut dist = cargo_line("xtask dist");
    step("packages", dist.args(&arguments.dist).current_dir(&tree))?;
    let mut publish = cargo_line("publish --workspace --locked --dry-run");
    step("crates, packed and built", publish.current_dir(&tree))?;
    container(&tree)?;
    let packages = trial.join("packages");
    fs::rename(tree.join("target").join("packages"), &packages)?;
    bills(&tree, &packages)?;
    let sums = checksums(&packages)?;
    let lines: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    fs::write(packages.join("SHA256SUMS"), &lines)?;
    let statement =
        serde_json::to_string_pretty(&statement(&sums, &commit(&tree)?, &arguments.dist))?;
    fs::write(packages.join("provenance.intoto.json"), statement)?;
    say(&format!("\n{lines}\nin {}; nothing was published", packages.display()))?;
    Ok(true)
}

fn step(what: &str, command: &mut Command) -> Result<()> {
    say(&format!("release: {what}"))?;
    if process::shown(command, DEADLINE)? { Ok(()) } else { Err(format!("{what} failed").into()) }
}

/// Checks the container file without an engine.
fn container(tree: &Path) -> Result<()> {
    let tools = install::install(Toolbox::Python, "tools")?;
    let mut lint = Command::new(tools.interpreter().with_file_name("hadolint"));
    // Alpine removes old versions of packages, so one that is named stops the build sooner or later.
    lint.args(["--ignore", "DL3018"]).arg(tree.join("packaging/container/Containerfile"));
    step("container file", &mut lint)
}

/// Writes what is in each program, as `NAME.cdx.json`.
fn bills(tree: &Path, packages: &Path) -> Result<()> {
    let tools = target().join("tools-rust");
    let mut install = cargo_line("install --quiet --locked");
    step("bills of materials", install.arg(BILLS).arg("--root").arg(&tools))?;
    for folder in PROGRAMS {
        let mut bill = Command::new(tools.join("bin").join("cargo-cyclonedx"));
        bill.args([
            "cyclonedx",
            "--format",
            "json",
            "--no-build-deps",
            "--override-filename",
            "bom",
        ]);
        bill.arg("--manifest-path").arg("Cargo.toml").current_dir(tree.join(folder));
        process::succeed(&mut bill, DEADLINE)?;
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let made = tree.join(folder).join("bom.json");
        fs::rename(made, packages.join(format!("{name}.cdx.json")))?;
    }
    Ok(())
}

/// The files of the packages by name, with their SHA-256 in hexadecimal.
fn checksums(packages: &Path) -> Result<Vec<(String, String)>> {
    let mut sums = Vec::new();
    for file in fs::read_dir(packages)? {
        let file = file?;
        if file.file_type()?.is_file() {
            let name = file.file_name().to_string_lossy().into_owned();
            sums.push((name, digest(file.path())?));
        }
    }
    sums.sort();
    Ok(sums)
}

fn commit(tree: &Path) -> Result<String> {
    let mut git = Command::new("git");
    let head = process::run(git.args(["rev-parse", "HEAD"]).current_dir(tree), DEADLINE)?;
    Ok(head.stdout.trim().to_owned())
}

/// A statement of provenance in the form of in-toto and SLSA 1.0. It is not signed.
fn statement(sums: &[(String, String)], commit: &str, arguments: &[String]) -> Value {
    let subject =
        |(name, sum): &(String, String)| json!({ "name": name, "digest": { "sha256": sum } });
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": sums.iter().map(subject).collect::<Vec<_>>(),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "https://example.com/mcp/cargo-xtask-release/v1",
                "externalParameters": { "command": ["cargo", "xtask", "release"], "arguments": arguments },
                "resolvedDependencies": [{ "uri": "git+.", "digest": { "gitCommit": commit } }],
            },
            "runDetails": { "builder": { "id": "https://example.com/mcp/a-maintainers-machine" } },
        },
    })
}
