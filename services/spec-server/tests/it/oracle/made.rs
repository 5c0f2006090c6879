//! A project made by the tool's own commands, with content of ours, step by step.

use std::path::Path;

use super::tool::Tool;
use super::write;

/// One step, and what it is called.
type Step = (&'static str, fn(&Tool, &Path));

/// An empty project.
pub(crate) fn begin(tool: &Tool, root: &Path) {
    tool.must(root, &["init", "--tools", "none", "--no-animation", "."]);
}

/// What happens to it, in this order.
pub(crate) const STEPS: [Step; 6] = [
    ("a change without content", |tool, root| {
        tool.must(root, &["new", "change", "add-lending"]);
    }),
    ("a change with content", |_, root| {
        for (path, text) in LENDING {
            write(root, &format!("openspec/changes/add-lending/{path}"), text.as_bytes());
        }
    }),
    ("a second change, without specs by its own word", |tool, root| {
        tool.must(root, &["new", "change", "tidy-shelves", "--goal", "Shelves in order"]);
        write(
            root,
            "openspec/changes/tidy-shelves/.openspec.yaml",
            b"schema: spec-driven\nskip_specs: true\n",
        );
        write(
            root,
            "openspec/changes/tidy-shelves/tasks.md",
            b"## 1. Shelves\n- [ ] 1.1 Dust\n- [ ] 2.1 Sort\n",
        );
    }),
    ("the first change archived: its spec is written by the tool", |tool, root| {
        tool.must(root, &["archive", "add-lending", "--yes"]);
        assert!(root.join("openspec/specs/lending/spec.md").is_file());
    }),
    ("a third change, which drops a scenario", |tool, root| {
        tool.must(root, &["new", "change", "shorten-lending"]);
        write(root, "openspec/changes/shorten-lending/specs/lending/spec.md", SHORTEN.as_bytes());
    }),
    ("the same with the scenario, and a rename", |tool, root| {
        let whole = SHORTEN.replace("## RENAMED", "#### Scenario: Too late\n- **WHEN** a book comes late\n- **THEN** a fine is asked for\n\n## RENAMED");
        write(root, "openspec/changes/shorten-lending/specs/lending/spec.md", whole.as_bytes());
        tool.must(root, &["validate", "shorten-lending", "--json"]);
    }),
];

const LENDING: [(&str, &str); 3] = [
    (
        "proposal.md",
        "# Lending\n\n## Why\nReaders take books home, and nobody knows which ones are out.\n\n## What Changes\n- A book can be lent.\n",
    ),
    ("tasks.md", "## 1. Desk\n- [x] 1.1 Write the form\n- [x] 1.2 Print it\n"),
    (
        "specs/lending/spec.md",
        "## ADDED Requirements\n\n### Requirement: Lend\nThe desk SHALL lend a book to whoever has a card.\n\n#### Scenario: With a card\n- **WHEN** a reader shows a card\n- **THEN** \
         the book is lent\n\n#### Scenario: Too late\n- **WHEN** a book comes late\n- **THEN** a fine is asked for\n",
    ),
];

const SHORTEN: &str = "## MODIFIED Requirements\n\n### Requirement: Lend out\nThe desk SHALL lend a book to whoever has a card, for two weeks.\n\n#### Scenario: With a card\n- **WHEN** a reader \
                       shows a card\n- **THEN** the book is lent\n\n## RENAMED Requirements\n- FROM: `### Requirement: Lend`\n- TO: `### Requirement: Lend out`\n";
