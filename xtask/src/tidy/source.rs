//! Rules for one file: it states its purpose, is short and finished, and contains no paths of a developer's machine.

use std::ops::RangeInclusive;

/// The maximum number of lines of a source file.
const LINES: usize = 500;

/// The maximum size of a file in bytes. A larger file is a dump or an archive that was committed by mistake.
const BYTES: u64 = 1 << 20;

/// The maximum length of a comment line, in characters. rustfmt limits lines of code, but not of comments.
const COLUMNS: usize = 120;

/// Words that mark unfinished work, split so that this file does not contain them.
const UNFINISHED: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Prefixes of paths on a developer's machine, split for the same reason.
const MACHINE_PATHS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("C:", "\\"),
];

/// The error codes that stay free, below −32000: the sketch of the extension for events of MCP had the first ones, the
/// proposal (SEP-3415) has the others.
const FREE_CODES: [RangeInclusive<u16>; 2] = [11..=15, 23..=27];

/// Prefixes of the lines that mark merge conflicts.
const UNMERGED: [&str; 2] = ["<<<<<<< ", ">>>>>>> "];

/// The file types that are searched for these words. Lock files and recordings are data.
const PROSE_AND_CODE: [&str; 8] = [".rs", ".md", ".toml", ".mjs", ".py", ".js", ".html", ".sh"];

/// The findings in the file at `path`.
pub(super) fn check(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if path.ends_with(".rs") {
        if !text.starts_with("//!") {
            findings.push(format!("{path}: does not open with //! and what it is for"));
        }
        let lines = text.lines().count();
        if lines > LINES {
            findings.push(format!("{path}: {lines} lines, more than {LINES}"));
        }
        for (number, line) in (1..).zip(text.lines()) {
            if is_long_comment(line) {
                findings.push(format!("{path}:{number}: more than {COLUMNS} columns"));
            }
            // The conformance runner names codes of others.
            if !path.starts_with("conformance/") && has_free_code(line) {
                findings.push(format!("{path}:{number}: an error code that stays free"));
            }
        }
    }
    if PROSE_AND_CODE.iter().any(|end| path.ends_with(end)) {
        for (number, line) in (1..).zip(text.lines()) {
            for word in UNFINISHED.iter().filter(|word| has_word(line, word)) {
                findings.push(format!("{path}:{number}: {word}"));
            }
            if UNMERGED.iter().any(|start| line.starts_with(start)) {
                findings.push(format!("{path}:{number}: left by a merge"));
            }
            for start in MACHINE_PATHS.iter().filter(|start| has_path(line, start)) {
                findings.push(format!("{path}:{number}: a path of one machine, {start}…"));
            }
        }
    }
    findings
}

/// The finding about a file of `bytes` bytes, if it is too large.
pub(super) fn size(path: &str, bytes: u64) -> Option<String> {
    (bytes > BYTES).then(|| format!("{path}: {bytes} bytes, more than {BYTES}"))
}

/// Whether the line is a comment that should be wrapped. Table rows and JSON examples cannot be wrapped.
fn is_long_comment(line: &str) -> bool {
    let line = line.trim_end();
    let Some(comment) = line.trim_start().strip_prefix("//") else {
        return false;
    };
    let text = comment.trim_start_matches(['/', '!', ' ']);
    line.chars().count() > COLUMNS && !text.starts_with(['|', '{'])
}

fn has_free_code(line: &str) -> bool {
    let mut rests = line.split("-32").skip(1).map(|rest| rest.trim_start_matches('_'));
    rests.any(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let code =
            rest.get(..end).filter(|code| code.len() == 3).and_then(|code| code.parse().ok());
        code.is_some_and(|code| FREE_CODES.iter().any(|free| free.contains(&code)))
    })
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
}

/// Whether the line contains a path that begins with `start`. Matches inside a longer path or a URL do not count.
fn has_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line.get(..at).and_then(|head| head.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || "._-~}/".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_that_was_not_finished_is_found() {
        let text = format!("a\n{0}HEAD\nb\n{1}theirs\n", UNMERGED[0], UNMERGED[1]);
        assert_eq!(check("a.md", &text).len(), 2);
        assert!(check("a.md", "a\n=======\nb <<<<<<< c\n").is_empty());
    }

    #[test]
    fn long_comments_are_found() {
        let long = "word ".repeat(30);
        let row = format!("//! x\n//! | {long} |\nlet text = \"{long}\";\n");
        assert!(check("a.rs", &row).is_empty());
        assert_eq!(check("a.rs", &format!("//! x\n    /// {long}\n")).len(), 1);
    }

    #[test]
    fn a_good_file_has_no_findings() {
        assert!(check("a.rs", "//! What it is for.\nfn main() {}\n").is_empty());
        assert!(check("a.rs", &format!("//! x\n{}", "\n".repeat(LINES - 1))).is_empty());
        assert!(
            check("a.md", "A mastodon, src/home/x, https://host/work/x and ../work/y").is_empty()
        );
    }

    #[test]
    fn each_rule_can_fail() {
        assert_eq!(check("a.rs", "fn main() {}").len(), 1);
        assert_eq!(check("a.rs", "// what\n//! late").len(), 1);
        assert_eq!(check("a.rs", &format!("//! x\n{}", "\n".repeat(LINES))).len(), 1);
        for (code, found) in
            [("011", 1), ("_015", 1), ("023", 1), ("027)", 1), ("010", 0), ("022", 0), ("0110", 0)]
        {
            assert_eq!(
                check("a.rs", &format!("//! x\nlet code = -32{code};\n")).len(),
                found,
                "{code}"
            );
        }
        assert_eq!(size("core", BYTES), None);
        assert!(size("core", BYTES + 1).is_some());
        for word in UNFINISHED {
            assert_eq!(check("a.md", &format!("fine\n{word}: later")), [format!("a.md:2: {word}")]);
        }
        for start in MACHINE_PATHS {
            assert_eq!(check("a.toml", &format!("x = \"{start}x\"")).len(), 1, "{start}");
        }
    }

    #[test]
    fn data_is_not_read_for_words() {
        assert!(check("transcript.jsonl", MACHINE_PATHS[0]).is_empty());
    }
}
