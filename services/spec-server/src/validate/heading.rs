//! Headings that are meant as requirements or scenarios and written as neither tool reads them: advice on what to
//! write.

use super::finding::{FindingsAt, Rule};
use crate::model::Source;
use crate::parse::{Heading, Outline, strip_prefix_any_case, trim};

/// Such a heading.
pub(super) const HEADING: Rule = Rule::warning("heading-malformed").advice();

/// Reports for each wrong heading of a spec or a delta what it should be, unless that was reported already.
pub(super) fn check(source: &Source, findings: &mut FindingsAt<'_>) {
    let outline = Outline::of(&source.text);
    let mut inside = false;
    for heading in outline.headings() {
        let begins_requirement = strip_prefix_any_case(heading.title, "Requirement:").is_some();
        if heading.level <= 2 && !begins_requirement {
            inside = heading.level == 2 && heading.title.eq_ignore_ascii_case("Requirements");
        }
        let unnamed = || {
            (inside && heading.level == 3)
                .then(|| named(heading))
                .flatten()
        };
        let Some(right) = right(heading).or_else(unnamed) else {
            continue;
        };
        let written = trim(outline.line(heading.line));
        let message = format!("`{written}` is malformed; write `{right}`");
        if !findings.has(heading.line, &right) {
            findings.add(HEADING, heading.line, message);
        }
    }
}

/// How a heading should be written that says neither what it begins nor anything of another kind.
fn named(heading: &Heading<'_>) -> Option<String> {
    let says = |word| strip_prefix_any_case(heading.title, word).is_some();
    let is_plain = !heading.title.is_empty() && !says("Requirement") && !says("Scenario");
    is_plain.then(|| format!("### Requirement: {}", heading.title))
}

/// How a heading should be written, if it is written otherwise.
fn right(heading: &Heading<'_>) -> Option<String> {
    for (level, word) in [(3_u8, "Requirement"), (4, "Scenario")] {
        let Some(rest) = strip_prefix_any_case(heading.title, word) else {
            continue;
        };
        let right_level = heading.level == level;
        let named = rest.strip_prefix(':');
        // Without its colon it may be prose, unless all else is right; any heading of level 4 is a scenario.
        let without = (level == 3 && right_level)
            .then_some(rest)
            .filter(|rest| rest.starts_with(' '));
        let name = trim(named.or(without)?);
        let fine = right_level && heading.spaced && named.is_some();
        return (!fine && !name.is_empty())
            .then(|| format!("{} {word}: {name}", "#".repeat(level.into())));
    }
    None
}
