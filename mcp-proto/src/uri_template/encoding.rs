//! Percent-encoding (RFC 3986 §2): which characters are kept unencoded, and triplets.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const UNRESERVED_MARKS: &str = "-._~";
const GENERAL_DELIMITERS: &str = ":/?#[]@";
const SUB_DELIMITERS: &str = "!$&'()*+,;=";
/// What no URI contains (RFC 3986 §2), and clients leave as it is when they expand a template: it has one meaning only.
const UNENCODED: &str = " \"<>\\^`{|}";

/// The characters to encode where only unreserved characters are kept.
const NOT_UNRESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters to encode in a segment of a path, where `pchar` is kept (RFC 3986 §3.3).
const NOT_PCHAR: &AsciiSet = &NOT_UNRESERVED
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// The characters to encode where reserved characters are kept, too.
const NOT_RESERVED: &AsciiSet =
    &NOT_PCHAR.remove(b'/').remove(b'?').remove(b'#').remove(b'[').remove(b']');

/// A set of ASCII characters, one bit each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Charset(u128);

impl Charset {
    /// Unreserved characters, and those that are no part of any URI.
    pub(super) fn unreserved() -> Self {
        let alphanumeric = (0..128_u8).filter(u8::is_ascii_alphanumeric);
        alphanumeric
            .fold(Self(0), |set, byte| set.with(char::from(byte)))
            .with_all(UNRESERVED_MARKS)
            .with_all(UNENCODED)
    }

    /// What may stand in a segment of a path (RFC 3986 §3.3): clients that expand a template encode less than RFC 6570
    /// says.
    pub(super) fn segment() -> Self {
        Self::unreserved().with_all(SUB_DELIMITERS).with_all(":@")
    }

    /// Reserved and unreserved characters.
    pub(super) fn reserved() -> Self {
        Self::unreserved().with_all(GENERAL_DELIMITERS).with_all(SUB_DELIMITERS)
    }

    /// The characters that the value of a query parameter may contain unencoded: those that RFC 3986 allows there,
    /// without the query delimiters.
    pub(super) fn query_value() -> Self {
        Self::segment().with('/').without('&')
    }

    /// The set without this character, if it is reserved.
    pub(super) fn without_reserved(self, character: char) -> Self {
        let is_reserved =
            GENERAL_DELIMITERS.contains(character) || SUB_DELIMITERS.contains(character);
        if is_reserved { self.without(character) } else { self }
    }

    /// The set and this character.
    pub(super) fn with(self, character: char) -> Self {
        Self(self.0 | bit(character))
    }

    /// The set without this character.
    pub(super) fn without(self, character: char) -> Self {
        Self(self.0 & !bit(character))
    }

    /// The end of the character at `at`, which is in the set or percent-encoded, as one or more triplets of UTF-8.
    pub(super) fn end_of_one(self, uri: &[u8], at: usize) -> Option<usize> {
        match *uri.get(at)? {
            b'%' => end_of_encoded(uri, at),
            byte if self.0 & bit(char::from(byte)) != 0 => Some(at + 1),
            _ => None,
        }
    }

    fn with_all(self, characters: &str) -> Self {
        characters.chars().fold(self, Self::with)
    }
}

fn bit(character: char) -> u128 {
    1_u128.checked_shl(u32::from(character)).unwrap_or(0)
}

/// Appends a value to a URI. If reserved characters are kept, triplets are kept, too (RFC 6570 §3.2.1).
pub(super) fn encode(value: &str, keep_reserved: bool, uri: &mut String) {
    if !keep_reserved {
        uri.extend(utf8_percent_encode(value, NOT_UNRESERVED));
        return;
    }
    let mut rest = value;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        uri.extend(utf8_percent_encode(before, NOT_RESERVED));
        let (percent, after) = from.split_at(1);
        uri.push_str(match triplet(from.as_bytes(), 0) {
            Some(_) => percent,
            None => "%25",
        });
        rest = after;
    }
    uri.extend(utf8_percent_encode(rest, NOT_RESERVED));
}

/// A value without its percent-encoding; `None` if that is not UTF-8.
pub(super) fn decode(value: &str) -> Option<String> {
    let decoded = percent_decode_str(value).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// One spelling for equivalent literals and names: characters beyond ASCII as triplets, and triplets in upper case.
pub(super) fn normalise(uri: &str) -> Cow<'_, str> {
    let bytes = uri.as_bytes();
    let is_lower = |at| {
        let digits = bytes.get(at + 1..at + 3).unwrap_or_default();
        triplet(bytes, at).is_some() && digits.iter().any(u8::is_ascii_lowercase)
    };
    if uri.is_ascii() && !uri.match_indices('%').any(|(at, _)| is_lower(at)) {
        return Cow::Borrowed(uri);
    }
    let mut normal = String::with_capacity(uri.len());
    // The number of following characters that are digits of a triplet.
    let mut digits = 0_u8;
    for (at, character) in uri.char_indices() {
        let mut buffer = [0; 4];
        if digits > 0 {
            digits -= 1;
            normal.push(character.to_ascii_uppercase());
        } else if character.is_ascii() {
            if triplet(bytes, at).is_some() {
                digits = 2;
            }
            normal.push(character);
        } else {
            normal.extend(utf8_percent_encode(character.encode_utf8(&mut buffer), NOT_UNRESERVED));
        }
    }
    Cow::Owned(normal)
}

/// The octet that the triplet at `at` stands for, if one is there.
pub(super) fn triplet(text: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = text.get(at..at + 3)? else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// The end of the triplets at `at` that together are one character in UTF-8.
pub(super) fn end_of_encoded(text: &[u8], at: usize) -> Option<usize> {
    let length = match triplet(text, at)? {
        0x00..0x80 => return Some(at + 3),
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let mut octets = [0; 4];
    for (number, octet) in octets.iter_mut().take(length).enumerate() {
        *octet = triplet(text, at + 3 * number)?;
    }
    std::str::from_utf8(octets.get(..length)?).ok()?;
    Some(at + 3 * length)
}
