//! Headings by OpenSpec's rules for specs and deltas, from the parser's [`Outline`].

use std::ops::Range;

use crate::model::Line;
use crate::parse::{Heading, Outline, bare_name, trim_start};

/// The headings in some lines that have a blank after their `#`. `###Requirement: x` is a requirement in two of three
/// places, but it never ends the text above it.
pub(super) fn headings<'o, 't>(
    outline: &'o Outline<'t>,
    lines: Range<Line>,
) -> impl Iterator<Item = &'o Heading<'t>> + Clone {
    let headings = outline.headings_in(lines).iter();
    headings.filter(|heading| heading.spaced)
}

/// The lines below a heading, up to the next heading of its level or a higher one.
pub(super) fn below(outline: &Outline<'_>, heading: &Heading<'_>) -> Range<Line> {
    let start = heading.line.saturating_add(1);
    let end = headings(outline, start..outline.end()).find(|next| next.level <= heading.level);
    start..end.map_or(outline.end(), |next| next.line)
}

/// The direct children of a heading, of any level: those that are not below another child.
pub(super) fn children<'t>(outline: &Outline<'t>, lines: Range<Line>) -> Vec<Heading<'t>> {
    let mut current = u8::MAX;
    let direct = |heading: &&Heading<'t>| {
        let direct = heading.level <= current;
        if direct {
            current = heading.level;
        }
        direct
    };
    headings(outline, lines)
        .filter(|heading| is_titled(outline, heading))
        .filter(direct)
        .copied()
        .collect()
}

/// Whether a heading has more than its `#` and one blank. Otherwise it ends the text above it and begins nothing.
pub(super) fn is_titled(outline: &Outline<'_>, heading: &Heading<'_>) -> bool {
    let line = outline.line(heading.line).trim_start_matches('#');
    !heading.title.is_empty() || line.chars().count() > 1
}

/// The name in `### Requirement: …`, without a closing run of `#`. There must be text after the colon. If it is blank,
/// the name is empty.
pub(super) fn requirement_name<'t>(
    outline: &Outline<'t>,
    heading: &Heading<'t>,
) -> Option<&'t str> {
    let line = outline.line(heading.line).strip_prefix("###")?;
    let (word, behind) = trim_start(line).split_once(':')?;
    let named = word.eq_ignore_ascii_case("Requirement");
    (named && !behind.is_empty()).then(|| bare_name(trim_start(behind)))
}

/// Whether `title` is `ADDED Requirements` or one of its three siblings, with any blanks between the words.
pub(super) fn is_delta_title(title: &str) -> bool {
    let mut words = title.split(crate::parse::is_space).filter(|word| !word.is_empty());
    let operation = words.next().is_some_and(|word| {
        let operations = ["ADDED", "MODIFIED", "REMOVED", "RENAMED"];
        operations.iter().any(|name| word.eq_ignore_ascii_case(name))
    });
    let requirements = words.next().is_some_and(|word| word.eq_ignore_ascii_case("Requirements"));
    operation && requirements && words.next().is_none()
}
