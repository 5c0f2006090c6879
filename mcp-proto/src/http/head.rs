//! Reads and judges the headers of a request: alone before its body is read ([`judge()`]), then, in the modern era,
//! whether they repeat the body ([`modern`]). Sessions have their own judge. Pure: no I/O, no clock.

mod judge;
pub(crate) mod modern;

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::rejection::{Rejection, Result};
use crate::jsonrpc::ErrorObject;

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

/// Refuses two different versions: a proxy could judge by one and the server act on the other.
pub(crate) fn one_version(headers: &HeaderMap) -> Result<()> {
    let mut versions = headers.get_all(&PROTOCOL_VERSION).iter();
    let first = versions.next();
    if versions.any(|version| Some(version) != first) {
        return Err(given_twice(&PROTOCOL_VERSION));
    }
    Ok(())
}

/// The refusal of a header that two readers could read in two ways.
pub(crate) fn given_twice(name: &HeaderName) -> Rejection {
    ErrorObject::invalid_request(format!("the header {name} is given twice")).into()
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
