//! The grants by which a client gets tokens.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::browser::Browser;
use super::identity::RegisteredClient;

/// The grant by which a client gets tokens.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Grant {
    /// A person agrees in a browser (authorization code with PKCE).
    Browser(Arc<dyn Browser>),
    /// The client itself is the caller (client credentials): it needs
    /// [`OAuth::with_client`](super::OAuth::with_client).
    ClientCredentials,
    /// The platform vouches for the program that calls (workload identity federation): its JWT is the grant (RFC 7523
    /// §2.1).
    Workload(Arc<dyn Assertions>),
    /// The identity provider of an organization decides which of its people may use the server (enterprise-managed
    /// authorization): an ID token is exchanged there for the grant (RFC 8693, RFC 7523).
    Enterprise(IdentityProvider),
}

/// Supplies an assertion that another party signed, a fresh one each time.
pub trait Assertions: fmt::Debug + Send + Sync {
    /// A JWT for this audience: the issuer of an authorization server or an identity provider.
    ///
    /// # Errors
    /// Why no assertion is available, for people.
    fn assertion<'a>(&'a self, audience: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// A fixed JWT.
pub struct FixedAssertion(String);

/// Where an organization's people sign in.
#[derive(Clone)]
#[must_use]
pub struct IdentityProvider {
    pub(super) issuer: String,
    pub(super) token_endpoint: Option<String>,
    pub(super) client: RegisteredClient,
    pub(super) id_tokens: Arc<dyn Assertions>,
}

impl FixedAssertion {
    /// Always supplies this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl Assertions for FixedAssertion {
    fn assertion<'a>(&'a self, _audience: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

impl IdentityProvider {
    /// The provider with this issuer, the client as registered there, and the source of a person's ID tokens.
    pub fn new(
        issuer: impl Into<String>,
        client: RegisteredClient,
        id_tokens: Arc<dyn Assertions>,
    ) -> Self {
        Self { issuer: issuer.into(), token_endpoint: None, client, id_tokens }
    }

    /// Sets the provider's token endpoint. By default it is taken from the provider's metadata (RFC 8414).
    pub fn with_token_endpoint(mut self, url: impl Into<String>) -> Self {
        self.token_endpoint = Some(url.into());
        self
    }
}

impl fmt::Debug for FixedAssertion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("FixedAssertion(…)")
    }
}

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "IdentityProvider({})", self.issuer)
    }
}
