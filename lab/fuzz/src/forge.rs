//! Forging a text that only the server can make: what a client may bring in the place of a cursor or a request state.

use serde_json::Value;

use super::pieces::first;

/// What is brought. The first byte of `data` says how it is made:
///
/// - `g` the text that was given, `o` the one that was given for something else;
/// - `m` the given text with bytes changed: pairs of a place and what to change there;
/// - `t` its beginning, or its end without the rest, of the length that the next byte says;
/// - `i` the given text with the rest of `data` in it, at the place that the next byte says;
/// - `j` the rest of `data` as JSON, if it is;
/// - `-` nothing at all;
/// - anything else: the rest of `data` as text.
pub(super) fn forge(data: &[u8], given: &str, other: &str) -> Option<Value> {
    let (how, rest) = first(data);
    let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes));
    Some(match how {
        b'g' => Value::from(given),
        b'o' => Value::from(other),
        b'm' => {
            let mut bytes = given.as_bytes().to_vec();
            for change in rest.chunks_exact(2) {
                let place = usize::from(change[0]) % bytes.len();
                bytes[place] ^= change[1];
            }
            text(&bytes)
        }
        b't' => {
            let (length, rest) = first(rest);
            let place = usize::from(length) % given.len();
            let (start, end) = given.split_at(place);
            Value::from(if rest.is_empty() { start } else { end })
        }
        b'i' => {
            let (place, rest) = first(rest);
            let (start, end) = given.split_at(usize::from(place) % given.len());
            text(&[start.as_bytes(), rest, end.as_bytes()].concat())
        }
        b'j' => serde_json::from_slice(rest).unwrap_or_else(|_| text(rest)),
        b'-' => return None,
        _ => text(rest),
    })
}
