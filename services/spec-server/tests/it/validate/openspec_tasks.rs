//! The rules of task lists in OpenSpec projects.

use spec_server::validate::ChangePart;

use super::{openspec_change, short, warning};
use crate::assert_has;

const DELTA: (&str, &str) = (
    "specs/gate/spec.md",
    "## ADDED Requirements\n### Requirement: Ring\nIt SHALL.\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n",
);

fn found(tasks: &str) -> Vec<super::Short> {
    short(&openspec_change(&[DELTA, ("tasks.md", tasks)]))
}

#[test]
fn a_task_stands_in_its_group_and_has_a_number_of_its_own() {
    let good =
        "## 1. A\n- [ ] 1.1 x\n- [x] 1.2 y\n## 02. B\n  - [ ] 2.1.1 z\n## Notes\n- [ ] 9.9 w\n";
    assert_eq!(found(good), []);
    assert_eq!(found("## 1. A\n- [ ] 1.1 x\n- [ ] 2.1 y\n"), [warning("task-group", 3)]);
    assert_eq!(found("## 1. A\n- [ ] 1.1 x\n\n* [x] 1.1 y\n"), [warning("task-duplicate", 4)]);
    // Code blocks do not hide tasks, nor their groups.
    assert_eq!(
        found("```\n## 1. A\n- [ ] 1.1 x\n- [ ] 1.1 y\n```\n"),
        [warning("task-duplicate", 4)]
    );
    // Four blanks make code of a heading, three do not.
    assert_eq!(found("## 1. A\n    ## 2. B\n- [ ] 1.1 x\n"), []);
    assert_eq!(found("## 1. A\n   ## 2. B\n- [ ] 1.1 x\n"), [warning("task-group", 3)]);
    // Numbers without groups like `## 1.` mean nothing.
    assert_eq!(found("## A\n- [ ] 1.1 x\n- [ ] 1.1 y\n"), []);
    let findings = openspec_change(&[DELTA, ("tasks.md", "## 1. A\n- [ ] 2.1 x\n")]);
    assert_eq!(
        (findings[0].file.as_str(), findings[0].part),
        ("openspec/changes/go/tasks.md", Some(ChangePart::Tasks))
    );
    assert_has(&findings[0].message, &["group 2"]);
}

#[test]
fn a_list_without_boxes_is_no_list_of_tasks() {
    for (tasks, line) in [
        ("# Tasks\n- do it\n", 2),
        ("1. do it\n", 1),
        ("---\ntags:\n- a\n---\n\n+ do it\n", 6),
        ("<!--\n- no\n-->\n* do it\n", 4),
        ("````\n```\n- no\n````\n- do it\n", 5),
    ] {
        assert_eq!(found(tasks), [warning("task-boxes-missing", line)], "{tasks}");
    }
    for tasks in [
        "Words.\n",
        "```\n- code\n```\n",
        "    - code\n",
        "- do it\n- [ ] 1.1 and that\n",
        "-none\n",
        "1234567890. x\n",
    ] {
        assert_eq!(found(tasks), [], "{tasks}");
    }
}

#[test]
fn the_files_of_tasks_are_those_of_the_workflow() {
    let schema = "name: own\nversion: 1\nartifacts:\n  - id: tasks\n    generates: work/**/*.md\n    description: t\n    \
                  template: t.md\n";
    let files = [DELTA, ("../../schemas/own/schema.yaml", schema)];
    let with = |more: &[(&str, &str)]| {
        let all: Vec<_> = files.iter().chain(more).copied().collect();
        short(&openspec_change(&all))
    };
    let own = (".openspec.yaml", "schema: own\n");
    let list = ("work/deep/list.md", "- do it\n");
    assert_eq!(with(&[own, list]), [warning("task-boxes-missing", 1)]);
    assert_eq!(with(&[list]), []);
    assert_eq!(with(&[own, list, ("work/more.md", "- [ ] do that\n")]), []);
    // Only OpenSpec's own workflow numbers its tasks.
    assert_eq!(with(&[own, ("tasks.md", "## 1. A\n- [ ] 2.1 x\n")]), []);
    let project_wide = ("../../config.yaml", "schema: own\n");
    assert_eq!(with(&[project_wide, list]), [warning("task-boxes-missing", 1)]);
}
