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
    let name = known(stem).map_or(stem, |(name, _)| name).trim();
    if name.is_empty() { "WhatsApp".to_owned() } else { name.to_owned() }
}

/// The chat's name in a file name that WhatsApp writes, in any language, and the language.
fn known(stem: &str) -> Option<(&str, &'static str)> {
    // Some systems and some tools write dashes between the words.
    let names = &words().file_names;
    names.iter().find_map(|(before, after, language)| {
        let inner = strip_start(stem, before)?.strip_suffix(after.as_str())?;
        Some((inner, language.as_str()))
    })
}

/// The rest of a text after a beginning, in which dashes and low lines stand for blanks.
fn strip_start<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in start.chars() {
        let found = rest.next()?;
        let is_blank = wanted == ' ' && matches!(found, '-' | '_' | '\u{a0}');
        if found != wanted && !is_blank {
            return None;
        }
    }
    Some(rest.as_str())
}

/// The language of the telephone, if the name of the file shows it.
pub(super) fn language(path: &Path) -> Option<&'static str> {
    known(without_copy(path.file_stem()?.to_string_lossy().trim())).map(|(_, language)| language)
}

/// Whether WhatsApp names a file like this.
pub(in crate::import) fn is_known(path: &Path) -> bool {
    language(path).is_some()
}

/// What systems write before and after the name of a copied file.
const COPY_OF: [&str; 4] = ["copy of ", "kopie von ", "copie de ", "copia de "];
const COPY: [&str; 10] = [
    " - copy", " copy", " - kopie", " kopie", " - copie", " copie", " - copia", " copia",
    " - kopia", " - kopio",
];

/// Removes the ` (2)` of a second download, and what systems add to the name of a copy.
fn without_copy(mut stem: &str) -> &str {
    loop {
        let shorter = without_one_copy(stem);
        if shorter == stem || shorter.is_empty() {
            return stem;
        }
        stem = shorter;
    }
}

fn without_one_copy(stem: &str) -> &str {
    let inner = stem.strip_suffix(')').and_then(|stem| stem.rsplit_once('('));
    if let Some((name, number)) = inner
        && is_digits(number)
        && !name.trim_end().is_empty()
    {
        return name.trim_end();
    }
    // A number after the word: "copy 2".
    let named = match stem.rsplit_once(' ') {
        Some((name, number)) if is_digits(number) => name,
        _ => stem,
    };
    let is_same = |part: &str, known: &str| part.to_lowercase() == known;
    for known in COPY {
        let at = named.len().checked_sub(known.len());
        if let Some((name, end)) = at.and_then(|at| named.split_at_checked(at))
            && is_same(end, known)
        {
            return name.trim_end();
        }
    }
    for known in COPY_OF {
        if let Some((start, name)) = stem.split_at_checked(known.len())
            && is_same(start, known)
        {
            return name;
        }
    }
    stem
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Removes the ` 2` that iPhones and Macs add to the name of a second file. A chat may really be called so: this is for
/// lists of chats that are left out.
pub fn without_number(name: &str) -> &str {
    let name = without_copy(name.trim());
    match name.rsplit_once([' ', '-', '_']) {
        Some((shorter, number)) if is_digits(number) => without_copy(shorter.trim_end()),
        _ => name,
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
