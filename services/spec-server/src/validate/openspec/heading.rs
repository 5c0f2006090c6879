//! Headings by OpenSpec's rules for specs and deltas, from the parser's [`Outline`].

use crate::parse::{Heading, Outline, bare_name, trim_start};
pub(super) use crate::parse::{below, children, headings, is_titled};

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
