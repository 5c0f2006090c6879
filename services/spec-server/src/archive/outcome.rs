//! What a change would leave: the name of its folder, a spec it makes, and what would be wrong with a spec.

use std::path::PathBuf;

use super::check::Finding;
use crate::model::{CapabilityDelta, Operation, Source};
use crate::parse::{self, Outline, is_day, trim};
use crate::project::Dialect;

/// The name of its folder in the archive.
pub(super) fn archived_id(id: &str, day: &str) -> String {
    let dated = id
        .split_at_checked(10)
        .is_some_and(|(head, rest)| is_day(head) && rest.starts_with('-'));
    match dated {
        true => id.to_owned(),
        false => format!("{day}-{id}"),
    }
}

pub(super) fn not_for_a_new_one(delta: &CapabilityDelta) -> impl Iterator<Item = Finding> {
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
        Some((Some(item.line), message))
    })
}

/// Whether the purpose is something to read: not in a comment, with none in it, and not code alone.
pub(super) fn is_prose(source: &Source, line: u32, text: &str) -> bool {
    let outline = Outline::of(&source.text);
    let above = outline.text_of(1..line);
    let commented = above
        .rsplit_once("<!--")
        .is_some_and(|(_, comment)| !comment.contains("-->"));
    let inner = Outline::of(text);
    let prose =
        (1..inner.end()).any(|line| !inner.is_code(line) && !trim(inner.line(line)).is_empty());
    !commented && !text.contains("<!--") && prose
}

/// What would be wrong with the spec that a change leaves, as far as it is an error in this kind of project.
pub(super) fn left_wrong(id: &str, text: &str, kind: Dialect) -> Vec<Finding> {
    let spec = parse::spec(
        id,
        Source {
            path: PathBuf::new(),
            text: text.into(),
            hash: [0; 32],
        },
    );
    let mut found = Vec::new();
    let purpose = spec.purpose.as_ref();
    if purpose.is_none_or(|purpose| purpose.text.is_empty()) {
        found.push((
            None,
            "the spec would have no purpose; write one under ## Purpose".to_owned(),
        ));
    }
    if spec.requirements.is_empty() {
        let way_out = match kind {
            Dialect::OpenSpec => {
                "; keep one, or write `retire_capabilities: true` into the .openspec.yaml of the change to \
                                  remove the spec with its last requirement"
            }
            Dialect::SpecOxide => "; keep one, or remove the spec by hand",
        };
        found.push((None, format!("the spec would have no requirement{way_out}")));
    }
    for requirement in &spec.requirements {
        let name = &requirement.name;
        if requirement.description.is_empty() {
            found.push((None, format!("requirement {name:?} would have no text")));
        }
        let scenarios = requirement
            .scenarios
            .iter()
            .any(|scenario| !scenario.text.is_empty());
        if kind == Dialect::OpenSpec && !scenarios {
            found.push((None, format!("requirement {name:?} would have no scenario")));
        }
    }
    found
}
