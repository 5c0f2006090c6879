//! One pool of HTTP connections: HTTP/1.1 and HTTP/2, plain and over TLS, with redirects only within the origin.

use std::sync::Arc;
#[cfg(feature = "oauth")]
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue, LOCATION, PROXY_AUTHORIZATION};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::error::describe;
use super::network::{HttpService, Incoming, Network};
use super::proxy::{Proxy, ProxyConnector};
use super::tls;
use super::{ClientError, Result, Trust};

/// The most redirects of one request that are followed.
pub(super) const MAX_REDIRECTS: usize = 5;

/// The longest URL that a redirect may lead to, in bytes.
const MAX_URL_BYTES: usize = 8 * 1024;

/// Connections to any origin, kept for the next request. Cheap to clone; clones share the connections.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    service: HttpService,
    proxies: Arc<Matcher>,
}

/// The outcome of one request.
#[derive(Debug)]
pub(super) enum Hop {
    /// A response, whose body is still to be read.
    Response(Response<Incoming>),
    /// The same request must be sent to this URI, which is of the same origin.
    Redirect(Uri),
}

impl Pool {
    /// The caller's service, or a pool with these settings. Reading the certificates of a system takes a while, and
    /// what is not HTTPS needs none.
    pub(super) fn new(network: &Network, is_https: bool) -> Result<Self> {
        if let Some(service) = &network.service {
            let (service, proxies) = (service.clone(), Proxy::none().matcher()?);
            return Ok(Self { service, proxies });
        }
        let proxies = network.proxy.matcher()?;
        let mut http = HttpConnector::new();
        http.set_nodelay(true);
        http.set_connect_timeout(Some(network.connect_timeout));
        http.set_keepalive(network.keep_alive);
        // It gets URLs with `https` and those of SOCKS proxies too.
        http.enforce_http(false);
        let timeout = network.connect_timeout;
        let connector = ProxyConnector { http, proxies: Arc::clone(&proxies), timeout };
        let trust = if is_https { network.trust.clone() } else { Trust::only() };
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(network.idle_timeout)
            .pool_max_idle_per_host(network.max_idle)
            .http2_only(network.http2)
            .build(tls::connector(connector, &trust, network.http2)?);
        Ok(Self { service: HttpService::new(client), proxies })
    }

    /// Sends one request, and follows no redirect.
    pub(super) async fn send(&self, mut request: Request<Bytes>) -> Result<Hop> {
        let (method, from) = (request.method().clone(), request.uri().clone());
        let proxy = self.proxies.intercept(&from).filter(|_| from.scheme_str() == Some("http"));
        if let Some(auth) = proxy.as_ref().and_then(Intercept::basic_auth) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, auth.clone());
        }
        // Without it a server may compress its answers (RFC 9110 §12.5.3).
        let codings = request.headers_mut().entry(ACCEPT_ENCODING);
        codings.or_insert(HeaderValue::from_static("identity"));
        let response = self.service.send(request.map(Full::new)).await?;
        let coding = response.headers().get(CONTENT_ENCODING).filter(|it| *it != "identity");
        if let Some(coding) = coding {
            let problem =
                format!("{from} answers in the encoding {coding:?}, which is not read here");
            return Err(ClientError::Protocol(problem));
        }
        Ok(match target(&method, &from, &response)? {
            Some(uri) => Hop::Redirect(uri),
            None => Hop::Response(response),
        })
    }

    /// Sends a request, follows redirects, and reads the whole response: at most `max_bytes` of body, within `limit`.
    /// Any status is a response.
    #[cfg(feature = "oauth")]
    pub(super) async fn fetch(
        &self,
        mut request: Request<Bytes>,
        max_bytes: usize,
        limit: Duration,
    ) -> Result<Response<Bytes>> {
        let fetched = async {
            for _ in 0..=MAX_REDIRECTS {
                match self.send(request.clone()).await? {
                    Hop::Redirect(uri) => *request.uri_mut() = uri,
                    Hop::Response(response) => {
                        let (head, body) = response.into_parts();
                        return Ok(Response::from_parts(head, whole(body, max_bytes).await?));
                    }
                }
            }
            Err(too_many(request.uri()))
        };
        let fetched = tokio::time::timeout(limit, fetched).await;
        fetched.map_err(|_elapsed| ClientError::Timeout(limit))?
    }
}

/// Reads a body of at most `max_bytes`.
pub(super) async fn whole(body: Incoming, max_bytes: usize) -> Result<Bytes> {
    let body = Limited::new(body, max_bytes).collect().await;
    let body = body.map_err(|error| match error.downcast::<ClientError>() {
        Ok(error) => *error,
        Err(error) => ClientError::Connection(describe(&*error)),
    })?;
    Ok(body.to_bytes())
}

/// A request was led from place to place.
pub(super) fn too_many(uri: &Uri) -> ClientError {
    ClientError::Connection(format!("more than {MAX_REDIRECTS} redirects, up to {uri}"))
}

/// Scheme, host and port are the same (RFC 6454).
pub(super) fn same_origin(one: &Uri, other: &Uri) -> bool {
    let host = |uri: &Uri| uri.host().unwrap_or_default().to_ascii_lowercase();
    one.scheme() == other.scheme() && host(one) == host(other) && port(one) == port(other)
}

fn port(uri: &Uri) -> Option<u16> {
    uri.port_u16().or(match uri.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    })
}

/// Where a redirect leads. A method is never changed: 303, which asks for that, is followed by GET alone.
fn target<B>(method: &Method, from: &Uri, response: &Response<B>) -> Result<Option<Uri>> {
    let followed = match response.status() {
        StatusCode::SEE_OTHER => method == Method::GET,
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => true,
        _ => false,
    };
    let Some(location) = response.headers().get(LOCATION).filter(|_| followed) else {
        return Ok(None);
    };
    let broken = || {
        let shown = String::from_utf8_lossy(location.as_bytes());
        ClientError::Connection(format!("{from} redirects to {shown:?}, which is not a URL"))
    };
    let location = location.to_str().map_err(|_| broken())?;
    let target = resolved(from, location).ok_or_else(broken)?;
    if !same_origin(from, &target) {
        return Err(ClientError::Connection(format!(
            "{from} redirects to {target}, another origin: connect to that URL if you trust it"
        )));
    }
    Ok(Some(target))
}

/// A reference as servers write them: a URL, or a path with or without a slash before it (RFC 3986 §4.2).
fn resolved(from: &Uri, location: &str) -> Option<Uri> {
    let location = location.split('#').next().unwrap_or_default();
    if location.len() > MAX_URL_BYTES {
        return None;
    }
    let scheme = from.scheme_str()?;
    let authority = from.authority()?;
    let text = if location.contains("://") {
        location.to_owned()
    } else if let Some(rest) = location.strip_prefix("//") {
        format!("{scheme}://{rest}")
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}")
    } else if location.starts_with('?') {
        format!("{scheme}://{authority}{}{location}", from.path())
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{location}")
    };
    text.parse().ok().filter(|uri: &Uri| uri.host().is_some())
}
