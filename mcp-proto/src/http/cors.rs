//! Cross-origin resource sharing (WHATWG Fetch): a page that may call may also read the answers.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW,
    HeaderMap, HeaderName, HeaderValue, ORIGIN, VARY,
};
use http::{Response, StatusCode};

use super::answer::empty;
use super::body::ResponseBody;
use super::config::Origins;
use super::{head, rejection};

const METHODS: HeaderValue = HeaderValue::from_static("POST, GET, DELETE");
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "content-type, accept, authorization, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
);
const EXPOSED: HeaderValue = HeaderValue::from_static("mcp-session-id, www-authenticate");
/// How long a browser may keep the answer to a preflight, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The beginning of the headers that repeat a tool's parameters (`x-mcp-header`). The page knows their names from the
/// list of tools. The wildcard of the standard would not cover `authorization`.
const PARAM: &str = "mcp-param-";

/// The answer to OPTIONS; [`expose`] adds the origin.
pub(super) fn preflight(asked: &HeaderMap) -> Response<ResponseBody> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ALLOW, rejection::ALLOW);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed(asked));
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

/// The headers that a page may send: those of the protocol, and those of parameters that it asks for.
fn allowed(asked: &HeaderMap) -> HeaderValue {
    let asked = asked.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
    let names = asked
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .filter(|name| name.as_str().starts_with(PARAM));
    let mut allowed = String::new();
    for name in names {
        allowed.push_str(", ");
        allowed.push_str(name.as_str());
    }
    if allowed.is_empty() {
        return REQUEST_HEADERS;
    }
    let all = [REQUEST_HEADERS.as_bytes(), allowed.as_bytes()].concat();
    HeaderValue::from_bytes(&all).unwrap_or(REQUEST_HEADERS)
}

/// Lets the calling page, if any, read the response or refusal, provided that it may call the server.
pub(super) fn expose(response: &mut Response<ResponseBody>, asked: &HeaderMap, origins: &Origins) {
    let Some(origin) = head::first(asked, &ORIGIN) else {
        return;
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if origin.to_str().is_ok_and(|origin| origins.allow(origin)) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}
