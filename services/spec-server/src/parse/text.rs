//! Converts bytes to text with LF line ends, and defines white space.

use std::str;

use unicode_normalization::UnicodeNormalization as _;

use crate::model::Line;

/// Bytes that are not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not UTF-8; save the file in UTF-8")]
pub struct NotUtf8 {
    /// The line with the first invalid byte.
    pub line: Line,
}

/// The text in `bytes` without a BOM, with LF for CRLF and for a single CR.
///
/// # Errors
/// [`NotUtf8`].
pub fn normalise(bytes: &[u8]) -> Result<String, NotUtf8> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let good = known_range::items(bytes, ..error.valid_up_to());
        let text = str::from_utf8(good).unwrap_or_default();
        NotUtf8 { line: number(lf(text).bytes().filter(|byte| *byte == b'\n').count()) }
    })?;
    Ok(lf(text.strip_prefix('\u{feff}').unwrap_or(text)))
}

/// The line of the first conflict that git has left in a text.
pub fn conflict(text: &str) -> Option<Line> {
    let index = text.lines().position(|line| line.starts_with("<<<<<<< "))?;
    text.lines().skip(index).any(|line| line.starts_with(">>>>>>> ")).then(|| number(index))
}

fn lf(text: &str) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text.to_owned()
    }
}

/// The line number of the zero-based index `index`.
pub(crate) fn number(index: usize) -> Line {
    Line::try_from(index).unwrap_or(Line::MAX).saturating_add(1)
}

/// White space by OpenSpec's definition: `\s` of JavaScript.
pub(crate) fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// `text` without leading and trailing white space.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `text` without leading white space.
pub(crate) fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// A name for comparison, without the differences that people and systems overlook: case, blanks, and whether an accent
/// is a separate character.
pub fn fold(name: &str) -> String {
    let lower = name.nfc().collect::<String>().to_lowercase();
    lower.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The text after `prefix`, ignoring case.
pub(crate) fn strip_prefix_any_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (head, tail) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(tail)
}

/// The text after the bullet of a list item.
pub(crate) fn bullet(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix(['-', '*', '+']) {
        return Some(rest);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - rest.len();
    ((1..=9).contains(&digits)).then(|| rest.strip_prefix(['.', ')'])).flatten()
}
