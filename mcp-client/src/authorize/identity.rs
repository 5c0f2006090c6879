//! Who the client is at an authorization server: registered there before, known by its metadata document, or registered
//! dynamically (MCP "Client Registration", in that order).

use std::fmt;

use oauth2::url::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::documents::{ServerDocument, lists};
use super::error::{OAuthError, Result};
use super::key::{SigningKey, seconds};
use super::web::{AddressSpace, Web};

/// A client that an authorization server knows already.
#[derive(Clone)]
#[must_use]
pub struct RegisteredClient {
    pub(super) id: String,
    pub(super) proof: Proof,
}

/// How a client proves its identity.
#[derive(Clone)]
pub(super) enum Proof {
    /// No proof: a public client.
    None,
    /// By a client secret, in the way that the server accepts.
    Secret(String),
    /// By a signature (`private_key_jwt`).
    Key(SigningKey),
}

/// How a client authenticates at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    None,
    Basic,
    Post,
    Jwt,
}

/// The result of a registration, as the store keeps it (RFC 7591 §3.2.1).
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Registration {
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
    /// Seconds since 1970; 0 is never.
    #[serde(default)]
    pub(super) client_secret_expires_at: u64,
    pub(super) token_endpoint_auth_method: Option<String>,
    /// The redirect URI that was registered. Set by this client; the server's value is ignored.
    #[serde(default)]
    pub(super) redirect: String,
}

impl RegisteredClient {
    /// A public client with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), proof: Proof::None }
    }

    /// Adds a secret. It is sent in the way that the authorization server accepts (`client_secret_basic` or
    /// `client_secret_post`).
    pub fn with_secret(mut self, secret: impl Into<String>) -> Self {
        self.proof = Proof::Secret(secret.into());
        self
    }

    /// Adds a key that signs for the client (`private_key_jwt`, RFC 7523). The key itself is never sent.
    pub fn with_key(mut self, key: SigningKey) -> Self {
        self.proof = Proof::Key(key);
        self
    }
}

impl Registration {
    /// Whether the registration can still be used with this redirect URI.
    pub(super) fn is_good_for(&self, redirect: &str) -> bool {
        let expires = self.client_secret_expires_at;
        self.redirect == redirect && (expires == 0 || expires > seconds())
    }

    pub(super) fn client(self) -> RegisteredClient {
        let proof = match (self.client_secret, self.token_endpoint_auth_method.as_deref()) {
            (Some(secret), method) if method != Some("none") => Proof::Secret(secret),
            _ => Proof::None,
        };
        RegisteredClient { id: self.client_id, proof }
    }
}

/// Registers the client with this name at the server (RFC 7591).
pub(super) async fn register(
    web: &Web,
    server: &ServerDocument,
    name: &str,
    redirect: &str,
) -> Result<Registration> {
    let Some(endpoint) = &server.registration_endpoint else {
        let issuer = &server.issuer;
        return Err(OAuthError::Setup(format!(
            "the authorization server {issuer} lets no client register itself: register there and use OAuth::with_client"
        )));
    };
    let endpoint = web.url(endpoint)?;
    let native = Url::parse(redirect).is_ok_and(|it| {
        AddressSpace::of(&it) == AddressSpace::Machine || !it.scheme().starts_with("http")
    });
    let methods = server.token_endpoint_auth_methods_supported.as_ref();
    let known = ["none", "client_secret_basic", "client_secret_post"];
    let method = known.into_iter().find(|it| lists(methods, it)).unwrap_or("none");
    let wanted = json!({
        "client_name": name,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": if native { "native" } else { "web" },
    });
    let wanted = wanted.to_string().into();
    let response = web.post(&endpoint, wanted, "application/json").await?;
    if !response.status().is_success() {
        let said: Value = serde_json::from_slice(response.body()).unwrap_or_default();
        let text = |name| said.get(name).and_then(Value::as_str);
        let status = format!("HTTP {}", response.status().as_u16());
        let code = text("error").unwrap_or(&status);
        return Err(OAuthError::refused(&endpoint, code, text("error_description")));
    }
    let registered: Result<Registration, _> = serde_json::from_slice(response.body());
    let registered = registered.map_err(|problem| {
        OAuthError::fetched(&endpoint, format!("the registration cannot be read: {problem}"))
    })?;
    Ok(Registration { redirect: redirect.to_owned(), ..registered })
}

impl Way {
    /// The method that both support. A server that lists none takes `client_secret_basic` (RFC 8414 §2).
    pub(super) fn of(client: &RegisteredClient, server: &ServerDocument) -> Result<Self> {
        let listed = server.authentication();
        let takes = |name: &str| listed.is_none_or(|listed| listed.iter().any(|it| it == name));
        let ways = match &client.proof {
            Proof::None => return Ok(Self::None),
            Proof::Key(_) if takes("private_key_jwt") => return Ok(Self::Jwt),
            Proof::Secret(_) if takes("client_secret_basic") => return Ok(Self::Basic),
            Proof::Secret(_) if takes("client_secret_post") => return Ok(Self::Post),
            // Some servers issue a secret to every client and do not accept it.
            Proof::Secret(_) if takes("none") => return Ok(Self::None),
            Proof::Key(_) => "private_key_jwt",
            Proof::Secret(_) => "client_secret_basic or client_secret_post",
        };
        let (issuer, listed) = (&server.issuer, listed.unwrap_or_default().join(", "));
        Err(OAuthError::Setup(format!(
            "the authorization server {issuer} takes {listed} at its token endpoint, and the client has what {ways} needs"
        )))
    }
}

impl fmt::Debug for RegisteredClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RegisteredClient({})", self.id)
    }
}
