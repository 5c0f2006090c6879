//! The code of a file: its lines without blank ones, comments and tests.

/// The lines without items that are for tests alone.
pub(super) fn without_tests(text: &str) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !line.trim_start().starts_with("#[cfg(test)]") {
            kept.push(line);
            continue;
        }
        // The item ends with its first line, or with a brace below the attribute.
        let depth = line.len() - line.trim_start().len();
        let mut rest = lines.by_ref().skip_while(|line| line.trim_start().starts_with("#["));
        if rest.next().is_some_and(|first| !first.trim_end().ends_with([';', '}'])) {
            rest.find(|line| line.trim_start().starts_with('}') && line.find('}') == Some(depth));
        }
    }
    kept
}

/// The lines of code, without tests.
pub(super) fn lines(text: &str) -> usize {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    without_tests(text).into_iter().filter(is_code).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_are_not_counted() {
        let text = "\
//! What it is for.

fn one() {
    // Why.
    two();
}

#[cfg(test)]
#[path = \"elsewhere.rs\"]
mod elsewhere;
#[cfg(test)]
use std::fmt;

impl Thing {
    #[cfg(test)]
    fn only(&self) {
        if true {
        }
    }

    fn three() {}
}

#[cfg(test)]
mod tests {
    fn four() {
    }
}

static LAST: u8 = 1;
";
        assert_eq!(lines(text), 7);
        assert!(without_tests(text).contains(&"static LAST: u8 = 1;"));
        assert!(!without_tests(text).iter().any(|line| line.contains("four")));
    }
}
