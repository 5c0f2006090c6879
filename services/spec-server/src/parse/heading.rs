//! Headings as OpenSpec counts them: what is directly below a section.

use std::ops::Range;

use super::block;
use super::outline::{Heading, Outline};
use super::text::trim_start;
use crate::model::Line;

/// The headings in some lines that have a blank after their `#`. `###Requirement: x` is a requirement in two of three
/// places, but it never ends the text above it.
pub(crate) fn headings<'o, 't>(
    outline: &'o Outline<'t>,
    lines: Range<Line>,
) -> impl Iterator<Item = &'o Heading<'t>> + Clone {
    let headings = outline.headings_in(lines).iter();
    headings.filter(|heading| heading.spaced)
}

/// The lines below a heading, up to the next heading of its level or a higher one.
pub(crate) fn below(outline: &Outline<'_>, heading: &Heading<'_>) -> Range<Line> {
    let start = heading.line.saturating_add(1);
    let end = headings(outline, start..outline.end()).find(|next| next.level <= heading.level);
    start..end.map_or(outline.end(), |next| next.line)
}

/// The direct children of a heading, of any level: those that are not below another child.
pub(crate) fn children<'t>(outline: &Outline<'t>, lines: Range<Line>) -> Vec<Heading<'t>> {
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
pub(crate) fn is_titled(outline: &Outline<'_>, heading: &Heading<'_>) -> bool {
    let line = outline.line(heading.line).trim_start_matches('#');
    !heading.title.is_empty() || line.chars().count() > 1
}

/// The end of a section: the next heading of its level or a higher one that has a title.
pub(crate) fn end_of_section(outline: &Outline<'_>, section: &Heading<'_>) -> Line {
    let mut after = headings(outline, section.line.saturating_add(1)..outline.end());
    let next = after.find(|next| next.level <= section.level && is_titled(outline, next));
    next.map_or(outline.end(), |next| next.line)
}

/// The name in `### Requirement: …`, without a closing run of `#`. There must be text after the colon. If it is blank,
/// the name is empty.
pub(crate) fn named_requirement<'t>(
    outline: &Outline<'t>,
    heading: &Heading<'t>,
) -> Option<&'t str> {
    let line = outline.line(heading.line).strip_prefix("###")?;
    let (word, behind) = trim_start(line).split_once(':')?;
    let named = word.eq_ignore_ascii_case("Requirement");
    (named && !behind.is_empty()).then(|| block::name(trim_start(behind)))
}
