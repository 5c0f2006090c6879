//! Texts as JSON strings, written as `serde_json` writes them, several bytes at a time.
//!
//! `serde_json` looks at one byte at a time, which is most of the cost of a large text. Where few bytes are escaped, as
//! in prose, blocks are looked at; where many are, as in JSON, eight bytes at a time.
//!
//! U+2028 and U+2029 are escaped, too: clients cut lines by readers that take them for line ends.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr2, memmem};
use serde::Serialize;

/// How many bytes are looked at together: enough for the compiler to use vectors, few enough for short texts.
const BLOCK: usize = 32;
/// How many bytes are looked at as one number, to find those that must be escaped.
const WORD: usize = size_of::<u64>();
/// Parts of at most this length are copied by one instruction or two.
const SHORT: usize = 16;

/// The separators of lines and paragraphs, the byte that both begin with, and their escapes.
const LINE: &str = "\u{2028}";
const PARAGRAPH: &str = "\u{2029}";
const LEAD: u8 = 0xe2;
const LINE_ESCAPE: &str = "\\u2028";
const PARAGRAPH_ESCAPE: &str = "\\u2029";
/// What stands for a lone surrogate.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// `text` as it stands between the quotation marks of a JSON string.
pub fn escaped(text: &str) -> String {
    // Every eighth byte of a text may need a second one.
    let mut out = Vec::with_capacity(text.len() + text.len() / 4);
    push_escaped(&mut out, text);
    String::from_utf8(out).unwrap_or_else(|wrong| {
        tracing::error!(%wrong, "a text was cut within a character");
        String::from_utf8_lossy(wrong.as_bytes()).into_owned()
    })
}

/// A JSON text with U+FFFD in place of each escaped lone surrogate; `None` if it has none.
///
/// The grammar allows them (RFC 8259 §8.2), and `JSON.stringify` writes them where a string was cut within a character.
/// They are no characters.
pub(crate) fn without_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut whole = None;
    let mut at = 0;
    while let Some(found) = memchr(b'\\', known_range::items(json, at..)) {
        at += found;
        at += match (unit(json, at), unit(json, at + REPLACEMENT.len())) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 2 * REPLACEMENT.len(),
            (Some(0xd800..0xe000), _) => {
                let whole = whole.get_or_insert_with(|| json.to_vec());
                if let Some(unit) = whole.get_mut(at..at + REPLACEMENT.len()) {
                    unit.copy_from_slice(REPLACEMENT);
                }
                REPLACEMENT.len()
            }
            // The character after a backslash begins no escape.
            _ => 2.min(json.len() - at),
        };
    }
    whole
}

/// The code unit that is escaped at `at`.
fn unit(json: &[u8], at: usize) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = json.get(at..at + REPLACEMENT.len())? else {
        return None;
    };
    let digit = |unit, byte: &u8| Some(unit * 16 + char::from(*byte).to_digit(16)?);
    digits.iter().try_fold(0, digit)
}

/// Appends `text` as a JSON string, with its quotation marks.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    push_escaped(out, text);
    out.push(b'"');
}

/// Appends `text` as it stands between the quotation marks of a JSON string.
fn push_escaped(out: &mut Vec<u8>, text: &str) {
    let text = text.as_bytes();
    let has = |separator: &str| memmem::find(text, separator.as_bytes()).is_some();
    let mut written = 0;
    if memchr(LEAD, text).is_some() && (has(LINE) || has(PARAGRAPH)) {
        for at in memchr_iter(LEAD, text) {
            let behind = known_range::items(text, at..);
            let escape = if behind.starts_with(LINE.as_bytes()) {
                LINE_ESCAPE
            } else if behind.starts_with(PARAGRAPH.as_bytes()) {
                PARAGRAPH_ESCAPE
            } else {
                continue;
            };
            push_line(out, known_range::items(text, written..at));
            out.extend_from_slice(escape.as_bytes());
            written = at + LINE.len();
        }
    }
    push_line(out, known_range::items(text, written..));
}

/// The same for a text without separators.
fn push_line(out: &mut Vec<u8>, text: &[u8]) {
    let mut line = OpenLine { out, text, written: 0 };
    let mut at = 0;
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    for block in blocks {
        if block.iter().fold(false, |any, &byte| any | is_escaped(byte)) {
            line.take_words(at, block);
        }
        at += BLOCK;
    }
    let tail = line.take_words(at, rest);
    for (at, &byte) in (text.len() - tail.len()..).zip(tail) {
        if is_escaped(byte) {
            line.escape(at, byte);
        }
    }
    line.push_until(text.len());
}

/// A text on its way into a JSON string.
struct OpenLine<'t> {
    out: &'t mut Vec<u8>,
    text: &'t [u8],
    /// How much of it is in `out`.
    written: usize,
}

impl OpenLine<'_> {
    /// Escapes what is to be escaped in the whole words of a part of the text. Returns what is behind them.
    #[inline]
    fn take_words<'p>(&mut self, mut at: usize, part: &'p [u8]) -> &'p [u8] {
        let (words, tail) = part.as_chunks();
        for word in words {
            let mut found = escaped_in(*word);
            while found != 0 {
                let index = found.trailing_zeros() / 8;
                let [byte, ..] = (u64::from_le_bytes(*word) >> (8 * index)).to_le_bytes();
                self.escape(at + index as usize, byte);
                found &= found - 1;
            }
            at += WORD;
        }
        tail
    }

    /// Pushes the text until a byte that is to be escaped, and its escape.
    #[inline]
    fn escape(&mut self, at: usize, byte: u8) {
        self.push_until(at);
        self.written = at + 1;
        // Those that are no control characters stand for themselves.
        if byte < b' ' {
            self.escape_control(byte)
        } else {
            self.out.extend_from_slice(&[b'\\', byte])
        }
    }

    fn escape_control(&mut self, byte: u8) {
        let letter = match byte {
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            _ => {
                let digit = |digit: u8| if digit < 10 { b'0' + digit } else { b'a' - 10 + digit };
                let (high, low) = (digit(byte >> 4), digit(byte & 15));
                return self.out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            }
        };
        self.out.extend_from_slice(&[b'\\', letter]);
    }

    #[inline]
    fn push_until(&mut self, end: usize) {
        let length = end - self.written;
        let begun = known_range::items(self.text, self.written..);
        match begun.first_chunk::<SHORT>() {
            // Copying a fixed number of bytes costs less than asking how many there are.
            Some(short) if length <= SHORT => {
                let before = self.out.len();
                self.out.extend_from_slice(short);
                self.out.truncate(before + length);
            }
            _ => self.out.extend_from_slice(known_range::items(begun, ..length)),
        }
    }
}

/// Whether a JSON string has to escape a byte (RFC 8259 §7).
fn is_escaped(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// The same for eight bytes: the highest bit of each that is escaped, the first byte lowest.
fn escaped_in(word: [u8; WORD]) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; WORD]);
    const LOW: u64 = ONES * 0x7f;
    let word = u64::from_le_bytes(word);
    // The highest bit of each byte that is not zero.
    let filled = |word: u64| ((word & LOW) + LOW) | word;
    let equal = |byte: u8| filled(word ^ (ONES * u64::from(byte)));
    !(filled(word & (ONES * 0xe0)) & equal(b'"') & equal(b'\\') | LOW)
}

/// JSON text of others without line breaks, since transports end messages and events by them. Between the tokens of
/// JSON they have no meaning, and strings contain none of them raw but the two separators.
pub(crate) fn on_one_line(json: &str) -> Cow<'_, str> {
    let text = json.as_bytes();
    // Other punctuation, quotation marks and dashes, begins with the same byte.
    let is_separator = |at| {
        let behind = known_range::items(text, at..);
        behind.starts_with(LINE.as_bytes()) || behind.starts_with(PARAGRAPH.as_bytes())
    };
    if memchr2(b'\n', b'\r', text).is_none() && !memchr_iter(LEAD, text).any(is_separator) {
        return Cow::Borrowed(json);
    }
    let json = json.replace(['\n', '\r'], " ");
    Cow::Owned(json.replace(LINE, LINE_ESCAPE).replace(PARAGRAPH, PARAGRAPH_ESCAPE))
}

/// A value as JSON, on one line.
///
/// # Errors
/// As [`serde_json::to_string`].
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    let json = serde_json::to_string(value)?;
    Ok(match on_one_line(&json) {
        Cow::Borrowed(_) => json,
        Cow::Owned(line) => line,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_found_at_every_place() {
        for byte in (0..128).map(|byte: u8| char::from(byte)) {
            for length in 0..80 {
                let mut text = "x".repeat(length);
                text.push(byte);
                text.push_str("yé\u{80}\u{10ffff}");
                let mut written = Vec::new();
                push_string(&mut written, &text);
                assert_eq!(
                    String::from_utf8(written).unwrap(),
                    serde_json::to_string(&text).unwrap()
                );
            }
        }
    }

    proptest! {
        #[test]
        fn a_text_is_written_as_serde_json_writes_it(text in "(?s)[a\"\\\\\u{0}-\u{1f}\u{7f}-\u{a0}é😀…\u{2027}-\u{202a}]{0,200}") {
            let plain = serde_json::to_string(&text).unwrap();
            let expected = plain.replace(LINE, LINE_ESCAPE).replace(PARAGRAPH, PARAGRAPH_ESCAPE);
            let mut written = Vec::new();
            push_string(&mut written, &text);
            let written = String::from_utf8(written).unwrap();
            prop_assert_eq!(&written, &expected);
            prop_assert_eq!(escaped(&text), &expected[1..expected.len() - 1]);
            prop_assert_eq!(to_json(&text).unwrap(), &*expected);
            prop_assert_eq!(on_one_line(&plain), &*expected);
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
