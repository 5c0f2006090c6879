//! One `### Requirement:` block with its scenarios.

use std::ops::Range;

use super::clauses;
use super::outline::{Heading, Outline};
use super::text::{is_space, strip_prefix_any_case, trim};
use crate::model::{Line, Requirement, Scenario};

/// The name in a heading that begins a requirement, `None` for any other: `### Requirement: Name`, in upper or lower
/// case, the blank after `###` optional, without a closing run of `#`. A heading without a name does not begin a
/// requirement: the text below it belongs to the requirement above.
pub fn requirement_name<'t>(heading: &Heading<'t>) -> Option<&'t str> {
    let title = (heading.level == 3).then_some(heading.title)?;
    let named = trim(strip_prefix_any_case(title, "Requirement:")?);
    (!named.is_empty()).then(|| name(named))
}

/// The name in a heading of level 4: the text after `Scenario:`, in upper or lower case, or the whole title; without a
/// closing run of `#`. `None` for a heading of another level.
pub fn scenario_name<'t>(heading: &Heading<'t>) -> Option<&'t str> {
    let title = (heading.level == 4).then(|| name(heading.title))?;
    Some(trim(strip_prefix_any_case(title, "Scenario:").unwrap_or(title)))
}

/// The name in a heading of level 2 to 4 that is meant to begin a requirement, by the rules that [`requirement_name`]
/// applies at level 3.
pub(super) fn stray_requirement<'t>(heading: &Heading<'t>) -> Option<&'t str> {
    let level = 3;
    (2..=4)
        .contains(&heading.level)
        .then_some(Heading { level, ..*heading })
        .and_then(|heading| requirement_name(&heading))
}

/// Whether a heading of a level other than 4 is meant to begin a scenario.
pub(super) fn is_stray_scenario(heading: &Heading<'_>) -> bool {
    matches!(heading.level, 3 | 5) && strip_prefix_any_case(heading.title, "Scenario:").is_some()
}

/// A name without a closing run of `#`. The run must follow a blank or a tab, so that `C#` keeps its `#`.
pub(crate) fn name(title: &str) -> &str {
    let blank = [' ', '\t'];
    let open = title.trim_end_matches(blank);
    let head = open.trim_end_matches('#');
    if head.len() < open.len() && head.ends_with(blank) { trim(head) } else { trim(title) }
}

/// The requirement whose block is `lines`. The first line is its heading.
pub(super) fn requirement(outline: &Outline<'_>, name: &str, lines: Range<Line>) -> Requirement {
    let body = lines.start.saturating_add(1)..lines.end;
    let headings = outline.headings_in(body.clone());
    let prose_end = headings.first().map_or(lines.end, |heading| heading.line);
    let scenarios = headings.iter().enumerate().filter_map(|(index, heading)| {
        let stray = is_stray_scenario(heading).then_some(Heading { level: 4, ..*heading });
        let name = scenario_name(&stray.unwrap_or(*heading))?;
        let mut below = headings.iter().skip(index + 1);
        let next = below.find(|next| next.level <= 4 || is_stray_scenario(next));
        let end = next.map_or(lines.end, |next| next.line);
        Some(scenario(outline, name, heading.line..end))
    });
    Requirement {
        name: name.to_owned(),
        line: lines.start,
        description: description(outline, body.start..prose_end),
        text: outline.text_of(lines.clone()).trim_end_matches(is_space).to_owned(),
        scenarios: scenarios.collect(),
        oddity: None,
    }
}

fn scenario(outline: &Outline<'_>, name: &str, lines: Range<Line>) -> Scenario {
    let body = lines.start.saturating_add(1)..lines.end;
    let clauses = clauses::read(outline, body.clone());
    Scenario {
        name: name.to_owned(),
        line: lines.start,
        given: clauses.given,
        when: clauses.when,
        then: clauses.then,
        text: trim(outline.text_of(body)).to_owned(),
    }
}

/// The prose in `lines`, joined with one space: without code, and without `**Key**: value` lines unless there is
/// nothing else.
pub(crate) fn description(outline: &Outline<'_>, lines: Range<Line>) -> String {
    let prose = lines
        .filter(|line| !outline.is_code(*line))
        .map(|line| trim(outline.line(line)))
        .filter(|line| !line.is_empty());
    let (keyed, plain): (Vec<_>, Vec<_>) = prose.partition(|line| is_keyed(line));
    if plain.is_empty() { keyed.join(" ") } else { plain.join(" ") }
}

/// Whether a line is like `**Priority**: high`.
fn is_keyed(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("**") else {
        return false;
    };
    let key = rest.split('*').next().unwrap_or_default();
    !key.is_empty() && rest.strip_prefix(key).is_some_and(|r| r.starts_with("**:"))
}
