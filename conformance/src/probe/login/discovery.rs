//! From a server's refusal to its authorization server: the metadata of both (RFC 9728, RFC 8414, OpenID Connect).

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::address::{is_of, origin, well_known};
use super::asking::ask;
use super::challenge::Challenges;
use crate::probe::exchange::Exchange;
use crate::probe::http::Raw;
use crate::probe::revision::{Revision, handshake};

/// The member of a server's metadata that names its authorization servers.
const SERVERS: &str = "authorization_servers";

/// What was found.
pub(crate) struct Discovery {
    /// The refusal of a request without a token.
    pub(crate) refusal: Exchange,
    pub(crate) challenges: Challenges,
    /// The metadata of the MCP server; null if it has none.
    pub(crate) resource: Document,
    /// The authorization server, and its metadata.
    pub(crate) issuer: String,
    pub(crate) server: Document,
}

/// A JSON document, and the exchange that brought it.
#[derive(Default)]
pub(crate) struct Document {
    pub(crate) exchange: Exchange,
    pub(crate) value: Value,
}

impl Discovery {
    /// Asks the server at this URL, and follows what it names.
    ///
    /// # Errors
    /// Why there is nothing to follow.
    pub(super) async fn of(url: &str, timeout: Duration) -> Result<Self, String> {
        let params = handshake(Revision::V2025_11_25.as_str());
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let refusal = ask(url, Raw::post(message.to_string()), timeout).await;
        if refusal.status != Some(401) {
            let outcome = refusal.outcome();
            return Err(format!("a request without a token is not refused with 401: {outcome}"));
        }
        let challenges = Challenges::of(&refusal);
        let places = challenges.places(url);
        let resource = first(&places, SERVERS, timeout).await.unwrap_or_default();
        let issuer = servers(&resource.value).find_map(Value::as_str);
        // Before 2025-06-18 the server was its own authorization server.
        let issuer = issuer.map_or_else(|| origin(url).unwrap_or_default(), str::to_owned);
        let (base, openid) = (issuer.trim_end_matches('/'), "openid-configuration");
        let names = ["oauth-authorization-server", openid].into_iter();
        let mut places: Vec<_> =
            names.filter_map(|name| well_known(base, name).into_iter().next()).collect();
        places.push(format!("{base}/.well-known/{openid}"));
        places.dedup();
        let server = first(&places, "token_endpoint", timeout).await;
        let server = server.ok_or_else(|| {
            format!("no metadata of the authorization server at {}", places.join(", "))
        })?;
        Ok(Self { refusal, challenges, resource, issuer, server })
    }

    /// A URL in the metadata of the authorization server.
    ///
    /// # Errors
    /// It has none.
    pub(super) fn endpoint(&self, name: &str) -> Result<String, String> {
        let named = self.server.value.get(name).and_then(Value::as_str).map(str::to_owned);
        named.ok_or_else(|| format!("the metadata of {} has no {name}", self.issuer))
    }

    /// Whether a client shows its secret in a header: that is what is meant if nothing is said.
    pub(super) fn takes_basic(&self) -> bool {
        let methods = self.server.value.get("token_endpoint_auth_methods_supported");
        let methods = methods.and_then(Value::as_array);
        methods.is_none_or(|it| it.contains(&json!("client_secret_basic")))
    }

    /// The resource that a token is for.
    pub(super) fn resource_url(&self, url: &str) -> String {
        let named = self.resource.value.get("resource").and_then(Value::as_str);
        named.filter(|named| is_of(named, url)).unwrap_or(url).to_owned()
    }

    /// The scopes that the server knows.
    pub(crate) fn scopes(&self) -> Vec<&str> {
        let scopes = self.resource.value.get("scopes_supported").and_then(Value::as_array);
        scopes.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The scopes to ask for: those of the challenge, or all.
    pub(super) fn scope(&self) -> String {
        let named = self.challenges.parameter("scope").map(str::to_owned);
        named.unwrap_or_else(|| self.scopes().join(" "))
    }
}

/// The first JSON at these URLs that has this member.
async fn first(urls: &[String], member: &str, timeout: Duration) -> Option<Document> {
    for url in urls {
        let raw = Raw::bare(Method::GET).with("accept", "application/json");
        let exchange = ask(url, raw, timeout).await;
        let value = exchange.messages.first().filter(|it| it.get(member).is_some()).cloned();
        if let Some(value) = value.filter(|_| exchange.status == Some(200)) {
            return Some(Document { exchange, value });
        }
    }
    None
}

/// The authorization servers that the metadata of a server names.
pub(crate) fn servers(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata.get(SERVERS).and_then(Value::as_array).into_iter().flatten()
}
