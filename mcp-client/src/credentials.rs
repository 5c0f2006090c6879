//! Credentials of the client: the headers that it sends with each HTTP request, and how it handles a refusal.

use std::fmt;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::{Method, StatusCode, Uri};

use super::{ClientError, Result};

/// How often one request is sent, the first time included, before its refusal is given to the caller.
pub const MAX_TRIES: usize = 4;

/// Supplies the headers that authorize requests, and handles refusals.
///
/// The client asks for the headers before each HTTP request. They are sent only to the origin of the endpoint, since
/// redirects are followed only within it. For a bearer token that does not change, use
/// [`ClientConfig::with_bearer`](super::ClientConfig::with_bearer).
pub trait Credentials: Send + Sync + fmt::Debug {
    /// The headers for a request that is about to be sent, such as `Authorization`. They replace those of
    /// [`ClientConfig::headers`](super::ClientConfig::headers) with the same names.
    ///
    /// # Errors
    /// What the call of the client fails with.
    fn headers<'a>(&'a self, method: &'a Method, url: &'a Uri) -> BoxFuture<'a, Result<HeaderMap>>;

    /// The server answered 401 or 403. `Ok` sends the request again, with new headers from this trait. After
    /// [`MAX_TRIES`] tries, the caller gets the refusal as [`ClientError::Http`].
    ///
    /// A person may have to log in, so the future has no time limit, and the clocks of calls stand still meanwhile. It
    /// is dropped with its call.
    ///
    /// # Errors
    /// What the call of the client fails with: it should explain what is missing
    /// ([`ClientError::Unauthorized`]).
    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<()>>;

    /// The headers of every other response, such as one with a fresh nonce (RFC 9449 §8.2).
    fn answered(&self, _url: &Uri, _headers: &HeaderMap) {}
}

/// A request that was refused because of the caller.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Refusal {
    /// 401 or 403.
    pub status: StatusCode,
    /// The headers of the response, `WWW-Authenticate` among them.
    pub headers: HeaderMap,
    /// The method of the request.
    pub method: Method,
    /// Its URL.
    pub url: Uri,
    /// How often the request was sent so far; 1 at the first refusal.
    pub tries: usize,
    /// The headers of the request, those of the credentials among them.
    pub sent: HeaderMap,
}

impl Refusal {
    /// The first refusal of a request, without headers.
    pub fn new(status: StatusCode, method: Method, url: Uri) -> Self {
        let (headers, sent) = (HeaderMap::new(), HeaderMap::new());
        Self { status, headers, method, url, tries: 1, sent }
    }
}

/// A fixed bearer token (RFC 6750).
pub(super) struct Bearer(HeaderValue);

impl Bearer {
    pub(super) fn new(token: &str) -> Result<Self> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let value = HeaderValue::from_str(&format!("Bearer {token}"))
            .ok()
            .filter(|_| !token.is_empty() && token.bytes().all(is_token));
        let mut value = value.ok_or_else(|| {
            let right = "letters, digits and -._~+/= (RFC 6750)";
            ClientError::Unauthorized(format!("a bearer token must be made of {right}"))
        })?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl Credentials for Bearer {
    fn headers<'a>(
        &'a self,
        _method: &'a Method,
        _url: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap>> {
        let headers = HeaderMap::from_iter([(AUTHORIZATION, self.0.clone())]);
        std::future::ready(Ok(headers)).boxed()
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<()>> {
        let status = refusal.status;
        let problem = format!("the bearer token was not enough (HTTP {status})");
        std::future::ready(Err(ClientError::Unauthorized(problem))).boxed()
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Bearer(…)")
    }
}
