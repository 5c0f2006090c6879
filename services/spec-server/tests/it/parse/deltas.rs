//! Deltas: the four sections, in every form of both kinds of repository.

use spec_server::model::{Delta, Operation};

use super::delta;

/// Operation, line, name and new name of each.
fn operations(text: &str) -> Vec<(&'static str, u32, String, Option<String>)> {
    let shown = |delta: Delta| {
        (delta.operation.name(), delta.line(), delta.requirement.name, delta.renamed_to)
    };
    delta(text).operations.into_iter().map(shown).collect()
}

fn plain(text: &str) -> Vec<(&'static str, u32, String)> {
    operations(text).into_iter().map(|(operation, line, name, _)| (operation, line, name)).collect()
}

#[test]
fn each_section_is_read_and_each_of_its_copies() {
    let text = "## ADDED Requirements\n### Requirement: A\na\n## modified requirements\n### Requirement: M\nm\n\
                ## ADDED Requirements\n### Requirement: B\nb\n## Notes\n### Requirement: Nowhere\n\
                ## Removed Requirements\n### Requirement: R\n";
    assert_eq!(
        plain(text),
        [
            ("added", 2, "A".to_owned()),
            ("modified", 5, "M".to_owned()),
            ("added", 8, "B".to_owned()),
            ("removed", 13, "R".to_owned())
        ]
    );
}

#[test]
fn a_section_is_named_to_the_letter() {
    for heading in [
        "## ADDED  Requirements",
        "## ADDED Requirement",
        "### ADDED Requirements",
        "## NEW Requirements",
    ] {
        assert_eq!(plain(&format!("{heading}\n### Requirement: A\n")), [], "{heading}");
    }
}

#[test]
fn a_block_goes_on_to_the_next_requirement() {
    let delta = delta(
        "## ADDED Requirements\n### Requirement: A\na\n#### Scenario: S\nx\n### Notes\nn\n#### T\ny\n\n\n### Requirement: B\nb\n## \nc\n",
    );
    let [a, b] = delta.operations.as_slice() else { panic!("two") };
    assert_eq!(
        a.requirement.text,
        "### Requirement: A\na\n#### Scenario: S\nx\n### Notes\nn\n#### T\ny"
    );
    let scenarios: Vec<_> =
        a.requirement.scenarios.iter().map(|s| (s.name.as_str(), s.line)).collect();
    assert_eq!(scenarios, [("S", 4), ("T", 8)]);
    assert_eq!(a.requirement.description, "a");
    assert_eq!(b.requirement.text, "### Requirement: B\nb");
}

#[test]
fn removals_are_blocks_or_bullets() {
    let text = "## REMOVED Requirements\n- `### Requirement: A`\n* ### Requirement: B ##\n  + `###Requirement: C`\n\
                ### Requirement: D\n**Reason**: old\n**Migration**: none\n```\n- `### Requirement: Code`\n```\n- other\n";
    assert_eq!(
        plain(text),
        [
            ("removed", 2, "A".to_owned()),
            ("removed", 3, "B".to_owned()),
            ("removed", 4, "C".to_owned()),
            ("removed", 5, "D".to_owned())
        ]
    );
    let reasons = delta(text).operations.pop().expect("four").requirement.description;
    assert_eq!(reasons, "- other");
}

#[test]
fn renames_are_pairs_or_arrows() {
    let text = "## RENAMED Requirements\n- FROM: `### Requirement: A`\n- TO: `### Requirement: B`\n\nFROM: ### Requirement: C\n\
                * TO: `### Requirement: D #`\n### Requirement: Old → New\n### Requirement: Old2 -> New2\n";
    let seen = operations(text);
    let pairs: Vec<_> =
        seen.iter().map(|(_, line, from, to)| (*line, from.as_str(), to.as_deref())).collect();
    assert_eq!(
        pairs,
        [
            (2, "A", Some("B")),
            (5, "C", Some("D")),
            (7, "Old", Some("New")),
            (8, "Old2", Some("New2"))
        ]
    );
}

#[test]
fn half_a_rename_is_told_as_it_stands() {
    let text = "## RENAMED Requirements\n- FROM: `### Requirement: A`\n- FROM: `### Requirement: B`\n- TO: `### Requirement: X`\n\
                - TO: `### Requirement: Y`\n### Requirement: Arrowless\n## RENAMED Requirements\n- FROM: `### Requirement: C`\n";
    let seen = operations(text);
    let pairs: Vec<_> =
        seen.iter().map(|(_, line, from, to)| (*line, from.as_str(), to.as_deref())).collect();
    assert_eq!(
        pairs,
        [
            (2, "A", None),
            (3, "B", Some("X")),
            (5, "", Some("Y")),
            (6, "Arrowless", None),
            (8, "C", None)
        ]
    );
}

#[test]
fn the_purpose_of_a_new_capability_is_kept() {
    let delta = delta("## Purpose\nTo serve.\n\n## ADDED Requirements\n### Requirement: A\n");
    let purpose = delta.purpose.expect("a purpose");
    assert_eq!((purpose.line, purpose.text.as_str()), (1, "To serve."));
    assert_eq!(delta.operations.first().map(|d| d.operation), Some(Operation::Added));
}
