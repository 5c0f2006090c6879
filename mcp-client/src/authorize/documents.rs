//! The two documents of discovery: the metadata of a resource (RFC 9728) and of an authorization server (RFC 8414).

use oauth2::url::Url;
use serde::{Deserialize, Serialize};

/// The metadata of a protected resource, as far as it is used here.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ResourceDocument {
    pub(super) resource: String,
    #[serde(default)]
    pub(super) authorization_servers: Vec<String>,
    pub(super) scopes_supported: Option<Vec<String>>,
    pub(super) dpop_signing_alg_values_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) dpop_bound_access_tokens_required: bool,
}

/// The metadata of an authorization server, as far as it is used here.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ServerDocument {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Option<String>,
    pub(super) token_endpoint: Option<String>,
    pub(super) registration_endpoint: Option<String>,
    pub(super) scopes_supported: Option<Vec<String>>,
    pub(super) code_challenge_methods_supported: Option<Vec<String>>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub(super) dpop_signing_alg_values_supported: Option<Vec<String>>,
    pub(super) client_id_metadata_document_supported: Option<bool>,
    pub(super) authorization_response_iss_parameter_supported: Option<bool>,
}

impl ServerDocument {
    /// The endpoints of a server without metadata, at the root of the MCP server's host (MCP 2025-03-26, "Fallbacks for
    /// Servers without Metadata Discovery").
    pub(super) fn of_2025_03_26(origin: &str) -> Self {
        Self {
            issuer: origin.to_owned(),
            authorization_endpoint: Some(format!("{origin}/authorize")),
            token_endpoint: Some(format!("{origin}/token")),
            registration_endpoint: Some(format!("{origin}/register")),
            // That revision requires PKCE of every server, and has no member that says so.
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            ..Self::default()
        }
    }

    pub(super) fn has_s256(&self) -> bool {
        lists(self.code_challenge_methods_supported.as_ref(), "S256")
    }

    pub(super) fn takes_proofs(&self) -> bool {
        lists(self.dpop_signing_alg_values_supported.as_ref(), "ES256")
    }

    /// How clients may authenticate at the token endpoint; `None` if the document does not say.
    pub(super) fn authentication(&self) -> Option<&[String]> {
        self.token_endpoint_auth_methods_supported.as_deref()
    }
}

pub(super) fn lists(list: Option<&Vec<String>>, wanted: &str) -> bool {
    list.is_some_and(|list| list.iter().any(|it| it == wanted))
}

/// Whether a resource is this endpoint, or a part of the same origin that the endpoint is below (RFC 8707 §2).
pub(super) fn covers(resource: &str, endpoint: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let same = resource.origin() == endpoint.origin() && resource.origin().is_tuple();
    let path = resource.path().trim_end_matches('/');
    let below = endpoint.path().strip_prefix(path);
    let is_below = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let query = resource.query().is_none() || resource.query() == endpoint.query();
    same && is_below && query && resource.fragment().is_none()
}
