//! A release of the crates: its preconditions and its steps.
//!
//! The public interface of each crate may contain types of other crates only if its manifest allows them, and must stay
//! compatible with the last release. Then the crates are published, and the commit gets a tag. The packages are built
//! from that tag.

use std::process::Command;

use clap::Args;

use crate::tools::Tool;
use xtask::programs::cargo;
use xtask::{Result, root, say, target};

/// The crates that are published, in the order of their dependencies.
const CRATES: [&str; 5] =
    ["mcp-proto", "mcp-proto-client", "universe-core", "universe-store", "mcp-conformance"];

/// The folders of crates whose folder has another name.
const FOLDERS: [(&str, &str); 2] =
    [("mcp-conformance", "conformance"), ("mcp-proto-client", "mcp-client")];

/// This tool reads the output of nightly rustdoc, so update both together.
const EXTERNAL_TYPES: Tool = Tool { name: "cargo-check-external-types", version: "0.5.0" };

const SEMVER: Tool = Tool { name: "cargo-semver-checks", version: "0.51.0" };

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Check everything, say what would be done, and do nothing.
    #[arg(long)]
    dry_run: bool,
    /// The tag or commit to compare the public interfaces with; the last earlier tag by default.
    #[arg(long, value_name = "REVISION")]
    since: Option<String>,
    /// One crate alone.
    #[arg(long, value_name = "CRATE")]
    only: Option<String>,
}

/// Checks and releases. `true` when all checks and steps succeeded.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let only = arguments.only.as_deref();
    let crates: Vec<&str> =
        CRATES.into_iter().filter(|name| only.is_none_or(|only| only == *name)).collect();
    if crates.is_empty() {
        return Err(format!("crates that are published are {}", CRATES.join(", ")).into());
    }
    let mut passed = true;
    let mut step = |name: &str, done: Result<bool>| -> Result<()> {
        let done = done?;
        passed &= done;
        say(&format!("{}: {name}", if done { "ok" } else { "FAILED" }))
    };
    let clean = git(&["status", "--porcelain"])?.is_empty();
    // A dry run may run on uncommitted changes.
    step("the work tree is clean", Ok(clean || arguments.dry_run))?;
    for name in &crates {
        step(&format!("{name}: package"), succeeds(&mut packaged(name)))?;
        step(&format!("{name}: types of others"), external_types(name))?;
    }
    let since = match &arguments.since {
        Some(revision) => Some(revision.clone()),
        None => last_tag()?,
    };
    match &since {
        None => say("skipped: the check of compatibility, because no earlier tag v* exists")?,
        Some(since) => {
            for name in &crates {
                step(&format!("{name}: compatible with {since}"), compatible(name, since))?;
            }
        }
    }
    if !passed {
        return Ok(false);
    }
    for mut command in steps(&crates, &version()?) {
        let shown: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        let program = command.get_program().to_string_lossy().into_owned();
        let program = program.rsplit('/').next().unwrap_or_default();
        say(&format!("{} {}", program, shown.join(" ")))?;
        if !arguments.dry_run && !command.status()?.success() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The commands of a release, in order. Pushing the tag starts the build of the packages.
fn steps(crates: &[&str], version: &str) -> Vec<Command> {
    let publish = crates.iter().map(|name| cargo(&["publish", "--locked", "-p", name]));
    let tag = format!("v{version}");
    let mut mark = Command::new("git");
    mark.args(["tag", "--annotate", &tag, "--message", &tag]).current_dir(root());
    let mut push = Command::new("git");
    push.args(["push", "origin", &tag]).current_dir(root());
    publish.chain([mark, push]).collect()
}

/// The version of the workspace.
///
/// # Errors
/// When its manifest cannot be read or has no version.
pub(crate) fn version() -> Result<String> {
    let manifest: toml::Table =
        toml::from_str(&std::fs::read_to_string(root().join("Cargo.toml"))?)?;
    let version =
        manifest.get("workspace").and_then(|it| it.get("package")?.get("version")?.as_str());
    Ok(version.ok_or("the workspace has no version")?.to_owned())
}

/// Makes the package of a crate, without verifying it: that would need the other crates in the registry, where they are
/// not published yet.
fn packaged(name: &str) -> Command {
    cargo(&["package", "--locked", "--no-verify", "--allow-dirty", "--quiet", "-p", name])
}

fn external_types(name: &str) -> Result<bool> {
    let program = EXTERNAL_TYPES.installed()?;
    let folder = FOLDERS.iter().find(|(it, _)| *it == name).map_or(name, |(_, folder)| folder);
    // Selects the toolchain as `cargo +nightly` does, for a program that calls cargo itself.
    let mut check = Command::new(program);
    check
        .args(["check-external-types", "--all-features", "--manifest-path", "Cargo.toml"])
        .current_dir(root().join(folder))
        .env("RUSTUP_TOOLCHAIN", "nightly")
        .env("CARGO_TARGET_DIR", target().join("nightly"))
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .env_remove("RUSTDOC");
    succeeds(&mut check)
}

fn compatible(name: &str, since: &str) -> Result<bool> {
    let mut check = Command::new(SEMVER.installed()?);
    check
        .args(["semver-checks", "check-release", "-p", name, "--baseline-rev", since])
        .current_dir(root());
    succeeds(&mut check)
}

fn succeeds(command: &mut Command) -> Result<bool> {
    Ok(command.status()?.success())
}

fn git(words: &[&str]) -> Result<String> {
    let done = Command::new("git").args(words).current_dir(root()).output()?;
    match done.status.success() {
        true => Ok(String::from_utf8(done.stdout)?.trim().to_owned()),
        false => Err(String::from_utf8_lossy(&done.stderr).trim().into()),
    }
}

/// The newest tag of an earlier release, if there is one: a tag of this commit is the release that is being made.
fn last_tag() -> Result<Option<String>> {
    let tags =
        git(&["tag", "--list", "v*", "--sort", "-version:refname", "--no-contains", "HEAD"])?;
    Ok(tags.lines().next().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_published_before_the_tag_is_pushed() {
        let steps = steps(&CRATES, "1.2.3");
        let words: Vec<String> = steps
            .iter()
            .map(|step| {
                step.get_args().map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(words[0], "publish --locked -p mcp-proto");
        assert_eq!(words[4], "publish --locked -p mcp-conformance");
        assert_eq!(words[6], "push origin v1.2.3");
    }

    #[test]
    fn each_published_crate_has_what_a_registry_shows() {
        for name in CRATES {
            let folder =
                FOLDERS.iter().find(|(it, _)| *it == name).map_or(name, |(_, folder)| folder);
            let folder = root().join(folder);
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
            let manifest: toml::Table = toml::from_str(&manifest).expect("TOML");
            let package = manifest["package"].as_table().expect("a package");
            for member in ["description", "readme", "keywords", "categories", "include"] {
                assert!(package.contains_key(member), "{name}: {member}");
            }
            assert!(package["keywords"].as_array().expect("a list").len() <= 5, "{name}");
            let metadata = package["metadata"].as_table().expect("metadata");
            assert!(metadata.contains_key("docs"), "{name}: docs.rs");
            assert!(metadata.contains_key("cargo_check_external_types"), "{name}: types of others");
            for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
                assert!(folder.join(file).exists(), "{name}: {file}");
            }
        }
    }
}
