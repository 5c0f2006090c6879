//! The state that is kept while a token is in use.

use std::sync::atomic::{AtomicBool, Ordering};

use http::StatusCode;
use http::header::HeaderValue;

use super::challenge::Challenge;
use super::documents::ServerDocument;
use super::error::{OAuthError, Result};
use super::identity::RegisteredClient;
use super::key::SigningKey;
use super::store::StoreKey;
use super::token::Tokens;

/// Tokens and their origin.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) server: ServerDocument,
    pub(super) client: RegisteredClient,
    /// What the MCP server calls itself.
    pub(super) resource: String,
    pub(super) tokens: Tokens,
    /// Tokens must be bound to a key.
    pub(super) needs_proofs: bool,
    origin: Origin,
    /// The server has accepted the token.
    has_worked: AtomicBool,
}

/// How the tokens were obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// From the store.
    Kept,
    Refreshed,
    Granted,
}

impl Session {
    pub(super) fn new(
        server: ServerDocument,
        client: RegisteredClient,
        resource: String,
        tokens: Tokens,
        needs_proofs: bool,
        origin: Origin,
    ) -> Self {
        Self {
            server,
            client,
            resource,
            tokens,
            needs_proofs,
            origin,
            has_worked: AtomicBool::new(false),
        }
    }

    /// The server has accepted a request.
    pub(super) fn worked(&self) {
        self.has_worked.store(true, Ordering::Relaxed);
    }

    fn has_worked(&self) -> bool {
        self.has_worked.load(Ordering::Relaxed)
    }

    /// Whether refreshing the tokens could help: the server has not refused the result of a refresh.
    pub(super) fn may_refresh(&self) -> bool {
        self.origin != Origin::Refreshed || self.has_worked()
    }

    /// The value of `Authorization`; `None` if the token has expired.
    pub(super) fn shown(&self) -> Option<HeaderValue> {
        self.tokens.header().filter(|_| self.tokens.is_fresh())
    }

    /// The key that signs a proof for each request.
    pub(super) fn proving(&self) -> Option<SigningKey> {
        self.tokens.key().filter(|_| self.tokens.is_bound())
    }

    pub(super) fn key(&self) -> StoreKey {
        StoreKey { issuer: self.server.issuer.clone(), resource: Some(self.resource.clone()) }
    }

    /// Whether another token could satisfy the server that refused this one.
    pub(super) fn may_go_on(&self, status: StatusCode, challenge: &Challenge) -> Result<()> {
        let (resource, issuer) = (&self.resource, &self.server.issuer);
        let problem = if status == StatusCode::FORBIDDEN {
            if challenge.error.as_deref() != Some("insufficient_scope") {
                format!(
                    "{resource} does not allow this, whatever the scopes of a token{}",
                    challenge.reason()
                )
            } else if self.tokens.granted().contain(&challenge.scopes) {
                format!(
                    "{resource} asks for the scopes {:?}, and the token of {issuer} has them",
                    challenge.scopes.to_string()
                )
            } else {
                return Ok(());
            }
        } else if self.origin == Origin::Granted && !self.has_worked() {
            format!(
                "{resource} does not take the token that {issuer} has just given{}",
                challenge.reason()
            )
        } else {
            return Ok(());
        };
        Err(OAuthError::Server(problem))
    }
}
