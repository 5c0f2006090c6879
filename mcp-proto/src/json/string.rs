//! Texts as JSON strings, written as `serde_json` writes them, several bytes at a time.
//!
//! `serde_json` looks at one byte at a time, which is most of the cost of a large text.

/// How many bytes are looked at together: enough for the compiler to use vectors, few enough for short texts.
const BLOCK: usize = 32;
/// How many bytes are looked at as one number, to find one that must be escaped.
const WORD: usize = size_of::<u64>();

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
        // What is escaped is ASCII, so that both parts are whole characters.
        let (Some(plain), Some(byte), Some(behind)) =
            (rest.get(..at), rest.as_bytes().get(at), rest.get(at + 1..))
        else {
            break;
        };
        out.push_str(plain);
        push_escape(out, *byte);
        rest = behind;
    }
    out.push_str(rest);
}

/// Whether a text has no line break, as all JSON text of `serde_json`'s own.
pub(crate) fn is_one_line(text: &str) -> bool {
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    let breaks = |bytes: &[u8]| bytes.iter().fold(false, |any, &byte| any | is_break(byte));
    !blocks.iter().any(|block| breaks(block)) && !breaks(rest)
}

fn is_break(byte: u8) -> bool {
    (byte == b'\n') | (byte == b'\r')
}

/// The position of the first byte that a JSON string has to escape (RFC 8259 §7).
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
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

/// Eight bytes at once: the highest bit of the lowest byte that is escaped is the lowest bit set. Bits above it mean
/// nothing, as a subtraction borrows from the byte above.
fn escaped_in(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; WORD]);
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, byte: u8| word.wrapping_sub(ONES * u64::from(byte)) & !word & HIGH;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, b' ') | equal(b'"') | equal(b'\\')
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
        fn a_text_is_written_as_serde_json_writes_it(text in "(?s)[a\"\\\\\u{0}-\u{1f}\u{7f}-\u{a0}é😀]{0,200}") {
            let mut written = String::new();
            push_string(&mut written, &text);
            prop_assert_eq!(written, serde_json::to_string(&text).unwrap());
            prop_assert_eq!(is_one_line(&text), !text.contains(['\n', '\r']));
        }
    }
}
