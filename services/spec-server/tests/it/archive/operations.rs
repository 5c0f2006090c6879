//! Each operation, their order, and that a second time changes nothing.

use spec_server::archive::{ArchiveError, How, archive_change, preview};

use super::{DAY, adds, applied, archive, project, read, renames, requirement, spec};
use crate::assert_has;
use crate::project::{openspec, spox, write};

#[test]
fn added_ones_come_last_in_their_order() {
    let delta =
        format!("## ADDED Requirements\n\n{}\n{}", requirement("New"), requirement("Newer"));
    assert_eq!(applied(&spec(&["A", "B"]), &delta), spec(&["A", "B", "New", "Newer"]));
}

#[test]
fn a_modified_one_is_replaced_whole_where_it_stands() {
    let new =
        requirement("B").replace("It SHALL", "It MUST").replace("- **THEN** d", "- **THEN** e");
    let delta = format!("## MODIFIED Requirements\n{new}\n");
    let expected = spec(&["A", "B", "C"]).replace(&requirement("B"), &new);
    assert_eq!(applied(&spec(&["A", "B", "C"]), &delta), expected);
}

#[test]
fn a_removed_one_goes_wherever_it_stands() {
    for (name, left) in [("A", ["B", "C"]), ("B", ["A", "C"]), ("C", ["A", "B"])] {
        let block = format!("## REMOVED Requirements\n### Requirement: {name}\n**Reason**: old\n");
        assert_eq!(applied(&spec(&["A", "B", "C"]), &block), spec(&left));
        let bullet = format!("## REMOVED Requirements\n- `### Requirement: {name}`\n");
        assert_eq!(applied(&spec(&["A", "B", "C"]), &bullet), spec(&left));
    }
}

#[test]
fn a_renamed_one_keeps_its_place_and_its_text() {
    let expected = spec(&["A", "B", "C"]).replace("### Requirement: B\n", "### Requirement: Z\n");
    let pair = &renames("B", "Z");
    assert_eq!(applied(&spec(&["A", "B", "C"]), pair), expected);
    // Spec Oxide's way of writing it, which OpenSpec does not read.
    let arrow = "## RENAMED Requirements\n### Requirement: B → Z\n";
    let told = super::refused(&spec(&["A", "B", "C"]), arrow).join("\n");
    assert!(told.contains("FROM:"), "{told}");
    let (root, project) = spox(&[
        ("specs/cap/spec.md", &spec(&["A", "B", "C"])),
        ("specs/_changes/c/specs/cap/spec.md", arrow),
    ]);
    archive(&project).expect("archived");
    let text = std::fs::read_to_string(root.path().join("specs/cap/spec.md"));
    assert_eq!(text.expect("a spec"), expected);
}

#[test]
fn a_renamed_one_is_modified_by_its_new_name() {
    let new = requirement("Z").replace("SHALL", "MUST");
    let delta = format!(
        "## MODIFIED Requirements\n{new}\n## RENAMED Requirements\n- FROM: `### Requirement: B`\n- TO: `### Requirement: Z`\n"
    );
    let expected = spec(&["A", "B", "C"]).replace(&requirement("B"), &new);
    assert_eq!(applied(&spec(&["A", "B", "C"]), &delta), expected);
}

#[test]
fn a_name_that_is_given_up_can_be_taken() {
    // Renames first, then removals, then additions: whatever the order of the sections.
    let delta = format!(
        "## ADDED Requirements\n{}\n## REMOVED Requirements\n- `### Requirement: C`\n## RENAMED Requirements\n\
         - FROM: `### Requirement: A`\n- TO: `### Requirement: Z`\n",
        requirement("A")
    );
    let expected = spec(&["A", "B"]).replace("### Requirement: A\n", "### Requirement: Z\n");
    let expected = format!("{expected}\n{}", requirement("A"));
    assert_eq!(applied(&spec(&["A", "B", "C"]), &delta), expected);
    let chain = "## RENAMED Requirements\n- FROM: `### Requirement: B`\n- TO: `### Requirement: C`\n\
                 - FROM: `### Requirement: A`\n- TO: `### Requirement: B`\n";
    let heads: Vec<_> = applied(&spec(&["A", "B"]), chain)
        .lines()
        .filter(|l| l.starts_with("### "))
        .map(str::to_owned)
        .collect();
    assert_eq!(heads, ["### Requirement: B", "### Requirement: C"]);
}

#[test]
fn a_change_of_capitals_is_a_rename() {
    let delta = &renames("A", "a");
    assert!(applied(&spec(&["A", "B"]), delta).contains("### Requirement: a\n"));
}

#[test]
fn what_is_done_already_is_done_again_without_a_change() {
    let delta = format!(
        "## ADDED Requirements\n{}\n## MODIFIED Requirements\n{}\n## REMOVED Requirements\n### Requirement: C\n\
         ## RENAMED Requirements\n- FROM: `### Requirement: A`\n- TO: `### Requirement: Z`\n",
        requirement("New"),
        requirement("B").replace("SHALL", "MUST"),
    );
    let (root, project) = project(&spec(&["A", "B", "C"]), &delta);
    let done = archive(&project).expect("archived");
    assert_eq!(done.specs.len(), 1);
    let once = read(&root);
    write(&root.path().join("openspec"), &[("changes/c/specs/cap/spec.md", delta.as_str())]);
    let shown = preview(&project, "c").expect("a preview");
    assert_eq!(shown.problems, []);
    assert_eq!(shown.specs[0].diff(), "");
    assert!(shown.warnings.iter().any(|w| w.message.contains("removed already")));
    let again = archive_change(&project, "c", "2026-01-03", How::default()).expect("archived");
    assert_eq!(again.specs, []);
    assert_eq!(read(&root), once);
}

#[test]
fn the_change_moves_to_the_archive_with_all_it_has() {
    let delta = adds("New");
    let (root, project) = project(&spec(&["A"]), &delta);
    write(
        &root.path().join("openspec"),
        &[("changes/c/deep/notes.txt", "n"), ("changes/c/tasks.md", "- [ ] 1.1 a\n- [x] 1.2 b\n")],
    );
    let before = super::tree(root.path());
    match archive(&project) {
        Err(ArchiveError::OpenTasks(open)) => {
            assert_eq!(open.line, Some(1));
            assert!(open.message.starts_with("1 of 2 tasks is open"), "{}", open.message);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(super::tree(root.path()), before);
    let shown = preview(&project, "c").expect("a preview");
    assert!(shown.warnings.iter().any(|w| w.message.contains("force")));
    let done = archive_change(&project, "c", super::DAY, How { force: true, ..How::default() })
        .expect("archived");
    assert_eq!(done.id, "2026-01-02-c");
    assert_eq!(done.path.to_str(), Some("openspec/changes/archive/2026-01-02-c"));
    assert!(done.warnings.iter().any(|w| w.message.contains("1 of 2 tasks") && w.line == Some(1)));
    assert_eq!(project.change_ids().expect("ids"), [""; 0]);
    assert_eq!(project.archived("2026-01-02-c").expect("a change").deltas.len(), 1);
    assert!(root.path().join("openspec/changes/archive/2026-01-02-c/deep/notes.txt").exists());
}

#[test]
fn a_name_with_a_day_keeps_it_and_a_change_without_deltas_moves() {
    let (_root, project) = openspec(&[("changes/2025-05-05-old/tasks.md", "")]);
    let done = archive_change(&project, "2025-05-05-old", DAY, How::default()).expect("archived");
    assert_eq!(done.id, "2025-05-05-old");
    assert!(done.warnings.iter().any(|w| w.message == "changes no spec"));
}

#[test]
fn several_specs_change_together() {
    let delta = adds("New");
    let (_root, project) = openspec(&[
        ("specs/a/spec.md", spec(&["A"]).as_str()),
        ("specs/deep/b/spec.md", spec(&["B"]).as_str()),
        ("changes/c/specs/a/spec.md", delta.as_str()),
        ("changes/c/specs/deep/b/spec.md", delta.as_str()),
    ]);
    let shown = preview(&project, "c").expect("a preview");
    let capabilities: Vec<_> = shown.specs.iter().map(|s| s.capability.as_str()).collect();
    assert_eq!(capabilities, ["a", "deep/b"]);
    assert_has(&shown.specs[1].diff(), &["--- a/openspec/specs/deep/b/spec.md\n"]);
    assert!(shown.specs[1].diff().contains("\n+### Requirement: New\n"));
    let done = archive(&project).expect("archived");
    assert_eq!(done.specs, shown.specs);
    for (id, after) in [("a", spec(&["A", "New"])), ("deep/b", spec(&["B", "New"]))] {
        assert_eq!(*project.spec(id).expect("a spec").source.text, after);
    }
}
