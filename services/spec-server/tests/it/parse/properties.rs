//! What holds of any text: it is read without a panic, and what is reported of it is true.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spec_server::model::{Requirement, Section, Source};
use spec_server::parse::{self, normalise};

use super::source;

/// Documents that are as they should be, to be broken.
const DOCUMENTS: [&str; 4] = [
    "# auth Specification\n\n## Purpose\nLets people in.\n\n## Requirements\n\n### Requirement: Log in\nThe system SHALL let \
     people in.\n**Priority**: high\n\n#### Scenario: Right password\n- **GIVEN** an account\n- **WHEN** the password is \
     right\n  and the account is open\n- **THEN** they are in\n- **AND** it is noted\n\n```md\n### Requirement: In code\n```\n\n\
     #### Edge case\nWHEN nobody is there\nTHEN nothing happens\n\n### Requirement: Log out\nIt MUST let them out.\n\n\
     #### Scenario: Out\n- WHEN asked\n- THEN out\n\n## Notes\nNone.\n",
    "## Purpose\nNew.\n\n## ADDED Requirements\n\n### Requirement: A\nIt SHALL.\n\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n\n\
     ## MODIFIED Requirements\n### Requirement: B\nIt SHALL.\n#### Scenario: S\n- **WHEN** a\n\n## REMOVED Requirements\n\
     - `### Requirement: C`\n### Requirement: D\n**Reason**: old\n\n## RENAMED Requirements\n- FROM: `### Requirement: E`\n- TO: \
     `### Requirement: F`\n### Requirement: G → H\n",
    "# Change: Do it\n\n## Why\nBecause.\n\n## What Changes\n- **auth:** adds a thing\n\n## Impact\n- all\n",
    "## 1. First\n- [ ] 1.1 a\n  - [x] 1.1.1 b\n* [X] 1.2 c\n\n## 2. Second\n1. [ ] 2.1 d\n- [link](there)\n",
];

/// What is put into them.
const PIECES: [&str; 34] = [
    "\n",
    "\r\n",
    "\r",
    "```\n",
    "~~~\n",
    "````\n",
    "   ```",
    "#",
    "##",
    "## ",
    "### Requirement: ",
    "###Requirement:X\n",
    "#### Scenario: ",
    "#### ",
    "\n## Requirements\n",
    "\n## ADDED Requirements\n",
    "\n## RENAMED Requirements\n",
    "- **WHEN** ",
    "**THEN**",
    "and ",
    "- [ ] ",
    "- [x",
    "]",
    "`",
    "FROM: ### Requirement: ",
    "- TO: `### Requirement: ",
    "→",
    "\u{feff}",
    "\u{a0}",
    "é",
    "😀",
    "\0",
    "\t",
    "  ",
];

/// One change to a text: so far along it, remove so much, and put something in.
type Edit = (f64, usize, String);

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let piece =
        prop_oneof![4 => select(PIECES.as_slice()).prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    vec((0.0..1.0, prop_oneof![Just(0_usize), 0..40_usize], piece), 0..8)
}

fn edited(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (along, remove, insert) in edits {
        let at = ((chars.len() as f64) * along) as usize;
        let end = (at + remove).min(chars.len());
        chars.splice(at..end, insert.chars());
    }
    chars.into_iter().collect()
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (select(DOCUMENTS.as_slice()), edits()).prop_map(|(text, edits)| edited(text, &edits)),
        1 => vec(select(PIECES.as_slice()), 0..40).prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,80}",
    ]
}

/// The text from a line on.
fn from_line(text: &str, line: u32) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    lines[usize::try_from(line).unwrap() - 1..].join("\n")
}

/// Without white space before it, of which a BOM is some.
fn blank_less(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

fn is_true_of_requirement(text: &str, requirement: &Requirement) -> Result<(), TestCaseError> {
    prop_assert!(from_line(text, requirement.line).starts_with(&requirement.text));
    for scenario in &requirement.scenarios {
        let below = from_line(text, scenario.line);
        prop_assert!(below.starts_with("###"));
        prop_assert!(below.lines().next().unwrap_or_default().contains(&scenario.name));
        let (_, body) = below.split_once('\n').unwrap_or((&below, ""));
        prop_assert!(blank_less(body).starts_with(blank_less(&scenario.text)));
        prop_assert!(requirement.text.contains(&scenario.text));
        let lines = scenario.text.lines().count();
        prop_assert!(scenario.given.len() + scenario.when.len() + scenario.then.len() <= lines);
    }
    Ok(())
}

fn is_true_of_section(
    text: &str,
    name: &str,
    section: Option<&Section>,
) -> Result<(), TestCaseError> {
    if let Some(section) = section {
        let below = from_line(text, section.line);
        let heading = below.lines().next().unwrap_or_default();
        prop_assert!(heading.starts_with('#') && heading.to_lowercase().contains(name));
        prop_assert!(below.contains(&section.text));
    }
    Ok(())
}

fn is_true(source: &Source) -> Result<(), TestCaseError> {
    let text = &source.text;
    let spec = parse::spec("x", source.clone());
    is_true_of_section(text, "purpose", spec.purpose.as_ref())?;
    let mut last = 0;
    for requirement in &spec.requirements {
        prop_assert!(requirement.line > last, "in the order of the file");
        last = requirement.line;
        prop_assert!(requirement.text.starts_with("##"));
        prop_assert!(!requirement.name.is_empty());
        is_true_of_requirement(text, requirement)?;
    }
    let delta = parse::delta("x", source.clone());
    is_true_of_section(text, "purpose", delta.purpose.as_ref())?;
    last = 0;
    for operation in &delta.operations {
        prop_assert!(operation.line() >= last, "in the order of the file");
        last = operation.line();
        prop_assert_eq!(operation.line(), operation.requirement.line);
        is_true_of_requirement(text, &operation.requirement)?;
    }
    let proposal = parse::proposal(source.clone());
    is_true_of_section(text, "why", proposal.why.as_ref())?;
    is_true_of_section(text, "what changes", proposal.what_changes.as_ref())?;
    prop_assert!(!parse::title_of_change("an-id", Some(&proposal)).is_empty());
    let tasks = parse::tasks(source.clone());
    for task in &tasks.items {
        let below = from_line(text, task.line);
        let line = below.split('\n').next().unwrap_or_default();
        prop_assert_eq!(parse::is_task(line), Some(task.done));
        prop_assert!(line.contains(&task.text));
    }
    let boxes = text.split('\n').filter(|line| parse::is_task(line).is_some());
    prop_assert_eq!(boxes.count(), tasks.items.len());
    std::hint::black_box(parse::metadata(source.clone()));
    Ok(())
}

/// The same cases each time, so that what fails once fails again; `PROPTEST_CASES` makes them more.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: std::env::var("PROPTEST_CASES")
            .ok()
            .and_then(|cases| cases.parse().ok())
            .unwrap_or(2_000),
        rng_seed: proptest::test_runner::RngSeed::Fixed(20_250_101),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_told_of_a_text_is_true(text in texts()) {
        let text = normalise(text.as_bytes()).expect("UTF-8");
        is_true(&source(&text))?;
    }

    #[test]
    fn a_text_that_was_not_normalised_panics_neither(text in texts()) {
        std::hint::black_box(parse::spec("x", source(&text)));
        std::hint::black_box(parse::delta("x", source(&text)));
        std::hint::black_box(parse::tasks(source(&text)));
    }

    #[test]
    fn bytes_become_text_or_are_refused_with_a_line_that_is_there(bytes in vec(any::<u8>(), 0..200)) {
        match normalise(&bytes) {
            Ok(text) => prop_assert!(!text.contains('\r')),
            Err(error) => {
                let most = bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
                prop_assert!((1..=most).contains(&usize::try_from(error.line).unwrap()));
            }
        }
    }
}
