//! A list of tasks.

use super::text::{bullet, is_space, number, trim};
use crate::model::{Source, Task, Tasks};

/// Reads the tasks. Every line with a checkbox counts, as in OpenSpec, including nested ones and those in code blocks,
/// so that a stray ``` does not hide any.
pub fn tasks(source: Source) -> Tasks {
    let text = source.text.clone();
    let mut items = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let line_number = number(index);
        let Some((done, text)) = task(line) else {
            continue;
        };
        let (number, behind) = numbered(text);
        let (id, text) = if number.is_some() { (number, behind) } else { marked(text) };
        items.push(Task {
            number: number.map(str::to_owned),
            id: id.map(str::to_owned),
            text: text.to_owned(),
            done,
            line: line_number,
        });
    }
    Tasks { items, source }
}

/// Whether the task on `line` is ticked; `None` if the line has no checkbox.
pub fn is_task(line: &str) -> Option<bool> {
    task(line).map(|(done, _)| done)
}

/// Whether the checkbox is ticked, and the text after it.
fn task(line: &str) -> Option<(bool, &str)> {
    let (inside, behind) = boxed(line)?;
    Some((trim(inside).eq_ignore_ascii_case("x"), trim(behind)))
}

/// The content of the checkbox of `line` and the text after it. The line must have a bullet (`-`, `*`, `+`, `1.`, `1)`)
/// and a checkbox with at most one mark in it. Only x means done. Links such as `- [a](b)` and `- [1][c]` do not count.
fn boxed(line: &str) -> Option<(&str, &str)> {
    let rest = bullet(line.trim_start_matches(is_space))?;
    let rest = rest.trim_start_matches(is_space).strip_prefix('[')?;
    let (inside, behind) = rest.split_once(']')?;
    let mut marks = trim(inside).chars();
    let (first, more) = (marks.next(), marks.next());
    let link = behind.starts_with(['(', '[']) && (first.is_some() || inside.is_empty());
    (more.is_none() && !link).then_some((inside, behind))
}

/// Splits `line` into the part up to the `[` of its checkbox and the part from the `]` on.
pub(crate) fn box_of(line: &str) -> Option<(&str, &str)> {
    let (inside, behind) = boxed(line)?;
    let close = line.len().checked_sub(behind.len() + 1)?;
    let (head, tail) = line.split_at_checked(close)?;
    Some((head.strip_suffix(inside)?, tail))
}

/// The mark before a text, and the text after it: `3`, `3.`, `T001`, `TASK-12:`, `[P2]`, `**1.1**`.
fn marked(text: &str) -> (Option<&str>, &str) {
    let (head, tail) = text.split_once(is_space).unwrap_or((text, ""));
    let id = head.trim_matches(|c: char| !c.is_alphanumeric());
    let letters = id.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let digits = letters.strip_prefix('-').unwrap_or(letters);
    let digits = digits.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(digits);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    let is_short = id.len() <= LONGEST_MARK && id.len() - letters.len() <= 5;
    if is_number && is_short && !tail.is_empty() { (Some(id), trim(tail)) } else { (None, text) }
}

/// The longest mark before a task, in bytes.
const LONGEST_MARK: usize = 12;

/// The number before a text, with at least two parts such as `1.2` (`1.2a` too), and the text after it.
fn numbered(text: &str) -> (Option<&str>, &str) {
    let (head, tail) = text.split_once(is_space).unwrap_or((text, ""));
    let digits = head.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if digits.contains('.') && digits.split('.').all(is_number) {
        (Some(head), trim(tail))
    } else {
        (None, text)
    }
}
