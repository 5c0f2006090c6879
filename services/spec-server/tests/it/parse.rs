//! Reading of specs, changes and deltas.

mod change;
mod clauses;
mod deltas;
mod headings;
mod hostile;
mod properties;

use spec_server::model::{CapabilityDelta, Requirement, Scenario, Source, Spec, Tasks};
use spec_server::parse;

/// A source as if read from a file.
pub(crate) fn source(text: &str) -> Source {
    Source { path: "specs/x/spec.md".into(), text: text.into(), hash: [0; 32] }
}

pub(crate) fn spec(text: &str) -> Spec {
    parse::spec("x", source(text))
}

pub(crate) fn delta(text: &str) -> CapabilityDelta {
    parse::delta("x", source(text))
}

pub(crate) fn tasks(text: &str) -> Tasks {
    parse::tasks(source(text))
}

/// The one requirement of a spec that has these lines below `### Requirement: One`.
fn requirement(lines: &str) -> Requirement {
    let spec = spec(&format!("## Requirements\n### Requirement: One\n{lines}"));
    spec.requirements.into_iter().next().expect("a requirement")
}

/// The one scenario that has these lines.
fn scenario(lines: &str) -> Scenario {
    let one = requirement(&format!("It SHALL.\n#### Scenario: S\n{lines}"));
    let [scenario] = <[Scenario; 1]>::try_from(one.scenarios).expect("one scenario");
    scenario
}

#[test]
fn a_spec_has_its_parts_with_their_lines() {
    let spec = spec(
        "# mcp Specification\n\n## Purpose\n\nServes.\nMore.\n\n## Requirements\n\n### Requirement: One\n\n\
         It SHALL do.\n\n#### Scenario: First\n\n- **WHEN** a\n- **AND** b\n- **THEN** c\n- **AND** d\n",
    );
    assert_eq!(spec.title, "mcp Specification");
    let purpose = spec.purpose.expect("a purpose");
    assert_eq!((purpose.line, purpose.text.as_str()), (3, "Serves.\nMore."));
    let [one] = spec.requirements.as_slice() else { panic!("one requirement") };
    assert_eq!((one.name.as_str(), one.line), ("One", 10));
    assert_eq!(one.description, "It SHALL do.");
    assert_eq!(one.text.lines().count(), 10);
    let [first] = one.scenarios.as_slice() else { panic!("one scenario") };
    assert_eq!((first.name.as_str(), first.line), ("First", 14));
    assert_eq!(first.when, ["a", "b"]);
    assert_eq!(first.then, ["c", "d"]);
    assert_eq!(first.text, "- **WHEN** a\n- **AND** b\n- **THEN** c\n- **AND** d");
}

#[test]
fn what_is_missing_is_none_and_loses_nothing_else() {
    let spec = spec("## Requirements\n### Requirement: One\nIt SHALL.\n");
    assert_eq!(spec.title, "x");
    assert_eq!(spec.purpose, None);
    assert_eq!(spec.requirements.len(), 1);
    let empty = self::spec("");
    assert_eq!(empty.requirements.len(), 0);
}
