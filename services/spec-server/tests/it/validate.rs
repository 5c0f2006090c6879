//! Validation: every rule of both sets on a sample of its own, with the line of the finding.
//!
//! Whether OpenSpec says the same is what `oracle` asks its own tool.

mod openspec_changes;
mod openspec_deltas;
mod openspec_specs;
mod openspec_tasks;
mod reports;
mod spec_oxide_changes;
mod spec_oxide_specs;
mod touching;

use spec_server::project::Project;
use spec_server::validate::{self, Finding, Item, Severity};
use tempfile::TempDir;

use crate::project::folder;

/// A finding in short: how bad, which rule, which line.
type Short = (Severity, &'static str, Option<u32>);

const SPOX: &str = "[paths]\nspec_folder = \"specs/\"\nchanges_folder = \"specs/_changes\"\narchive_folder = \"specs/_archive\"\n\
                    [rules]\nsystem = [\"global\"]\n";

fn short(findings: &[Finding]) -> Vec<Short> {
    findings.iter().map(|finding| (finding.severity, finding.rule, finding.line)).collect()
}

fn error(rule: &'static str, line: u32) -> Short {
    (Severity::Error, rule, Some(line))
}

fn warning(rule: &'static str, line: u32) -> Short {
    (Severity::Warning, rule, Some(line))
}

fn info(rule: &'static str, line: u32) -> Short {
    (Severity::Info, rule, Some(line))
}

/// A project with these files.
fn project(files: &[(&str, &str)]) -> (TempDir, Project) {
    let root = folder(files);
    let project = Project::open(root.path()).expect("a project");
    (root, project)
}

/// What is found in all active changes and all specs.
pub(crate) fn all(project: &Project) -> Vec<Item> {
    let mut items = validate::changes(project, None).expect("changes are listed");
    items.extend(validate::specs(project, None).expect("specs are listed"));
    items
}

/// What is found in the one spec of an OpenSpec project.
fn openspec_spec(text: &str) -> Vec<Finding> {
    let (_root, project) = project(&[("openspec/specs/gate/spec.md", text)]);
    only(validate::specs(&project, Some("gate")).expect("it is read"))
}

/// What is found in the change `go`, whose files are these, in an OpenSpec project with a spec `gate`.
fn openspec_change(files: &[(&str, &str)]) -> Vec<Finding> {
    let mut all = vec![("openspec/specs/gate/spec.md".to_owned(), GATE)];
    all.extend(files.iter().map(|(path, text)| (format!("openspec/changes/go/{path}"), *text)));
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let (_root, project) = project(&all);
    only(validate::changes(&project, Some("go")).expect("it is read"))
}

/// What is found in a delta of `gate`.
fn openspec_delta(text: &str) -> Vec<Finding> {
    openspec_change(&[("specs/gate/spec.md", text)])
}

fn only(mut items: Vec<Item>) -> Vec<Finding> {
    assert_eq!(items.len(), 1);
    items.remove(0).findings
}

/// A spec with nothing wrong in it.
const GATE: &str = "# Gate

## Purpose
Tells how the gate behaves for whoever stands before it, day and night.

## Requirements

### Requirement: Open
The gate SHALL open.

#### Scenario: By day
- **WHEN** somebody asks
- **THEN** it opens

#### Scenario: By night
- **WHEN** somebody asks
- **THEN** it opens slowly
";
