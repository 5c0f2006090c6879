//! The rules of changes in Spec Oxide projects.

use spec_server::validate::{self, Finding, Severity};

use super::{SPOX, Short, error, only, project, short, warning};
use crate::assert_has;

const PROPOSAL: &str = "# Change: Ring\n\n## Why\nNobody hears whoever stands before the gate at night.\n\n## What Changes\n- It rings.\n";
const TASKS: &str = "## 1. Bell\n- [x] 1.1 Hang it\n- [ ] 1.2 Ring it\n";
const DELTA: &str = "## ADDED Requirements\n\n### Requirement: Ring\nIt SHALL ring.\n\n#### Scenario: Night\n- **WHEN** a\n- **THEN** b\n";

/// What is found in a change with this proposal, these tasks and this delta; an empty text is no file.
fn found(proposal: &str, tasks: &str, delta: &str) -> Vec<Finding> {
    let parts = [("proposal.md", proposal), ("tasks.md", tasks), ("specs/gate/spec.md", delta)];
    let parts = parts.map(|(path, text)| (format!("specs/_changes/go/{path}"), text));
    let mut files =
        vec![(".spox/config.toml", SPOX), ("specs/_changes/go/design.md", "# Design\n")];
    files.extend(
        parts
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(path, text)| (path.as_str(), *text)),
    );
    let (_root, project) = project(&files);
    only(validate::changes(&project, Some("go")).expect("it is read"))
}

/// The same without what is only information.
fn wrong(proposal: &str, tasks: &str, delta: &str) -> Vec<Short> {
    let mut found = short(&found(proposal, tasks, delta));
    found.retain(|(severity, ..)| *severity != Severity::Info);
    found
}

#[test]
fn nothing_is_said_of_a_good_change() {
    assert_eq!(found(PROPOSAL, TASKS, DELTA), []);
    assert_eq!(found(PROPOSAL, "- [ ] 1.1 x\n", DELTA), []);
}

#[test]
fn a_change_has_a_proposal_with_two_sections() {
    let none = found("", TASKS, DELTA);
    assert_eq!(short(&none), [(Severity::Error, "proposal-missing", None)]);
    assert_eq!(none[0].file, "specs/_changes/go/proposal.md");
    assert_eq!(
        wrong("# Change\n", TASKS, DELTA),
        [error("why-missing", 1), error("what-changes-missing", 1)]
    );
    let brief =
        PROPOSAL.replace("Nobody hears whoever stands before the gate at night.", "It is quiet.");
    assert_eq!(wrong(&brief, TASKS, DELTA), [warning("why-short", 3)]);
}

#[test]
fn a_change_has_tasks_with_numbers() {
    assert_eq!(wrong(PROPOSAL, "", DELTA), [(Severity::Error, "tasks-missing", None)]);
    assert_eq!(wrong(PROPOSAL, "# Tasks\n1. x\n+ [ ] 1.1 y\n", DELTA), [error("tasks-empty", 1)]);
    assert_eq!(
        wrong(PROPOSAL, "- [ ] 1.1 x\n  * [X] 1 y\n- [ ] 1.2a z\n- [ ] 1.2.3\tw\n", DELTA),
        [warning("task-number-missing", 2), warning("task-number-missing", 3),]
    );
}

#[test]
fn a_long_task_in_any_script_is_cut_between_characters() {
    let tasks = format!("- [ ] {}\n", "Größe-門".repeat(20));
    let findings = found(PROPOSAL, &tasks, DELTA);
    let message =
        &findings.iter().find(|finding| finding.line == Some(1)).expect("it is told").message;
    assert_has(message, &["Größe-門Größe-門Größe-門Größe-門Gr…"]);
}

#[test]
fn a_change_says_what_is_to_change() {
    let none = [(Severity::Error, "deltas-missing", None)];
    assert_eq!(wrong(PROPOSAL, TASKS, ""), none);
    assert_eq!(wrong(PROPOSAL, TASKS, "# Nothing\n"), none);
    let other = wrong(PROPOSAL, TASKS, "# Delta\n\n## Added\n");
    assert_eq!(other, [none[0], error("delta-heading-wrong", 3)]);
    // A section alone is enough for Spec Oxide, whatever else is wrong.
    assert_eq!(wrong(PROPOSAL, TASKS, "## removed requirements\n\n## ADDED\n"), []);
}

#[test]
fn what_is_added_has_scenarios_that_say_when_and_then() {
    let bare = DELTA.split("#### ").next().expect("the start");
    assert_eq!(wrong(PROPOSAL, TASKS, bare), [warning("scenario-missing", 3)]);
    let both = DELTA.replace("- **WHEN** a\n- **THEN** b\n", "- a\n");
    assert_eq!(wrong(PROPOSAL, TASKS, &both), [error("when-missing", 6), error("then-missing", 6)]);
    // In a delta, unlike in a spec, only these spellings count.
    for (keyword, right) in
        [("- WHEN", false), ("**When**", false), ("WHEN", true), ("**WHEN**", true)]
    {
        let expected = if right { vec![] } else { vec![error("when-missing", 6)] };
        assert_eq!(
            wrong(PROPOSAL, TASKS, &DELTA.replace("- **WHEN**", keyword)),
            expected,
            "{keyword}"
        );
    }
}

#[test]
fn each_section_counts_however_often_it_is_there() {
    let second = DELTA.replace("Ring", "Chime").replace("- **THEN** b", "- b");
    assert_eq!(wrong(PROPOSAL, TASKS, &format!("{DELTA}\n{second}")), [error("then-missing", 15)]);
}

#[test]
fn what_is_modified_is_more_than_a_heading() {
    let bare = "## MODIFIED Requirements\n### Requirement: Open\n\n#### Scenario: S\n### Requirement: Shut\nIt SHALL.\n";
    assert_eq!(wrong(PROPOSAL, TASKS, bare), [warning("requirement-incomplete", 2)]);
    let others = "## REMOVED Requirements\n### Requirement: Open\n## RENAMED Requirements\n### Requirement: A → B\n";
    assert_eq!(wrong(PROPOSAL, TASKS, others), []);
}

#[test]
fn folders_with_a_dot_and_the_archive_are_no_changes() {
    let (_root, project) = project(&[
        (".spox/config.toml", SPOX),
        ("specs/_changes/.hidden/tasks.md", "x"),
        ("specs/_changes/_archive/tasks.md", "x"),
        ("specs/_archive/2025-01-01-x/tasks.md", "x"),
    ]);
    assert_eq!(super::all(&project), []);
}
