//! The results of a change: the name of its archive folder, and the spec that it creates.

use super::check::Remark;
use crate::model::{CapabilityDelta, Operation, Source};
use crate::parse::{Outline, is_day, trim};

/// The name of its folder in the archive.
pub(super) fn archived_id(id: &str, day: &str) -> String {
    let dated =
        id.split_at_checked(10).is_some_and(|(head, rest)| is_day(head) && rest.starts_with('-'));
    if dated { id.to_owned() } else { format!("{day}-{id}") }
}

pub(super) fn not_for_a_new_one(delta: &CapabilityDelta) -> impl Iterator<Item = Remark> {
    delta.operations.iter().filter_map(|item| {
        let message = match item.operation {
            Operation::Modified | Operation::Renamed => {
                format!(
                    "there is no spec {:?} yet, so that {:?} can only be ADDED",
                    delta.capability, item.requirement.name
                )
            }
            Operation::Added | Operation::Removed => return None,
        };
        Some((Some(item.line()), message))
    })
}

/// Whether the purpose is readable prose: not in a comment, without a comment, and not only code.
pub(super) fn is_prose(source: &Source, line: u32, text: &str) -> bool {
    let outline = Outline::of(&source.text);
    let above = outline.text_of(1..line);
    let commented = above.rsplit_once("<!--").is_some_and(|(_, comment)| !comment.contains("-->"));
    let inner = Outline::of(text);
    let prose =
        (1..inner.end()).any(|line| !inner.is_code(line) && !trim(inner.line(line)).is_empty());
    !commented && !text.contains("<!--") && prose
}
