//! A capability's `spec.md`.

use std::collections::HashSet;

use super::block::{self, is_stray_scenario, requirement, stray_requirement};
use super::heading::{children, end_of_section};
use super::outline::{Heading, Outline};
use super::text::trim;
use crate::model::{Line, Oddity, Source, Spec, TextSection};

/// Reads the spec `id`. Every requirement counts, wherever its heading is, with any level from 2 to 4, and so does
/// every heading directly below `## Requirements`, which OpenSpec counts. Irregularities of the heading are recorded. A
/// block ends at the next heading of level 2 or 3, or at the next requirement. A line such as `# install` is more often
/// a command than a heading, so it does not end a block.
pub fn spec(id: &str, source: Source) -> Spec {
    let text = source.text.clone();
    let outline = Outline::of(&text);
    let headings = outline.headings();
    let title = headings.iter().find(|heading| heading.level == 1);
    let main = outline.find("Requirements");
    let level = main.map_or(2, |heading| heading.level);
    let purpose = outline.section("Purpose");
    let in_purpose = outline
        .find("Purpose")
        .map_or(0..0, |heading| heading.line..outline.end_of(heading.line, heading.level));
    let mut inside = false;
    let mut requirements = Vec::new();
    // The text before any heading.
    let first = headings.first().map_or(outline.end(), |first| first.line);
    let lead = trim(outline.text_of(1..first));
    let mut sections: Vec<TextSection> = Vec::new();
    if first > 1 && !lead.is_empty() {
        sections.push(TextSection { title: String::new(), line: 1, text: lead.to_owned() });
    }
    let counted = counted(&outline, main);
    for heading in headings {
        let named = stray_requirement(heading);
        let unnamed = counted.contains(&heading.line).then(|| block::name(heading.title));
        if let Some(name) = named.or(unnamed) {
            let end = end_of_block(&outline, heading, &counted);
            let mut read = requirement(&outline, name, heading.line..end);
            read.oddity = match heading.level {
                _ if named.is_none() => Some(Oddity::Unnamed),
                3 if inside => None,
                3 => Some(Oddity::Outside),
                level => Some(Oddity::Level(level)),
            };
            requirements.push(read);
            continue;
        }
        if (2..=level).contains(&heading.level) || heading.level == level {
            inside = heading.level == level && heading.title.eq_ignore_ascii_case("Requirements");
        }
        let is_title = title.is_some_and(|title| title.line == heading.line);
        if !in_purpose.contains(&heading.line) {
            sections.extend(text_section(&outline, heading, is_title, &counted));
        }
    }
    Spec {
        id: id.to_owned(),
        title: title
            .map(|heading| heading.title)
            .filter(|title| !title.is_empty())
            .unwrap_or(id)
            .to_owned(),
        purpose,
        requirements,
        sections,
        source,
    }
}

/// The lines of the headings directly below `## Requirements`, except for scenarios.
fn counted(outline: &Outline<'_>, section: Option<Heading<'_>>) -> HashSet<Line> {
    let below = section.into_iter().flat_map(|section| {
        children(outline, section.line.saturating_add(1)..end_of_section(outline, &section))
    });
    let is_named = |child: &Heading<'_>| !child.title.is_empty() && !is_stray_scenario(child);
    below.filter(is_named).map(|child| child.line).collect()
}

/// The end of a requirement's block or of a section's text.
fn end_of_block(outline: &Outline<'_>, heading: &Heading<'_>, counted: &HashSet<Line>) -> Line {
    let ends = |next: &&Heading<'_>| {
        (2..=3).contains(&next.level) && !is_stray_scenario(next)
            || stray_requirement(next).is_some()
            || counted.contains(&next.line)
    };
    let below = outline.headings_in(heading.line.saturating_add(1)..outline.end());
    let next = below.iter().find(ends);
    next.map_or(outline.end(), |next| next.line)
}

/// The text below a heading that does not begin a requirement, if there is any.
fn text_section(
    outline: &Outline<'_>,
    heading: &Heading<'_>,
    is_title: bool,
    counted: &HashSet<Line>,
) -> Option<TextSection> {
    let counts = match heading.level {
        1 => is_title,
        2 | 3 => !is_stray_scenario(heading),
        _ => false,
    };
    // Each text ends where the next one begins, so that no line is read many times.
    let end = counts.then(|| end_of_block(outline, heading, counted))?;
    let text = trim(outline.text_of(heading.line.saturating_add(1)..end));
    (!text.is_empty()).then(|| TextSection {
        title: heading.title.to_owned(),
        line: heading.line,
        text: text.to_owned(),
    })
}
