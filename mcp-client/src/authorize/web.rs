//! Bounded fetches for authorization: over HTTPS or within this machine, with redirects only within the origin.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use oauth2::url::{Host, Url};
use serde::de::DeserializeOwned;

use super::error::{OAuthError, Result};
use crate::pool::Pool;

/// The largest document, or answer of an endpoint, that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// How long one request of authorization may take.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(10);

/// Fetches for one MCP server. Cheap to clone; clones share the connections.
#[derive(Debug, Clone)]
pub(super) struct Web {
    pool: Pool,
    /// The address space of the MCP server. The server may name URLs in this space or farther out. It must not make the
    /// client probe a space farther in.
    address_space: AddressSpace,
}

/// Where a URL leads, from far out to far in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AddressSpace {
    Public,
    /// A private or link-local address (RFC 1918, RFC 3927, RFC 4193, RFC 4291 §2.5.6).
    Network,
    /// This machine.
    Machine,
}

impl Web {
    pub(super) fn new(pool: Pool, endpoint: &Url) -> Self {
        Self { pool, address_space: AddressSpace::of(endpoint) }
    }

    /// The URL, if it may be fetched from or opened: one of https, or one of http on this machine if the MCP server is
    /// there too.
    pub(super) fn url(&self, text: &str) -> Result<Url> {
        let wrong = |problem: &str| OAuthError::fetched(text, problem);
        let url = Url::parse(text).map_err(|_| wrong("this is not a URL"))?;
        let address_space = AddressSpace::of(&url);
        let is_farther_in = address_space > self.address_space;
        if url.has_host() && (!url.username().is_empty() || url.password().is_some()) {
            return Err(wrong("a URL with a user name or a password is not used"));
        }
        match url.scheme() {
            "https" | "http" if is_farther_in => Err(wrong(
                "an MCP server elsewhere must not name a place on this machine or in its private network",
            )),
            "https" => Ok(url),
            "http" if address_space == AddressSpace::Machine => Ok(url),
            _ => Err(wrong("the URL must begin with https://")),
        }
    }

    /// A document of JSON; `None` if the URL has no such document: a client error, or something else than JSON.
    pub(super) async fn document<T: DeserializeOwned>(&self, url: &Url) -> Result<Option<T>> {
        let mut request = Request::new(Bytes::new());
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(ACCEPT, json);
        let response = self.send(url, request).await?;
        let status = response.status();
        if status.is_client_error() || (status == StatusCode::OK && !is_json(&response)) {
            return Ok(None);
        }
        if status != StatusCode::OK {
            let problem = format!("the answer is HTTP {status}, not a document: try again later");
            return Err(OAuthError::fetched(&url, problem));
        }
        let document = serde_json::from_slice(response.body());
        document.map(Some).map_err(|problem| {
            OAuthError::fetched(&url, format!("the document cannot be read: {problem}"))
        })
    }

    /// Posts JSON to a URL that [`Web::url`] gave.
    pub(super) async fn post(
        &self,
        url: &Url,
        json: Bytes,
        accept: &'static str,
    ) -> Result<Response<Bytes>> {
        let mut request = Request::new(json);
        *request.method_mut() = Method::POST;
        let media = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, media);
        let accept = HeaderValue::from_static(accept);
        request.headers_mut().insert(ACCEPT, accept);
        self.send(url, request).await
    }

    /// Sends a request to a URL that [`Web::url`] gave.
    pub(super) async fn send(
        &self,
        url: &Url,
        mut request: Request<Bytes>,
    ) -> Result<Response<Bytes>> {
        let uri = url.as_str().parse();
        *request.uri_mut() = uri.map_err(|_| OAuthError::fetched(&url, "this is not a URL"))?;
        let fetched = self.pool.fetch(request, MAX_DOCUMENT_BYTES, FETCH_TIMEOUT).await;
        fetched.map_err(|problem| OAuthError::fetched(&url, problem.to_string()))
    }
}

impl AddressSpace {
    /// Where the host of a URL is, by the URL alone: names are not looked up.
    pub(super) fn of(url: &Url) -> Self {
        let address = match url.host() {
            Some(Host::Domain(name)) => {
                // One dot at the end says that the name is complete (RFC 1034 §3.1).
                let name = name.strip_suffix('.').unwrap_or(name);
                let is_here = name == "localhost" || name.ends_with(".localhost");
                return if is_here { Self::Machine } else { Self::Public };
            }
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical(),
            None => return Self::Public,
        };
        let is_inside = match address {
            IpAddr::V4(address) => address.is_private() || address.is_link_local(),
            IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
        };
        // A connection to the unspecified address comes to this machine.
        if address.is_loopback() || address.is_unspecified() {
            Self::Machine
        } else if is_inside {
            Self::Network
        } else {
            Self::Public
        }
    }
}

fn is_json(response: &Response<Bytes>) -> bool {
    let media = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let media = media.unwrap_or_default().split(';').next().unwrap_or_default();
    let media = media.trim().to_ascii_lowercase();
    media == "application/json" || media.ends_with("+json")
}
