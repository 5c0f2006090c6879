//! Deltas that are refused, each in words that help, with nothing written.

use super::{adds, archive, modifies, refused, renames, requirement, spec};
use crate::assert_has;
use crate::project::{openspec, write};
use spec_server::archive::{ArchiveError, How, archive_change, preview};
use spec_server::validate::Finding;

/// The delta is refused for one reason that has these words, at this line of the delta.
fn refuses(delta: &str, line: u32, words: &[&str]) {
    let told = refused(&spec(&["Alpha", "Beta two"]), delta);
    let at = format!("openspec/changes/c/specs/cap/spec.md:{line}: ");
    assert!(
        told.iter().any(|t| t.starts_with(&at) && words.iter().all(|word| t.contains(word))),
        "{delta}: {told:?}"
    );
}

#[test]
fn names_that_are_nowhere_are_refused() {
    refuses(&modifies("Nowhere"), 2, &["MODIFIED", "Nowhere", "ADDED"]);
    refuses(&renames("Nowhere", "There"), 2, &["RENAMED", "Nowhere"]);
}

#[test]
fn names_that_are_almost_right_are_refused_with_the_right_one() {
    for near in ["alpha", "ALPHA"] {
        refuses(&modifies(near), 2, &[near, "\"Alpha\""]);
        refuses(
            &format!("## REMOVED Requirements\n### Requirement: {near}\n"),
            2,
            &[near, "\"Alpha\""],
        );
        refuses(&renames(near, "Other"), 2, &[near, "\"Alpha\""]);
        refuses(&adds(near), 2, &[near, "\"Alpha\""]);
        refuses(&renames("Beta two", near), 2, &[near, "\"Alpha\""]);
    }
    refuses("## REMOVED Requirements\n- `### Requirement: beta  two`\n", 2, &["\"Beta two\""]);
    // The new name is there, and the old one almost: a slip, not a rename that is done.
    refuses(&renames("alpha", "Beta two"), 2, &["\"Alpha\""]);
}

#[test]
fn names_that_are_taken_are_refused() {
    refuses(
        &format!("## ADDED Requirements\n{}", requirement("Alpha").replace("SHALL", "MUST")),
        2,
        &["Alpha", "says something else"],
    );
    refuses(&renames("Alpha", "Beta two"), 2, &["Beta two", "already"]);
}

#[test]
fn a_modification_that_loses_scenarios_is_refused_with_their_names() {
    let less = requirement("Alpha").replace("#### Scenario: S2", "#### Scenario: Other");
    refuses(&format!("## MODIFIED Requirements\n{less}"), 2, &["\"S2\"", "copy them here"]);
    // Under a heading of another level it would be none any more.
    let deeper = requirement("Alpha").replace("#### Scenario: S2", "##### Scenario: S2");
    refuses(&format!("## MODIFIED Requirements\n{deeper}"), 2, &["\"S2\"", "copy them here"]);
    // Two of one name are two.
    let twice = spec(&["Alpha"]).replace("Scenario: S2", "Scenario: S1");
    let once =
        requirement("Alpha").replace("\n#### Scenario: S2\n- **WHEN** c\n- **THEN** d\n", "");
    let told = refused(&twice, &format!("## MODIFIED Requirements\n{once}"));
    assert!(told[0].contains("\"S1\""), "{told:?}");
}

#[test]
fn what_contradicts_itself_is_refused() {
    let section = |operation: &str, text: &str| format!("## {operation} Requirements\n{text}\n");
    let alpha = requirement("Alpha");
    let removed = section("REMOVED", "- `### Requirement: Alpha`");
    let added = section("ADDED", &alpha);
    let modified = section("MODIFIED", &alpha);
    let renamed = renames("Alpha", "X");
    let twice_removed = "### Requirement: Alpha\n- `### Requirement: Alpha`";
    let other_case = section("REMOVED", "- `### Requirement: alpha`");
    for (delta, words) in [
        (modified.clone() + &removed, "under MODIFIED here and under REMOVED"),
        (modified.clone() + &added, "under MODIFIED here and under ADDED"),
        (added.clone() + &removed, "under ADDED here and under REMOVED"),
        (added + &alpha, "is added on line 2 already"),
        (modified.clone() + &modified, "is modified on line 2 already"),
        (section("REMOVED", twice_removed), "is removed on line 2 already"),
        (renamed.clone() + &renames("Alpha", "Y"), "is renamed on line 2 already"),
        (
            renamed.clone() + &renames("Beta two", "X"),
            "\"X\" is the new name of the requirement on line 2",
        ),
        (renamed.clone() + &other_case, "renamed here and removed as well"),
        (renamed.clone() + &modified, "by its new name, `### Requirement: X`"),
        (renamed + &adds("X"), "\"Alpha\" gets that name on line 2"),
        (section("RENAMED", "- FROM: `### Requirement: Alpha`"), "has no `TO:`"),
        (section("RENAMED", "- TO: `### Requirement: Alpha`"), "has no `FROM:`"),
        (section("RENAMED", "### Requirement: Alpha"), "has no `TO:`"),
        (section("ADDED", "\n## Notes"), "changes no requirement"),
    ] {
        let told = refused(&spec(&["Alpha", "Beta two"]), &delta).join("\n");
        assert!(told.contains(words), "{delta}: {told}");
    }
}

#[test]
fn a_spec_that_would_lose_requirements_is_refused() {
    let delta = adds("New");
    for (text, word) in [
        (spec(&["A", "A"]), "another requirement"),
        (format!("{}\n## Notes\n### Requirement: Out\n", spec(&["A"])), "outside"),
        (format!("{}\n## ADDED Requirements\n", spec(&["A"])), "belongs into a change"),
    ] {
        let told = refused(&text, &delta);
        assert!(
            told[0].starts_with("openspec/specs/cap/spec.md:") && told[0].contains(word),
            "{told:?}"
        );
    }
}

#[test]
fn a_spec_that_would_be_wrong_is_refused() {
    for (delta, word) in [
        ("## ADDED Requirements\n### Requirement: New\n#### Scenario: S\n- x\n", "no text"),
        (
            "## ADDED Requirements\n### Requirement: New\nIt SHALL.\n#### Scenario: S\n",
            "no scenario",
        ),
    ] {
        let told = refused(&spec(&["A"]), delta).join("\n");
        assert!(told.contains(word), "{told}");
    }
    let delta = adds("New");
    let told = refused(&spec(&["A"]).replace("Serves well.\n", ""), &delta).join("\n");
    assert!(told.contains("`## Purpose` is empty"), "{told}");
}

#[test]
fn a_stray_scenario_heading_is_refused_before_and_after() {
    let new = requirement("New").replacen("#### Scenario: S2", "### Scenario: S2", 1);
    let told = refused(&spec(&["A"]), &format!("## ADDED Requirements\n{new}")).join("\n");
    assert_has(&told, &["would not be valid", "write `#### Scenario: S2`"]);
}

#[test]
fn every_problem_is_told_at_once() {
    let delta = format!("## MODIFIED Requirements\n{}\n{}", requirement("No"), requirement("Nor"));
    assert_eq!(refused(&spec(&["A"]), &delta).len(), 2);
}

#[test]
fn a_requirement_outside_the_sections_is_told() {
    let delta = format!("### Requirement: Lost\n## ADDED Requirements\n{}", requirement("New"));
    let (_root, project) = super::project(&spec(&["A"]), &delta);
    let shown = preview(&project, "c").expect("a preview");
    assert!(shown.warnings.iter().any(|w| w.line == Some(1) && w.message.contains("Lost")));
}

#[test]
fn metadata_that_say_otherwise_are_refused_and_other_mistakes_in_them_are_told() {
    let delta = adds("New");
    let (root, project) = super::project(&spec(&["A"]), &delta);
    let metadata = |text: &str| {
        write(&root.path().join("openspec"), &[("changes/c/.openspec.yaml", text)]);
    };
    for text in ["schema: x\nskip_specs: true\n", "skip_specs: true\nnote: left: two\n"] {
        metadata(text);
        let error = archive(&project).expect_err("refused").to_string();
        assert_has(&error, &[".openspec.yaml", "skip_specs"]);
    }
    // As in OpenSpec's own tool, a file that is not right declares nothing else.
    for (text, word) in [
        ("schema: spec-driven\nnote: done, but left: two\n", "mapping"),
        ("schema: spec-driven\nretire_capabilities: maybe\n", "true or false"),
    ] {
        metadata(text);
        let shown = preview(&project, "c").expect("a preview");
        assert_eq!(shown.problems, []);
        let told = |it: &Finding| it.file.ends_with(".openspec.yaml") && it.message.contains(word);
        assert!(shown.warnings.iter().any(told), "{:?}", shown.warnings);
    }
    archive(&project).expect("archived");
}

#[test]
fn a_place_that_is_taken_and_a_day_that_is_none_are_refused() {
    let (_root, project) =
        openspec(&[("changes/c/tasks.md", ""), ("changes/archive/2026-01-02-c/tasks.md", "")]);
    let error = archive(&project).expect_err("refused").to_string();
    assert_has(&error, &["openspec/changes/archive/2026-01-02-c", "already"]);
    for day in ["", "today", "2026-1-2", "2026-01-02/..", "../../..//x"] {
        assert!(
            matches!(
                archive_change(&project, "c", day, How::default()),
                Err(ArchiveError::BadDay(_))
            ),
            "{day}"
        );
    }
    assert!(matches!(
        archive_change(&project, "d", "2026-01-02", How::default()),
        Err(ArchiveError::Read(_))
    ));
}
