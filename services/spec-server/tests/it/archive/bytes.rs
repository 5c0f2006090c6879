//! What is not concerned stays as it is, to the byte.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{adds, applied, archive, project, read, requirement, spec};

#[test]
fn line_ends_and_a_bom_stay() {
    for end in ["\n", "\r\n", "\r"] {
        for bom in ["", "\u{feff}"] {
            let file = |names: &[&str]| format!("{bom}{}", spec(names).replace('\n', end));
            let delta = format!(
                "## ADDED Requirements\n{}\n## REMOVED Requirements\n- `### Requirement: B`\n",
                requirement("New")
            );
            assert_eq!(applied(&file(&["A", "B"]), &delta), file(&["A", "New"]), "{end:?} {bom:?}");
        }
    }
}

#[test]
fn lines_with_other_ends_keep_them() {
    let mixed = spec(&["A", "B"])
        .replace("Serves well.\n", "Serves well.\r\n")
        .replace("do A.\n", "do A.\r");
    let delta = adds("New");
    assert_eq!(applied(&mixed, &delta), format!("{mixed}\n{}", requirement("New")));
}

#[test]
fn blanks_and_foreign_parts_stay_where_they_are() {
    let odd = "intro  \n\n\n# T\n## Purpose\nServes.\t\n## Requirements\n\npreamble\n### Requirement: A\nIt SHALL.  \n#### S\nx\n\n\n\n\
               ### Requirement: B\nIt SHALL.\n#### S\ny\n\n\n## Notes\n\n\n- kept   \n\n";
    let delta = "## MODIFIED Requirements\n### Requirement: B\nIt MUST.\n#### S\ny\n## ADDED Requirements\n### Requirement: C\nIt SHALL.\n#### S\nz\n";
    let expected = odd.replace(
        "Requirement: B\nIt SHALL.\n#### S\ny\n",
        "Requirement: B\nIt MUST.\n#### S\ny\n\n### Requirement: C\nIt SHALL.\n#### S\nz\n",
    );
    assert_eq!(applied(odd, delta), expected);
}

#[test]
fn a_file_without_a_last_line_end_and_one_without_the_section_are_completed() {
    let delta = adds("New");
    let file = spec(&["A"]);
    assert_eq!(applied(file.trim_end(), &delta), spec(&["A", "New"]));
    let none = "# cap Specification\n\n## Purpose\nServes well.";
    assert_eq!(applied(none, &delta), spec(&["New"]));
    let empty = format!("{none}\n\n## Requirements\n");
    assert_eq!(applied(&empty, &delta), spec(&["New"]));
}

#[test]
fn headings_in_code_are_neither_found_nor_changed() {
    let code = "```md\n### Requirement: B\n## Requirements\n\n\n\n## Notes\n```\n";
    let file = spec(&["A", "B"]).replace("do A.\n", &format!("do A.\n{code}"));
    let changed = applied(&file, "## REMOVED Requirements\n### Requirement: B\n");
    assert_eq!(changed, spec(&["A"]).replace("do A.\n", &format!("do A.\n{code}")));
}

/// What may stand around and in requirements.
const FILLINGS: [&str; 10] = [
    "",
    "\n",
    "\r\n\r\n",
    "text  \n",
    "\t- bullet\r\n",
    "```\n### Requirement: Code\n```\n",
    "é 😀\n",
    "**k**: v\r",
    "##### Deep\n",
    " ## no heading\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// One block is changed; the bytes before and behind it are those that were there.
    #[test]
    fn only_the_lines_of_a_requirement_are_written(
        around in vec(select(FILLINGS.as_slice()), 8),
        which in 0_usize..3,
        kind in 0_usize..3,
    ) {
        let names = ["A", "B", "C"];
        // A heading directly below `## Requirements` counts as a requirement, and one without a scenario is refused.
        let first = around[2].replace("##### ", "");
        let mut parts = vec![format!("# T\n{}\n## Purpose\nServes.\n{}\n## Requirements\n{}\n", around[0], around[1], first)];
        for (index, name) in names.iter().enumerate() {
            parts.push(format!("### Requirement: {name}\nIt SHALL.\n{}\n#### Scenario: S\n- x\n{}\n", around[3], around[4 + index]));
        }
        parts.push(format!("## Notes\n{}", around[7]));
        let name = names[which];
        let delta = match kind {
            0 => format!("## MODIFIED Requirements\n### Requirement: {name}\nIt MUST.\n#### Scenario: S\n- y\n"),
            1 => format!("## REMOVED Requirements\n### Requirement: {name}\n"),
            _ => format!("## RENAMED Requirements\n- FROM: `### Requirement: {name}`\n- TO: `### Requirement: Z`\n"),
        };
        let (root, project) = project(&parts.concat(), &delta);
        archive(&project).unwrap();
        let after = read(&root);
        let before = parts[..=which].concat();
        let behind = parts[which + 2..].concat();
        prop_assert!(after.starts_with(before.trim_end()), "{after}");
        prop_assert!(after.ends_with(&behind), "{after}");
        if kind != 1 {
            prop_assert!(after.starts_with(&before), "{after}");
        }
    }
}
