//! Sums of findings, severities, bounds.

use spec_server::project::Dialect;
use spec_server::validate::{self, Item, ItemKind, MAX_FINDINGS, Report, Severity};

use super::{GATE, openspec_spec, project};

fn items(text: &str) -> Vec<Item> {
    let (_root, project) =
        project(&[("openspec/specs/gate/spec.md", GATE), ("openspec/specs/other/spec.md", text)]);
    validate::specs(&project, None).expect("listed")
}

#[test]
fn warnings_count_in_strict_mode_only() {
    let items = items(&GATE.replace("SHALL", "may"));
    let (loose, strict) = (Report::of(&items, false), Report::of(&items, true));
    assert!(loose.valid && !strict.valid);
    assert_eq!((loose.errors.len(), loose.warnings.len()), (0, 1));
    assert_eq!(loose.summary, "All of 2 specs are valid: no errors, 1 warning.");
    assert_eq!(strict.summary, "1 of 2 specs is not valid, strictly: no errors, 1 warning.");
}

#[test]
fn errors_count_always_and_hints_never() {
    let report = Report::of(&items("# Nothing\n"), false);
    assert!(!report.valid);
    assert_eq!(report.errors.len(), 2);
    assert_eq!(report.summary, "1 of 2 specs is not valid: 2 errors, no warnings.");
    let long = GATE.replace("The gate SHALL open.", &format!("It SHALL {}", "x".repeat(500)));
    let hints = Report::of(&items(&long), true);
    assert!(hints.valid);
    assert_eq!(hints.infos.len(), 1);
    assert_eq!(hints.summary, "All of 2 specs are valid, strictly: no errors, no warnings.");
}

#[test]
fn one_item_is_named_and_none_is_said() {
    let one = items(GATE).remove(0);
    assert_eq!(
        Report::of(&[one], false).summary,
        "The spec \"gate\" is valid: no errors, no warnings."
    );
    let none = Report::of(&[], true);
    assert!(none.valid);
    assert_eq!(none.summary, "Nothing to validate.");
    let (_root, project) = project(&[
        ("openspec/changes/go/tasks.md", "- [ ] x\n"),
        ("openspec/specs/gate/spec.md", GATE),
    ]);
    let all = super::all(&project);
    assert_eq!([all[0].kind, all[1].kind], [ItemKind::Change, ItemKind::Spec]);
    assert_eq!(
        Report::of(&all, false).summary,
        "1 of 2 items (1 change and 1 spec) is not valid: 1 error, no warnings."
    );
}

#[test]
fn more_findings_than_are_listed_are_counted_and_keep_the_verdict() {
    let weak = "### Requirement: @\nIt may.\n#### Scenario: S\n- x\n\n";
    let mut text = GATE.to_owned();
    for number in 0..MAX_FINDINGS + 200 {
        text.push_str(&weak.replace('@', &format!("R{number}")));
    }
    text.push_str("### Requirement: Late\n#### Scenario: S\n- x\n");
    let findings = openspec_spec(&text);
    assert_eq!(findings.len(), MAX_FINDINGS + 1);
    let last = findings.last().expect("the last");
    assert!(last.message.contains("warnings"), "{}", last.message);
    assert_eq!(last.severity, Severity::Error);
}

#[test]
fn findings_come_in_the_order_of_the_file() {
    let text =
        format!("{}\n## ADDED Requirements\n### Requirement: Open\n", GATE.replace("SHALL", "may"));
    let lines: Vec<_> = openspec_spec(&text).iter().map(|finding| finding.line).collect();
    assert!(lines.is_sorted(), "{lines:?}");
    assert!(lines.len() >= 3);
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_much(text in "(#{1,5} ?(Purpose|Requirements|Requirement: A|Scenario: B|ADDED Requirements|)|- (FROM|TO): `### Requirement: C`|```|\\PC{0,9}|\n){0,40}") {
        for dialect in [Dialect::OpenSpec, Dialect::SpecOxide] {
            let spec = spec_server::parse::spec("s", source(&text));
            let findings = validate::spec(&spec, dialect);
            let lines = u32::try_from(text.split('\n').count()).expect("few");
            for finding in findings {
                proptest::prop_assert!(finding.line.is_none_or(|line| (1..=lines).contains(&line)));
            }
        }
    }
}

fn source(text: &str) -> spec_server::model::Source {
    spec_server::model::Source {
        path: "specs/s/spec.md".into(),
        text: spec_server::parse::normalise(text.as_bytes()).expect("text").into(),
        hash: [0; 32],
    }
}
