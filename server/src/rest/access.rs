//! Who may do what over REST: the same rule as over MCP.
//!
//! Answers to reads state what the caller may do: the header `Allow` leaves out what its scopes or `--read-only` would
//! refuse (RFC 9110 §10.2.1), so that a page can disable it without trying.

use http::{HeaderValue, Method, Response, StatusCode, header, request};
use mcp_proto::http::authorize::{Denied, Refusal};
use mcp_proto::{Principal, Scopes};
use tokio::time::Instant;

use super::answer::{Failure, RestBody};
use super::{Rest, Route, cors, route};
use crate::reach::{Access, Reach};

impl Rest {
    /// Admits a request by its host and origin and, unless the endpoint is open, by its token.
    pub(super) async fn admit(&self, head: &mut request::Parts) -> Result<(), Failure> {
        cors::judge(head, &self.config)?;
        let Some(authorization) = &self.config.authorization else {
            return Ok(());
        };
        // A preflight has no token. The request that follows it still needs one.
        let is_open = route(head.uri.path()).is_ok_and(|route| route.is_open());
        if is_open || head.method == Method::OPTIONS {
            return Ok(());
        }
        authorization.admit(head).await.map_err(Failure::from)
    }

    /// The access that the caller of a request has: none, if authorization is required and this caller was not
    /// authorized.
    pub(super) fn reach_of(&self, head: &request::Parts) -> Reach {
        let nothing = self.config.authorization.as_ref().map(|_| Scopes::default());
        Reach::of(head.extensions.get::<Scopes>().or(nothing.as_ref()))
    }

    /// The access of an admitted request, or an error if it does not cover what is requested.
    pub(super) fn reach(&self, head: &request::Parts, route: &Route) -> Result<Reach, Failure> {
        let reach = self.reach_of(head);
        let reads = is_safe(&head.method);
        if !reads && self.config.read_only && route.methods_without_writing() != route.methods() {
            return Err(Failure::read_only(route.methods_without_writing()));
        }
        let access = match head.method {
            _ if reads => Access::Read,
            Method::DELETE => Access::Admin,
            _ => Access::Write,
        };
        let missing = match route {
            Route::Health | Route::Live | Route::Ready | Route::Version | Route::Description => {
                None
            }
            Route::Universes if reads => reach.missing_somewhere(access),
            Route::Universes | Route::Metrics => reach.missing(access, None),
            Route::Universe(id)
            | Route::Commands(id)
            | Route::Events(id)
            | Route::History(id)
            | Route::Undo(id)
            | Route::Tree(id)
            | Route::Picture(id, _) => reach.missing(access, Some(id.as_str())),
        };
        let is_preflight = head.method == Method::OPTIONS;
        match (missing.filter(|_| !is_preflight), &self.config.authorization) {
            (Some(scopes), Some(authorization)) => {
                Err(authorization.refuse(Denied::Insufficient(scopes)).into())
            }
            _ => Ok(reach),
        }
    }
}

impl Rest {
    /// The methods that a caller may use on a resource it has read, for the `Allow` header of the answer: a client can
    /// see in advance what would be refused. `None` for routes that can only be read.
    pub(super) fn allowed(&self, reach: &Reach, route: &Route) -> Option<HeaderValue> {
        let may = |access, id| !self.config.read_only && reach.missing(access, id).is_none();
        let methods = match route {
            Route::Universes if may(Access::Write, None) => route.methods(),
            Route::Universe(id) if may(Access::Admin, Some(id.as_str())) => route.methods(),
            Route::Universe(id) if may(Access::Write, Some(id.as_str())) => {
                "GET, HEAD, PUT, OPTIONS"
            }
            Route::Universes | Route::Universe(_) => route.methods_without_writing(),
            _ => return None,
        };
        Some(HeaderValue::from_static(methods))
    }
}

/// Writes the audit line for a request that writes, as [`service_host::audit`] does for a tool call.
pub(super) fn audit(
    head: &request::Parts,
    route: &'static str,
    response: &Response<RestBody>,
    start: Instant,
) {
    // What a full disk refuses is counted, and not written on it line by line.
    if is_safe(&head.method) || response.status() == StatusCode::INSUFFICIENT_STORAGE {
        return;
    }
    let caller = head.extensions.get::<Principal>();
    tracing::info!(
        target: "audit",
        caller = caller.map_or("(not asked)", |it| it.0.as_str()),
        method = %head.method,
        route,
        outcome = response.status().as_u16(),
        milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        "write"
    );
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

impl Route {
    /// Whether the route needs no token, because it describes the server and its API but not the contents.
    fn is_open(&self) -> bool {
        matches!(self, Self::Health | Self::Live | Self::Ready | Self::Version | Self::Description)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let failure = Self::new(refusal.status(), refusal.text());
        match refusal.challenge() {
            Some(challenge) => failure.with_header(header::WWW_AUTHENTICATE, challenge),
            None => failure,
        }
    }
}
