//! Completion of names.

use mcp_proto::Completion;
use mcp_proto::completion::MAX_COMPLETIONS;

/// The names that begin with the typed text, then those that contain it, each in their order. Case does not matter.
pub fn completion<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Completion {
    let typed = typed.trim().to_lowercase();
    let (mut found, mut contain) = (Vec::new(), Vec::new());
    for name in names {
        match name.to_lowercase().find(&typed) {
            Some(0) => found.push(name.to_owned()),
            Some(_) => contain.push(name.to_owned()),
            None => {}
        }
    }
    found.append(&mut contain);
    let total = found.len();
    if total <= MAX_COMPLETIONS {
        return Completion::all(found);
    }
    found.truncate(MAX_COMPLETIONS);
    Completion::first(found, Some(total as u64))
}
