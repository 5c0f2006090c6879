//! A change's `proposal.md`.

use super::outline::Outline;
use super::text::{strip_prefix_any_case, trim};
use crate::model::{Proposal, Source};

/// Reads a proposal.
pub fn proposal(source: Source) -> Proposal {
    let text = source.text.clone();
    let outline = Outline::of(&text);
    Proposal { why: outline.section("Why"), what_changes: outline.section("What Changes"), source }
}

/// The title of the change `id`: the first heading of level 1 of its proposal, without `Change:` before it. Without
/// one, the id with blanks instead of dashes.
pub fn title_of_change(id: &str, proposal: Option<&Proposal>) -> String {
    let heading = proposal.and_then(|proposal| {
        let outline = Outline::of(&proposal.source.text);
        let first = outline.headings().iter().find(|h| h.level == 1)?;
        let title = strip_prefix_any_case(first.title, "Change:").unwrap_or(first.title);
        Some(trim(title).to_owned()).filter(|title| !title.is_empty())
    });
    heading.unwrap_or_else(|| id.replace('-', " "))
}
