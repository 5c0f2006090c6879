//! Texts made to be slow: time grows with their length and no faster.

use std::time::{Duration, Instant};

use spec_server::parse;

use super::source;

/// What a text begins with.
const SPEC: &str = "## Requirements\n### Requirement: A\n#### S\n";
const ADDED: &str = "## ADDED Requirements\n";
const RENAMED: &str = "## RENAMED Requirements\n";

/// What stands at the beginning, and what is then repeated.
const BAITS: [(&str, &str); 24] = [
    ("", "#"),
    ("", "# "),
    ("", "#\n"),
    ("", "## a\n"),
    (SPEC, "# a\n"),
    (SPEC, "### Requirement: a\n"),
    (SPEC, "### Requirement: a\n#### b\n"),
    (SPEC, "#### s\n"),
    (SPEC, "##### s\n"),
    (SPEC, "```\n"),
    (SPEC, "```x\n"),
    (SPEC, "~~~ "),
    (SPEC, "`"),
    (SPEC, "- **WHEN**\n"),
    (SPEC, "- **WHEN** a\n  b\n"),
    (SPEC, "**"),
    (ADDED, "### Requirement: a\n#### b\n"),
    (ADDED, "### a\n"),
    (RENAMED, "- FROM: `### Requirement: a`\n"),
    (RENAMED, "- TO: `### Requirement: a`\n## REMOVED Requirements\n"),
    ("", "- ["),
    ("", "- [ ] 1.1 a\n"),
    ("", " "),
    (SPEC, "**k**: v\n"),
];

/// Reads a text in every way there is, and says how long that took.
fn read(text: &str) -> Duration {
    let source = source(text);
    let start = Instant::now();
    let spec = parse::spec("x", source.clone());
    let delta = parse::delta("x", source.clone());
    let tasks = parse::tasks(source.clone());
    let proposal = parse::proposal(source);
    let title = parse::title_of_change("x", Some(&proposal));
    let took = start.elapsed();
    std::hint::black_box((spec, delta, tasks, title));
    took
}

/// Half a second here if time grows with the length, many minutes if it grows with its square: the bound is far from
/// both.
#[test]
fn a_long_text_is_read_in_time() {
    for (head, bait) in BAITS {
        let text = format!("{head}{}", bait.repeat(1024 * 1024 / bait.len()));
        let took = read(&text);
        assert!(took < Duration::from_secs(20), "{head:?} {bait:?}: {took:?}");
    }
}

#[test]
fn the_longest_file_is_read_in_time() {
    for bait in ["#", "```\n", "- **WHEN** a\n"] {
        let text = format!("{SPEC}{}", bait.repeat(4 * 1024 * 1024 / bait.len()));
        let took = read(&text);
        assert!(took < Duration::from_secs(60), "{bait:?}: {took:?}");
    }
}

#[test]
fn metadata_as_deep_as_it_is_long_is_refused_or_read() {
    for bait in ["[", "{", "- ", "a: ", "a:\n ", "&a ", "? "] {
        let text = bait.repeat(20_000);
        std::hint::black_box(parse::metadata(source(&text)));
    }
}
