//! Texts as JSON strings, written as `serde_json` writes them, several bytes at a time.
//!
//! `serde_json` looks at one byte at a time, which is most of the cost of a large text.
//!
//! U+2028 and U+2029 are escaped, too: clients cut lines by readers that take them for line ends.

use std::borrow::Cow;
use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// How many bytes are looked at together: enough for the compiler to use vectors, few enough for short texts.
const BLOCK: usize = 32;
/// How many bytes are looked at as one number, to find one that must be escaped.
const WORD: usize = size_of::<u64>();

/// The separators of lines and paragraphs, the byte that both begin with, and their escapes.
const LINE: &str = "\u{2028}";
const PARAGRAPH: &str = "\u{2029}";
const LEAD: u8 = 0xe2;
const LINE_ESCAPE: &str = "\\u2028";
const PARAGRAPH_ESCAPE: &str = "\\u2029";

/// `text` as it stands between the quotation marks of a JSON string.
#[must_use]
pub fn escaped(text: &str) -> String {
    // Every eighth byte of a text may need a second one.
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    push_escaped(&mut out, text);
    out
}

/// Appends `text` as a JSON string, with its quotation marks.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

/// Appends `text` as it stands between the quotation marks of a JSON string.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        let byte = rest.as_bytes().get(at).copied().unwrap_or_default();
        // Apart from the lead byte of three, what is escaped is ASCII, so that all parts are whole characters.
        let length = if byte == LEAD { 3 } else { 1 };
        let (Some(plain), Some(found), Some(behind)) =
            (rest.get(..at), rest.get(at..at + length), rest.get(at + length..))
        else {
            break;
        };
        out.push_str(plain);
        match found {
            LINE => out.push_str(LINE_ESCAPE),
            PARAGRAPH => out.push_str(PARAGRAPH_ESCAPE),
            other if byte == LEAD => out.push_str(other),
            _ => push_escape(out, byte),
        }
        rest = behind;
    }
    out.push_str(rest);
}

/// JSON text of others without line breaks, since transports end messages and events by them. Between the tokens of
/// JSON they have no meaning, and strings contain none of them raw but the two separators.
pub(crate) fn on_one_line(json: &str) -> Cow<'_, str> {
    let (blocks, rest) = json.as_bytes().as_chunks::<BLOCK>();
    let breaks = |bytes: &[u8]| bytes.iter().fold(false, |any, &byte| any | may_break(byte));
    let may = blocks.iter().any(|block| breaks(block)) || breaks(rest);
    if !may || !json.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return Cow::Borrowed(json);
    }
    let json = json.replace(['\n', '\r'], " ");
    Cow::Owned(json.replace(LINE, LINE_ESCAPE).replace(PARAGRAPH, PARAGRAPH_ESCAPE))
}

fn may_break(byte: u8) -> bool {
    (byte == b'\n') | (byte == b'\r') | (byte == LEAD)
}

/// Writes a value as `serde_json` does, on one line.
///
/// # Errors
/// As [`serde_json::to_writer`].
pub(crate) fn write_line<T: Serialize + ?Sized>(
    writer: impl io::Write,
    value: &T,
) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(writer, OneLine))
}

/// Writes the compact form.
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(on_one_line(fragment).as_bytes())
    }

    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(on_one_line(fragment).as_bytes())
    }
}

/// The position of the first byte that a JSON string has to escape (RFC 8259 §7), or that may begin a separator.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let is_plain =
        |block: &[u8; BLOCK]| !block.iter().fold(false, |any, &byte| any | is_escaped(byte));
    let mut from = BLOCK * blocks.iter().take_while(|block| is_plain(block)).count();
    let (words, tail) = bytes.get(from..)?.as_chunks::<WORD>();
    for word in words {
        let escaped = escaped_in(u64::from_le_bytes(*word));
        if escaped != 0 {
            return Some(from + escaped.trailing_zeros() as usize / 8);
        }
        from += WORD;
    }
    let at = tail.iter().position(|&byte| is_escaped(byte))?;
    Some(from + at)
}

fn is_escaped(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\') | (byte == LEAD)
}

/// Eight bytes at once: the highest bit of the lowest byte that is escaped is the lowest bit set. Bits above it mean
/// nothing, as a subtraction borrows from the byte above.
fn escaped_in(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; WORD]);
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, byte: u8| word.wrapping_sub(ONES * u64::from(byte)) & !word & HIGH;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, b' ') | equal(b'"') | equal(b'\\') | equal(LEAD)
}

fn push_escape(out: &mut String, byte: u8) {
    let short = match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\n' => "\\n",
        b'\r' => "\\r",
        b'\t' => "\\t",
        0x08 => "\\b",
        0x0c => "\\f",
        _ => {
            out.push_str("\\u00");
            let digits = [byte >> 4, byte & 15].into_iter();
            out.extend(digits.filter_map(|digit| char::from_digit(digit.into(), 16)));
            return;
        }
    };
    out.push_str(short);
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
                let mut written = String::new();
                push_string(&mut written, &text);
                assert_eq!(written, serde_json::to_string(&text).unwrap());
            }
        }
    }

    proptest! {
        #[test]
        fn a_text_is_written_as_serde_json_writes_it(text in "(?s)[a\"\\\\\u{0}-\u{1f}\u{7f}-\u{a0}é😀…\u{2027}-\u{202a}]{0,200}") {
            let plain = serde_json::to_string(&text).unwrap();
            let expected = plain.replace(LINE, LINE_ESCAPE).replace(PARAGRAPH, PARAGRAPH_ESCAPE);
            let mut written = String::new();
            push_string(&mut written, &text);
            prop_assert_eq!(&written, &expected);
            let mut line = Vec::new();
            write_line(&mut line, &text).unwrap();
            prop_assert_eq!(line, expected.as_bytes());
            prop_assert_eq!(on_one_line(&plain), &*expected);
            prop_assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
