//! The project's rules as plain checks: `cargo xtask tidy`, and a test that runs with all others.
//!
//! Each rule is a function from text to findings, so that a test with a made-up text can show that the rule can fail.

mod arrows;
mod checklist;
mod imports;
mod licences;
mod map;
mod source;
mod untested;
mod unused;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use clap::Args;
use serde_json::Value;

use crate::suites;
use xtask::{Result, root, say};

#[derive(Debug, Args)]
pub(crate) struct Arguments {}

/// Prints the findings. `true` when there are none.
pub(crate) fn run(_: &Arguments) -> Result<bool> {
    let findings = check()?;
    for finding in &findings {
        say(finding)?;
    }
    say(&format!("tidy: {} findings", findings.len()))?;
    Ok(findings.is_empty())
}

/// The findings in this repository, one line each.
fn check() -> Result<Vec<String>> {
    let paths = tracked_paths()?;
    let files = tracked_files(&paths);
    let own = metadata(&["--no-deps"])?;
    let all = metadata(&["--filter-platform", &host()?])?;
    let mut findings = Vec::new();
    for path in &paths {
        let bytes = fs::metadata(root().join(path)).map_or(0, |file| file.len());
        findings.extend(source::size(path, bytes));
    }
    for (path, text) in &files {
        findings.extend(source::check(path, text));
    }
    findings.extend(arrows::between_crates(&own));
    let library = files
        .iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("mcp-proto/src/")?, text.as_str())));
    findings.extend(arrows::inside_library(library));
    let deny = files.get(licences::PATH).map_or("", String::as_str);
    findings.extend(licences::check(&all, deny));
    let lab = metadata(&["--no-deps", "--manifest-path", "lab/Cargo.toml"])?;
    for crates in [&own, &lab] {
        findings.extend(unused::by_members(crates, &files, &root()));
    }
    findings.extend(untested::check(&own, &files, &root()));
    let manifest = files.get("Cargo.toml").map_or("", String::as_str);
    findings.extend(unused::by_workspace(manifest, &own));
    findings.extend(match files.get("ARCHITECTURE.md") {
        Some(text) => {
            map::check(text, &map::folders(&own, &root()), |path| root().join(path).exists())
        }
        None => vec!["ARCHITECTURE.md: the file is missing".to_owned()],
    });
    findings.extend(match files.get(checklist::PATH) {
        Some(text) => checklist::check(text, &files, &suites::scenarios().collect()).findings,
        None => vec![format!("{}: the file is missing", checklist::PATH)],
    });
    Ok(findings)
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

fn metadata(arguments: &[&str]) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let text = output(
        Command::new(cargo).args(["metadata", "--format-version", "1", "--locked"]).args(arguments),
    )?;
    Ok(serde_json::from_str(&text)?)
}

/// The target triple of this machine: the packages for other machines need not be downloaded.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = output(Command::new(rustc).arg("-vV"))?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("rustc does not tell its host")?.to_owned())
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
    #[test]
    fn this_repository_keeps_the_rules() {
        if !super::has_git("this_repository_keeps_the_rules") {
            return;
        }
        let findings = super::check().expect("git and cargo answer");
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }
}
