//! A text as a tree, as the library reads it: an escaped lone surrogate is U+FFFD.

use serde_json::Value;

/// The tree; `None` if the text is not JSON.
pub(crate) fn tree(text: &[u8]) -> Option<Value> {
    let read = serde_json::from_slice(text);
    read.ok().or_else(|| serde_json::from_slice(whole(text).as_slice()).ok())
}

/// The text with U+FFFD in place of escaped lone surrogates.
fn whole(mut text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(first) = text.first() {
        let (units, behind) = escapes(text);
        if units.is_empty() {
            // What follows a backslash begins no escape.
            let length = if *first == b'\\' { text.len().min(2) } else { 1 };
            out.extend(&text[..length]);
            text = &text[length..];
            continue;
        }
        for character in char::decode_utf16(units) {
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.extend(format!("\\u{unit:04x}").bytes());
            }
        }
        text = behind;
    }
    out
}

/// The code units that a text begins with, and what is behind them.
fn escapes(mut text: &[u8]) -> (Vec<u16>, &[u8]) {
    let mut units = Vec::new();
    while let Some(digits) = text.strip_prefix(b"\\u").and_then(|digits| digits.get(..4))
        && digits.iter().all(u8::is_ascii_hexdigit)
    {
        let digits = std::str::from_utf8(digits).unwrap();
        units.push(u16::from_str_radix(digits, 16).unwrap());
        text = &text[6..];
    }
    (units, text)
}
