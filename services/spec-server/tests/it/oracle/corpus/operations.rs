//! What can be wrong with the operations of a delta, together and against the spec.

use super::delta::{HEADINGS, LOG, OPEN, RENAME, RING, SCENARIO, add};
use super::page::{Mutation, Page};

/// Operations that do not go together, and some that only look so.
pub(crate) const ALL: [Mutation<Page>; 15] = [
    ("added-twice", |page, random| {
        let name = random.text(&["Log", "Log ###", "log", " Log ", "Log#"]);
        add(
            page,
            "ADDED",
            &format!(
                "### Requirement: Log\nIt SHALL.\n#### S\n- a\n\n### Requirement: {name}\nIt SHALL.\n#### S\n- a"
            ),
        );
    }),
    ("modified-twice", |page, _| add(page, "MODIFIED", &format!("{OPEN}\n{OPEN}"))),
    ("modified-unknown", |page, _| {
        add(page, "MODIFIED", "### Requirement: Unknown\nIt SHALL.\n#### S\n- a")
    }),
    ("removed-twice", |page, _| {
        add(page, "REMOVED", "### Requirement: Shut\n\n- `### Requirement: Shut`")
    }),
    ("removed-items", |page, random| {
        let text = random.text(&[
            "- `### Requirement: Shut`",
            "* ### Requirement: Shut",
            "+ `###Requirement:Shut`",
            "- ### requirement: Shut",
            "1. `### Requirement: Shut`",
            "-`### Requirement: Shut",
            "```\n- ### Requirement: Shut\n```",
            "- `### Requirement: `",
        ]);
        add(page, "REMOVED", text);
    }),
    ("renamed-lines", |page, random| {
        let text = random.text(&[
            "FROM: ### Requirement: Open\nTO: ### Requirement: Gape",
            "* FROM: `### Requirement: Open`\n* TO: `### Requirement: Gape`",
            "- from: `### Requirement: Open`\n- to: `### Requirement: Gape`",
            "- FROM: `Open`\n- TO: `Gape`",
            "- TO: `### Requirement: Gape`\n- FROM: `### Requirement: Open`",
            "- FROM: `### Requirement: Open`",
            "- TO: `### Requirement: Gape`",
            "- FROM: `### Requirement: Open`\n- FROM: `### Requirement: Shut`\n- TO: `### Requirement: A`\n- TO: `### Requirement: B`",
            "- FROM: `### Requirement: Open`\n\nwhich is now called\n\n- TO: `###Requirement:Gape`",
            "```\n- FROM: `### Requirement: Open`\n```",
            "### Requirement: Open → Gape",
            "- FROM: `### Requirement: Open ##`\n- TO: `### requirement: Gape`",
            "-FROM:`### Requirement: Open`\n  -  TO: ### Requirement: Gape`",
        ]);
        add(page, "RENAMED", text);
    }),
    ("renamed-from-twice", |page, _| {
        add(
            page,
            "RENAMED",
            &format!("{RENAME}\n- FROM: `### Requirement: Ring`\n- TO: `### Requirement: Buzz`"),
        )
    }),
    ("renamed-to-twice", |page, _| {
        add(
            page,
            "RENAMED",
            &format!("{RENAME}\n- FROM: `### Requirement: Shut`\n- TO: `### Requirement: Chime`"),
        )
    }),
    ("renamed-halves-apart", |page, _| {
        add(page, "RENAMED", "- FROM: `### Requirement: Open`");
        add(page, "RENAMED", "- TO: `### Requirement: Gape`");
    }),
    ("modified-and-removed", |page, _| {
        add(page, "MODIFIED", OPEN);
        add(page, "REMOVED", "### Requirement: Open");
    }),
    ("modified-and-added", |page, _| {
        add(page, "MODIFIED", OPEN);
        add(page, "ADDED", OPEN);
    }),
    ("added-and-removed", |page, _| {
        add(page, "ADDED", LOG);
        add(page, "REMOVED", "- `### Requirement: Log`");
    }),
    ("renamed-and-modified-old", |page, _| {
        add(page, "RENAMED", RENAME);
        add(page, "MODIFIED", &RING.replace("Chime", "Ring"));
    }),
    ("renamed-and-added", |page, _| {
        add(page, "RENAMED", RENAME);
        add(page, "ADDED", RING);
    }),
    ("renamed-and-removed", |page, random| {
        add(page, "RENAMED", RENAME);
        add(
            page,
            "REMOVED",
            random.text(&[
                "### Requirement: Ring",
                "### Requirement: RING",
                "### Requirement: ring ##",
                "### Requirement: Ringing",
            ]),
        );
    }),
];

/// Ways to lose scenarios that the spec has, or to seem to.
pub(crate) const AGAINST: [Mutation<Page>; 5] = [
    ("drops-one", |page, random| page.remove("#### Scenario: By", &HEADINGS, random)),
    ("drops-one-of-two", |page, random| {
        *page = Page::new(&format!(
            "## RENAMED Requirements\n{RENAME}\n## MODIFIED Requirements\n{RING}"
        ));
        page.remove(SCENARIO, &HEADINGS, random);
    }),
    ("drops-after-two-renames", |page, _| {
        *page = Page::new(
            "## RENAMED Requirements\n- FROM: `### Requirement: Ring`\n- TO: `### Requirement: Chime`\n- FROM: `### Requirement: Chime`\n- TO: `### Requirement: Buzz`\n\n## MODIFIED Requirements\n### Requirement: Buzz\nIt SHALL.\n#### Scenario: Twice\n- a",
        );
    }),
    ("renames-in-a-ring", |page, _| {
        *page = Page::new(
            "## RENAMED Requirements\n- FROM: `### Requirement: A`\n- TO: `### Requirement: B`\n- FROM: `### Requirement: B`\n- TO: `### Requirement: A`\n\n## MODIFIED Requirements\n### Requirement: A\nIt SHALL.\n#### S\n- a",
        );
    }),
    ("keeps-any-heading", |page, random| {
        let heading = random.text(&[
            "#### Edge of the day",
            "#### Scenario: Edge of the day",
            "#### edge of the day",
            "##### Edge of the day",
        ]);
        *page = Page::new(&format!(
            "## MODIFIED Requirements\n### Requirement: Shut\nIt SHALL.\n{heading}\n- a\n#### More\n- b"
        ));
    }),
];
