//! The judge of the headers of a modern request: whether they name its era and repeat its body (2026-07-28, Streamable
//! HTTP, "Headers"). A proxy that judges by the headers and a server that reads the body must see the same.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Number, Value};

use super::{METHOD, NAME, PROTOCOL_VERSION, first, one_version, shown, text};
use crate::call::Called;
use crate::http::rejection::Rejection;
use crate::jsonrpc::{ErrorObject, Notification, Result};
use crate::lifecycle::{META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION, ModernMeta};
use crate::schema::{MirroredParam, header_value};
use crate::version::ProtocolVersion;

/// The integers that every JSON reader represents exactly, ±(2^53−1): those that a header may repeat.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// The prefix of an encoded value.
const SENTINEL: &str = "=?base64?";

/// What the `Mcp-Name` header must repeat, for the methods that name something.
pub(crate) enum Named<'r> {
    /// The method has no name: the header is ignored.
    Nothing,
    /// The member of `params` that the header repeats, and its value; without one, no header can be right.
    Member(&'static str, Option<&'r str>),
}

/// Whether a request is of the modern era: its `_meta` names a version, or its header one without a handshake.
///
/// An `initialize` without such `_meta` is the handshake, even if its header names a version: it always negotiates.
pub(crate) fn is_modern(headers: &HeaderMap, called: &Called) -> bool {
    called.is_claimed() || (called.method() != "initialize" && names_modern(headers))
}

/// Whether a notification is of the modern era.
pub(crate) fn is_modern_notification(headers: &HeaderMap, notification: &Notification) -> bool {
    ModernMeta::is_claimed(&notification.params) || names_modern(headers)
}

/// Whether the header names a revision without a handshake, known or not.
pub(crate) fn names_modern(headers: &HeaderMap) -> bool {
    // Revisions are dates, so text order is their order.
    let since = ProtocolVersion::V2026_07_28.as_str().as_bytes();
    let version = first(headers, &PROTOCOL_VERSION);
    let version = version.map(|version| version.as_bytes().trim_ascii());
    version.is_some_and(|version| version >= since && is_date(version))
}

fn is_date(text: &[u8]) -> bool {
    text.len() == 10
        && text.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// Judges the version that a modern notification names, as that of a request. Nothing else of `_meta` is required.
pub(crate) fn judge_notification(
    headers: &HeaderMap,
    params: &Map<String, Value>,
) -> Result<ModernMeta, Rejection> {
    one_version(headers)?;
    let claimed = params.get("_meta").and_then(|meta| meta.get(META_PROTOCOL_VERSION));
    let named = || text(headers, &PROTOCOL_VERSION).map(Value::from);
    let mut meta = Map::new();
    if let Some(version) = claimed.cloned().or_else(named) {
        meta.insert(META_PROTOCOL_VERSION.to_owned(), version);
    }
    meta.insert(META_CLIENT_CAPABILITIES.to_owned(), Map::new().into());
    Ok(ModernMeta::take(&mut Map::from_iter([("_meta".to_owned(), meta.into())]))?)
}

/// The refusal of a request whose body names a version that is not served. Its headers may name another one, which may
/// be wrong, too: the error for their difference comes first.
pub(crate) fn unserved(headers: &HeaderMap, error: ErrorObject) -> ErrorObject {
    let requested = error.data.as_ref().and_then(|data| data.get("requested"));
    let requested = requested.and_then(Value::as_str).unwrap_or_default();
    if headers.contains_key(&PROTOCOL_VERSION)
        && let Err(different) = check(headers, &PROTOCOL_VERSION, requested, false)
    {
        return different;
    }
    error
}

/// Judges version, method and name, which the headers of a modern request repeat.
pub(crate) fn judge(
    headers: &HeaderMap,
    version: &str,
    method: &str,
    named: &Named<'_>,
) -> Result<()> {
    if matches!(named, Named::Member(_, Some(name)) if repeat(headers, version, method, name)) {
        return Ok(());
    }
    check(headers, &PROTOCOL_VERSION, version, false)?;
    check(headers, &METHOD, method, false)?;
    match named {
        Named::Member(_, Some(name)) => check(headers, &NAME, name, true),
        // Both must see a name.
        Named::Member(member, None) if headers.contains_key(&NAME) => Err(mismatch(format!(
            "the header {NAME} is given, but the body has no string params.{member}"
        ))),
        Named::Member(_, None) | Named::Nothing => Ok(()),
    }
}

/// Checks every header that repeats a parameter of a tool (2026-07-28, Streamable HTTP, "Custom headers from tool
/// parameters"): −32020 where it is missing, different or malformed, and where it says something although the argument
/// is absent or null. A proxy that routes by the header and a server that acts on the body must see the same value.
///
/// An argument that is an array or an object has no form as a header, so none can be right; without one, the schema is
/// what refuses it.
pub(crate) fn match_mirrored(
    headers: &HeaderMap,
    mirrored: &[MirroredParam],
    arguments: Option<&Value>,
) -> Result<()> {
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

fn check(headers: &HeaderMap, header: &HeaderName, expected: &str, decode: bool) -> Result<()> {
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
fn only<'h>(headers: &'h HeaderMap, header: &HeaderName) -> Result<Option<&'h str>> {
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

fn missing(header: &HeaderName, expected: &str) -> ErrorObject {
    let expected = shown(expected);
    mismatch(format!("the header {header} is missing: it must be {expected:?} as in the body"))
}

fn different(header: &HeaderName, value: &str, expected: &str) -> ErrorObject {
    let (value, expected) = (shown(value), shown(expected));
    mismatch(format!("the header {header} is {value:?}, but the body says {expected:?}"))
}

/// The text of `=?base64?…?=`, or `None` for a value that stands for itself.
fn decode_sentinel(value: &str) -> Result<Option<String>> {
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

pub(crate) fn named(called: &Called) -> Named<'_> {
    let member = match called.method() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Named::Nothing,
    };
    Named::Member(member, called.text(member))
}

/// Whether the headers repeat version, method and name of a modern request to the byte, each of them once: the usual
/// case, found in one pass over all headers.
fn repeat(headers: &HeaderMap, version: &str, method: &str, name: &str) -> bool {
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

fn mismatch(message: String) -> ErrorObject {
    ErrorObject::new(ErrorObject::HEADER_MISMATCH, message)
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
