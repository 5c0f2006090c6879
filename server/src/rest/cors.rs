//! Who may call: hosts and origins, and the headers about it for browsers (WHATWG Fetch, CORS).

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, HOST, HeaderValue, ORIGIN, VARY,
};
use http::{Response, StatusCode, request};
use mcp_proto::http::Peer;

use super::RestConfig;
use super::answer::{self, Failure, RestBody};

const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "content-type, accept, authorization, if-match, if-none-match, last-event-id, idempotency-key",
);
const EXPOSED: HeaderValue =
    HeaderValue::from_static("etag, link, location, mcp-session-id, www-authenticate");
/// How long a browser may keep the answer to a preflight, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Refuses requests for other hosts (DNS rebinding) and from pages of origins that are not allowed.
pub(super) fn judge(head: &request::Parts, config: &RestConfig) -> Result<(), Failure> {
    let host = match head.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => head.headers.get(HOST).map(|host| host.to_str().unwrap_or_default()),
    };
    if host.is_none() && head.extensions.get::<Peer>().is_some_and(Peer::is_accepted) {
        return Err(Failure::bad_request("the Host header is missing"));
    }
    if let Some(host) = host.filter(|host| !config.hosts.allow(host)) {
        let host: String = host.chars().take(100).collect();
        let error = format!(
            "the host {host:?} is not a name of this server; if it is, allow it by --allowed-host"
        );
        return Err(Failure::new(StatusCode::FORBIDDEN, error));
    }
    if let Some(origin) = head.headers.get(ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        if !config.origins.allow(&origin) {
            let origin: String = origin.chars().take(100).collect();
            let error = format!(
                "pages of the origin {origin:?} may not call this server; if they may, allow it by --allowed-origin"
            );
            return Err(Failure::new(StatusCode::FORBIDDEN, error));
        }
    }
    Ok(())
}

pub(super) fn preflight(methods: HeaderValue) -> Response<RestBody> {
    let mut response = answer::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ALLOW, methods.clone());
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

/// Lets a page of an allowed origin read the answer, including errors.
pub(super) fn expose(
    head: &request::Parts,
    response: &mut Response<RestBody>,
    origins: &mcp_proto::http::Origins,
) {
    let headers = response.headers_mut();
    // Also set without an origin: a cache must not give this answer to a page.
    headers.append(VARY, HeaderValue::from_static("origin"));
    let Some(origin) = head.headers.get(ORIGIN) else {
        return;
    };
    if origin.to_str().is_ok_and(|origin| origins.allow(origin)) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}
