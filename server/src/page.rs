//! The live page at `/`: files that are compiled in, and the headers that browsers get with them.
//!
//! The page is the same for every visitor and contains no data of a universe, so it needs no token; it reads what it
//! shows over REST, as its visitor. Its source is in `server/page/`, what is made from it is committed beside it.
//!
//! What is made is committed, so that compiling the server needs no Node.js, and what ships was reviewed. A step of the
//! test builds it again from its lock file and compares every byte.

mod assets;

use std::sync::LazyLock;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH, REFERRER_POLICY, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};

use crate::demo;
use crate::rest::RestBody;

/// The page may only run and load files of this server. No other page may frame it: hosts of MCP Apps show a different
/// page, which is a resource.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// The path of the solar system, as a state from which universes can be created.
const SOL: &str = "/page/sol.json";

/// A file of the page.
#[derive(Debug)]
struct Asset {
    /// Its path. All paths except `/` and those of the licenses contain the hash of the content.
    path: &'static str,
    content_type: &'static str,
    /// The beginning of the content's SHA-256, in hexadecimal.
    tag: &'static str,
    text: &'static [u8],
    gzip: &'static [u8],
}

/// A file of the page that a request can name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageFile(Source);

#[derive(Debug, Clone, Copy)]
enum Source {
    Asset(&'static Asset),
    Sol,
}

/// The state of the demo universe as JSON text, made on first use. `None` if that fails.
static SOL_STATE: LazyLock<Option<Bytes>> = LazyLock::new(|| {
    let text = demo::sol().and_then(|state| serde_json::to_vec(&state));
    text.ok().map(Bytes::from)
});

/// The file at a path, if it belongs to the page.
pub(crate) fn find(path: &str) -> Option<PageFile> {
    if path == SOL {
        return Some(PageFile(Source::Sol));
    }
    let asset = assets::ASSETS.iter().find(|asset| asset.path == path)?;
    Some(PageFile(Source::Asset(asset)))
}

impl PageFile {
    /// Its route in the log. All files except the page itself share one route.
    pub(crate) fn route(self) -> &'static str {
        match self.0 {
            Source::Asset(Asset { path: "/", .. }) => "/",
            Source::Asset(_) | Source::Sol => "/page",
        }
    }

    /// Answers a request for the file: with its content, 304 if the client has it already, or 405 for other methods.
    pub(crate) fn answer<B>(self, request: &Request<B>) -> Response<RestBody> {
        let mut response = Response::new(Full::default().boxed_unsync());
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match self.0 {
            Source::Asset(asset) => asset.answer(request.headers(), &mut response),
            Source::Sol => match &*SOL_STATE {
                Some(state) => {
                    let json = HeaderValue::from_static("application/json");
                    response.headers_mut().insert(CONTENT_TYPE, json);
                    *response.body_mut() = Full::new(state.clone()).boxed_unsync();
                }
                None => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
        let headers = response.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, POLICY);
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(OPENER, HeaderValue::from_static("same-origin"));
        response
    }
}

impl Asset {
    fn answer(&'static self, asked: &HeaderMap, response: &mut Response<RestBody>) {
        let is_gzip = takes_gzip(asked);
        // The two bodies differ, and so do their tags (RFC 9110 §8.8.3.3).
        let tag =
            if is_gzip { format!("\"{}-gzip\"", self.tag) } else { format!("\"{}\"", self.tag) };
        let is_known =
            asked.get(IF_NONE_MATCH).and_then(|known| known.to_str().ok()).is_some_and(|known| {
                known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
            });
        let caching = if self.path.contains(self.tag) {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(ETAG, tag);
        }
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return;
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        if is_gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let body = if is_gzip { self.gzip } else { self.text };
        *response.body_mut() = Full::new(Bytes::from_static(body)).boxed_unsync();
    }
}

/// Whether a client accepts gzip: the header names gzip with a weight above zero.
fn takes_gzip(asked: &HeaderMap) -> bool {
    let lines = asked.get_all(ACCEPT_ENCODING).iter();
    let mut named = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|one| one.split(';').map(str::trim));
    named.any(|mut parts| {
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"))
            && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}
