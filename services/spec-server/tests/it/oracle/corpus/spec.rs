//! Specs: a good one, and what can be wrong with it.

use super::page::{Mutation, Page};
use super::random::Random;

const PURPOSE: &str = "## Purpose";
const REQUIREMENTS: &str = "## Requirements";
const REQUIREMENT: &str = "### Requirement: ";
const SCENARIO: &str = "#### Scenario: ";

/// Where the text of a requirement ends.
const HEADINGS: [&str; 3] = ["## ", "### ", "#### "];

/// A spec with nothing wrong in it.
pub(crate) fn good(random: &mut Random) -> Page {
    let thing = random
        .text(&["Depot", "Kiosk", "Ferry", "Größe", "倉庫"])
        .to_string();
    let mut text = format!(
        "# {thing} Specification\n\n## Purpose\n\nTells how the {thing} behaves for whoever stands before it, day and night.\n\n\
         ## Requirements\n"
    );
    for number in 0..=random.below(3) {
        text.push_str(&requirement(number, random));
    }
    Page::new(&text)
}

/// A requirement as it ought to be.
pub(crate) fn requirement(number: usize, random: &mut Random) -> String {
    let verb = random.text(&["SHALL", "MUST", "SHALL NOT", "MUST NOT"]);
    let what = random.text(&[
        "open its gate",
        "print a ticket",
        "ring twice",
        "keep a log",
    ]);
    let mut text = format!(
        "\n### Requirement: {} {number}\nThe system {verb} {what}\nwhen it is asked to.\n",
        name(number)
    );
    for scenario in 0..=random.below(2) {
        text.push_str(&format!(
            "\n#### Scenario: Case {scenario}\n- **WHEN** somebody asks\n- **THEN** it does so\n- **AND** it says so\n"
        ));
    }
    text
}

fn name(number: usize) -> &'static str {
    ["Gate", "Ticket", "Bell", "Journal"][number % 4]
}

/// A purpose of so many UTF-16 code units.
fn purpose(length: usize, random: &mut Random) -> String {
    match random.below(3) {
        0 => "x".repeat(length),
        1 => "é".repeat(length),
        _ => format!("{}{}", "🚏".repeat(length / 2), "x".repeat(length % 2)),
    }
}

/// What can be wrong with a spec, and what only looks so.
pub(crate) const ALL: [Mutation<Page>; 46] = [
    ("purpose-none", |page, random| {
        page.remove(PURPOSE, &["## "], random)
    }),
    ("purpose-empty", |page, random| {
        page.fill(PURPOSE, &["## "], random, "")
    }),
    ("purpose-short", |page, random| {
        page.fill(PURPOSE, &["## "], random, "Opens the gate.")
    }),
    ("purpose-49", |page, random| {
        let text = purpose(49, random);
        page.fill(PURPOSE, &["## "], random, &text);
    }),
    ("purpose-50", |page, random| {
        let text = purpose(50, random);
        page.fill(PURPOSE, &["## "], random, &text);
    }),
    ("purpose-marked", |page, random| {
        let text = random.text(&[
            "TBD",
            "TODO: say what this is for, in a few words that people can read",
            "tbd - later, when we know more about it all",
            "Todo el mundo puede abrir la puerta cuando lo pida en voz alta, siempre",
            "TBDs are not what this is about, but gates and bells",
            "todo. This is to be written when somebody has the time for it",
            "TODO_LIST is what this capability keeps for whoever asks it",
            "TODO write what this is for, in a sentence or in two of them",
            "Tbd\nand then more is to be said about it, at some length",
            "```\nTODO\n```\nKeeps the gate shut until somebody asks for it to be opened.",
            "tbd (see the other one, which says it all about gates)",
        ]);
        page.fill(PURPOSE, &["## "], random, text);
    }),
    ("purpose-generated", |page, random| {
        let text = random.text(&[
            "TBD - created by archiving change add-gate. Update Purpose after archive.",
            "This is a gate.\nTBD - created by archiving change add-gate. Update Purpose after archive.",
            "This is a gate that somebody has described. Update Purpose after archive.",
        ]);
        page.fill(PURPOSE, &["## "], random, text);
    }),
    ("purpose-heading", |page, random| {
        let new = random.text(&[
            "## PURPOSE",
            "# Purpose",
            "### Purpose",
            "## Purpose ##",
            " ## Purpose",
            "##Purpose",
            "##\tpurpose",
            "## Purposes",
            "##\u{a0}Purpose",
        ]);
        page.replace(PURPOSE, random, |_| new.to_owned());
    }),
    ("purpose-in-code", |page, random| {
        page.replace(PURPOSE, random, |_| "```\n## Purpose\n```".to_owned())
    }),
    ("purpose-is-code", |page, random| {
        page.fill(
            PURPOSE,
            &["## "],
            random,
            "```\ngate --open and keep it open for a long long while\n```",
        )
    }),
    ("purpose-twice", |page, random| {
        page.insert_before("# ", random, "## Purpose\n\n## Purpose\nShort.")
    }),
    ("purpose-deeper", |page, random| {
        page.fill(
            PURPOSE,
            &["## "],
            random,
            "### Background\nThis gate has been here for longer than the town around it.",
        )
    }),
    ("requirements-none", |page, random| {
        page.remove(REQUIREMENTS, &["\u{0}"], random)
    }),
    ("requirements-no-heading", |page, random| {
        page.replace(REQUIREMENTS, random, |_| String::new())
    }),
    ("requirements-empty", |page, random| {
        page.fill(REQUIREMENTS, &["\u{0}"], random, "\nNone yet.")
    }),
    ("requirements-heading", |page, random| {
        let new = random.text(&[
            "## REQUIREMENTS",
            "# Requirements",
            "### Requirements",
            "## Requirements #",
            "## Requirement",
            "##  requirements  ",
        ]);
        page.replace(REQUIREMENTS, random, |_| new.to_owned());
    }),
    ("requirements-twice", |page, _| {
        page.append("\n## Requirements\n\n### Requirement: Later\nIt SHALL come later.\n\n#### Scenario: Late\n- **WHEN** late\n- **THEN** later")
    }),
    ("requirements-first", |page, random| {
        page.remove(PURPOSE, &["## "], random);
        page.append(
            "\n## Purpose\nTells how the gate behaves for whoever stands before it, day and night.",
        );
    }),
    ("section-between", |page, random| {
        page.insert_before(REQUIREMENT, random, "## Notes\nThese are notes.\n")
    }),
    ("section-1-between", |page, random| {
        page.insert_before(REQUIREMENT, random, "# Part two\n")
    }),
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
        page.replace(REQUIREMENT, random, |name| {
            format!("### Requirement: {name} ###")
        })
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
    ("delta-heading-at-end", |page, _| {
        page.append("\n## ADDED Requirements\n")
    }),
    ("text-none", |page, random| {
        page.fill(REQUIREMENT, &HEADINGS, random, "")
    }),
    ("text-code", |page, random| {
        page.fill(
            REQUIREMENT,
            &HEADINGS,
            random,
            "```\nIt SHALL be code.\n```\n",
        )
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
        page.replace(REQUIREMENT, random, |_| {
            "### Requirement: It SHALL open".to_owned()
        });
        page.fill(
            "### Requirement: It SHALL",
            &HEADINGS,
            random,
            random.clone().text(&["", "It opens."]),
        );
    }),
    ("text-later", |page, random| {
        page.fill(
            REQUIREMENT,
            &HEADINGS,
            random,
            "\n\nThe gate\n\n- opens\n- and it\n  MUST ring",
        )
    }),
    ("text-below-heading", |page, random| {
        page.fill(
            REQUIREMENT,
            &HEADINGS,
            random,
            "##### Detail\nIt SHALL open.",
        )
    }),
    ("text-long", |page, random| {
        let long = format!("It SHALL {}", "open ".repeat(90 + random.below(30)));
        page.fill(REQUIREMENT, &HEADINGS, random, &long);
    }),
    ("scenario-none", |page, random| {
        page.remove(SCENARIO, &HEADINGS, random)
    }),
    ("scenarios-none", |page, random| {
        while page.any(SCENARIO, random).is_some() {
            page.remove(SCENARIO, &HEADINGS, random);
        }
    }),
    ("scenario-bare", |page, random| {
        let new = random.text(&["", "   ", "\u{a0}\n\t", "\u{85}"]);
        page.fill(SCENARIO, &HEADINGS, random, new);
    }),
    ("scenario-code", |page, random| {
        page.fill(SCENARIO, &HEADINGS, random, "```\nWHEN a\n```")
    }),
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
        page.replace(SCENARIO, random, |name| {
            format!("~~~\n#### Scenario: {name}\n~~~")
        })
    }),
    ("title-none", |page, random| {
        page.remove("# ", &["## "], random)
    }),
    ("everything-none", |page, random| {
        page.lines.clear();
        if random.below(2) == 0 {
            page.append(random.text(&["Words.", "# Title", "## Requirements"]));
        }
    }),
];
