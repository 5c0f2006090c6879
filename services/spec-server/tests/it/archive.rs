//! Changes become part of the specs.

mod bytes;
mod failures;
mod new;
mod operations;
mod refusals;
mod tasks;

use std::fs;
use std::path::Path;

use spec_server::archive::{ArchiveError, Archived, How, Preview, archive_change, preview};
use spec_server::project::Project;
use tempfile::TempDir;

use crate::project::openspec;

const DAY: &str = "2026-01-02";

/// A requirement with two scenarios.
fn requirement(name: &str) -> String {
    format!(
        "### Requirement: {name}\nIt SHALL do {name}.\n\n#### Scenario: S1\n- **WHEN** a\n- **THEN** b\n\n\
         #### Scenario: S2\n- **WHEN** c\n- **THEN** d\n"
    )
}

/// A delta that adds a requirement.
fn adds(name: &str) -> String {
    format!("## ADDED Requirements\n{}", requirement(name))
}

/// A delta that modifies a requirement.
fn modifies(name: &str) -> String {
    format!("## MODIFIED Requirements\n{}", requirement(name))
}

/// A delta that renames a requirement.
fn renames(from: &str, to: &str) -> String {
    format!(
        "## RENAMED Requirements\n- FROM: `### Requirement: {from}`\n- TO: `### Requirement: {to}`\n"
    )
}

/// A spec of these requirements.
fn spec(names: &[&str]) -> String {
    let blocks: Vec<_> = names.iter().map(|name| requirement(name)).collect();
    format!(
        "# cap Specification\n\n## Purpose\nServes well.\n\n## Requirements\n\n{}",
        blocks.join("\n")
    )
}

/// A project with the spec `cap` and a change `c` that has this delta for it.
fn project(spec: &str, delta: &str) -> (TempDir, Project) {
    openspec(&[
        ("specs/cap/spec.md", spec),
        ("changes/c/specs/cap/spec.md", delta),
        ("changes/c/proposal.md", "# C\n"),
    ])
}

fn archive(project: &Project) -> Result<Archived, ArchiveError> {
    archive_change(project, "c", DAY, How::default())
}

/// What is in the file of `cap`.
fn read(root: &TempDir) -> String {
    let bytes = fs::read(root.path().join("openspec/specs/cap/spec.md")).expect("a spec");
    String::from_utf8(bytes).expect("UTF-8")
}

/// What the delta makes of the spec.
fn applied(spec: &str, delta: &str) -> String {
    let (root, project) = project(spec, delta);
    archive(&project).expect("archived");
    read(&root)
}

/// Why the delta is refused. Nothing has changed then.
fn refused(spec: &str, delta: &str) -> Vec<String> {
    let (root, project) = project(spec, delta);
    let before = tree(root.path());
    let problems = match archive(&project) {
        Err(ArchiveError::Refused(problems)) => problems,
        other => panic!("{delta}: {other:?}"),
    };
    assert_eq!(tree(root.path()), before, "{delta}");
    let shown: Preview = preview(&project, "c").expect("a preview");
    assert_eq!(shown.problems, problems);
    let problems = problems.iter().map(|problem| {
        let (path, line) = (&problem.file, problem.line.unwrap_or_default());
        format!("{path}:{line}: {}", problem.message)
    });
    problems.collect()
}

/// Every file below a folder, with its bytes, and every folder.
fn tree(root: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).expect("below").display().to_string();
            if path.is_dir() {
                found.push((name, None));
                folders.push(path);
            } else {
                found.push((name, Some(fs::read(&path).unwrap_or_default())));
            }
        }
    }
    found.sort();
    found
}
