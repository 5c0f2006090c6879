//! Reads and judges the headers of a request: alone before its body is read, then whether they repeat the body. Pure:
//! no I/O, no clock.

mod judge;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Number, Value};

use super::rejection::Rejection;
use crate::jsonrpc::ErrorObject;
use crate::schema::{MirroredParam, header_value};

pub(crate) use judge::{Accepts, Noted, Verb, judge, length};

/// The session of a legacy request.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision of a request.
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of a modern request, as in its body.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What a modern request names, as in its body.
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The largest number of headers that are searched one by one.
const FEW: usize = 16;

/// The integers that every JSON reader represents exactly, ±(2^53−1): those that a header may repeat.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// The prefix of an encoded value.
const SENTINEL: &str = "=?base64?";

/// Checks that the headers of a modern request match its body (2026-07-28, Streamable HTTP, "Headers").
pub(crate) fn match_body(
    headers: &HeaderMap,
    version: &str,
    method: &str,
) -> Result<(), ErrorObject> {
    check(headers, &PROTOCOL_VERSION, version, false)?;
    check(headers, &METHOD, method, false)
}

/// Makes one of the copies of a version or a session that agree, in one line or in several: proxies add headers that
/// the client has sent already. Copies that differ are left, and refused later. `Mcp-Method` and `Mcp-Name` may not be
/// copied: a proxy that compares the joined value with what it forbids would not find it.
pub(super) fn unite_copies(headers: &mut HeaderMap) {
    for name in [PROTOCOL_VERSION, SESSION_ID] {
        let values = headers.get_all(&name).iter();
        let mut copies = values.flat_map(|value| value.as_bytes().split(|&byte| byte == b','));
        let first = copies.next().map(<[u8]>::trim_ascii).unwrap_or_default();
        if copies.all(|copy| copy.trim_ascii() == first)
            && let (false, Ok(one)) = (first.is_empty(), HeaderValue::from_bytes(first))
        {
            headers.insert(name, one);
        }
    }
}

/// Whether the headers repeat version, method and name of a modern request to the byte, each of them once: the usual
/// case, found in one pass over all headers.
pub(crate) fn repeat(headers: &HeaderMap, version: &str, method: &str, name: &str) -> bool {
    let mut found = [0; 3];
    for (header, value) in headers {
        let (at, expected, decode) = if *header == PROTOCOL_VERSION {
            (0, version, false)
        } else if *header == METHOD {
            (1, method, false)
        } else if *header == NAME {
            (2, name, true)
        } else {
            continue;
        };
        if !is_same(value, expected, decode) {
            return false;
        }
        if let Some(found) = found.get_mut(at) {
            *found += 1;
        }
    }
    found == [1, 1, 1]
}

/// Refuses two different versions: a proxy could judge by one and the server act on the other.
pub(crate) fn one_version(headers: &HeaderMap) -> Result<(), Rejection> {
    let mut versions = headers.get_all(&PROTOCOL_VERSION).iter();
    let first = versions.next();
    if versions.any(|version| Some(version) != first) {
        return Err(given_twice(&PROTOCOL_VERSION));
    }
    Ok(())
}

/// Checks that a version in the headers, if there is one, is that of the body.
pub(crate) fn match_version(headers: &HeaderMap, version: &str) -> Result<(), ErrorObject> {
    if headers.contains_key(&PROTOCOL_VERSION) {
        check(headers, &PROTOCOL_VERSION, version, false)?;
    }
    Ok(())
}

/// Checks the same for the name in the request.
pub(crate) fn match_name(headers: &HeaderMap, name: &str) -> Result<(), ErrorObject> {
    check(headers, &NAME, name, true)
}

/// A proxy that judges the header and a server that reads the body must see the same name, and both must see one.
pub(crate) fn match_no_name(headers: &HeaderMap, member: &str) -> Result<(), ErrorObject> {
    if headers.contains_key(&NAME) {
        return Err(mismatch(format!(
            "the header {NAME} is given, but the body has no string params.{member}"
        )));
    }
    Ok(())
}

/// Checks every header that repeats a parameter of a tool (2026-07-28, Streamable HTTP, "Custom headers from tool
/// parameters"): −32020 where it is missing, different or malformed, and where it says something although the argument
/// is absent or null. A proxy that routes by the header and a server that acts on the body must see the same value.
///
/// An argument that is an array or an object has no form as a header, so none can be right; without one, the schema is
/// what refuses it.
pub(super) fn match_mirrored(
    headers: &HeaderMap,
    mirrored: &[MirroredParam],
    arguments: Option<&Value>,
) -> Result<(), ErrorObject> {
    for param in mirrored {
        let given = only(headers, &param.header)?;
        let value = param.value(arguments);
        match (given, value.and_then(header_value)) {
            (None, None) => {}
            (None, Some(expected)) => return Err(missing(&param.header, &expected)),
            (Some(_), None) => {
                return Err(mismatch(format!(
                    "the header {} is given, but the body has no {} that a header can repeat",
                    param.header,
                    param.place()
                )));
            }
            (Some(given), Some(expected)) => {
                let decoded = decode_sentinel(given)?;
                let read = decoded.as_deref().unwrap_or(given);
                let same = match value {
                    Some(Value::Number(number)) => is_same_number(number, read),
                    _ => read == expected,
                };
                if !same {
                    if matches!(value, Some(Value::Number(number)) if !is_safe(number)) {
                        return Err(mismatch(format!(
                            "{} is beyond ±(2^53−1), which {} cannot repeat",
                            param.place(),
                            param.header
                        )));
                    }
                    return Err(different(&param.header, given, &expected));
                }
            }
        }
    }
    Ok(())
}

fn check(
    headers: &HeaderMap,
    header: &HeaderName,
    expected: &str,
    decode: bool,
) -> Result<(), ErrorObject> {
    let mut values = headers.get_all(header).iter();
    if let (Some(value), None) = (values.next(), values.next())
        && is_same(value, expected, decode)
    {
        return Ok(());
    }
    let Some(value) = only(headers, header)? else {
        return Err(missing(header, expected));
    };
    let decoded = if decode { decode_sentinel(value)? } else { None };
    if decoded.as_deref().unwrap_or(value) == expected {
        Ok(())
    } else {
        Err(different(header, value, expected))
    }
}

/// Whether a value is the expected text to the byte, and stands for itself.
fn is_same(value: &HeaderValue, expected: &str, decode: bool) -> bool {
    let stands_for_itself = !(decode && expected.starts_with(SENTINEL));
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (value, ends) =
        (value.as_bytes(), [expected.as_bytes().first(), expected.as_bytes().last()]);
    value == expected.as_bytes()
        && stands_for_itself
        && value.is_ascii()
        && !ends.into_iter().flatten().any(is_blank)
}

/// The one value of a header that repeats the body, without the blanks around it; `None` where it is not given.
pub(crate) fn only<'h>(
    headers: &'h HeaderMap,
    header: &HeaderName,
) -> Result<Option<&'h str>, ErrorObject> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    // Otherwise a proxy could judge the first and the server act on the last.
    if values.next().is_some() {
        return Err(mismatch(format!("the header {header} is given twice")));
    }
    let Ok(value) = value.to_str() else {
        return Err(mismatch(format!(
            "the header {header} has other characters than visible ASCII: encode it as =?base64?…?="
        )));
    };
    Ok(Some(value.trim_matches([' ', '\t'])))
}

pub(crate) fn missing(header: &HeaderName, expected: &str) -> ErrorObject {
    let expected = shown(expected);
    mismatch(format!("the header {header} is missing: it must be {expected:?} as in the body"))
}

pub(crate) fn different(header: &HeaderName, value: &str, expected: &str) -> ErrorObject {
    let (value, expected) = (shown(value), shown(expected));
    mismatch(format!("the header {header} is {value:?}, but the body says {expected:?}"))
}

/// The text of `=?base64?…?=`, or `None` for a value that stands for itself.
pub(crate) fn decode_sentinel(value: &str) -> Result<Option<String>, ErrorObject> {
    let Some(encoded) = value.strip_prefix(SENTINEL).and_then(|rest| rest.strip_suffix("?="))
    else {
        return Ok(None);
    };
    let bytes = data_encoding::BASE64
        .decode(encoded.as_bytes())
        .map_err(|problem| mismatch(format!("the value =?base64?…?= is not Base64: {problem}")))?;
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| mismatch("the value =?base64?…?= does not decode to UTF-8".to_owned()))
}

/// The refusal of a header that two readers could read in two ways.
pub(crate) fn given_twice(name: &HeaderName) -> Rejection {
    ErrorObject::invalid_request(format!("the header {name} is given twice")).into()
}

pub(crate) fn mismatch(message: String) -> ErrorObject {
    ErrorObject::new(ErrorObject::HEADER_MISMATCH, message)
}

/// The first value of a header. Most requests have few headers: a look at each costs less than a hash.
pub(super) fn first<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    if headers.len() > FEW {
        return headers.get(name);
    }
    let mut headers = headers.iter();
    headers.find_map(|(header, value)| (header == name).then_some(value))
}

/// The text of a header, if it is there and visible ASCII.
pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim_ascii)
}

/// A header's text, shortened for an error message.
fn shown(value: &str) -> String {
    value.chars().take(100).collect()
}

/// Numbers are the same if their values are: `42.0` is 42. No number matches that some readers cannot represent
/// exactly.
fn is_same_number(number: &Number, given: &str) -> bool {
    if !is_safe(number) {
        return false;
    }
    let number = number.as_f64();
    let (whole, fraction) = given.split_once('.').unwrap_or((given, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole.strip_prefix('-').unwrap_or(whole)) || !is_digits(fraction) {
        return false;
    }
    if number.is_some_and(|number| number.fract() == 0.0)
        && fraction.bytes().any(|digit| digit != b'0')
    {
        return false;
    }
    given.parse().ok() == number
}

fn is_safe(number: &Number) -> bool {
    number.as_f64().is_some_and(|number| number.abs() <= MAX_SAFE)
}
