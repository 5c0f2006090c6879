//! Deltas: good ones, and what can be wrong with them.

use super::page::{Mutation, Page};
use super::random::Random;

/// The capability that the deltas of the corpus change.
pub(crate) const BASE: &str = "base/gate";

/// Its spec.
pub(crate) const BASE_SPEC: &str = "# Gate Specification

## Purpose
Tells how the gate behaves for whoever stands before it, day and night.

## Requirements

### Requirement: Open
The gate SHALL open when it is asked to.

#### Scenario: By day
- **WHEN** somebody asks by day
- **THEN** it opens

#### Scenario: By night ####
- **WHEN** somebody asks by night
- **THEN** it opens slowly

### Requirement: Shut ##
The gate SHALL shut behind whoever has passed.

#### Edge of the day
- **WHEN** the sun sets
- **THEN** it shuts

### Requirement: Ring
The gate SHALL ring.

#### Scenario: Twice
- **WHEN** a friend comes
- **THEN** it rings twice

#### Scenario: Twice
- **WHEN** a cousin comes
- **THEN** it rings twice as well
";

pub(super) const OPEN: &str = "### Requirement: Open
The gate SHALL open at once when it is asked to.

#### Scenario: By day
- **WHEN** somebody asks by day
- **THEN** it opens at once

#### Scenario: By night
- **WHEN** somebody asks by night
- **THEN** it opens within a minute
";

pub(super) const RING: &str = "### Requirement: Chime
The gate SHALL chime.

#### Scenario: Twice
- **WHEN** a friend comes
- **THEN** it chimes twice

#### Twice
- **WHEN** a cousin comes
- **THEN** it chimes twice as well
";

pub(super) const LOG: &str = "### Requirement: Log
The gate MUST keep a log.

#### Scenario: Entry
- **WHEN** somebody passes
- **THEN** a line is added
";

pub(super) const SHUT_REMOVED: &str = "### Requirement: Shut
**Reason**: nobody minds
**Migration**: none
";

pub(super) const RENAME: &str = "- FROM: `### Requirement: Ring`\n- TO: `### Requirement: Chime`\n";

pub(super) const REQUIREMENT: &str = "### Requirement: ";
pub(super) const SCENARIO: &str = "#### ";
pub(super) const HEADINGS: [&str; 3] = ["## ", "### ", "#### "];

/// A delta with nothing wrong in it, of one operation or of all four.
pub(crate) fn good(random: &mut Random) -> Page {
    let sections = [
        format!("## ADDED Requirements\n\n{LOG}"),
        format!("## MODIFIED Requirements\n\n{OPEN}"),
        format!("## REMOVED Requirements\n\n{SHUT_REMOVED}"),
        format!("## RENAMED Requirements\n\n{RENAME}"),
        format!("## MODIFIED Requirements\n\n{RING}\n## RENAMED Requirements\n{RENAME}"),
    ];
    let text = match random.below(4) {
        0 => sections[0].clone(),
        1 => sections[1].clone(),
        2 => sections[random.below(5)].clone(),
        _ => {
            format!("# Gate\n\n{}\n{}\n{}\n{}", sections[0], sections[1], sections[2], sections[3])
        }
    };
    Page::new(&text)
}

pub(super) fn add(page: &mut Page, operation: &str, text: &str) {
    page.append(&format!("\n## {operation} Requirements\n\n{text}"));
}

/// What can be wrong with a delta, and what only looks so.
pub(crate) const ALL: [Mutation<Page>; 30] = [
    ("section-heading", |page, random| {
        let new = random.text(&[
            "## added requirements",
            "## ADDED requirements ",
            "##  ADDED Requirements",
            "## ADDED  Requirements",
            "### ADDED Requirements",
            "# ADDED Requirements",
            "## ADDED",
            "## New Requirements",
            "## ADDED Requirements ##",
            " ## ADDED Requirements",
            "##ADDED Requirements",
            "## ADDED\tRequirements",
            "## Added Requirements",
        ]);
        page.replace("## ADDED Requirements", random, |_| new.to_owned());
    }),
    ("section-other", |page, random| page.replace("## ", random, |_| "## Requirements".to_owned())),
    ("section-none", |page, random| page.replace("## ", random, |_| String::new())),
    ("section-empty", |page, random| {
        let text = random.text(&["", "None.", "- nothing", "### Nothing"]);
        page.fill("## ", &["## "], random, text)
    }),
    ("section-twice", |page, _| {
        add(
            page,
            "ADDED",
            "### Requirement: Second\nIt SHALL be second.\n\n#### Scenario: S\n- **WHEN** a\n- **THEN** b",
        )
    }),
    ("section-empty-too", |page, random| {
        let operation = random.text(&["ADDED", "MODIFIED", "REMOVED", "RENAMED"]);
        add(page, operation, "");
    }),
    ("section-foreign", |page, random| page.insert_before("### ", random, "## Notes\nWords.\n")),
    ("section-blank", |page, random| page.insert_before("#### ", random, "## ")),
    ("purpose", |page, random| {
        page.insert_before(
            "## ",
            random,
            "## Purpose\nTells of a new gate, and why it is there at all.\n",
        )
    }),
    ("orphan-above", |page, random| {
        page.insert_before("## ", random, "### Requirement: Early\nIt SHALL come.\n")
    }),
    ("orphan-below", |page, _| page.append("\n## Notes\n\n###requirement: Late\nIt SHALL come.")),
    ("orphan-in-code", |page, random| {
        page.insert_before("## ", random, "```\n### Requirement: Code\n```")
    }),
    ("requirement-heading", |page, random| {
        let new = random.text(&[
            "###Requirement: ",
            "### requirement: ",
            "### REQUIREMENT:",
            "#### Requirement: ",
            "### Req: ",
            " ### Requirement: ",
            "###\tRequirement:",
            "### ",
            "## ",
        ]);
        page.replace(REQUIREMENT, random, |name| format!("{new}{name}"));
    }),
    ("requirement-nameless", |page, random| {
        let new = random.text(&[
            "### Requirement:",
            "### Requirement: ",
            "###Requirement:",
            "### Requirement: ##",
        ]);
        page.replace(REQUIREMENT, random, |_| new.to_owned());
    }),
    ("requirement-closed", |page, random| {
        page.replace(REQUIREMENT, random, |name| format!("### Requirement: {name} #"))
    }),
    ("divider", |page, random| {
        page.insert_before("### ", random, "### Documentation requirements\n")
    }),
    ("divider-inside", |page, random| page.insert_before(SCENARIO, random, "### Cases\n")),
    ("title-inside", |page, random| page.insert_before(SCENARIO, random, "# Part\n")),
    ("text-none", |page, random| page.fill(REQUIREMENT, &HEADINGS, random, "")),
    ("text-code", |page, random| {
        page.fill(REQUIREMENT, &HEADINGS, random, "```\nIt SHALL be.\n```")
    }),
    ("text-metadata", |page, random| {
        let text = random.text(&["**Id**: MUST", "**Id**: 1", "**Id**: SHALL\nIt opens."]);
        page.fill(REQUIREMENT, &HEADINGS, random, text)
    }),
    ("text-weak", |page, random| {
        let text = random.text(&["It opens.", "It shall open.", "It MUSTers.", "_MUST_ open"]);
        page.fill(REQUIREMENT, &HEADINGS, random, text)
    }),
    ("text-in-heading", |page, random| {
        page.replace(REQUIREMENT, random, |_| "### Requirement: It MUST go".to_owned());
        {
            let text = random.text(&["", "It goes."]);
            page.fill("### Requirement: It MUST", &HEADINGS, random, text)
        };
    }),
    ("scenario-none", |page, random| page.remove(SCENARIO, &HEADINGS, random)),
    ("scenarios-none", |page, random| {
        while page.any(SCENARIO, random).is_some() {
            page.remove(SCENARIO, &HEADINGS, random);
        }
    }),
    ("scenario-bare", |page, random| {
        let text = random.text(&["", "  ", "<!-- -->"]);
        page.fill(SCENARIO, &HEADINGS, random, text)
    }),
    ("scenario-deeper", |page, random| {
        page.fill(SCENARIO, &HEADINGS, random, "##### Steps\n- **WHEN** a")
    }),
    ("scenario-heading", |page, random| {
        let new = random.text(&["##### ", "####", "### ", "####\t", "- #### "]);
        page.replace(SCENARIO, random, |name| format!("{new}{name}"));
    }),
    ("scenario-name", |page, random| {
        let new = random.text(&[
            "#### Scenario:By day",
            "#### scenario: By day",
            "#### By day ####",
            "#### Scenario: by day",
            "#### Scenario:  By  day",
            "#### Scenario: By day\u{a0}##",
        ]);
        page.replace("#### Scenario: By day", random, |_| new.to_owned());
    }),
    ("scenario-twice", |page, random| {
        page.insert_before(
            "#### Scenario: By",
            random,
            "#### Scenario: By day\n- **WHEN** a\n- **THEN** b\n",
        )
    }),
];
