//! Reading of specs, changes and deltas.

use spec_server::model::{Source, Spec};
use spec_server::parse;

/// A source as if read from a file.
pub(crate) fn source(text: &str) -> Source {
    Source {
        path: "specs/x/spec.md".into(),
        text: text.into(),
        hash: [0; 32],
    }
}

pub(crate) fn spec(text: &str) -> Spec {
    parse::spec("x", source(text))
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
    assert_eq!(spec.requirements_line, Some(8));
    let [one] = spec.requirements.as_slice() else {
        panic!("one requirement")
    };
    assert_eq!((one.name.as_str(), one.line), ("One", 10));
    assert_eq!(one.description, "It SHALL do.");
    let [first] = one.scenarios.as_slice() else {
        panic!("one scenario")
    };
    assert_eq!((first.name.as_str(), first.line), ("First", 14));
    assert_eq!(first.when, ["a", "b"]);
    assert_eq!(first.then, ["c", "d"]);
}
