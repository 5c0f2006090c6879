//! Classifies a request by its headers alone, before its body is read.
//!
//! What a session negotiated counts, not the version that its later requests name, as long as that is one with
//! sessions: clients in use name another one.

use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, request};

use super::{PROTOCOL_VERSION, SESSION_ID, given_twice, shown};
use crate::http::config::HttpConfig;
use crate::http::peer::Peer;
use crate::http::rejection::{Rejection, Result};
use crate::jsonrpc::ErrorObject;

/// What kind of exchange the headers ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Post,
    Get,
    Delete,
    Preflight,
}

/// Which of the two media types of an answer the client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepts {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

impl Accepts {
    const BOTH: Self = Self { json: true, events: true };
}

/// Both of them, as a client writes them.
const BOTH: &str = "application/json, text/event-stream";

/// Judges host, origin, method, accept and content type, in this order. `noted` gets what is needed later.
pub(crate) fn judge(
    head: &request::Parts,
    config: &HttpConfig,
    noted: &mut Noted,
) -> Result<(Verb, Accepts)> {
    let seen = SeenHeaders::of(&head.headers);
    *noted = seen.noted;
    // HTTP/2 and absolute-form requests carry it in the target.
    let host = match head.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => seen.host()?,
    };
    match host {
        Some(host) if !config.hosts.allow(host) => {
            return Err(Rejection::ForeignHost(shown(host)));
        }
        // Browsers always send it, so without it no page has a foreign name for this server. A service that was called
        // without a connection of ours has none to require.
        None if head.extensions.get::<Peer>().is_some_and(Peer::is_accepted) => {
            return Err(ErrorObject::invalid_request("the Host header is missing").into());
        }
        _ => {}
    }
    if seen.noted.has_origin {
        judge_origins(&head.headers, config)?;
    }
    let verb = match head.method {
        Method::POST => Verb::Post,
        Method::GET => Verb::Get,
        Method::DELETE => Verb::Delete,
        Method::OPTIONS => return Ok((Verb::Preflight, Accepts::BOTH)),
        _ => return Err(Rejection::MethodNotAllowed),
    };
    let accepts = seen.accepts(&head.headers);
    match verb {
        Verb::Post => {
            if !accepts.json && !accepts.events {
                return Err(Rejection::NotAcceptable(BOTH));
            }
            if seen.has_two_types {
                return Err(given_twice(&header::CONTENT_TYPE));
            }
            if !is_json(seen.content_type) {
                return Err(Rejection::UnsupportedMediaType);
            }
            if seen.is_encoded {
                return Err(Rejection::UnsupportedEncoding);
            }
        }
        // Without a session that is what is wrong: the probes of monitors look for it.
        Verb::Get if !accepts.events && head.headers.contains_key(&SESSION_ID) => {
            return Err(Rejection::NotAcceptable("text/event-stream"));
        }
        Verb::Get | Verb::Delete | Verb::Preflight => {}
    }
    Ok((verb, accepts))
}

/// The details of the headers that are needed later. Reading all headers again would cost as much as a small parse.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Noted {
    /// Whether the request comes from a web page.
    pub(crate) has_origin: bool,
    /// The length of the body that the client announced first, in bytes.
    pub(crate) length: Option<usize>,
    /// Whether it may name its version or its session more than once.
    pub(crate) has_copies: bool,
}

/// The headers that each request is judged by, read in one pass.
#[derive(Default)]
struct SeenHeaders<'h> {
    /// The host; `None` if the request does not name one.
    host: Option<&'h HeaderValue>,
    has_two_hosts: bool,
    noted: Noted,
    /// The first of them.
    accept: Option<&'h HeaderValue>,
    has_more_accepts: bool,
    content_type: Option<&'h HeaderValue>,
    /// Whether there are different content types.
    has_two_types: bool,
    /// Whether there is a content encoding.
    is_encoded: bool,
    version: Option<&'h HeaderValue>,
    session: Option<&'h HeaderValue>,
}

impl<'h> SeenHeaders<'h> {
    fn of(headers: &'h HeaderMap) -> Self {
        let mut seen = Self::default();
        for (name, value) in headers {
            if *name == header::HOST {
                seen.has_two_hosts |= seen.host.replace(value).is_some();
            } else if *name == header::ACCEPT {
                match seen.accept {
                    None => seen.accept = Some(value),
                    Some(_) => seen.has_more_accepts = true,
                }
            } else if *name == header::CONTENT_TYPE {
                let before = seen.content_type.replace(value);
                seen.has_two_types |= before.is_some_and(|before| before != value);
            } else if *name == header::ORIGIN {
                seen.noted.has_origin = true;
            } else if *name == header::CONTENT_LENGTH {
                seen.noted.length = seen.noted.length.or_else(|| length(value));
            } else if *name == header::CONTENT_ENCODING {
                seen.is_encoded |= is_encoded(value);
            } else if *name == PROTOCOL_VERSION {
                seen.noted.has_copies |=
                    seen.version.replace(value).is_some() || is_list(value, VERSION_LENGTH);
            } else if *name == SESSION_ID {
                seen.noted.has_copies |=
                    seen.session.replace(value).is_some() || is_list(value, SESSION_LENGTH);
            }
        }
        seen
    }

    /// The host that a request is for (RFC 9112 §3.2); empty if it is not text.
    fn host(&self) -> Result<Option<&'h str>> {
        if self.has_two_hosts {
            return Err(given_twice(&header::HOST));
        }
        Ok(self.host.map(|host| host.to_str().map_or("", str::trim_ascii)))
    }

    /// A missing `Accept` and wildcards accept both: here the revision binds the client, not the server.
    fn accepts(&self, headers: &HeaderMap) -> Accepts {
        match self.accept {
            None => Accepts::BOTH,
            // As all clients of the official libraries write it.
            Some(accept) if accept.as_bytes() == BOTH.as_bytes() && !self.has_more_accepts => {
                Accepts::BOTH
            }
            Some(_) => accepts(headers),
        }
    }
}

fn judge_origins(headers: &HeaderMap, config: &HttpConfig) -> Result<()> {
    for origin in headers.get_all(header::ORIGIN) {
        let origin = String::from_utf8_lossy(origin.as_bytes());
        if !config.origins.allow(&origin) {
            return Err(Rejection::ForeignOrigin(shown(&origin)));
        }
    }
    Ok(())
}

/// The media types that all `Accept` headers allow; both if the headers are empty.
fn accepts(headers: &HeaderMap) -> Accepts {
    let mut found = Accepts { json: false, events: false };
    let mut any = false;
    for value in headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()) {
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
    if any { found } else { Accepts::BOTH }
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
        || rest.strip_prefix('.').is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'));
    name.trim().eq_ignore_ascii_case("q") && is_zero
}

/// Whether the content type is JSON.
fn is_json(content_type: Option<&HeaderValue>) -> bool {
    let Some(content_type) = content_type.map(HeaderValue::as_bytes) else {
        return false;
    };
    if content_type == b"application/json" {
        return true;
    }
    // A proxy may have added the header once more.
    content_type.split(|&byte| byte == b',').all(|content_type| {
        let media = content_type.split(|&byte| byte == b';').next();
        let media = media.unwrap_or_default().trim_ascii();
        media.eq_ignore_ascii_case(b"application/json")
    })
}

/// The length in a `Content-Length` header.
pub(crate) fn length(value: &HeaderValue) -> Option<usize> {
    value.to_str().ok()?.parse().ok()
}

/// How long a version is, and a session id of this library.
const VERSION_LENGTH: usize = 10;
const SESSION_LENGTH: usize = 36;

/// Whether several values may have been joined: there is a comma in more than the length of one. Shorter ones, which
/// nearly all are, are not read for it.
fn is_list(value: &HeaderValue, one: usize) -> bool {
    value.len() > one && value.as_bytes().contains(&b',')
}

/// Whether a `Content-Encoding` names an encoding (RFC 9110 §8.4).
fn is_encoded(value: &HeaderValue) -> bool {
    value
        .as_bytes()
        .split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii)
        .any(|encoding| !encoding.is_empty() && !encoding.eq_ignore_ascii_case(b"identity"))
}
