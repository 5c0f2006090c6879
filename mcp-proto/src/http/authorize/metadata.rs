//! The protected resource metadata of a server (RFC 9728), by which clients find its authorization servers.

use serde::Serialize;

use crate::scopes::Scopes;

/// The path prefix of every resource's metadata (RFC 9728 §3).
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A server as a protected resource of OAuth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedResource {
    origin: String,
    path: String,
    servers: Vec<String>,
    scopes: Scopes,
}

/// The document (RFC 9728 §2).
#[derive(Debug, Serialize)]
struct Document<'a> {
    resource: String,
    authorization_servers: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<&'a str>,
    bearer_methods_supported: [&'static str; 1],
}

impl ProtectedResource {
    /// The server whose MCP endpoint has this URL, such as `https://tools.example/mcp`, and the issuers of the tokens
    /// that it accepts. `None` if the URL is not an http or https URL without a query, or if no issuer is named.
    pub fn new(url: &str, servers: Vec<String>) -> Option<Self> {
        let uri: http::Uri = url.parse().ok()?;
        let scheme = uri.scheme_str().filter(|it| matches!(*it, "http" | "https"))?;
        let is_good = uri.query().is_none() && !url.contains('#') && !servers.is_empty();
        is_good.then(|| Self {
            origin: format!("{scheme}://{}", uri.authority().map_or("", |it| it.as_str())),
            path: uri.path().trim_end_matches('/').to_owned(),
            servers,
            scopes: Scopes::default(),
        })
    }

    /// The scopes that clients may request. `offline_access` is never among them: it concerns only a client and its
    /// authorization server.
    #[must_use]
    pub fn with_scopes(mut self, scopes: &Scopes) -> Self {
        self.scopes = Scopes::of(scopes.iter().filter(|name| *name != "offline_access"));
        self
    }

    /// The identifier of the resource, which is the audience of its tokens (RFC 8707).
    pub fn resource(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    /// The document, as JSON.
    pub fn to_json(&self) -> String {
        let document = Document {
            resource: self.resource(),
            authorization_servers: &self.servers,
            scopes_supported: self.scopes.iter().collect(),
            bearer_methods_supported: ["header"],
        };
        // The document contains only strings, so this cannot fail.
        serde_json::to_string(&document).unwrap_or_default()
    }

    /// Whether the document is served at this path: the resource's own, or that of the whole host, which clients try
    /// next.
    pub fn is_at(&self, path: &str) -> bool {
        let rest = path.strip_prefix(WELL_KNOWN).map(|rest| rest.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest == self.path)
    }

    /// The URL of the document.
    pub(super) fn url(&self) -> String {
        format!("{}{WELL_KNOWN}{}", self.origin, self.path)
    }

    /// The scopes that a client without a token should request.
    pub(super) fn challenged(&self) -> Scopes {
        self.scopes.clone()
    }
}
