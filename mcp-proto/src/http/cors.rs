//! Cross-origin resource sharing (WHATWG Fetch): a page that may call may also read the answers.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, HeaderValue, VARY,
};
use http::{Response, StatusCode};

use super::body::ResponseBody;
use super::config::Origins;
use super::rejection;

const METHODS: HeaderValue = HeaderValue::from_static("POST, GET, DELETE");
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "content-type, accept, authorization, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
);
const EXPOSED: HeaderValue = HeaderValue::from_static("mcp-session-id");
/// How long a browser may keep the answer to a preflight, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// The answer to OPTIONS; [`expose`] adds the origin.
pub(super) fn preflight() -> Response<ResponseBody> {
    let mut response = super::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ALLOW, rejection::ALLOW);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

/// Lets the page at `origin` read the response, refusals too, if it may call at all.
pub(super) fn expose(
    response: &mut Response<ResponseBody>,
    origin: HeaderValue,
    origins: &Origins,
) {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if origin.to_str().is_ok_and(|origin| origins.allow(origin)) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}
