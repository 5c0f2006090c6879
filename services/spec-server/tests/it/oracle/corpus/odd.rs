//! Items that the tool and we read differently, on purpose; `excused` has the reasons.

use super::File;
use super::delta::BASE_SPEC;

/// A delta with nothing wrong in it.
const DELTA: &str = "## ADDED Requirements\n\n### Requirement: Else\nIt SHALL.\n\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n";

/// Their files.
pub(crate) fn files() -> Vec<File> {
    let file = |path: &str, text: &str| (format!("openspec/{path}"), text.as_bytes().to_vec());
    let mut not_utf8 = BASE_SPEC.as_bytes().to_vec();
    not_utf8.extend(b"\nGr\xF6\xDFe\n");
    let (head, requirements) = BASE_SPEC.split_once("## Requirements").unwrap_or_default();
    let from_requirements = format!("\u{feff}## Requirements{requirements}\n{head}");
    vec![
        file("specs/odd-bom/spec.md", &from_requirements),
        ("openspec/specs/odd-latin-1/spec.md".to_owned(), not_utf8),
        file("changes/odd-tasks-bom/specs/a/spec.md", DELTA),
        file("changes/odd-tasks-bom/tasks.md", "\u{feff}## 1. A\n- [ ] 2.1 x\n"),
        file("changes/odd-tasks-cr/specs/a/spec.md", DELTA),
        file("changes/odd-tasks-cr/tasks.md", "## 1. A\r- [ ] 2.1 x\r"),
        file(
            "changes/odd-yaml/.openspec.yaml",
            "schema: &name spec-driven\nskip_specs: true\ngoal: *name\n",
        ),
    ]
}
