//! Credentials of the client: the headers that it sends with each HTTP request, and how it handles a refusal.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::{Method, StatusCode, Uri};
use tokio::time::Instant;

use super::ClientError;

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
    fn headers<'a>(
        &'a self,
        method: &'a Method,
        url: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, ClientError>>;

    /// The server answered 401 or 403. `Ok` sends the request again, with new headers from this trait. After
    /// [`MAX_TRIES`] tries, the caller gets the refusal as [`ClientError::Http`].
    ///
    /// A person may have to log in, so the future has no time limit. The time limits of calls do not end it, and start
    /// again after it. It is dropped with its call.
    ///
    /// # Errors
    /// What the call of the client fails with: it should explain what is missing
    /// ([`ClientError::Unauthorized`]).
    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<(), ClientError>>;

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

/// The requests of a connection that wait for their credentials.
#[derive(Debug, Clone, Default)]
pub(super) struct Authorizing(Arc<Mutex<Waits>>);

#[derive(Debug, Default)]
struct Waits {
    running: usize,
    /// When the last one ended.
    ended: Option<Instant>,
}

/// One of them, until it is dropped.
pub(super) struct Authorization(Authorizing);

impl Authorizing {
    pub(super) fn begin(&self) -> Authorization {
        self.waits().running += 1;
        Authorization(self.clone())
    }

    /// The extended deadline of a call with `limit`, if credentials have taken some of its time.
    pub(super) fn extended(&self, limit: Duration) -> Option<Instant> {
        let now = Instant::now();
        let waits = self.waits();
        let begin = match waits.running {
            0 => waits.ended,
            _ => Some(now),
        };
        begin.map(|begin| begin + limit).filter(|until| *until > now)
    }

    /// Runs a future with a time limit, not counting the time that credentials take.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        running: impl Future<Output = T>,
    ) -> Result<T, ClientError> {
        let mut running = std::pin::pin!(running);
        let mut until = Instant::now() + limit;
        loop {
            match tokio::time::timeout_at(until, &mut running).await {
                Ok(done) => return Ok(done),
                Err(_) => until = self.extended(limit).ok_or(ClientError::Timeout(limit))?,
            }
        }
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        // Nothing panics while it holds them.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Authorization {
    fn drop(&mut self) {
        let mut waits = self.0.waits();
        waits.running = waits.running.saturating_sub(1);
        waits.ended = Some(Instant::now());
    }
}

/// A fixed bearer token (RFC 6750).
pub(super) struct Bearer(HeaderValue);

impl Bearer {
    pub(super) fn new(token: &str) -> Result<Self, ClientError> {
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
    ) -> BoxFuture<'a, Result<HeaderMap, ClientError>> {
        let headers = HeaderMap::from_iter([(AUTHORIZATION, self.0.clone())]);
        std::future::ready(Ok(headers)).boxed()
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<(), ClientError>> {
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
