//! Code that rustfmt leaves as it is, because a string literal in it is longer than a line.
//!
//! Each such literal is shortened until its line fits. What rustfmt then changes, it would have changed before.

use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// The longest line of code, in characters, as in `rustfmt.toml`.
const WIDTH: usize = 100;

/// The first line that rustfmt would format but for a literal. `root` has its configuration.
///
/// # Errors
/// When rustfmt cannot be run, or does not understand the text.
pub(super) fn check(path: &str, text: &str, root: &Path) -> Result<Option<String>, String> {
    let Some(short) = shortened(text) else {
        return Ok(None);
    };
    let formatted = rustfmt(&short, root).map_err(|error| format!("{path}: rustfmt: {error}"))?;
    let mut pairs = (1..).zip(short.lines().zip(formatted.lines()));
    let changed = pairs.find(|(_, (before, after))| before != after);
    Ok(changed
        .map(|(line, _)| format!("{path}:{line}: rustfmt leaves this as it is: split the literal")))
}

/// The text with literals that fit their lines. `None` if it has no line that is too long.
fn shortened(text: &str) -> Option<String> {
    let is_long = |line: &str| line.chars().count() > WIDTH;
    if !text.lines().any(is_long) {
        return None;
    }
    let literals = literals(text);
    let mut short = String::with_capacity(text.len());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let over = line.trim_end().chars().count().saturating_sub(WIDTH);
        let inside = literals.iter().filter(|it| start <= it.start && it.end < end);
        let longest = inside.max_by_key(|it| it.len());
        let parts = longest.and_then(|it| {
            let length = text.get(it.clone())?.chars().count();
            let kept = length.checked_sub(over).filter(|kept| *kept > 0 && over > 0)?;
            Some((text.get(start..it.start)?, "x".repeat(kept), text.get(it.end..end)?))
        });
        match parts {
            Some((before, literal, after)) => short.extend([before, &literal, after]),
            None => short.push_str(line),
        }
        start = end;
    }
    (short != text).then_some(short)
}

/// The string literals, without raw ones: what is between their quotes.
fn literals(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut in_word = false;
    while let Some((rest, first)) =
        text.get(at..).and_then(|rest| Some((rest, rest.chars().next()?)))
    {
        let raw = if in_word { None } else { raw_string(rest) };
        let length = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2)
        } else if raw.is_some() {
            raw
        } else if first == '\'' {
            Some(character(rest).unwrap_or(1))
        } else if first == '"' {
            let end = string_end(rest);
            found.extend(end.map(|end| at + 1..at + end));
            end.map(|end| end + 1)
        } else {
            Some(first.len_utf8())
        };
        in_word = first.is_alphanumeric() || first == '_';
        at += length.unwrap_or(rest.len());
    }
    found
}

/// The length of the raw string that a text begins with.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.trim_start_matches(['b', 'c']).strip_prefix('r')?;
    let quoted = after.trim_start_matches('#');
    let end = format!("\"{}", "#".repeat(after.len() - quoted.len()));
    let inside = quoted.strip_prefix('"')?;
    Some(text.len() - inside.len() + inside.find(&end)? + end.len())
}

/// The length of the character literal that a text begins with. A lifetime is not one.
fn character(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        return Some(3 + text.get(3..)?.find('\'')? + 1);
    }
    let length = 1 + first.len_utf8();
    text.get(length..)?.starts_with('\'').then_some(length + 1)
}

/// Where the string literal ends that a text begins with.
fn string_end(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some(at),
            '\\' => drop(characters.next()),
            _ => {}
        }
    }
    None
}

fn rustfmt(text: &str, root: &Path) -> std::io::Result<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--config-path"])
        .arg(root.join("rustfmt.toml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdin = rustfmt.stdin.take();
    let done = thread::scope(|scope| {
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
        rustfmt.wait_with_output()
    })?;
    let said = String::from_utf8_lossy(&done.stderr);
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(std::io::Error::other(said.lines().next().unwrap_or_default().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_told_from_what_only_looks_like_them() {
        let text = r###"// "a"
/* "b" */ fn f<'a>(x: &'a str) { g('"', '\'', "c\"d", r#""e""#, b"f", var, r"\", '\u{1}', "é") }"###;
        let found: Vec<_> = literals(text).into_iter().map(|it| &text[it]).collect();
        assert_eq!(found, ["c\\\"d", "f", "é"]);
    }

    #[test]
    fn code_that_rustfmt_gave_up_on_is_found() {
        let root = xtask::root();
        let long = "word ".repeat(24);
        let good =
            format!("//! x\nfn f() {{\n    g(\n        1,\n        \"{long}\",\n    );\n}}\n");
        assert_eq!(check("a.rs", &good, &root).expect("rustfmt runs"), None);
        let bad = format!("//! x\nfn f() {{\n    g(1,   \"{long}\");\n}}\n");
        assert_eq!(
            check("a.rs", &bad, &root).expect("rustfmt runs").expect("a finding"),
            "a.rs:3: rustfmt leaves this as it is: split the literal"
        );
        let fine = format!("//! x\nfn f() {{\n    g(\"{long}\");\n}}\n");
        assert_eq!(check("a.rs", &fine, &root).expect("rustfmt runs"), None);
    }
}
