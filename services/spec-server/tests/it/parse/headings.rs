//! What begins and ends a part: headings, in code and out of it, in files of every system.

use spec_server::model::Oddity;
use spec_server::parse::{Outline, normalise};

use super::{requirement, spec};

fn names(text: &str) -> Vec<String> {
    spec(text).requirements.into_iter().map(|r| r.name).collect()
}

#[test]
fn headings_in_code_are_code() {
    for (open, close) in [
        ("```", "```"),
        ("~~~", "~~~"),
        ("````md", "````"),
        ("```", "`````"),
        ("   ```rust", "  ```  "),
        ("\t~~~~", "~~~~~"),
    ] {
        let text = format!(
            "## Requirements\n### Requirement: A\na\n{open}\n### Requirement: Not\n## Purpose\n{close}\n### Requirement: B\n"
        );
        assert_eq!(names(&text), ["A", "B"], "{open} … {close}");
        assert_eq!(spec(&text).purpose, None, "{open} … {close}");
    }
}

#[test]
fn a_fence_is_closed_by_its_like_alone() {
    for inner in ["~~~", "``", "```x", "```` x", "- ```"] {
        let text = format!(
            "## Requirements\n### Requirement: A\n```\n{inner}\n### Requirement: Not\n```\n### Requirement: B\n"
        );
        assert_eq!(names(&text), ["A", "B"], "{inner}");
    }
    // Two open nothing.
    let two = "## Requirements\n### Requirement: A\n``\n~~\n### Requirement: B\n";
    assert_eq!(names(two), ["A", "B"]);
    // Four are not closed by three.
    let text = "## Requirements\n### Requirement: A\n````\n```\n### Requirement: Not\n````\n### Requirement: B\n";
    assert_eq!(names(text), ["A", "B"]);
    // One that is never closed ends with the text.
    let open = "## Requirements\n### Requirement: A\n```\n### Requirement: Not\n";
    assert_eq!(names(open), ["A"]);
}

#[test]
fn a_heading_begins_at_the_margin_with_a_blank_after_its_marks() {
    let text = "#no\n####### no\n ## no\n# yes\n##\tyes too\n###### six ##\n### \n>## no\n";
    let outline = Outline::of(text);
    let seen: Vec<_> = outline.headings().iter().map(|h| (h.level, h.title, h.line)).collect();
    assert_eq!(seen, [(1, "yes", 4), (2, "yes too", 5), (6, "six ##", 6), (3, "", 7)]);
}

#[test]
fn the_names_of_requirements_are_read_in_every_form() {
    let text = "## requirements\n\
                ### Requirement: Plain\n\
                ###Requirement: Tight\n\
                ### requirement:   lower ##\n\
                ### REQUIREMENT: C#\n\
                ### Requirement:\n\
                ### Notes\n\
                #### Requirement: Deeper\n\
                ### Requirement: Grüße 😀\n";
    assert_eq!(
        names(text),
        ["Plain", "Tight", "lower", "C#", "Requirement:", "Notes", "Deeper", "Grüße 😀"]
    );
}

#[test]
fn any_heading_of_level_four_is_a_scenario() {
    let one = requirement(
        "a\n#### Scenario: One\nx\n#### Edge case ##\n##### Deeper\ny\n#### scenario:  low\n### Notes\n#### No\n",
    );
    let seen: Vec<_> =
        one.scenarios.iter().map(|s| (s.name.as_str(), s.line, s.text.as_str())).collect();
    assert_eq!(seen, [("One", 4, "x"), ("Edge case", 6, "##### Deeper\ny"), ("low", 9, "")]);
}

#[test]
fn requirements_count_wherever_they_stand_and_odd_ones_are_noted() {
    let text = "### Requirement: Before\n## Requirements\n### Requirement: A\n## Notes\n### Requirement: Between\n\
                ## Requirements\n### Requirement: B\n";
    assert_eq!(names(text), ["Before", "A", "Between", "B"]);
    let odd: Vec<_> = spec(text).requirements.iter().map(|r| r.oddity).collect();
    let outside = Some(Oddity::Outside);
    assert_eq!(odd, [outside, None, outside, None]);

    let text = "# T\nLead.\n## Purpose\nP.\n### Part of it\nx\n## Overview\nO.\n#### Deep\no\n## Requirements\nFirst this.\n\
                ### Requirement: A\na\n### Scenario: stray\n- **WHEN** w\n## Requirement: Two\nb\n### Notes\nn\n## Empty\n";
    let read = spec(text);
    let sections: Vec<_> =
        read.sections.iter().map(|s| (s.title.as_str(), s.line, s.text.as_str())).collect();
    assert_eq!(
        sections,
        [
            ("T", 1, "Lead."),
            ("Overview", 7, "O.\n#### Deep\no"),
            ("Requirements", 11, "First this."),
            ("Notes", 19, "n"),
        ]
    );
    let stray = &read.requirements[0].scenarios[0];
    assert_eq!(
        (stray.name.as_str(), stray.line, stray.when.as_slice()),
        ("stray", 15, &["w".to_owned()][..])
    );
    assert_eq!(read.requirements[1].oddity, Some(Oddity::Level(2)));
}

#[test]
fn a_command_that_looks_like_a_title_ends_no_requirement() {
    let text = "## Requirements\n### Requirement: A\na\n# npm install\n#### Scenario: S\n- **WHEN** x\n### Requirement: B\n";
    assert_eq!(names(text), ["A", "B"]);
    assert_eq!(spec(text).requirements.first().map(|a| a.scenarios.len()), Some(1));
}

#[test]
fn a_description_is_prose() {
    let described = |lines| requirement(lines).description;
    assert_eq!(
        described("It SHALL\n  be wrapped.\n\nAnd go on.\n- a bullet\n"),
        "It SHALL be wrapped. And go on. - a bullet"
    );
    assert_eq!(described("**ID**: 7\nIt SHALL.\n**Priority**: high\n"), "It SHALL.");
    assert_eq!(described("**Rule**: It MUST.\n\n**Why**: so\n"), "**Rule**: It MUST. **Why**: so");
    assert_eq!(described("Before.\n```\ncode SHALL\n```\nAfter.\n"), "Before. After.");
    assert_eq!(described("**Bold:** no key\n"), "**Bold:** no key");
    assert_eq!(described("##### Deeper\nIt SHALL.\n"), "");
}

#[test]
fn files_of_every_system_are_one_text() {
    let unix = "## Purpose\na\n\n## Requirements\n### Requirement: A\nb\n";
    for end in ["\n", "\r\n", "\r"] {
        for bom in ["", "\u{feff}"] {
            let file = format!("{bom}{}", unix.replace('\n', end));
            let text = normalise(file.as_bytes()).expect("UTF-8");
            assert_eq!(text, unix, "{end:?} {bom:?}");
        }
    }
    assert_eq!(normalise(b"a\r\r\n\nb").as_deref(), Ok("a\n\n\nb"));
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let error = normalise(b"a\r\nb\rc \xff\n").expect_err("not UTF-8");
    assert_eq!(error.line, 3);
    assert!(error.to_string().contains("UTF-8"), "{error}");
}
