//! The valid ids of specs and changes. A valid id cannot lead out of its folder.

use super::error::{Kind, ReadError};
use super::layout::Dialect;
use crate::parse::fold;

/// The longest id in bytes. Some systems do not allow longer paths.
const MAX_BYTES: usize = 1024;

/// How many names a not-found error offers.
const NEAREST: usize = 3;

/// The nested folders that `id` names.
///
/// # Errors
/// [`ReadError::BadId`].
pub(super) fn parts(kind: Kind, id: &str, dialect: Dialect) -> Result<Vec<&str>, ReadError> {
    let deep = kind == Kind::Spec && dialect == Dialect::OpenSpec;
    let problem = if id.is_empty() {
        Some("it is empty")
    } else if id.len() > MAX_BYTES {
        Some("it is longer than 1024 bytes")
    } else if id.contains('\\') || id.chars().any(char::is_control) {
        Some("it has a backslash or a control character")
    } else if id.starts_with('/') {
        Some("it is an absolute path; ids are below the project")
    } else if !deep && id.contains('/') {
        Some("it has a /, and is the name of one folder here")
    } else if id.split('/').any(|part| matches!(part, "" | "." | "..")) {
        Some("each part between / must be the name of a folder, not empty, . or ..")
    } else {
        None
    };
    match problem {
        None => Ok(id.split('/').collect()),
        Some(problem) => Err(ReadError::BadId { kind, id: id.to_owned(), problem }),
    }
}

/// Whether a folder with this name can be (a part of) an id of this kind. Other folders are skipped in lists.
pub(super) fn counts(kind: Kind, name: &str, dialect: Dialect) -> bool {
    let reserved = match (kind, dialect) {
        (Kind::Spec, Dialect::SpecOxide) => name.starts_with('_'),
        (Kind::Change, Dialect::SpecOxide) => name == "_archive",
        (Kind::Change, Dialect::OpenSpec) => name == "archive",
        _ => false,
    };
    !reserved && !name.starts_with('.')
}

/// The known id that differs from `id` only in case.
pub(super) fn same_but_for_case<'k>(id: &str, known: &'k [String]) -> Option<&'k str> {
    let folded = fold(id);
    let same = known.iter().find(|known| fold(known) == folded);
    same.map(String::as_str)
}

/// The names most similar to `id`, at most three, the nearest first.
pub fn nearest(id: &str, names: impl IntoIterator<Item = String>) -> Vec<String> {
    /// Below this similarity two names have hardly a letter in common.
    const ALIKE: f64 = 0.4;
    /// Only this many characters are compared.
    const COMPARED: usize = 100;
    /// A shorter name is within many others by chance.
    const TELLING: usize = 3;
    let folded = |name: &str| fold(name).chars().take(COMPARED).collect::<String>();
    let wanted = folded(id);
    let mut near: Vec<(f64, String)> = names
        .into_iter()
        .map(|name| {
            let lower = folded(&name);
            let tells = wanted.len().min(lower.len()) >= TELLING;
            let within = tells && (lower.contains(&wanted) || wanted.contains(&lower));
            let alike = strsim::normalized_damerau_levenshtein(&wanted, &lower);
            (if within { alike.max(0.5) } else { alike }, name)
        })
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.dedup();
    near.into_iter().take(NEAREST).map(|(_, name)| name).collect()
}
