//! The rules of specs in Spec Oxide projects.

use spec_server::validate::{self, Finding};

use super::{GATE, SPOX, error, only, project, short, warning};

fn found(text: &str) -> Vec<Finding> {
    let (_root, project) = project(&[(".spox/config.toml", SPOX), ("specs/gate/spec.md", text)]);
    only(validate::specs(&project, Some("gate")).expect("it is read"))
}

#[test]
fn a_good_spec_is_found_good_however_it_is_written() {
    for text in [
        GATE.to_owned(),
        GATE.replace('\n', "\r\n"),
        format!("\u{feff}{}", GATE.trim_start_matches("# Gate\n\n")),
        GATE.replace("- **WHEN**", "- WHEN").replace("- **THEN**", "then"),
        GATE.replace("**WHEN**", "**Given** x **When**"),
        GATE.replace("SHALL", "shall"),
        // Sloppy, but so is Spec Oxide.
        GATE.replace("SHALL open", "is shallow"),
        format!("{GATE}\n```\n### Requirement: Code\n```\n"),
    ] {
        assert_eq!(found(&text), [], "{text}");
    }
}

#[test]
fn a_spec_needs_a_purpose_and_requirements() {
    let bare = found("# Gate\n");
    assert_eq!(short(&bare), [error("purpose-missing", 1), error("requirements-missing", 1)]);
    let short_purpose = GATE.replace("for whoever stands before it, day and night", "");
    assert_eq!(short(&found(&short_purpose)), [warning("purpose-short", 3)]);
    let empty = GATE.split("### ").next().expect("the start");
    assert_eq!(short(&found(empty)), [warning("requirements-empty", 6)]);
    // Only headings named so count, unlike in OpenSpec.
    let other = GATE.replace("### Requirement: Open", "### Open");
    assert_eq!(
        short(&found(&other)),
        [warning("requirements-empty", 6), warning("heading-malformed", 8)]
    );
}

#[test]
fn a_purpose_is_measured_in_bytes() {
    let with = |purpose: &str| {
        short(&found(&GATE.replace(
            "Tells how the gate behaves for whoever stands before it, day and night.",
            purpose,
        )))
    };
    assert_eq!(with(&"x".repeat(49)), [warning("purpose-short", 3)]);
    assert_eq!(with(&"x".repeat(50)), []);
    assert_eq!(with(&"é".repeat(25)), []);
}

#[test]
fn a_requirement_has_text_that_obliges_and_scenarios() {
    let no_text = GATE.replace("The gate SHALL open.\n", "");
    assert_eq!(short(&found(&no_text)), [error("requirement-text-missing", 8)]);
    let weak = GATE.replace("SHALL", "may");
    assert_eq!(short(&found(&weak)), [warning("normative-word-missing", 8)]);
    let no_scenario = GATE.split("#### ").next().expect("the start");
    assert_eq!(short(&found(no_scenario)), [warning("scenario-missing", 8)]);
    let other_heading = GATE.replace("#### Scenario:", "####");
    assert_eq!(short(&found(&other_heading)), [warning("scenario-missing", 8)]);
}

#[test]
fn a_scenario_says_when_and_then() {
    let no_when = GATE.replacen("- **WHEN** somebody asks\n", "", 1);
    let findings = found(&no_when);
    assert_eq!(short(&findings), [error("when-missing", 11)]);
    assert!(findings[0].message.contains("\"By day\"") && findings[0].message.contains("\"Open\""));
    let no_then = GATE.replace("- **THEN** it opens slowly\n", "- **AND** it opens slowly\n");
    assert_eq!(short(&found(&no_then)), [error("then-missing", 15)]);
    let neither = format!("{GATE}\n#### Scenario: Empty\n");
    assert_eq!(short(&found(&neither)), [error("when-missing", 19), error("then-missing", 19)]);
}

#[test]
fn folders_with_an_underscore_and_files_beside_specs_are_no_specs() {
    let (_root, project) = project(&[
        (".spox/config.toml", SPOX),
        ("specs/mission.md", "# Mission\n"),
        ("specs/_archive/2025-01-01-x/spec.md", "# X\n"),
        ("specs/.hidden/spec.md", "# X\n"),
        ("specs/gate/spec.md", GATE),
    ]);
    let items = super::all(&project);
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["gate"]);
}
