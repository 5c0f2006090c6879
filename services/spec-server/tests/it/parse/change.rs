//! The other files of a change: proposal, tasks and metadata.

use spec_server::parse;

use super::{source, tasks};

#[test]
fn a_proposal_is_read_without_regard_to_capitals() {
    let proposal = parse::proposal(source(
        "# Change: Add it\n## why\nBecause.\n\nReally.\n## What changes\n- a\n### Sub\n- b\n## Impact\nnone\n",
    ));
    let why = proposal.why.as_ref().expect("why");
    assert_eq!((why.line, why.text.as_str()), (2, "Because.\n\nReally."));
    let what = proposal.what_changes.as_ref().expect("what changes");
    assert_eq!((what.line, what.text.as_str()), (6, "- a\n### Sub\n- b"));
    assert_eq!(parse::title_of_change("add-it", Some(&proposal)), "Add it");
}

#[test]
fn a_change_without_a_title_is_called_by_its_id() {
    let untitled = parse::proposal(source("## Why\nw\n"));
    assert_eq!(parse::title_of_change("add-two-factor", Some(&untitled)), "add two factor");
    assert_eq!(parse::title_of_change("add-two-factor", None), "add two factor");
    let empty = parse::proposal(source("# Change:\n"));
    assert_eq!(parse::title_of_change("x-y", Some(&empty)), "x y");
}

#[test]
fn every_line_with_a_box_is_a_task() {
    let text = "- [ ] 0.1 before\n## 1. First ##\n- [ ] 1.1 open\n- [x] 1.2 done\n  * [X] 1.2.1 nested\n\t+ [] 1.3a empty\n1. [ x ] ordered\n\
                2) [~] doing\n```\n- [ ] in code\n```\n## Second\n-[ ] tight\n- [ ](a) blank box\n### 3. Deeper\n- [x]done\n";
    let seen: Vec<_> = tasks(text)
        .items
        .into_iter()
        .map(|t| (t.line, t.done, t.number.unwrap_or_default(), t.text))
        .collect();
    let own =
        |line, done, number: &str, text: &str| (line, done, number.to_owned(), text.to_owned());
    assert_eq!(
        seen,
        [
            own(1, false, "0.1", "before"),
            own(3, false, "1.1", "open"),
            own(4, true, "1.2", "done"),
            own(5, true, "1.2.1", "nested"),
            own(6, false, "1.3a", "empty"),
            own(7, true, "", "ordered"),
            own(8, false, "", "doing"),
            own(10, false, "", "in code"),
            own(13, false, "", "tight"),
            own(14, false, "", "(a) blank box"),
            own(16, true, "", "done"),
        ]
    );
    assert_eq!(tasks(text).items.iter().filter(|task| task.done).count(), 4);
}

#[test]
fn links_and_words_in_brackets_are_no_tasks() {
    for line in [
        "- [a](b)",
        "- [1][c]",
        "- [x](y)",
        "- [](z)",
        "- [WIP] later",
        "[ ] no bullet",
        "- [ ",
        "1234567890. [ ] no list",
        "- ]x[",
    ] {
        assert_eq!(parse::is_task(line), None, "{line}");
    }
    assert_eq!(parse::is_task("- [x]"), Some(true));
    assert_eq!(parse::is_task("- [\u{a0}] ü"), Some(false));
}

#[test]
fn a_task_number_has_two_parts() {
    for (text, number) in [
        ("1.1 a", Some("1.1")),
        ("10.20.30", Some("10.20.30")),
        ("1 a", None),
        ("1. a", None),
        ("1.x a", None),
        ("v1.2 a", None),
        ("1.2: a", None),
    ] {
        let tasks = tasks(&format!("- [ ] {text}\n"));
        assert_eq!(tasks.items.first().and_then(|t| t.number.as_deref()), number, "{text}");
    }
}

#[test]
fn metadata_is_read_and_its_mistakes_are_told() {
    let good = parse::metadata(source(
        "schema: spec-driven\ncreated: 2025-01-02\nskip_specs: true\nextra: {a: [1]}\n",
    ));
    assert_eq!(good.problems, []);
    assert_eq!(good.schema.as_deref(), Some("spec-driven"));
    assert!(good.skip_specs && !good.retire_capabilities);
    for (text, line, word) in [
        ("schema: x\nskip_specs: yes\n", 2, "true or false"),
        ("schema: x\n\ncreated: soon\n", 3, "YYYY-MM-DD"),
        ("schema: ''\n", 1, "schema"),
        ("skip_specs: true\n", 1, "schema is missing"),
        ("schema: [\n", 2, ""),
        ("schema: a\nschema: b\n", 2, "twice"),
        ("just words\n", 1, "mapping"),
    ] {
        let bad = parse::metadata(source(text));
        let problem = bad.problems.first().unwrap_or_else(|| panic!("{text}"));
        assert!(problem.text.contains(word), "{text}: {}", problem.text);
        assert!(problem.line <= line, "{text}: line {}", problem.line);
    }
}
