//! What can be wrong with the requirements of a spec and their scenarios.

use super::page::{Mutation, Page};
use super::spec::{HEADINGS, PURPOSE, REQUIREMENT, REQUIREMENTS, SCENARIO};

/// What can be wrong with them, and what only looks so.
pub(crate) const ALL: [Mutation<Page>; 26] = [
    ("stray-heading", |page, random| {
        let new = random.text(&[
            "### Notes\nA note.\n",
            "### Gate rules",
            "#### Loose\nText.\n",
            "###   \nText\n",
            "### The gate SHALL open\n\n#### Scenario: x\n- **WHEN** x",
        ]);
        page.insert_before(REQUIREMENT, random, new);
    }),
    ("requirement-heading", |page, random| {
        let new = random.text(&[
            "###Requirement: ",
            "### requirement: ",
            "### REQUIREMENT:",
            "### Requirement : ",
            "#### Requirement: ",
            "## Requirement: ",
            "###\tRequirement:\t",
            " ### Requirement: ",
            "### Req: ",
            "###  Requirement:  ",
        ]);
        page.replace(REQUIREMENT, random, |name| format!("{new}{name}"));
    }),
    ("requirement-nameless", |page, random| {
        let new = random.text(&[
            "### Requirement:",
            "### Requirement: ",
            "###Requirement:",
            "### Requirement: ###",
            "###",
            "### ",
        ]);
        page.replace(REQUIREMENT, random, |_| new.to_owned());
    }),
    ("requirement-closed", |page, random| {
        page.replace(REQUIREMENT, random, |name| format!("### Requirement: {name} ###"))
    }),
    ("requirement-twice", |page, random| {
        let suffix = random.text(&["", " ", " ##", "#", "\u{a0}##"]);
        page.replace(REQUIREMENT, random, |name| {
            let block = format!("### Requirement: {name}{suffix}\nIt SHALL do.\n\n#### Scenario: One\n- **WHEN** a\n- **THEN** b\n");
            format!("{block}\n### Requirement: {name}")
        });
    }),
    ("requirement-outside", |page, random| {
        let block = "### Requirement: Lost\nIt SHALL be found.\n\n#### Scenario: One\n- **WHEN** a\n- **THEN** b\n";
        match random.below(3) {
            0 => page.insert_before(PURPOSE, random, block),
            1 => page.insert_before(REQUIREMENTS, random, block),
            _ => page.append(&format!("\n## Appendix\n{block}")),
        }
    }),
    ("delta-heading", |page, random| {
        let new = random.text(&[
            "## ADDED Requirements",
            "## Modified Requirements",
            "## removed  requirements",
            "## RENAMED Requirements ",
            "### ADDED Requirements",
            "## ADDED Requirement",
        ]);
        page.insert_before(REQUIREMENT, random, new);
    }),
    ("delta-heading-at-end", |page, _| page.append("\n## ADDED Requirements\n")),
    ("text-none", |page, random| page.fill(REQUIREMENT, &HEADINGS, random, "")),
    ("text-code", |page, random| {
        page.fill(REQUIREMENT, &HEADINGS, random, "```\nIt SHALL be code.\n```\n")
    }),
    ("text-metadata", |page, random| {
        let new = random.text(&[
            "**Priority**: it MUST be high",
            "**Priority**: high",
            "**Id**: 7\nIt SHALL open.",
            "**Rule**: it MUST\nIt opens.",
            "**Rule:** it opens",
            "** **: MUST",
            "****: MUST\nx",
        ]);
        page.fill(REQUIREMENT, &HEADINGS, random, new);
    }),
    ("text-weak", |page, random| {
        let new = random.text(&[
            "It should open.",
            "It shall open.",
            "SHALLOW waters MUSTARD.",
            "It SHALL_NOT.",
            "It_MUST open.",
            "Es MUSS öffnen.",
            "ÉSHALL, SHALLÉ",
            "SHALL-be",
            "(MUST)",
            "It is 5MUST",
            "It opens, `SHALL`.",
        ]);
        page.fill(REQUIREMENT, &HEADINGS, random, new);
    }),
    ("text-in-heading", |page, random| {
        page.replace(REQUIREMENT, random, |_| "### Requirement: It SHALL open".to_owned());
        {
            let text = random.text(&["", "It opens."]);
            page.fill("### Requirement: It SHALL", &HEADINGS, random, text)
        };
    }),
    ("text-later", |page, random| {
        page.fill(REQUIREMENT, &HEADINGS, random, "\n\nThe gate\n\n- opens\n- and it\n  MUST ring")
    }),
    ("text-below-heading", |page, random| {
        page.fill(REQUIREMENT, &HEADINGS, random, "##### Detail\nIt SHALL open.")
    }),
    ("text-long", |page, random| {
        let long = format!("It SHALL {}", "open ".repeat(90 + random.below(30)));
        page.fill(REQUIREMENT, &HEADINGS, random, &long);
    }),
    ("scenario-none", |page, random| page.remove(SCENARIO, &HEADINGS, random)),
    ("scenarios-none", |page, random| {
        while page.any(SCENARIO, random).is_some() {
            page.remove(SCENARIO, &HEADINGS, random);
        }
    }),
    ("scenario-bare", |page, random| {
        let new = random.text(&["", "   ", "\u{a0}\n\t", "\u{85}"]);
        page.fill(SCENARIO, &HEADINGS, random, new);
    }),
    ("scenario-code", |page, random| page.fill(SCENARIO, &HEADINGS, random, "```\nWHEN a\n```")),
    ("scenario-deeper", |page, random| {
        page.fill(SCENARIO, &HEADINGS, random, "##### Steps\n- **WHEN** a")
    }),
    ("scenario-heading", |page, random| {
        let new = random.text(&[
            "#### ",
            "####Scenario: ",
            "##### Scenario: ",
            "### Scenario: ",
            "#### scenario:",
            "####\tScenario: ",
            "- **Scenario: ",
            "**Scenario**: ",
            "###### ",
        ]);
        page.replace(SCENARIO, random, |name| format!("{new}{name}"));
    }),
    ("scenario-nameless", |page, random| {
        let new = random.text(&["#### Scenario:", "#### ", "####", "#### ####", "####  "]);
        page.replace(SCENARIO, random, |_| new.to_owned());
    }),
    ("scenario-in-code", |page, random| {
        page.replace(SCENARIO, random, |name| format!("~~~\n#### Scenario: {name}\n~~~"))
    }),
    ("title-none", |page, random| page.remove("# ", &["## "], random)),
    ("everything-none", |page, random| {
        page.lines.clear();
        if random.below(2) == 0 {
            page.append(random.text(&["Words.", "# Title", "## Requirements"]));
        }
    }),
];
