//! The rules of the folder of a change and its metadata in OpenSpec projects.

use spec_server::validate::{self, Severity};

use super::{openspec_change, project, short};
use crate::assert_has;

const DELTA: &str = "## ADDED Requirements\n### Requirement: Ring\nIt SHALL.\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n";

const ERROR: Severity = Severity::Error;

fn files(files: &[(&str, &str)]) -> Vec<(String, &'static str)> {
    let findings = openspec_change(files);
    let file = |file: &str| file.strip_prefix("openspec/changes/go").unwrap_or(file).to_owned();
    findings.iter().map(|finding| (file(&finding.file), finding.rule)).collect()
}

fn found(file: &str, rule: &'static str) -> (String, &'static str) {
    (file.to_owned(), rule)
}

#[test]
fn a_change_has_deltas_where_they_are_read() {
    assert_eq!(files(&[("specs/gate/spec.md", DELTA)]), []);
    assert_eq!(files(&[("specs/a/b/c/spec.md", DELTA)]), []);
    assert_eq!(files(&[("proposal.md", "## Why\n")]), [found("/proposal.md", "deltas-missing")]);
    assert_eq!(files(&[("specs/spec.md", DELTA)]), [found("/specs/spec.md", "delta-at-root")]);
    let misplaced = openspec_change(&[("specs/gate.md", DELTA), ("specs/gate/more.MD", DELTA)]);
    assert_eq!(short(&misplaced), [(ERROR, "delta-unread", None), (ERROR, "delta-unread", None)]);
    assert_has(&misplaced[0].message, &["move it to specs/gate/spec.md"]);
    assert_eq!(misplaced[1].file, "openspec/changes/go/specs/gate/more.MD");
    assert_eq!(
        files(&[
            ("specs/gate/spec.md", DELTA),
            ("specs/notes.md", "# Notes\n"),
            ("specs/.x/a.md", DELTA)
        ]),
        []
    );
}

#[test]
fn a_change_may_say_that_it_has_no_deltas() {
    let skip = "schema: spec-driven\nskip_specs: true\n";
    let findings = openspec_change(&[(".openspec.yaml", skip)]);
    assert_eq!(short(&findings), [(Severity::Info, "skip-specs", None)]);
    for extra in ["specs/gate/spec.md", "specs/note.txt"] {
        assert_eq!(
            files(&[(".openspec.yaml", skip), (extra, DELTA)]),
            [found("/.openspec.yaml", "skip-specs-clash")],
            "{extra}"
        );
    }
    assert_eq!(
        files(&[(".openspec.yaml", skip), ("specs/.keep", "")]),
        [found("/.openspec.yaml", "skip-specs")]
    );
    assert_eq!(
        files(&[(".openspec.yaml", "schema: spec-driven\nskip_specs: false\n")]),
        [found("", "deltas-missing")]
    );
}

#[test]
fn that_counts_only_in_metadata_that_are_right() {
    for metadata in [
        "skip_specs: true\n",
        "schema: spec-driven\nskip_specs: yes\n",
        "schema: nowhere\nskip_specs: true\n",
        "schema: spec-driven\nskip_specs: true\ncreated: yesterday\n",
        "schema: spec-driven\nskip_specs: true\nschema: spec-driven\n",
        "schema: [\n  skip_specs: true\n",
    ] {
        let findings =
            openspec_change(&[(".openspec.yaml", metadata), ("specs/gate/spec.md", DELTA)]);
        assert_eq!(short(&findings), [(ERROR, "metadata-invalid", None)], "{metadata}");
    }
    // Broken metadata that do not speak of deltas are another's business.
    assert_eq!(files(&[(".openspec.yaml", "schema: [\n"), ("specs/gate/spec.md", DELTA)]), []);
}

#[test]
fn a_folder_around_changes_is_none() {
    let nested =
        openspec_change(&[("inner/proposal.md", "x"), ("two/deep/specs/a/spec.md", DELTA)]);
    assert_eq!(short(&nested), [(ERROR, "change-nested", None)]);
    assert_has(&nested[0].message, &["inner, two/deep"]);
    assert_has(&nested[0].message, &["go-inner"]);
    assert_eq!(
        files(&[("inner/proposal.md", "x"), ("README.md", "x")]),
        [found("", "deltas-missing")]
    );
    assert_eq!(files(&[("a/b/c/d/proposal.md", "x")]), [found("", "deltas-missing")]);
}

#[test]
fn a_folder_too_deep_to_look_through_is_told() {
    let deep = format!("{}x", "d/".repeat(17));
    let findings = openspec_change(&[("specs/gate/spec.md", DELTA), (&deep, "x")]);
    assert_eq!(short(&findings), [(Severity::Info, "folder-partial", None)]);
}

#[test]
fn a_folder_of_more_entries_than_are_looked_at_is_told() {
    let (root, project) = project(&[("openspec/changes/go/specs/gate/spec.md", DELTA)]);
    let folder = root.path().join("openspec/changes/go/empty");
    for number in 0..10_000 {
        std::fs::create_dir_all(folder.join(number.to_string())).expect("a folder");
    }
    let items = validate::changes(&project, Some("go")).expect("read");
    let rules: Vec<_> = items[0].findings.iter().map(|found| found.rule).collect();
    assert!(rules.contains(&"folder-partial"), "{rules:?}");
}

#[test]
fn a_workflow_behind_a_link_out_of_the_project_is_none() {
    let schema = "name: own\nversion: 1\nartifacts:\n  - id: tasks\n    generates: tasks.md\n    description: t\n    \
                  template: t.md\n";
    let outside = crate::project::folder(&[("schema.yaml", schema)]);
    let metadata = "schema: own\nskip_specs: true\n";
    let (root, project) = project(&[
        ("openspec/changes/go/.openspec.yaml", metadata),
        ("openspec/schemas/other/x", ""),
    ]);
    let link = root.path().join("openspec/schemas/own");
    std::os::unix::fs::symlink(outside.path(), link).expect("a link");
    let items = validate::changes(&project, Some("go")).expect("read");
    let rules: Vec<_> = items[0].findings.iter().map(|found| found.rule).collect();
    assert_eq!(rules, ["deltas-missing", "metadata-invalid"]);
}

#[test]
fn what_cannot_be_read_is_an_item_of_its_own() {
    let root = crate::project::folder(&[("openspec/specs/ok/spec.md", super::GATE)]);
    for path in ["openspec/specs/deep/bad", "openspec/changes/bad/specs/gate"] {
        let folder = root.path().join(path);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("spec.md"), b"# A\n\xff\n").expect("a file");
    }
    let project = spec_server::project::Project::open(root.path()).expect("a project");
    let items = super::all(&project);
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["bad", "deep/bad", "ok"]);
    for item in &items[..2] {
        assert_eq!(short(&item.findings), [(ERROR, "unreadable", None)]);
        assert_has(&item.findings[0].message, &["line 2"]);
    }
}

#[test]
fn a_spec_that_cannot_be_compared_is_told() {
    let (_root, project) = project(&[
        ("openspec/specs/gate/spec.md/x", ""),
        ("openspec/changes/go/specs/gate/spec.md", &DELTA.replace("ADDED", "MODIFIED")),
    ]);
    let items = validate::changes(&project, None).expect("listed");
    assert_eq!(short(&items[0].findings), [(ERROR, "spec-unreadable", None)]);
}

#[test]
fn ids_that_lead_elsewhere_are_refused() {
    let (_root, project) = project(&[("openspec/specs/gate/spec.md", super::GATE)]);
    for id in ["../../etc", "/etc/passwd", "a\\b", "..", "a/../b", "x\0", ""] {
        assert!(validate::specs(&project, Some(id)).is_err(), "{id:?}");
        assert!(validate::changes(&project, Some(id)).is_err(), "{id:?}");
    }
    let error = validate::specs(&project, Some("gat")).expect_err("there is none");
    assert!(error.to_string().contains("gate"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_linked_folder_is_told_and_changes_no_verdict() {
    let (root, project) = project(&[("openspec/specs/gate/spec.md", super::GATE)]);
    let specs = root.path().join("openspec/specs");
    std::os::unix::fs::symlink(specs.join("gate"), specs.join("twin")).expect("a link");
    let items = validate::specs(&project, None).expect("listed");
    assert_eq!(items.len(), 2);
    assert_eq!(short(&items[1].findings), [(Severity::Warning, "link-not-followed", None)]);
    assert!(items[1].is_valid(true));
}
