//! Server cards (SEP-2127): what clients can learn of a server before they connect, and the catalog that leads to it.
//!
//! The documents are made once, from what the server says of itself when a client connects, so that the two agree. They
//! are public: the host and the origin of a request do not matter. SEP-2127 is final, but the schema of cards may
//! change before it is published, so a server has none unless [`HttpConfig::card`](super::HttpConfig::card) is set. The
//! format of the catalog is that of the AI Catalog specification, version 1.0.

use std::net::IpAddr;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::{HeaderValue, Uri};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::authorize::Authorization;
use crate::server::Server;
use crate::version::ProtocolVersion;

/// The end of the card's path, after that of the endpoint.
const SUFFIX: &str = "/server-card";
/// The path of the catalog.
const CATALOG: &str = "/.well-known/ai-catalog.json";

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const CARD_TYPE: &str = "application/mcp-server-card+json";
const CATALOG_TYPE: &str = "application/ai-catalog+json";

/// The most characters of a description or a title, and of a name.
const MAX_TEXT: usize = 100;
const MAX_NAME: usize = 200;

/// The card of a server: its name, version and description, its URL, and the revisions that it speaks. It does not list
/// tools, resources and prompts: which there are depends on the caller.
///
/// The card is at the path of the endpoint with `/server-card` after it, and a catalog that leads to it at
/// `/.well-known/ai-catalog.json`. The embedding service must route both to the endpoint
/// ([`StreamableHttpService::document`](super::StreamableHttpService::document)). Anyone may read them, on every web
/// page.
#[derive(Debug, Clone)]
pub struct ServerCard {
    card: Document,
    catalog: Document,
}

/// One of the documents, with its entity tag.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) media_type: HeaderValue,
    pub(super) text: Bytes,
    pub(super) tag: HeaderValue,
}

impl ServerCard {
    /// The card of a server whose endpoint has this URL, as clients call it, such as `https://tools.example/mcp`. If
    /// callers need tokens that no authorization server issues, it says so. Its name is the server's after the reversed
    /// host, such as `example.tools/notes`; its description is the server's title where it has no description, and is
    /// cut after 100 characters.
    ///
    /// `None` if the URL is not an http or https URL without a query, or is so long that the name would have more than
    /// 200 characters.
    pub fn new(server: &Server, url: &str, authorization: Option<&Authorization>) -> Option<Self> {
        let url = url.trim_end_matches('/');
        let uri: Uri = url.parse().ok()?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        // In a card braces would be variables.
        let is_plain = uri.query().is_none() && !url.contains(['#', '{', '}']);
        let host = uri.host().filter(|_| is_http && is_plain)?.trim_end_matches('.');
        let info = &server.0.info;
        let short = fitting(&info.name, "._-");
        let name = format!("{}/{short}", publisher(host));
        if name.len() > MAX_NAME || short.is_empty() {
            return None;
        }
        let versions = ProtocolVersion::ALL.map(ProtocolVersion::as_str);
        let needs_token = authorization.is_some_and(|it| it.resource().is_none());
        let token = json!([{
            "name": "Authorization",
            "description": "Bearer and a token, which the operator of the server gives",
            "isRequired": true,
            "isSecret": true,
        }]);
        let remote = given(json!({
            "type": "streamable-http",
            "url": url,
            "supportedProtocolVersions": versions,
            "headers": needs_token.then_some(token),
        }));
        let title = info.title.as_deref().filter(|title| !title.is_empty());
        let description = info.description.as_deref().filter(|text| !text.is_empty());
        let card = given(json!({
            "$schema": SCHEMA,
            "name": name,
            "version": info.version,
            "title": title.map(cut),
            "description": cut(description.or(title).unwrap_or(&info.name)),
            "websiteUrl": info.website_url,
            "icons": (!info.icons.is_empty()).then_some(&info.icons),
            "remotes": [remote],
        }));
        let catalog = json!({
            "specVersion": "1.0",
            "entries": [{
                "identifier": format!("urn:air:{}:mcp:{short}", fitting(host, ".-")),
                "displayName": cut(title.unwrap_or(&info.name)),
                "type": CARD_TYPE,
                "url": format!("{url}{SUFFIX}"),
            }],
        });
        Some(Self {
            card: Document::new(CARD_TYPE, &card)?,
            catalog: Document::new(CATALOG_TYPE, &catalog)?,
        })
    }

    /// The document at a path.
    pub(super) fn document(&self, path: &str) -> Option<&Document> {
        Some(match route(path)? {
            CATALOG => &self.catalog,
            _ => &self.card,
        })
    }
}

/// Which of the documents is at a path.
pub(super) fn route(path: &str) -> Option<&'static str> {
    match path {
        CATALOG => Some(CATALOG),
        path if path.ends_with(SUFFIX) => Some(SUFFIX),
        _ => None,
    }
}

impl Document {
    fn new(media_type: &'static str, content: &Value) -> Option<Self> {
        let text = content.to_string();
        let hash = HEXLOWER.encode(Sha256::digest(&text).get(..16)?);
        Some(Self {
            media_type: HeaderValue::from_static(media_type),
            // Weak, because an answer may be compressed.
            tag: HeaderValue::try_from(format!("W/\"{hash}\"")).ok()?,
            text: text.into(),
        })
    }
}

/// An object without the members that are null.
fn given(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// The host as the first part of a name: its labels from the last to the first. An address stays as it is.
fn publisher(host: &str) -> String {
    if host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok() {
        return fitting(host, ".-");
    }
    let labels: Vec<&str> = host.rsplit('.').collect();
    fitting(&labels.join("."), ".-")
}

/// A text of letters, digits and these characters; a hyphen stands for others within it.
fn fitting(text: &str, others: &str) -> String {
    let is_good = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
    let text = text.trim_matches(|c| !is_good(c));
    text.chars().map(|c| if is_good(c) { c } else { '-' }).collect()
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_TEXT {
        return text.to_owned();
    }
    text.chars().take(MAX_TEXT - 1).chain(['…']).collect()
}
