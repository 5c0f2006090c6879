//! The name of a chat, taken from the name of its file.

use std::path::Path;

use super::words::words;

/// The other person or the group: `WhatsApp Chat with Anna.txt` is Anna; `_chat.txt` is what its folder is called.
pub(super) fn of_file(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if stem == "_chat" {
        let folder = path.parent().and_then(Path::file_name);
        return folder
            .map_or_else(|| "WhatsApp".to_owned(), |folder| person(&folder.to_string_lossy()));
    }
    person(&stem)
}

fn person(stem: &str) -> String {
    let stem = without_copy(stem.trim());
    let name = known(stem).unwrap_or(stem).trim();
    if name.is_empty() { "WhatsApp".to_owned() } else { name.to_owned() }
}

/// The chat's name in a file name that WhatsApp writes, in any language.
fn known(stem: &str) -> Option<&str> {
    let names = &words().file_names;
    names.iter().find_map(|(before, after)| {
        stem.strip_prefix(before.as_str())?.strip_suffix(after.as_str())
    })
}

/// Whether WhatsApp names a file like this.
pub(in crate::import) fn is_known(path: &Path) -> bool {
    path.file_stem()
        .is_some_and(|stem| known(without_copy(stem.to_string_lossy().trim())).is_some())
}

/// Removes the ` (2)` of a second download.
fn without_copy(stem: &str) -> &str {
    let inner = stem.strip_suffix(')').and_then(|stem| stem.rsplit_once(" ("));
    match inner {
        Some((name, number))
            if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            name
        }
        _ => stem,
    }
}

/// Whether a text has the name in quotes, of any language: `Anna created group "Team"`.
pub(super) fn is_quoted(name: &str, text: &str) -> bool {
    let Some((before, after)) = text.split_once(name) else {
        return false;
    };
    let quotes = ['"', '“', '”', '„', '«', '»', '「', '」', '\''];
    let before = before.trim_end_matches(['\u{a0}', '\u{202f}']);
    let after = after.trim_start_matches(['\u{a0}', '\u{202f}']);
    before.ends_with(quotes) && after.starts_with(quotes)
}

/// Whether a sender is a number instead of a name.
pub(super) fn is_phone(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    name.starts_with('+')
        && digits >= 6
        && name
            .chars()
            .all(|c| c.is_ascii_digit() || "+-() \u{a0}\u{202f}\u{2010}\u{2011}".contains(c))
}
