//! The project's rules as plain checks: `cargo xtask tidy`, and a test that runs with all others.
//!
//! Each rule is a function from text to findings, so that a test with a made-up text can show that the rule can fail.

mod arrows;
mod budget;
mod checklist;
mod code;
mod imports;
mod map;
mod root_names;
mod source;
mod unformatted;
mod untested;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Args;
use serde_json::Value;
use xtask::programs::{cargo_line, workspaces};
use xtask::{Result, root, say};

use crate::suites;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only print the lines of code of each crate beside its number in `budget.toml`.
    #[arg(long)]
    lines: bool,
}

/// Prints the findings. `true` when there are none.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    if arguments.lines {
        let files = tracked_files(&tracked_paths()?);
        for row in budget::rows(&folders(&packages()?), &files)? {
            say(&row.line())?;
        }
        return Ok(true);
    }
    let findings = check()?;
    for finding in &findings {
        say(finding)?;
    }
    say(&format!("tidy: {} findings", findings.len()))?;
    Ok(findings.is_empty())
}

/// The findings in this repository, one line each.
fn check() -> Result<Vec<String>> {
    let root = root();
    let paths = tracked_paths()?;
    let files = tracked_files(&paths);
    let packages = packages()?;
    let folders = folders(&packages);
    let mut findings = Vec::new();
    for path in &paths {
        let bytes = fs::metadata(root.join(path)).map_or(0, |file| file.len());
        findings.extend(source::size(path, bytes));
    }
    for (path, text) in &files {
        findings.extend(source::check(path, text));
        if path.ends_with(".rs") {
            findings.extend(unformatted::check(path, text, &root)?);
        }
    }
    findings.extend(arrows::between_crates(&packages));
    findings.extend(arrows::inside_library(below("mcp-proto/src/", &files)));
    for folder in folders.values().map(|folder| format!("{folder}/src/")) {
        findings.extend(arrows::circles(&folder, below(&folder, &files)));
    }
    findings.extend(files.get(root_names::PATH).and_then(|text| root_names::check(text)));
    let rows = budget::rows(&folders, &files)?;
    findings.extend(rows.iter().filter_map(budget::Row::finding));
    findings.extend(untested::check(&packages, &files, &root));
    findings.extend(match files.get("ARCHITECTURE.md") {
        Some(text) => map::check(text, folders.values(), |path| root.join(path).exists()),
        None => vec!["ARCHITECTURE.md: the file is missing".to_owned()],
    });
    findings.extend(match files.get(checklist::PATH) {
        Some(text) => checklist::check(text, &files, &suites::scenarios().collect()).findings,
        None => vec![format!("{}: the file is missing", checklist::PATH)],
    });
    Ok(findings)
}

/// The sources below a folder, each with its path there.
fn below<'f>(
    folder: &str,
    files: &'f BTreeMap<String, String>,
) -> impl Iterator<Item = (&'f str, &'f str)> {
    let sources = files.iter().filter(|(path, _)| path.ends_with(".rs"));
    sources.filter_map(move |(path, text)| Some((path.strip_prefix(folder)?, text.as_str())))
}

/// The packages of all workspaces, as `cargo metadata` describes them.
fn packages() -> Result<Vec<Value>> {
    let mut packages = Vec::new();
    for (_, manifest) in workspaces().chain([("peers", "lab/peers/Cargo.toml")]) {
        let line = "metadata --format-version 1 --locked --no-deps --manifest-path";
        let metadata: Value = serde_json::from_str(&output(cargo_line(line).arg(manifest))?)?;
        packages.extend(list(&metadata, "packages").cloned());
    }
    Ok(packages)
}

/// The folder of each package, below the root, by its name.
fn folders(packages: &[Value]) -> BTreeMap<String, String> {
    let root = root();
    let folder = |package| {
        let folder =
            Path::new(text(package, "manifest_path")).parent()?.strip_prefix(&root).ok()?;
        Some((text(package, "name").to_owned(), folder.to_string_lossy().replace('\\', "/")))
    };
    packages.iter().filter_map(folder).collect()
}

/// The files under version control.
fn tracked_paths() -> Result<Vec<String>> {
    let listed = output(Command::new("git").args(["ls-files", "-z"]))?;
    Ok(listed.split_terminator('\0').map(str::to_owned).collect())
}

/// The text files among `paths`, by path. Files with other content are left out.
fn tracked_files(paths: &[String]) -> BTreeMap<String, String> {
    // A file whose deletion is not committed yet is listed, but cannot be read.
    let read = |path: &String| Some((path.clone(), fs::read_to_string(root().join(path)).ok()?));
    paths.iter().filter_map(read).collect()
}

fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command
        .current_dir(root())
        .output()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    if !done.status.success() {
        return Err(
            format!("{program} failed: {}", String::from_utf8_lossy(&done.stderr).trim()).into()
        );
    }
    Ok(String::from_utf8(done.stdout)?)
}

/// The members of a JSON array under `name`; empty if the array does not exist.
fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The string under `name`; empty if it does not exist.
fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether git is installed, so that a test can list the files under version control. If not, this reports that the
/// test is skipped. In CI it fails.
#[cfg(test)]
pub(crate) fn has_git(test: &str) -> bool {
    use std::io::Write as _;

    let has_git = xtask::install::on_path("git").is_some();
    if !has_git {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "git is missing");
        // Not with a print macro: its output is shown only for tests that fail.
        let _ = writeln!(std::io::stderr(), "skipped: {test}: git is not installed");
    }
    has_git
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    #[test]
    fn each_published_crate_has_what_a_registry_shows() {
        let packages = super::packages().expect("cargo answers");
        // What is known only to the crates that use it needs no page of its own.
        let shown = |package: &&Value| super::text(package, "name") != "known-range";
        let published = packages.iter().filter(|package| package["publish"].is_null());
        let mut count = 0;
        for package in published.filter(shown) {
            let name = super::text(package, "name");
            for member in ["description", "readme", "keywords", "categories"] {
                assert!(!package[member].is_null(), "{name}: {member}");
            }
            assert!((1..=5).contains(&super::list(package, "keywords").count()), "{name}");
            for tool in ["docs", "cargo_check_external_types"] {
                assert!(package["metadata"].get(tool).is_some(), "{name}: {tool}");
            }
            let manifest = std::path::Path::new(super::text(package, "manifest_path"));
            for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
                assert!(manifest.with_file_name(file).exists(), "{name}: {file}");
            }
            count += 1;
        }
        assert!(count > 3, "the published crates are found");
    }

    #[test]
    fn this_repository_keeps_the_rules() {
        if !super::has_git("this_repository_keeps_the_rules") {
            return;
        }
        let findings = super::check().expect("git and cargo answer");
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }
}
