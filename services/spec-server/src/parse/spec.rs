//! A capability's `spec.md`.

use super::block::{requirement, requirement_name};
use super::outline::Outline;
use crate::model::{Source, Spec};

/// Reads the spec `id`. Requirements are those under `## Requirements`, of every section of that name; a block ends at the
/// next heading of level 2 or 3. A line such as `# install` is more often a command than a heading: it ends neither.
#[must_use]
pub fn spec(id: &str, source: Source) -> Spec {
    let text = source.text.clone();
    let outline = Outline::of(&text);
    let title = outline.headings().iter().find(|heading| heading.level == 1);
    let mut requirements = Vec::new();
    let main = outline.find("Requirements");
    let level = main.map_or(2, |heading| heading.level);
    let mut inside = false;
    for (index, heading) in outline.headings().iter().enumerate() {
        if (2..=level).contains(&heading.level) || heading.level == level {
            inside = heading.level == level && heading.title.eq_ignore_ascii_case("Requirements");
        } else if inside && let Some(name) = requirement_name(heading) {
            let mut below = outline.headings().iter().skip(index + 1);
            let next = below.find(|next| (2..=3).contains(&next.level));
            let end = next.map_or(outline.end(), |next| next.line);
            requirements.push(requirement(&outline, name, heading.line..end));
        }
    }
    Spec {
        id: id.to_owned(),
        title: title
            .map(|heading| heading.title)
            .filter(|title| !title.is_empty())
            .unwrap_or(id)
            .to_owned(),
        purpose: outline.section("Purpose"),
        requirements_line: main.map(|heading| heading.line),
        requirements,
        source,
    }
}
