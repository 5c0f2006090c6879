//! The rules of deltas in OpenSpec projects.

use spec_server::archive::judge;
use spec_server::validate::{ChangePart, Severity};

use super::{GATE, error, info, openspec_delta, short, warning};
use crate::assert_has;
use crate::project::openspec;

/// A requirement as it ought to be, seven lines long.
fn requirement(name: &str) -> String {
    format!(
        "### Requirement: {name}\nIt SHALL.\n\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n\n"
    )
}

fn found(text: &str) -> Vec<super::Short> {
    short(&openspec_delta(text))
}

fn message(text: &str) -> String {
    openspec_delta(text).remove(0).message
}

#[test]
fn a_good_delta_is_found_good() {
    let added = format!("## ADDED Requirements\n{}", requirement("Ring"));
    assert_eq!(openspec_delta(&added), []);
    assert_eq!(openspec_delta(&added.replace('\n', "\r\n")), []);
    assert_eq!(openspec_delta(&format!("\u{feff}{added}")), []);
    assert_eq!(openspec_delta("## REMOVED Requirements\n- `### Requirement: Open`\n"), []);
    let renamed =
        "## RENAMED Requirements\n* FROM: `### Requirement: Open`\n* TO: `### Requirement: Gape`\n";
    assert_eq!(openspec_delta(renamed), []);
    let twice = format!("{added}\n## added requirements\n{}", requirement("Chime"));
    assert_eq!(openspec_delta(&twice), []);
}

#[test]
fn a_delta_has_sections_and_they_have_entries() {
    assert_eq!(
        found("# Gate\n"),
        [(super::Severity::Error, "deltas-missing", None), error("delta-sections-missing", 1)]
    );
    let empty = found("Words.\n\n## ADDED Requirements\n\n## REMOVED Requirements\n");
    assert_eq!(
        empty,
        [(super::Severity::Error, "deltas-missing", None), error("delta-sections-empty", 3)]
    );
    // Spec Oxide's way to rename is no entry for OpenSpec.
    let arrow = found("## RENAMED Requirements\n### Requirement: Open → Gape\n");
    assert_eq!(arrow[1], error("delta-sections-empty", 1));
}

#[test]
fn what_is_added_or_modified_is_a_whole_requirement() {
    let delta = "## ADDED Requirements\n### Requirement: A\n\n#### Scenario: S\n- a\n### Requirement: B\nIt may.\n#### Scenario: S\n- a\n### Requirement: C\nIt SHALL.\n";
    let expected = [
        error("requirement-text-missing", 2),
        warning("normative-word-missing", 6),
        error("scenario-missing", 10),
    ];
    assert_eq!(found(delta), expected);
    let modified = delta.replace("ADDED", "MODIFIED");
    assert_eq!(found(&modified), expected);
    let bare = "## ADDED Requirements\n### Requirement: A\nIt SHALL.\n#### Scenario: S\n### Requirement: B\nIt SHALL.\n#### Scenario: S\n- x\n";
    assert_eq!(found(bare), [error("scenario-missing", 4)]);
}

#[test]
fn what_nobody_reads_is_told() {
    let divider = format!("## ADDED Requirements\n### Rules of ringing\n{}", requirement("Ring"));
    assert_eq!(found(&divider), [info("heading-ignored", 2)]);
    let orphan = format!("{}## ADDED Requirements\n{}", requirement("Lost"), requirement("Ring"));
    assert_eq!(found(&orphan), [warning("requirement-ignored", 1)]);
    let in_notes =
        format!("## ADDED Requirements\n{}## Notes\n###requirement: Lost\n", requirement("Ring"));
    let both = ["requirement-ignored", "heading-malformed"].map(|rule| warning(rule, 10));
    assert_eq!(found(&in_notes), both);
}

#[test]
fn a_requirement_has_one_entry_in_a_section() {
    let added = format!("## ADDED Requirements\n{}{}", requirement("Ring"), requirement("Ring ##"));
    assert_eq!(found(&added), [error("requirement-duplicate", 9)]);
    assert_has(&message(&added), &["on line 2 already"]);
    let removed = "## REMOVED Requirements\n### Requirement: Open\n- `### Requirement: Open`\n";
    assert_eq!(found(removed), [error("requirement-duplicate", 3)]);
    let two_sections =
        format!("## ADDED Requirements\n{0}## ADDED Requirements\n{0}", requirement("Ring"));
    assert_eq!(found(&two_sections), [error("requirement-duplicate", 10)]);
}

#[test]
fn one_requirement_takes_one_operation() {
    let open = "### Requirement: Open\nIt SHALL.\n#### Scenario: By day\n- a\n#### Scenario: By night\n- b\n";
    let removed = "## REMOVED Requirements\n### Requirement: Open\n";
    for (delta, line) in [
        (format!("## MODIFIED Requirements\n{open}{removed}"), 2),
        (format!("## MODIFIED Requirements\n{open}## ADDED Requirements\n{open}"), 2),
        (format!("{removed}## ADDED Requirements\n{open}"), 4),
    ] {
        assert_eq!(found(&delta), [error("operations-clash", line)], "{delta}");
    }
}

#[test]
fn a_rename_is_a_pair_of_lines_and_no_name_is_in_two() {
    let rename = |from: &str, to: &str| {
        format!("- FROM: `### Requirement: {from}`\n- TO: `### Requirement: {to}`\n")
    };
    let half = format!(
        "## RENAMED Requirements\n{}- FROM: `### Requirement: B`\n",
        rename("Open", "Gape")
    );
    assert_eq!(found(&half), [error("rename-half", 4)]);
    let turned =
        "## RENAMED Requirements\n- TO: `### Requirement: Gape`\n- FROM: `### Requirement: Open`\n";
    assert_eq!(
        found(turned)[1..],
        [error("delta-sections-empty", 1), error("rename-half", 2), error("rename-half", 3)]
    );
    let from_twice =
        format!("## RENAMED Requirements\n{}{}", rename("Open", "A"), rename("Open", "B"));
    assert_eq!(found(&from_twice), [error("rename-duplicate", 4)]);
    let to_twice =
        format!("## RENAMED Requirements\n{}{}", rename("Open", "A"), rename("Shut", "A"));
    assert_eq!(found(&to_twice), [error("rename-duplicate", 4)]);
    let renamed = format!("## RENAMED Requirements\n{}", rename("Open", "Gape"));
    let old_name = format!("{renamed}## MODIFIED Requirements\n{}", requirement("Open"));
    assert_eq!(found(&old_name), [error("rename-clash", 5)]);
    let taken = format!("{renamed}## ADDED Requirements\n{}", requirement("Gape"));
    assert_eq!(found(&taken), [error("rename-clash", 5)]);
    let removed = format!("{renamed}## REMOVED Requirements\n### Requirement:  OPEN\n");
    assert_eq!(found(&removed), [error("rename-clash", 2)]);
}

#[test]
fn no_scenario_is_dropped_by_the_way() {
    let drops =
        "## MODIFIED Requirements\n### Requirement: Open\nIt SHALL.\n#### By day ####\n- a\n";
    assert_eq!(found(drops), [error("scenarios-dropped", 2)]);
    assert_has(&message(drops), &["\"By night\""]);
    assert_has(&message(drops), &["openspec/specs/gate/spec.md (line 8)"]);
    let keeps = format!("{drops}#### Scenario: By night\n- b\n");
    assert_eq!(openspec_delta(&keeps), []);
    let renamed = "## MODIFIED Requirements\n### Requirement: Gape\nIt SHALL.\n#### By day\n- a\n## RENAMED Requirements\n\
                   FROM: ### Requirement: Open\nTO: ### Requirement: Gape\n";
    assert_eq!(found(renamed), [error("scenarios-dropped", 2)]);
}

#[test]
fn what_archiving_would_refuse_is_told_and_changes_no_verdict() {
    let unknown = format!("## MODIFIED Requirements\n{}", requirement("Unknown"));
    let known = format!("## ADDED Requirements\n{}", requirement("Open"));
    let renamed =
        "## RENAMED Requirements\n- FROM: `### Requirement: A`\n- TO: `### Requirement: B`\n";
    let other_case = "## REMOVED Requirements\n### Requirement: OPEN\n";
    for delta in [&unknown, &known, renamed, other_case] {
        assert_eq!(found(delta), [], "{delta}");
        let (_root, project) =
            openspec(&[("specs/gate/spec.md", GATE), ("changes/go/specs/gate/spec.md", delta)]);
        let items = judge(&project, Some("go")).expect("judged");
        let [item] = items.as_slice() else { panic!("{items:?}") };
        assert!(item.is_valid(true) && item.archivable == Some(false), "{item:?}");
        let notes = item.findings.iter().filter(|it| it.rule == "delta-not-applicable");
        assert_eq!(
            notes.map(|it| (it.severity, it.line)).collect::<Vec<_>>(),
            [(Severity::Info, Some(2))]
        );
    }
}

#[test]
fn findings_of_deltas_name_their_file_and_part() {
    let finding = openspec_delta("## ADDED Requirements\n").remove(1);
    assert_eq!(finding.file, "openspec/changes/go/specs/gate/spec.md");
    assert_eq!(finding.part, Some(ChangePart::Deltas));
}
