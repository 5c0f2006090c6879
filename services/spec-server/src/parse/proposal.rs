//! A change's `proposal.md`.

use super::outline::Outline;
use super::text::{fold, strip_prefix_any_case, trim};
use crate::model::{Proposal, Source};

/// Reads a proposal.
pub fn proposal(source: Source) -> Proposal {
    let text = source.text.clone();
    let outline = Outline::of(&text);
    Proposal { why: outline.section("Why"), what_changes: outline.section("What Changes"), source }
}

/// The shortest and the longest title that is taken from a text, in characters.
const SHORT: usize = 15;
const LONG: usize = 100;

/// The title of the change `id`: the first heading of level 1 of its proposal, unless it is "Proposal" or the id. Else
/// the first sentence of `## Why`. Without both, the id with blanks instead of dashes.
pub fn title_of_change(id: &str, proposal: Option<&Proposal>) -> String {
    let words = id.replace(['-', '_'], " ");
    let heading = proposal.and_then(|proposal| {
        let outline = Outline::of(&proposal.source.text);
        let first = outline.headings().iter().find(|h| h.level == 1)?;
        let bare = ["Change:", "Proposal:", "Change Proposal:"];
        let title = bare.iter().find_map(|word| strip_prefix_any_case(first.title, word));
        let title = trim(title.unwrap_or(first.title)).to_owned();
        let generic = ["", "proposal", "change", "change proposal"].contains(&&*fold(&title));
        (!generic && title != id).then_some(title)
    });
    heading.or_else(|| first_sentence(&proposal?.why.as_ref()?.text)).unwrap_or(words)
}

/// The first sentence of a text, on one line, cut between words if it is long.
fn first_sentence(text: &str) -> Option<String> {
    let lines =
        text.lines().map(trim).skip_while(|line| line.is_empty() || line.starts_with(['#', '<']));
    let paragraph = lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |at| at + 1);
    let sentence = paragraph.get(..end)?.trim_start_matches(['-', '*', '>', ' ']);
    let length = sentence.chars().count();
    if length <= LONG {
        return (length >= SHORT).then(|| sentence.to_owned());
    }
    let cut: String = sentence.chars().take(LONG).collect();
    let (whole, _) = cut.rsplit_once(' ').unwrap_or((&cut, ""));
    Some(format!("{whole}…"))
}
