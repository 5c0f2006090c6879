//! From an MCP server to its authorization server (MCP "Authorization Server Location" and "Authorization Server
//! Metadata Discovery"; RFC 9728, RFC 8414).

use mcp_proto::Scopes;
use oauth2::url::Url;

use super::challenge::Challenge;
use super::documents::{ResourceDocument, ServerDocument, covers, lists};
use super::error::{OAuthError, Result};
use super::store::StoreKey;
use super::web::Web;

/// How many of the authorization servers that a resource names are looked at.
const MAX_SERVERS: usize = 16;

/// The metadata found for an MCP server.
#[derive(Debug)]
pub(super) struct Discovery {
    /// What it calls itself as a resource, to the letter.
    pub(super) resource: String,
    /// The scopes that it lists.
    pub(super) scopes: Scopes,
    /// It accepts tokens that are bound to a key.
    pub(super) takes_proofs: bool,
    /// It accepts only tokens that are bound to a key.
    pub(super) wants_proofs: bool,
    pub(super) server: ServerDocument,
}

impl Discovery {
    /// Where its tokens are kept.
    pub(super) fn key(&self) -> StoreKey {
        StoreKey { issuer: self.server.issuer.clone(), resource: Some(self.resource.clone()) }
    }
}

/// Finds the authorization server of an MCP server: the one named `only`, or the first that the server names.
pub(super) async fn find(
    web: &Web,
    endpoint: &Url,
    challenge: &Challenge,
    only: Option<&str>,
) -> Result<Discovery> {
    let Some((at, document)) = resource(web, endpoint, challenge).await? else {
        return of_2025_03_26(web, endpoint, challenge, only).await;
    };
    if !covers(&document.resource, endpoint) {
        let problem = format!(
            "the metadata is that of the resource {:?}, and not of {endpoint}: its member resource must be that URL",
            document.resource
        );
        return Err(OAuthError::fetched(&at, problem));
    }
    let servers = document.authorization_servers.iter().take(MAX_SERVERS);
    let issuer = match only {
        Some(only) => servers.map(String::as_str).find(|it| *it == only),
        None => servers.map(String::as_str).next(),
    };
    let issuer = issuer.ok_or_else(|| not_named(&at, only))?;
    let Some(server) = server(web, issuer).await? else {
        let problem =
            "there is no metadata of this authorization server (RFC 8414) at its well-known paths";
        return Err(OAuthError::fetched(issuer, problem));
    };
    let proofs = document.dpop_signing_alg_values_supported.as_ref();
    Ok(Discovery {
        scopes: Scopes::of(document.scopes_supported.unwrap_or_default()),
        takes_proofs: challenge.takes_proofs || lists(proofs, "ES256"),
        wants_proofs: challenge.wants_proofs || document.dpop_bound_access_tokens_required,
        resource: document.resource,
        server,
    })
}

/// The metadata of the authorization server with this issuer; `None` if it has none.
pub(super) async fn server(web: &Web, issuer: &str) -> Result<Option<ServerDocument>> {
    let base = web.url(issuer)?;
    if base.query().is_some() || base.fragment().is_some() {
        let problem = "an issuer has no query and no fragment (RFC 8414 §2)";
        return Err(OAuthError::fetched(issuer, problem));
    }
    for url in metadata_urls_of_server(&base) {
        let Some(document) = web.document::<ServerDocument>(&url).await? else {
            continue;
        };
        if document.issuer != issuer {
            let problem = format!(
                "the metadata is that of the issuer {:?}: it must be {issuer:?} to the letter (RFC 8414 §3.3)",
                document.issuer
            );
            return Err(OAuthError::fetched(&url, problem));
        }
        return Ok(Some(document));
    }
    Ok(None)
}

/// The metadata of the resource and where it was; `None` if it has no metadata.
async fn resource(
    web: &Web,
    endpoint: &Url,
    challenge: &Challenge,
) -> Result<Option<(Url, ResourceDocument)>> {
    if let Some(named) = &challenge.metadata {
        let url = web.url(named)?;
        let document = web.document(&url).await?.ok_or_else(|| {
            let problem = "the challenge of the MCP server names this place, and there is no metadata of a resource (RFC 9728)";
            OAuthError::fetched(&url, problem)
        })?;
        return Ok(Some((url, document)));
    }
    for url in metadata_urls_of_resource(endpoint) {
        if let Some(document) = web.document(&url).await? {
            return Ok(Some((url, document)));
        }
    }
    Ok(None)
}

/// A server without metadata of the resource is its own authorization server (MCP 2025-03-26).
async fn of_2025_03_26(
    web: &Web,
    endpoint: &Url,
    challenge: &Challenge,
    only: Option<&str>,
) -> Result<Discovery> {
    let origin = endpoint.origin().ascii_serialization();
    if only.is_some_and(|it| it.trim_end_matches('/') != origin) {
        return Err(not_named(endpoint, only));
    }
    web.url(&origin)?;
    let server = match server(web, &origin).await? {
        Some(server) => server,
        None => ServerDocument::of_2025_03_26(&origin),
    };
    let mut resource = endpoint.clone();
    resource.set_fragment(None);
    Ok(Discovery {
        resource: resource.as_str().trim_end_matches('/').to_owned(),
        scopes: Scopes::default(),
        takes_proofs: challenge.takes_proofs,
        wants_proofs: challenge.wants_proofs,
        server,
    })
}

fn not_named(at: &Url, only: Option<&str>) -> OAuthError {
    OAuthError::fetched(
        at,
        match only {
            Some(only) => format!(
                "the MCP server does not name {only:?}, the one authorization server that may be used, among its own"
            ),
            None => {
                "the metadata must name an authorization server (authorization_servers)".to_owned()
            }
        },
    )
}

/// The well-known paths of RFC 9728 §3.1: that of the endpoint, then that of the whole host.
fn metadata_urls_of_resource(endpoint: &Url) -> Vec<Url> {
    let path = endpoint.path().trim_end_matches('/');
    let mut paths = vec![format!("/.well-known/oauth-protected-resource{path}")];
    if !path.is_empty() {
        paths.push("/.well-known/oauth-protected-resource".to_owned());
    }
    with_paths(endpoint, paths)
}

/// With a path: OAuth inserted, OpenID inserted, OpenID appended. Without: OAuth, OpenID.
fn metadata_urls_of_server(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut paths = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        paths.push(format!("{path}/.well-known/openid-configuration"));
    }
    with_paths(issuer, paths)
}

fn with_paths(base: &Url, paths: Vec<String>) -> Vec<Url> {
    let at = |path: String| {
        let mut url = base.clone();
        url.set_path(&path);
        url.set_query(None);
        url.set_fragment(None);
        url
    };
    paths.into_iter().map(at).collect()
}
