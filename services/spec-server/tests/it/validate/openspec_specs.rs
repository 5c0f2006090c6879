//! The rules of specs in OpenSpec projects.

use super::{GATE, error, info, openspec_spec, short, warning};
use crate::assert_has;

fn found(text: &str) -> Vec<super::Short> {
    short(&openspec_spec(text))
}

#[test]
fn a_good_spec_is_found_good_however_it_is_written() {
    for text in [
        GATE.to_owned(),
        GATE.replace('\n', "\r\n"),
        format!("\u{feff}{GATE}"),
        GATE.replace("### Requirement:", "### REQUIREMENT:"),
        GATE.replace("## Purpose", "## PURPOSE").replace("## Req", "## req"),
        GATE.replace("#### Scenario: By day", "#### By day"),
        format!("{GATE}\n```\n## ADDED Requirements\n### Requirement: Open\n```\n"),
        format!("{GATE}\n~~~~\n```\n~~~\n### Requirement: Open\n~~~~\n"),
    ] {
        assert_eq!(openspec_spec(&text), [], "{text}");
    }
}

#[test]
fn a_spec_needs_a_purpose_and_requirements() {
    let no_purpose = GATE.replace("## Purpose", "");
    assert_eq!(found(&no_purpose), [error("purpose-missing", 1)]);
    let empty =
        GATE.replace("Tells how the gate behaves for whoever stands before it, day and night.", "");
    assert_eq!(found(&empty), [error("purpose-missing", 3)]);
    let no_requirements = GATE.replace("## Requirements", "");
    assert_eq!(found(&no_requirements), [error("requirements-missing", 1)]);
    assert_eq!(found("# Gate\n"), [error("purpose-missing", 1), error("requirements-missing", 1)]);
    let none = GATE.split("### ").next().expect("the start");
    assert_eq!(found(none), [error("requirements-empty", 6)]);
}

#[test]
fn a_purpose_says_something() {
    let with = |purpose: &str| {
        let text = GATE.replace(
            "Tells how the gate behaves for whoever stands before it, day and night.",
            purpose,
        );
        found(&text)
    };
    assert_eq!(with(&"x".repeat(49)), [warning("purpose-short", 3)]);
    assert_eq!(with(&"x".repeat(50)), []);
    // OpenSpec counts UTF-16 code units: an emoji is two.
    assert_eq!(with(&"🚪".repeat(25)), []);
    assert_eq!(with(&"é".repeat(49)), [warning("purpose-short", 3)]);
    assert_eq!(with("\nTBD"), [warning("purpose-placeholder", 5)]);
    assert_eq!(
        with("It is a gate.\nTBD - created by archiving change x. Update Purpose after archive."),
        [warning("purpose-placeholder", 4)]
    );
    assert_eq!(with("Todo el mundo puede abrir la puerta cuando lo pida en voz alta."), []);
}

#[test]
fn a_requirement_has_text_that_obliges_and_a_scenario() {
    let no_text = GATE.replace("The gate SHALL open.\n", "");
    assert_eq!(found(&no_text), [error("requirement-text-missing", 8)]);
    let code = GATE.replace("The gate SHALL open.", "```\nThe gate SHALL open.\n```");
    assert_eq!(found(&code), [error("requirement-text-missing", 8)]);
    for weak in [
        "The gate shall open.",
        "The gate is SHALLOW.",
        "It MUST_NOT.",
        "**Rule**: it MUST\nIt opens.",
    ] {
        let text = GATE.replace("The gate SHALL open.", weak);
        assert_eq!(found(&text), [warning("normative-word-missing", 8)], "{weak}");
    }
    for strong in
        ["Opening is a MUST.", "**Rule**: it MUST open", "The gate\nopens, and it\nSHALL ring"]
    {
        let text = GATE.replace("The gate SHALL open.", strong);
        assert_eq!(openspec_spec(&text), [], "{strong}");
    }
    let in_heading = GATE
        .replace("Requirement: Open", "Requirement: It SHALL open")
        .replace("The gate SHALL open", "It does");
    let findings = openspec_spec(&in_heading);
    assert_eq!(short(&findings), [warning("normative-word-missing", 8)]);
    assert_has(&findings[0].message, &["in its heading only"]);
    let long = GATE.replace("The gate SHALL open.", &format!("It SHALL {}", "x".repeat(500)));
    assert_eq!(found(&long), [info("requirement-long", 8)]);
    let no_scenario = GATE.split("#### ").next().expect("the start");
    assert_eq!(found(no_scenario), [error("scenario-missing", 8)]);
}

#[test]
fn a_scenario_has_something_in_it() {
    let start = GATE.split("#### ").next().expect("the start");
    let bare = format!("{start}#### Scenario: Bare\n\n#### Scenario: Too\n");
    let findings = openspec_spec(&bare);
    assert_eq!(short(&findings), [error("scenario-missing", 11)]);
    assert_has(&findings[0].message, &["anything in it"]);
    let code = format!("{start}```\n#### Scenario: Code\n- x\n```\n");
    assert_eq!(found(&code), [error("scenario-missing", 8)]);
    let bullets = format!("{start}- **Scenario: By day**\n  - **WHEN** x\n");
    assert_eq!(found(&bullets), [error("scenario-missing", 8)]);
}

#[test]
fn headings_stand_where_they_belong() {
    let delta = format!("{GATE}\n## Added  requirements\n");
    assert_eq!(found(&delta), [error("delta-heading-in-spec", 19)]);
    let outside = format!("{GATE}\n## Notes\n\n### Requirement: Lost\nIt SHALL.\n");
    assert_eq!(found(&outside), [error("requirement-outside", 21)]);
    let twice = format!("{GATE}\n### Requirement: Open ##\nIt SHALL.\n#### S\n- x\n");
    let findings = openspec_spec(&twice);
    assert_eq!(short(&findings), [error("requirement-duplicate", 19)]);
    assert_has(&findings[0].message, &["line 8"]);
    let other = format!("{GATE}\n### Requirement: open\nIt SHALL.\n#### S\n- x\n");
    assert_eq!(openspec_spec(&other), []);
}

#[test]
fn what_is_found_is_told_with_its_file_and_what_would_be_right() {
    let findings = openspec_spec("# Gate\n");
    assert_eq!(findings[0].file, "openspec/specs/gate/spec.md");
    assert_eq!(findings[0].part, None);
    assert_has(&findings[0].message, &["`## Purpose`"]);
    assert!(findings[0].fails(false) && findings[0].fails(true));
}

#[test]
fn a_malformed_heading_is_told_with_what_is_right() {
    for (written, right) in [
        ("## Requirement: Shut", "### Requirement: Shut"),
        ("#### requirement: Shut", "### Requirement: Shut"),
        ("### Requirement Shut", "### Requirement: Shut"),
        ("##### Scenario: Late", "#### Scenario: Late"),
        ("## Scenario: Late", "#### Scenario: Late"),
        ("### Scenario: Late", "#### Scenario: Late"),
    ] {
        let findings = openspec_spec(&format!("{GATE}\n{written}\nIt SHALL.\n"));
        let about = |text: &str| {
            findings.iter().any(|found| found.line == Some(19) && found.message.contains(text))
        };
        assert!(about(written) && about(&format!("`{right}`")), "{findings:?}");
    }
}
