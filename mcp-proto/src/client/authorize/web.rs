//! What authorization fetches: bounded, over HTTPS or within this machine, redirects within the origin alone.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use oauth2::url::{Host, Url};
use serde::de::DeserializeOwned;

use super::error::OAuthError;
use crate::client::pool::Pool;

/// The largest document, or answer of an endpoint, that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// How long one request of authorization may take.
pub const FETCH_TIMEOUT: Duration = Duration::from_secs(10);

/// Fetches for one MCP server.
#[derive(Debug)]
pub(super) struct Web {
    pool: Pool,
    /// The MCP server is on this machine, so that others may be, too. A server elsewhere must not have the client look
    /// around here.
    is_local: bool,
}

impl Web {
    pub(super) fn new(pool: Pool, endpoint: &Url) -> Self {
        Self {
            pool,
            is_local: is_local(endpoint),
        }
    }

    /// The URL, if it may be fetched from or opened: one of https, or one of http on this machine if the MCP server is
    /// there too.
    pub(super) fn url(&self, text: &str) -> Result<Url, OAuthError> {
        let wrong = |problem: &str| OAuthError::fetched(text, problem);
        let url = Url::parse(text).map_err(|_| wrong("this is no URL"))?;
        let local = is_local(&url);
        if url.has_host() && (!url.username().is_empty() || url.password().is_some()) {
            return Err(wrong("a URL with a user name or a password is not used"));
        }
        match url.scheme() {
            "https" if self.is_local || !local => Ok(url),
            "http" if self.is_local && local => Ok(url),
            "https" | "http" if local => Err(wrong(
                "an MCP server elsewhere must not name a place on this machine",
            )),
            _ => Err(wrong("the URL must begin with https://")),
        }
    }

    /// A document of JSON; `None` if the URL has no such document: a client error, or something else than JSON.
    pub(super) async fn document<T: DeserializeOwned>(
        &self,
        url: &Url,
    ) -> Result<Option<T>, OAuthError> {
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
    ) -> Result<Response<Bytes>, OAuthError> {
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
    ) -> Result<Response<Bytes>, OAuthError> {
        let uri = url.as_str().parse();
        *request.uri_mut() = uri.map_err(|_| OAuthError::fetched(&url, "this is no URL"))?;
        let fetched = self
            .pool
            .fetch(request, MAX_DOCUMENT_BYTES, FETCH_TIMEOUT)
            .await;
        fetched.map_err(|problem| OAuthError::fetched(&url, problem.to_string()))
    }
}

/// Whether a URL is one of this machine.
pub(super) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
        Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
        None => false,
    }
}

fn is_json(response: &Response<Bytes>) -> bool {
    let media = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|it| it.to_str().ok());
    let media = media
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    let media = media.trim().to_ascii_lowercase();
    media == "application/json" || media.ends_with("+json")
}
