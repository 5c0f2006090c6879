//! A change's `tasks.md`.

use super::block;
use super::outline::Outline;
use super::text::{is_space, number, trim};
use crate::model::{Source, Task, Tasks};

/// Reads the tasks: every line with a box, as OpenSpec counts them, nested ones and those in code blocks too, so that
/// none is lost to a stray ```.
#[must_use]
pub fn tasks(source: Source) -> Tasks {
    let text = source.text.clone();
    let outline = Outline::of(&text);
    let mut groups = outline.headings().iter().filter(|h| h.level == 2);
    let mut next = groups.next();
    let mut group = None;
    let mut items = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        let line_number = number(index);
        while let Some(heading) = next.filter(|heading| heading.line <= line_number) {
            group = Some(block::name(heading.title).to_owned());
            next = groups.next();
        }
        let Some((done, text)) = task(line) else {
            continue;
        };
        let (number, text) = numbered(text);
        items.push(Task {
            number: number.map(str::to_owned),
            text: text.to_owned(),
            done,
            line: line_number,
            group: group.clone(),
        });
    }
    Tasks { items, source }
}

/// Whether `line` has a box, and if so whether it is ticked.
#[must_use]
pub fn is_task(line: &str) -> Option<bool> {
    task(line).map(|(done, _)| done)
}

/// Whether the box is ticked, and the text behind it.
fn task(line: &str) -> Option<(bool, &str)> {
    let (inside, behind) = boxed(line)?;
    Some((trim(inside).eq_ignore_ascii_case("x"), trim(behind)))
}

/// What is in the box of `line` and what is behind it: a bullet (`-`, `*`, `+`, `1.`, `1)`), a box with at most one
/// mark in it, of which x alone says done, and no link: `- [a](b)` and `- [1][c]` are none.
fn boxed(line: &str) -> Option<(&str, &str)> {
    let rest = bullet(line.trim_start_matches(is_space))?;
    let rest = rest.trim_start_matches(is_space).strip_prefix('[')?;
    let (inside, behind) = rest.split_once(']')?;
    let mut marks = trim(inside).chars();
    let (first, more) = (marks.next(), marks.next());
    let link = behind.starts_with(['(', '[']) && (first.is_some() || inside.is_empty());
    (more.is_none() && !link).then_some((inside, behind))
}

/// `line` up to and with the `[` of its box, and from the `]` on.
pub(crate) fn box_of(line: &str) -> Option<(&str, &str)> {
    let (inside, behind) = boxed(line)?;
    let close = line.len().checked_sub(behind.len() + 1)?;
    let (head, tail) = line.split_at_checked(close)?;
    Some((head.strip_suffix(inside)?, tail))
}

/// What follows the mark of a list's item.
pub(crate) fn bullet(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix(['-', '*', '+']) {
        return Some(rest);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - rest.len();
    ((1..=9).contains(&digits))
        .then(|| rest.strip_prefix(['.', ')']))
        .flatten()
}

/// The number before a text, at least two parts such as `1.2` (`1.2a` too), and the text behind it.
fn numbered(text: &str) -> (Option<&str>, &str) {
    let (head, tail) = text.split_once(is_space).unwrap_or((text, ""));
    let digits = head.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match digits.contains('.') && digits.split('.').all(is_number) {
        true => (Some(head), trim(tail)),
        false => (None, text),
    }
}
