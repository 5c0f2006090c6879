//! Two changes that touch one requirement, both active or one archived.

use spec_server::archive::{How, archive_change, preview};
use spec_server::validate::{self, Finding, Item, Severity};

use super::{GATE, SPOX, project, short};
use crate::assert_has;

/// What is found in changes `a`, `b`, … with these deltas of the capability `gate`.
fn changes(deltas: &[&str]) -> Vec<Item> {
    let paths: Vec<String> = ["a", "b", "c"]
        .iter()
        .map(|id| format!("openspec/changes/{id}/specs/gate/spec.md"))
        .collect();
    let mut files = vec![("openspec/specs/gate/spec.md", GATE)];
    files.extend(paths.iter().map(String::as_str).zip(deltas.iter().copied()));
    let (_root, project) = project(&files);
    validate::changes(&project, None).expect("listed")
}

const ADDS: &str = "## ADDED Requirements\n### Requirement: Ring\nIt SHALL.\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n";
const REMOVES: &str = "## REMOVED Requirements\n\n### Requirement: Open\n";
const RENAMES: &str =
    "## RENAMED Requirements\n- FROM: `### Requirement: Open`\n- TO: `### Requirement: Gape`\n";
const MODIFIES: &str = "## MODIFIED Requirements\n\n\n### Requirement: Open\nIt SHALL.\n#### By day\n- a\n#### By night\n- b\n";

#[test]
fn both_are_told_of_each_other() {
    let items = changes(&[MODIFIES, REMOVES]);
    for (item, line, other) in
        [(&items[0], 4, "\"b\" removes it"), (&items[1], 3, "\"a\" modifies it")]
    {
        assert_eq!(short(&item.findings), [(Severity::Warning, "change-conflict", Some(line))]);
        let finding = &item.findings[0];
        assert_has(&finding.message, &[&format!("the change {:?}", item.id)]);
        assert!(finding.message.contains(other), "{}", finding.message);
        assert_has(&finding.message, &["\"Open\" of gate"]);
        assert_eq!(finding.file, format!("openspec/changes/{}/specs/gate/spec.md", item.id));
        // It is advice: the verdict is that of OpenSpec, which does not compare changes.
        assert!(item.is_valid(true));
    }
}

#[test]
fn renames_are_followed() {
    let by_old_name = changes(&[RENAMES, MODIFIES]);
    assert_eq!(by_old_name[0].findings.len(), 1);
    assert_has(&by_old_name[1].findings[0].message, &["\"a\" renames it"]);
    let new_name = ADDS.replace("Ring", "Gape");
    let by_new_name = changes(&[RENAMES, &new_name]);
    assert_eq!(by_new_name[1].findings[0].rule, "change-conflict");
}

#[test]
fn what_stands_apart_is_no_conflict() {
    for deltas in [
        &[ADDS, REMOVES][..],
        &[MODIFIES],
        &[&format!("{RENAMES}\n{}", MODIFIES.replace("Open", "Gape"))],
    ] {
        let rules = changes(deltas).into_iter().flat_map(|item| item.findings);
        assert!(rules.into_iter().all(|finding| finding.rule != "change-conflict"));
    }
    let (_root, project) = project(&[
        ("openspec/changes/a/specs/gate/spec.md", ADDS),
        ("openspec/changes/b/specs/bell/spec.md", ADDS),
        ("openspec/changes/archive/2025-01-01-c/specs/gate/spec.md", ADDS),
    ]);
    assert!(
        validate::changes(&project, None)
            .expect("listed")
            .iter()
            .all(|item| item.findings.is_empty())
    );
}

#[test]
fn three_are_told_together_and_one_alone_is_told_of_all() {
    let items = changes(&[ADDS, ADDS, ADDS]);
    let message = |item: &Item| {
        item.findings.iter().find(|f| f.rule == "change-conflict").expect("told").message.clone()
    };
    for (index, others) in [["b", "c"], ["a", "c"], ["a", "b"]].into_iter().enumerate() {
        assert!(
            others.iter().all(|id| message(&items[index]).contains(&format!("{id:?} adds it")))
        );
    }
    let (_root, project) = project(&[
        ("openspec/changes/a/specs/gate/spec.md", ADDS),
        ("openspec/changes/b/specs/gate/spec.md", ADDS),
    ]);
    let one = validate::changes(&project, Some("b")).expect("read");
    assert_eq!(one.len(), 1);
    assert!(message(&one[0]).contains("\"a\" adds it"));
}

#[test]
fn one_requirement_that_is_touched_without_end_is_told_in_time() {
    // Each with each would be 800 million.
    let many = format!("## REMOVED Requirements\n{}", "### Requirement: Open\n".repeat(20_000));
    let items = changes(&[&many, &many]);
    for item in &items {
        let conflicts = item.findings.iter();
        let conflicts: Vec<_> =
            conflicts.filter(|finding| finding.rule == "change-conflict").collect();
        assert_eq!(conflicts.len(), validate::MAX_FINDINGS + 1);
        let message = &conflicts[0].message;
        assert_has(message, &["so does another: \"", "line 2); finish"]);
    }
}

#[test]
fn spec_oxide_projects_have_them_too() {
    let (_root, project) = project(&[
        (".spox/config.toml", SPOX),
        (
            "specs/_changes/a/specs/gate/spec.md",
            "## RENAMED Requirements\n### Requirement: Open → Gape\n",
        ),
        ("specs/_changes/b/specs/gate/spec.md", REMOVES),
    ]);
    let items = validate::changes(&project, None).expect("listed");
    assert!(
        items
            .iter()
            .all(|item| { item.findings.iter().any(|finding| finding.rule == "change-conflict") })
    );
}

/// The conflicts of change `b`, which was created on this day, after a change with the delta `first` was archived on
/// 2 January 2026: as validation and as the preview report them.
fn after_the_archive(first: &str, begun: &str, delta: &str) -> (Vec<Finding>, Vec<Finding>) {
    let (_root, project) = project(&[
        ("openspec/specs/gate/spec.md", GATE),
        ("openspec/changes/a/specs/gate/spec.md", first),
        ("openspec/changes/b/specs/gate/spec.md", delta),
        ("openspec/changes/b/.openspec.yaml", &format!("schema: spec-driven\n{begun}\n")),
    ]);
    archive_change(&project, "a", "2026-01-02", How::default()).expect("archived");
    let of = |findings: Vec<Finding>| {
        findings.into_iter().filter(|finding| finding.rule == "change-conflict").collect()
    };
    let item = validate::changes(&project, Some("b")).expect("read").remove(0);
    (of(item.findings), of(preview(&project, "b").expect("a preview").warnings))
}

#[test]
fn what_would_undo_an_archived_change_is_told() {
    let both = "## MODIFIED Requirements\n### Requirement: Open\nIt SHALL at once.\n#### Scenario: By day\n- **WHEN** a\n- **THEN** b\n#### Scenario: By night\n- **WHEN** a\n- **THEN** b\n";
    // The usual case is one day: two agents at work.
    for begun in ["created: 2026-01-02", "created: 2025-12-31"] {
        for (delta, line, verb) in [(both, 2, "modifies"), (REMOVES, 3, "removes")] {
            let (found, previewed) = after_the_archive(both, begun, delta);
            assert_eq!(short(&found), [(Severity::Warning, "change-conflict", Some(line))]);
            let other = "\"2026-01-02-a\" modifies it (openspec/changes/archive/2026-01-02-a/specs/gate/spec.md, line 2)";
            let own = format!("\"b\" {verb} the requirement \"Open\" of gate");
            assert_has(&found[0].message, &[&own, other, "bring it up to date with the spec"]);
            assert!(found[0].advice);
            assert_eq!(previewed, found);
        }
    }
    let gaped = both.replace("Open", "Gape");
    for (first, begun, delta) in [
        (both, "created: 2026-01-03", both),
        (both, "", both),
        (both, "created: 2026-01-02", ADDS),
        // What knows the other, or is refused.
        (ADDS, "created: 2026-01-01", &both.replace("Open", "Ring")),
        (RENAMES, "created: 2026-01-01", &gaped),
    ] {
        assert_eq!(after_the_archive(first, begun, delta), (vec![], vec![]), "{first}{begun}");
    }
}
