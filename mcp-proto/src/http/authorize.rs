//! Authorization over HTTP: an [`Authorizer`] checks each request, and a refused caller gets a challenge that says what
//! is required (MCP "Authorization", RFC 6750, RFC 9728). Stdin and stdout need no authorization.

pub(super) mod challenge;
#[cfg(feature = "jwt")]
pub mod jwt;
pub(super) mod metadata;
mod tokens;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::header::{self, HeaderMap, HeaderValue};
use http::{Method, request};

use super::logged_rejections::LoggedRejections;
use super::rejection::Rejection;
use crate::context::Principal;
use crate::scopes::Scopes;

pub use challenge::{Denied, Refusal};
pub use metadata::ProtectedResource;
pub use tokens::{BearerTokens, InvalidTokens};

/// The longest token that is checked, in bytes; a longer one is malformed.
pub const MAX_TOKEN_BYTES: usize = 8 * 1024;

/// Identifies the caller of a request.
///
/// It is called for every request with its head alone (MCP "Access Token Usage"). It must not read tokens in the query.
pub trait Authorizer: fmt::Debug + Send + Sync {
    /// The caller of a request with this head.
    ///
    /// # Errors
    /// Why the request is refused.
    fn authorize<'a>(&'a self, head: &'a request::Parts) -> BoxFuture<'a, Result<Caller, Denied>>;

    /// The DPoP proofs (RFC 9449) that it accepts, for its challenges. None by default.
    fn proofs(&self) -> Option<Proofs> {
        None
    }
}

/// The DPoP part of challenges (RFC 9449 §7.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proofs {
    /// The names of the accepted signing algorithms, separated by spaces.
    pub algorithms: String,
    /// Whether tokens without proofs are refused.
    pub is_required: bool,
}

impl<A: Authorizer + ?Sized> Authorizer for Arc<A> {
    fn authorize<'a>(&'a self, head: &'a request::Parts) -> BoxFuture<'a, Result<Caller, Denied>> {
        (**self).authorize(head)
    }

    fn proofs(&self) -> Option<Proofs> {
        (**self).proofs()
    }
}

/// An authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Its stable name. Sessions, tasks, cursors, request state, streams and shares are bound to it.
    pub principal: Principal,
    /// Its scopes.
    pub scopes: Scopes,
}

/// How requests over HTTP are authorized.
#[derive(Debug, Clone)]
#[must_use]
pub struct Authorization {
    authorizer: Arc<dyn Authorizer>,
    resource: Option<Arc<ProtectedResource>>,
    implied: BTreeMap<String, Scopes>,
    logged: Arc<LoggedRejections>,
}

impl Authorization {
    /// Every request must satisfy `authorizer`, except preflights and requests for the metadata of the resource.
    pub fn new(authorizer: impl Authorizer + 'static) -> Self {
        Self {
            authorizer: Arc::new(authorizer),
            resource: None,
            implied: BTreeMap::new(),
            logged: Arc::default(),
        }
    }

    /// Publishes where tokens are issued: at the well-known paths of RFC 9728, which the embedding service must route
    /// to the endpoint, and in every challenge.
    pub fn with_resource(mut self, resource: ProtectedResource) -> Self {
        self.resource = Some(Arc::new(resource));
        self
    }

    /// What it publishes of where tokens are issued.
    pub fn resource(&self) -> Option<&ProtectedResource> {
        self.resource.as_deref()
    }

    /// Callers with `scope` also have these scopes, and the scopes that they imply.
    pub fn implies(mut self, scope: impl Into<String>, others: Scopes) -> Self {
        self.implied.insert(scope.into(), others);
        self
    }

    /// The answer to a request for the metadata of the resource; `None` for any other.
    pub(super) fn metadata(&self, head: &request::Parts) -> Option<Arc<ProtectedResource>> {
        let resource = self.resource.as_ref()?;
        let asks = head.method == Method::GET && resource.is_at(head.uri.path());
        asks.then(|| Arc::clone(resource))
    }

    /// Authorizes a request, and puts its [`Principal`] and [`Scopes`] among the extensions of the request. A
    /// [`StreamableHttpService`](super::StreamableHttpService) does so itself: this is for endpoints beside it.
    ///
    /// # Errors
    /// The request is refused; the refusal has the response for the client.
    pub async fn admit(&self, head: &mut request::Parts) -> Result<(), Refusal> {
        match self.authorizer.authorize(head).await {
            Ok(Caller { principal, scopes }) => {
                head.extensions.insert(principal);
                head.extensions.insert(scopes.with_implied(&self.implied));
                Ok(())
            }
            Err(denied) => {
                // An operator is asked why a client is refused, and most clients do not show it.
                if let Denied::Invalid(problem) = &denied {
                    if self.logged.is_first(problem) {
                        tracing::info!(
                            problem,
                            "refused a token; further ones alike are logged at debug level"
                        );
                    } else {
                        tracing::debug!(problem, "refused a token");
                    }
                }
                Err(self.refuse(denied))
            }
        }
    }

    /// The error for a request, with the parameters of its challenge.
    #[must_use]
    pub fn refuse(&self, denied: Denied) -> Refusal {
        let resource = self.resource.as_deref();
        let scopes = match &denied {
            Denied::Insufficient(scopes) => scopes.clone(),
            _ => resource.map_or_else(Scopes::default, |it| it.challenged()),
        };
        Refusal {
            metadata: resource.map(ProtectedResource::url),
            proofs: self.authorizer.proofs(),
            scopes,
            denied,
        }
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Unauthorized(Box::new(refusal))
    }
}

impl From<Denied> for Rejection {
    /// The refusal by a server that does not publish where tokens are issued.
    fn from(denied: Denied) -> Self {
        let scopes = match &denied {
            Denied::Insufficient(scopes) => scopes.clone(),
            _ => Scopes::default(),
        };
        Self::Unauthorized(Box::new(Refusal { denied, metadata: None, proofs: None, scopes }))
    }
}

/// How a request presents its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Any holder may use it (RFC 6750).
    Bearer,
    /// With a proof (RFC 9449).
    Dpop,
}

/// The token that a request presents in its `Authorization` header (RFC 6750 §2.1).
///
/// # Errors
/// [`Denied::Missing`] or [`Denied::Malformed`].
pub fn bearer(headers: &HeaderMap) -> Result<&str, Denied> {
    match credentials(headers)? {
        (Scheme::Bearer, token) => Ok(token),
        (Scheme::Dpop, _) => Err(Denied::Missing),
    }
}

/// The same, with its authentication scheme.
pub(crate) fn credentials(headers: &HeaderMap) -> Result<(Scheme, &str), Denied> {
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let (value, more) = (shown.next(), shown.next());
    let malformed = |problem: &str| Err(Denied::Malformed(problem.to_owned()));
    if more.is_some() {
        return malformed("the Authorization header is given twice");
    }
    let Some((scheme, token)) = value.map(scheme_and_rest) else {
        return Err(Denied::Missing);
    };
    // RFC 9110 §11.1: the case of a scheme means nothing.
    let scheme = match scheme {
        it if it.eq_ignore_ascii_case(b"bearer") => Scheme::Bearer,
        it if it.eq_ignore_ascii_case(b"dpop") => Scheme::Dpop,
        _ => return Err(Denied::Missing),
    };
    if token.len() > MAX_TOKEN_BYTES {
        return malformed("the token is longer than 8192 bytes");
    }
    match std::str::from_utf8(token) {
        Ok(token) if is_token(token) => Ok((scheme, token)),
        _ => malformed(
            "the Authorization header must be: Bearer (or DPoP), one space, and the token",
        ),
    }
}

fn scheme_and_rest(value: &HeaderValue) -> (&[u8], &[u8]) {
    let value = value.as_bytes().trim_ascii();
    let at = value.iter().position(|&byte| byte == b' ');
    let (scheme, rest) = value.split_at(at.unwrap_or(value.len()));
    (scheme, rest.trim_ascii_start())
}

/// Whether a text can be a bearer token: a `b64token` of RFC 6750 §2.1, which is letters, digits and `-._~+/`, with `=`
/// at the end.
#[must_use]
pub fn is_token(text: &str) -> bool {
    let core = text.trim_end_matches('=');
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !core.is_empty() && core.bytes().all(is_good)
}
