//! The invisible marks and blanks in WhatsApp's texts, and the forms in which texts are compared.

/// The mark before WhatsApp's own texts.
pub(super) const OWN: char = '\u{200e}';

/// The longest text that may be WhatsApp's own words, in bytes.
const MAX_WORDS: usize = 500;

/// A text without the marks that WhatsApp sets before it and around mentions. Other marks of direction within it are
/// its author's.
pub(super) fn plain(text: &str) -> String {
    let text = text.trim_start_matches(OWN).trim_end();
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("@\u{2068}") {
        plain.push_str(before);
        plain.push('@');
        let (name, behind) = after.split_once('\u{2069}').unwrap_or((after, ""));
        plain.push_str(name);
        rest = behind;
    }
    plain.push_str(rest);
    plain
}

/// A text in the form of the word lists; empty if it is too long to be in them.
pub(super) fn folded(text: &str) -> String {
    let words = text.trim_matches(is_blank).trim_end_matches(['.', '。', '।']);
    if words.len() > MAX_WORDS { String::new() } else { words.to_lowercase() }
}

pub(super) fn is_blank(c: char) -> bool {
    is_mark(c) || c.is_whitespace()
}

/// Invisible marks of direction.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
