//! Who may do what over REST: the same rule as over MCP.
//!
//! Answers to reads state what the caller may do: the header `Allow` leaves out what its scopes or `--read-only` would
//! refuse (RFC 9110 §10.2.1), so that a page can disable it without trying.

use http::{HeaderValue, Method, Response, StatusCode, header, request};
use mcp_proto::http::authorize::{Denied, Refusal};
use mcp_proto::{Principal, Scopes};
use tokio::time::Instant;

use super::answer::{Failure, RestBody};
use super::routes::{Endpoint, Kind, Route};
use super::{Rest, cors};
use crate::access::{Access, Reach};
use crate::store::UniverseId;

impl Rest {
    /// Admits a request by its host and origin and, unless the endpoint is open, by its token.
    pub(super) async fn admit(
        &self,
        head: &mut request::Parts,
        route: Option<&Route>,
    ) -> Result<(), Failure> {
        cors::judge(head, &self.config)?;
        let Some(authorization) = &self.config.authorization else {
            return Ok(());
        };
        // A preflight has no token. The request that follows it still needs one.
        let is_open = route.is_some_and(|route| route.endpoint.is_open);
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
    pub(super) fn reach(
        &self,
        head: &request::Parts,
        endpoint: &Endpoint,
        id: Option<&UniverseId>,
    ) -> Result<Reach, Failure> {
        let reach = self.reach_of(head);
        let reads = is_safe(&head.method);
        if !reads && self.config.read_only && endpoint.writes() {
            return Err(Failure::read_only(endpoint.methods(|_writes| false)));
        }
        let access = if reads { Access::Read } else { access(head.method.as_str()) };
        let missing = match endpoint.kind {
            _ if endpoint.is_open || head.method == Method::OPTIONS => None,
            Kind::Universes if reads => reach.missing_somewhere(access),
            _ => reach.missing(access, id.map(UniverseId::as_str)),
        };
        match (missing, &self.config.authorization) {
            (Some(scopes), Some(authorization)) => {
                Err(authorization.refuse(Denied::Insufficient(scopes)).into())
            }
            _ => Ok(reach),
        }
    }

    /// The methods that a caller may use on a resource it has read, for the `Allow` header of the answer: a client can
    /// see in advance what would be refused. `None` for endpoints that can only be read.
    pub(super) fn allowed(
        &self,
        reach: &Reach,
        endpoint: &Endpoint,
        id: Option<&UniverseId>,
    ) -> Option<HeaderValue> {
        let id = id.map(UniverseId::as_str);
        let may = |method: &str| reach.missing(access(method), id).is_none();
        let is_read_only = self.config.read_only;
        endpoint.writes().then(|| endpoint.methods(|method| !is_read_only && may(method)))
    }
}

/// The access that a method needs which writes.
fn access(method: &str) -> Access {
    if method == "DELETE" { Access::Admin } else { Access::Write }
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

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let failure = Self::new(refusal.status(), refusal.text());
        match refusal.challenge() {
            Some(challenge) => failure.with_header(header::WWW_AUTHENTICATE, challenge),
            None => failure,
        }
    }
}
