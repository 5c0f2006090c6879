//! Headings that are meant as requirements or scenarios, but that neither tool recognizes. The advice says what to
//! write.

use super::finding::{FindingsAt, Rule};
use crate::model::Source;
use crate::parse::{Heading, Outline, conflict, strip_prefix_any_case, trim};

/// A malformed heading.
pub(super) const HEADING: Rule = Rule::warning("heading-malformed").advice();

/// Both sides of a merge, which are read as if both were meant.
pub(super) const CONFLICT: Rule = Rule::warning("conflict-marker").advice();

/// Reports for each malformed heading of a spec or a delta how to write it, unless that was already reported, and the
/// first conflict of a merge.
pub(super) fn check(source: &Source, findings: &mut FindingsAt<'_>) {
    if let Some(line) = conflict(&source.text) {
        let message = "git could not merge this file; keep one side, and take the markers `<<<<<<<` to `>>>>>>>` away";
        findings.add(CONFLICT, line, message.to_owned());
    }
    let outline = Outline::of(&source.text);
    let mut inside = false;
    for heading in outline.headings() {
        let begins_requirement = strip_prefix_any_case(heading.title, "Requirement:").is_some();
        if heading.level <= 2 && !begins_requirement {
            inside = heading.level == 2 && heading.title.eq_ignore_ascii_case("Requirements");
        }
        let unnamed = || (inside && heading.level == 3).then(|| named(heading)).flatten();
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

/// The right form of a heading that does not say `Requirement` or `Scenario`.
fn named(heading: &Heading<'_>) -> Option<String> {
    let says = |word| strip_prefix_any_case(heading.title, word).is_some();
    let is_plain = !heading.title.is_empty() && !says("Requirement") && !says("Scenario");
    is_plain.then(|| format!("### Requirement: {}", heading.title))
}

/// The right form of a heading that is written differently.
fn right(heading: &Heading<'_>) -> Option<String> {
    for (level, word) in [(3_u8, "Requirement"), (4, "Scenario")] {
        let Some(rest) = strip_prefix_any_case(heading.title, word) else {
            continue;
        };
        let right_level = heading.level == level;
        let named = rest.strip_prefix(':');
        // Without its colon it may be prose, unless everything else is right. Any heading of level 4 is a scenario.
        let without =
            (level == 3 && right_level).then_some(rest).filter(|rest| rest.starts_with(' '));
        let name = trim(named.or(without)?);
        let fine = right_level && heading.spaced && named.is_some();
        return (!fine && !name.is_empty())
            .then(|| format!("{} {word}: {name}", "#".repeat(level.into())));
    }
    None
}
