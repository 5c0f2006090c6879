//! Changes of the text: what no JSON tree can say.

use fastrand::Rng;

use super::pick;

/// How deep a message is nested at the most.
const DEEPEST: usize = 50_000;

/// What may stand in place of a number.
const NUMBERS: [&str; 9] =
    ["1e400", "-0", "0123", "NaN", "1E+2", "+1", ".5", "0x10", "123456789012345678901234567890"];
/// What may stand after a message, or before it.
const AROUND: [&str; 7] = ["{}", ",", "]", "null", "\u{0}", "// comment", "\u{feff}"];

/// The text, changed, and what was changed.
pub(super) fn change(rng: &mut Rng, body: &[u8]) -> (Vec<u8>, &'static str) {
    let mut bytes = body.to_vec();
    let middle = rng.usize(0..=bytes.len());
    match rng.u8(0..13) {
        0 | 1 => {
            bytes.truncate(middle);
            (bytes, "truncated")
        }
        2 => {
            bytes.extend(pick(rng, &AROUND).copied().unwrap_or_default().bytes());
            (bytes, "something after it")
        }
        3 => {
            let before = pick(rng, &AROUND).copied().unwrap_or_default();
            (([before.as_bytes(), &bytes]).concat(), "something before it")
        }
        4 => {
            if let Some(byte) = bytes.get_mut(middle) {
                *byte ^= 1 << rng.u8(0..8);
            }
            (bytes, "a bit flipped")
        }
        5 => {
            let wrong: [&[u8]; 4] = [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5"];
            let wrong = pick(rng, &wrong).copied().unwrap_or_default();
            bytes.splice(middle..middle, wrong.iter().copied());
            (bytes, "bytes that are not UTF-8")
        }
        6 => {
            let twice = [
                "\"id\":\"other\",",
                "\"method\":\"no/such\",",
                "\"jsonrpc\":\"1.0\",",
                "\"params\":null,",
            ];
            let twice = pick(rng, &twice).copied().unwrap_or_default();
            (within(&bytes, twice), "a member twice")
        }
        7 => {
            let depth = rng.usize(100..DEEPEST);
            let nested = format!("\"deep\":{}{},", "[".repeat(depth), "]".repeat(depth));
            (within(&bytes, &nested), "deep nesting")
        }
        8 => {
            let spaces = " \t\r".repeat(rng.usize(1..50_000));
            bytes.splice(0..0, spaces.bytes());
            (bytes, "white space before it")
        }
        9 => {
            let text = String::from_utf8_lossy(&bytes);
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            (units.collect(), "UTF-16")
        }
        10 => {
            let escapes = ["\\ud800", "\\u0000", "\\x41", "\\", "\\ud83d\\ude00", "\u{1}"];
            let escape = pick(rng, &escapes).copied().unwrap_or_default();
            (within_text(rng, &bytes, escape), "an escape")
        }
        11 => {
            let number = pick(rng, &NUMBERS).copied().unwrap_or_default();
            let name = if rng.bool() { "id" } else { "number" };
            (within(&bytes, &format!("\"{name}\":{number},")), "a number of another form")
        }
        _ => {
            let digits = format!("\"long\":{},", "9".repeat(rng.usize(400..20_000)));
            (within(&bytes, &digits), "a number of many digits")
        }
    }
}

/// With some members more, at the beginning of the outermost object.
fn within(bytes: &[u8], members: &str) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(start) = bytes.iter().position(|byte| *byte == b'{') {
        bytes.splice(start + 1..=start, members.bytes());
    }
    bytes
}

/// With something more at the beginning of one of its texts.
fn within_text(rng: &mut Rng, bytes: &[u8], what: &str) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let quotes: Vec<usize> =
        (0..bytes.len()).filter(|index| bytes.get(*index) == Some(&b'"')).collect();
    if let Some(quote) = pick(rng, &quotes).copied() {
        bytes.splice(quote + 1..=quote, what.bytes());
    }
    bytes
}
