//! The grammar of `_meta` keys, and of the identifiers of extensions, which are such keys (2025-11-25, "`_meta`";
//! 2026-07-28, "Extension negotiation").

/// Whether a text may be a key of `_meta`: an optional prefix of labels separated by dots and ended by a slash, then a
/// name. Labels begin with a letter, end with a letter or a digit and have hyphens between; names begin and end with a
/// letter or a digit, may have `-`, `_` and `.` between, and may be empty.
pub(crate) fn is_meta_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    prefix.is_none_or(|prefix| prefix.split('.').all(is_label)) && is_name(name)
}

/// Whether a text may name an extension: it must be a `_meta` key with a prefix and a name.
pub(crate) fn is_extension_id(id: &str) -> bool {
    let named = id.split_once('/').is_some_and(|(_, name)| !name.is_empty());
    named && is_meta_key(id)
}

fn is_label(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_name(name: &str) -> bool {
    let is_edge = |edge: char| edge.is_ascii_alphanumeric();
    name.is_empty()
        || (name.starts_with(is_edge)
            && name.ends_with(is_edge)
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)))
}
