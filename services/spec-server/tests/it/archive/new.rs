//! Capabilities that a change makes, and such as it takes away.

use super::{archive, modifies, refused, renames, requirement, spec, tree};
use crate::project::{openspec, spox, write};

fn added(purpose: &str) -> String {
    format!("{purpose}## ADDED Requirements\n\n{}", requirement("New"))
}

/// The purpose that a new spec gets from a delta with this before its requirements, and how many warnings.
fn purpose(before: &str) -> (String, usize) {
    let delta = added(before);
    let (_root, project) = openspec(&[("changes/c/specs/deep/new/spec.md", delta.as_str())]);
    let done = archive(&project).expect("archived");
    let spec = project.spec("deep/new").expect("a spec");
    assert_eq!(spec.title, "deep/new Specification");
    (spec.purpose.clone().expect("a purpose").text, done.warnings.len())
}

#[test]
fn a_new_spec_gets_the_purpose_of_its_delta() {
    let (_root, project) =
        openspec(&[("changes/c/specs/new/spec.md", added("## Purpose\nTo be new.\n\n").as_str())]);
    archive(&project).expect("archived");
    let expected = format!(
        "# new Specification\n\n## Purpose\nTo be new.\n\n## Requirements\n\n{}",
        requirement("New")
    );
    assert_eq!(*project.spec("new").expect("a spec").source.text, expected);
}

#[test]
fn without_a_purpose_the_words_that_stand_for_one() {
    let words = "TBD - created by archiving change c. Update Purpose after archive.".to_owned();
    assert_eq!(purpose(""), (words.clone(), 0));
    assert_eq!(purpose("## Purpose\n\n"), (words.clone(), 0));
    for hidden in [
        "## Purpose\n<!-- write it -->\n\n",
        "<!--\n## Purpose\nx\n-->\n\n",
        "## Purpose\n```\ncode\n```\n\n",
    ] {
        assert_eq!(purpose(hidden), (words.clone(), 1), "{hidden}");
    }
    assert_eq!(purpose("## Purpose\nFrom in --> out.\n\n").0, "From in --> out.");
}

#[test]
fn the_purpose_of_a_spec_that_is_there_stays() {
    let delta = added("## Purpose\nAnother.\n\n");
    let (_root, project) = super::project(&spec(&["A"]), &delta);
    let done = archive(&project).expect("archived");
    assert!(
        done.warnings.iter().any(|w| w.line == Some(1) && w.message.contains("has one already"))
    );
    assert_eq!(
        project.spec("cap").expect("a spec").purpose.as_ref().map(|p| p.text.as_str()),
        Some("Serves well.")
    );
}

#[test]
fn a_new_spec_has_only_additions() {
    for (delta, word) in [
        (modifies("A"), "can only be ADDED"),
        (renames("A", "B"), "can only be ADDED"),
        ("## REMOVED Requirements\n### Requirement: A\n".to_owned(), "no requirement"),
    ] {
        let (root, project) = openspec(&[("changes/c/specs/new/spec.md", delta.as_str())]);
        let before = tree(root.path());
        let error = archive(&project).expect_err("refused").to_string();
        assert!(error.contains(word), "{error}");
        assert_eq!(tree(root.path()), before);
    }
    // Removing from nothing is reported.
    let delta = format!("{}\n## REMOVED Requirements\n### Requirement: Old\n", added(""));
    let (_root, project) = openspec(&[("changes/c/specs/new/spec.md", delta.as_str())]);
    let done = archive(&project).expect("archived");
    assert!(done.warnings.iter().any(|w| w.message.contains("removed already")));
}

#[test]
fn a_spec_goes_with_its_last_requirement_if_the_change_says_so() {
    let delta = "## REMOVED Requirements\n### Requirement: A\n";
    let told = refused(&spec(&["A"]), delta);
    assert!(told.iter().any(|t| t.contains("retire_capabilities: true")), "{told:?}");

    let metadata = "schema: spec-driven\nretire_capabilities: true\n";
    let files = [
        ("specs/deep/cap/spec.md", spec(&["A"])),
        ("specs/b/spec.md", spec(&["B"])),
        ("changes/c/specs/deep/cap/spec.md", delta.to_owned()),
        ("changes/c/.openspec.yaml", metadata.to_owned()),
    ];
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let (root, project) = openspec(&files);
    let done = archive(&project).expect("archived");
    assert!(done.specs[0].retired);
    assert_eq!(project.spec_ids().expect("ids"), ["b"]);
    assert!(!root.path().join("openspec/specs/deep").exists());
    // Once more: it has gone already.
    write(
        &root.path().join("openspec"),
        &[("changes/d/specs/deep/cap/spec.md", delta), ("changes/d/.openspec.yaml", metadata)],
    );
    let again = spec_server::archive::archive_change(
        &project,
        "d",
        super::DAY,
        spec_server::archive::How::default(),
    )
    .expect("archived");
    assert_eq!(again.specs, []);
}

#[test]
fn a_spec_that_holds_more_is_not_taken_away() {
    let more = [
        spec(&["A"]) + "\n## Notes\nKeep me.\n",
        spec(&["A"]) + "\n### Notes\nKeep me.\n",
        spec(&["A"]).replace("## Requirements\n", "## Requirements\nKeep me.\n"),
        spec(&["A"]).replace("## Purpose", "Keep me.\n\n## Purpose"),
    ];
    for text in more {
        let (root, project) =
            super::project(&text, "## REMOVED Requirements\n### Requirement: A\n");
        write(
            &root.path().join("openspec"),
            &[("changes/c/.openspec.yaml", "schema: x\nretire_capabilities: true\n")],
        );
        let error = archive(&project).expect_err("refused").to_string();
        assert!(error.contains("has more in it"), "{text}: {error}");
    }
}

#[test]
fn a_spec_oxide_project_is_archived_where_it_says() {
    let (root, project) = spox(&[
        ("specs/cap/spec.md", spec(&["A"]).as_str()),
        (
            "specs/_changes/c/specs/cap/spec.md",
            "## RENAMED Requirements\n\n### Requirement: A → B\n",
        ),
    ]);
    let done = archive(&project).expect("archived");
    assert_eq!(done.path.to_str(), Some("specs/_archive/2026-01-02-c"));
    assert!(root.path().join("specs/_archive/2026-01-02-c/specs/cap/spec.md").exists());
    assert_eq!(project.spec("cap").expect("a spec").requirements[0].name, "B");
}
