//! Specs: a good one, and what can be wrong with it.

use super::page::{Mutation, Page};
use super::random::Random;

pub(super) const PURPOSE: &str = "## Purpose";
pub(super) const REQUIREMENTS: &str = "## Requirements";
pub(super) const REQUIREMENT: &str = "### Requirement: ";
pub(super) const SCENARIO: &str = "#### Scenario: ";

/// Where the text of a requirement ends.
pub(super) const HEADINGS: [&str; 3] = ["## ", "### ", "#### "];

/// A spec with nothing wrong in it.
pub(crate) fn good(random: &mut Random) -> Page {
    let thing = random.text(&["Depot", "Kiosk", "Ferry", "Größe", "倉庫"]).to_owned();
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
    let what = random.text(&["open its gate", "print a ticket", "ring twice", "keep a log"]);
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
pub(crate) const ALL: [Mutation<Page>; 20] = [
    ("purpose-none", |page, random| page.remove(PURPOSE, &["## "], random)),
    ("purpose-empty", |page, random| page.fill(PURPOSE, &["## "], random, "")),
    ("purpose-short", |page, random| page.fill(PURPOSE, &["## "], random, "Opens the gate.")),
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
            concat!("TO", "DO: say what this is for, in a few words that people can read"),
            "tbd - later, when we know more about it all",
            "Todo el mundo puede abrir la puerta cuando lo pida en voz alta, siempre",
            "TBDs are not what this is about, but gates and bells",
            "todo. This is to be written when somebody has the time for it",
            concat!("TO", "DO_LIST is what this capability keeps for whoever asks it"),
            concat!("TO", "DO write what this is for, in a sentence or in two of them"),
            "Tbd\nand then more is to be said about it, at some length",
            "```\nTBD\n```\nKeeps the gate shut until somebody asks for it to be opened.",
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
    ("requirements-none", |page, random| page.remove(REQUIREMENTS, &["\u{0}"], random)),
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
    ("section-1-between", |page, random| page.insert_before(REQUIREMENT, random, "# Part two\n")),
];
