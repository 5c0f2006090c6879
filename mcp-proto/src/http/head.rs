//! Reads and judges the headers of a request, before its body is read. Pure: no I/O, no clock.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, request};

use super::config::HttpConfig;
use super::rejection::Rejection;
use crate::jsonrpc::ErrorObject;

/// The session of a legacy request.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision of a request.
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of a modern request, as in its body.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// What a modern request names, as in its body.
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What kind of exchange the headers ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Post,
    Get,
    Delete,
    Preflight,
}

/// Which of the two media types of an answer the client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepts {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

/// Judges host, origin, method, accept and content type, in this order.
pub(crate) fn judge(
    head: &request::Parts,
    config: &HttpConfig,
) -> Result<(Verb, Accepts), Rejection> {
    let host = host(head);
    if !config.hosts.allow(host) {
        return Err(Rejection::ForeignHost(shown(host)));
    }
    for origin in head.headers.get_all(header::ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        if !config.origins.allow(&origin) {
            return Err(Rejection::ForeignOrigin(shown(&origin)));
        }
    }
    let verb = match head.method {
        Method::POST => Verb::Post,
        Method::GET => Verb::Get,
        Method::DELETE => Verb::Delete,
        Method::OPTIONS => {
            return Ok((
                Verb::Preflight,
                Accepts {
                    json: true,
                    events: true,
                },
            ));
        }
        _ => return Err(Rejection::MethodNotAllowed),
    };
    let accepts = accepts(&head.headers);
    match verb {
        Verb::Post => {
            if !accepts.json && !accepts.events {
                return Err(Rejection::NotAcceptable(
                    "application/json, text/event-stream",
                ));
            }
            if !is_json(&head.headers)? {
                return Err(Rejection::UnsupportedMediaType);
            }
            if is_encoded(&head.headers) {
                return Err(Rejection::UnsupportedEncoding);
            }
        }
        Verb::Get if !accepts.events => return Err(Rejection::NotAcceptable("text/event-stream")),
        Verb::Get | Verb::Delete | Verb::Preflight => {}
    }
    Ok((verb, accepts))
}

/// The host that a request is for; nothing where it names none, or two (RFC 9112 §3.2).
fn host(head: &request::Parts) -> &str {
    // HTTP/2 and absolute-form requests carry it in the target.
    if let Some(authority) = head.uri.authority() {
        return authority.as_str();
    }
    if head.headers.get_all(header::HOST).iter().count() > 1 {
        return "";
    }
    text(&head.headers, &header::HOST).unwrap_or_default()
}

/// Checks that the headers of a modern request say what its body says (2026-07-28, Streamable HTTP, "Headers").
pub(crate) fn match_body(
    headers: &HeaderMap,
    version: &str,
    method: &str,
) -> Result<(), ErrorObject> {
    check(headers, &PROTOCOL_VERSION, version, false)?;
    check(headers, &METHOD, method, false)
}

/// Checks that a version in the headers, if there is one, is that of the body.
pub(crate) fn match_version(headers: &HeaderMap, version: &str) -> Result<(), ErrorObject> {
    if headers.contains_key(&PROTOCOL_VERSION) {
        check(headers, &PROTOCOL_VERSION, version, false)?;
    }
    Ok(())
}

/// The same for what the request names.
pub(crate) fn match_name(headers: &HeaderMap, name: &str) -> Result<(), ErrorObject> {
    check(headers, &NAME, name, true)
}

/// Whoever judges the header and whoever reads the body must not be told two things, nor one of them nothing.
pub(crate) fn match_no_name(headers: &HeaderMap, member: &str) -> Result<(), ErrorObject> {
    if headers.contains_key(&NAME) {
        return Err(mismatch(format!(
            "the header {NAME} is given, but the body has no string params.{member}"
        )));
    }
    Ok(())
}

fn check(
    headers: &HeaderMap,
    header: &HeaderName,
    expected: &str,
    decode: bool,
) -> Result<(), ErrorObject> {
    let Some(value) = only(headers, header)? else {
        return Err(missing(header, expected));
    };
    let decoded = if decode {
        decode_sentinel(value)?
    } else {
        None
    };
    if decoded.as_deref().unwrap_or(value) == expected {
        Ok(())
    } else {
        Err(different(header, value, expected))
    }
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
    // Whoever judges the first and whoever acts on the last must not be two.
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
    mismatch(format!(
        "the header {header} is missing: it must be {expected:?} as in the body"
    ))
}

pub(crate) fn different(header: &HeaderName, value: &str, expected: &str) -> ErrorObject {
    let (value, expected) = (shown(value), shown(expected));
    mismatch(format!(
        "the header {header} is {value:?}, but the body says {expected:?}"
    ))
}

/// The text of `=?base64?…?=`, or `None` for a value that stands for itself.
pub(crate) fn decode_sentinel(value: &str) -> Result<Option<String>, ErrorObject> {
    let Some(encoded) = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
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

/// The text of a header, if it is there and visible ASCII.
pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::trim)
}

/// A missing `Accept` and wildcards take both: the revision binds the client here, not the server.
fn accepts(headers: &HeaderMap) -> Accepts {
    let mut found = Accepts {
        json: false,
        events: false,
    };
    let mut any = false;
    for value in headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
    {
        for range in value.split(',') {
            let mut parts = range.split(';');
            let media = parts.next().unwrap_or_default().trim();
            if media.is_empty() {
                continue;
            }
            any = true;
            if parts.any(is_zero_weight) {
                continue;
            }
            let is = |name: &str| media.eq_ignore_ascii_case(name);
            found.json |= is("*/*") || is("application/*") || is("application/json");
            found.events |= is("*/*") || is("text/*") || is("text/event-stream");
        }
    }
    if any {
        found
    } else {
        Accepts {
            json: true,
            events: true,
        }
    }
}

/// Whether a parameter of a media range is a weight of zero: `q=0`, `Q=0.000` (RFC 9110 §12.4.2).
fn is_zero_weight(parameter: &str) -> bool {
    let Some((name, weight)) = parameter.split_once('=') else {
        return false;
    };
    let Some(rest) = weight.trim().strip_prefix('0') else {
        return false;
    };
    let is_zero = rest.is_empty()
        || rest
            .strip_prefix('.')
            .is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'));
    name.trim().eq_ignore_ascii_case("q") && is_zero
}

/// Whether the body is said to be JSON; an error where it is said to be two things.
fn is_json(headers: &HeaderMap) -> Result<bool, Rejection> {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let given = types.next().map(HeaderValue::as_bytes).unwrap_or_default();
    if types.any(|other| other.as_bytes() != given) {
        return Err(given_twice(&header::CONTENT_TYPE));
    }
    let media = given.split(|&byte| byte == b';').next();
    let media = media.unwrap_or_default().trim_ascii();
    Ok(media.eq_ignore_ascii_case(b"application/json"))
}

/// Whether the body is said to be encoded in any way (RFC 9110 §8.4).
fn is_encoded(headers: &HeaderMap) -> bool {
    let encodings = headers.get_all(header::CONTENT_ENCODING).iter();
    encodings
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
        .any(|encoding| !encoding.is_empty() && !encoding.eq_ignore_ascii_case(b"identity"))
}

/// A header's text as it may be told back: short.
fn shown(value: &str) -> String {
    value.chars().take(100).collect()
}
