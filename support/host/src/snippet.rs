//! The URL of a server that listens, and what names it: snippets for the configuration of a client, and its card.

use std::fmt::Write as _;
use std::net::SocketAddr;

use http::Uri;
use http::uri::Authority;
use mcp_proto::Server;
use mcp_proto::http::authorize::{Authorization, ProtectedResource};
use mcp_proto::http::{HttpConfig, ServerCard};

/// Where MCP is on a server that listens.
pub(crate) const MCP_PATH: &str = "/mcp";

/// Where a server listens, and how its clients know it.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// The names that it answers to.
    pub names: &'a [String],
    /// Whether it uses HTTPS.
    pub is_https: bool,
    /// The URL that its operator gives, as [`public_url`] reads it.
    pub public_url: Option<&'a str>,
}

impl Place<'_> {
    /// The URL by which clients reach the server: the one given, or by the first name that it answers to, where others
    /// reach it and where a certificate has names. `None` if it listens on every address and has no name.
    pub fn url(self) -> Option<String> {
        let Self { address, names, is_https, public_url } = self;
        public_url.map(str::to_owned).or_else(|| url(address, names, is_https))
    }

    /// The card of the server at this place, by the URL that is given, or its URL as a protected resource, or its own
    /// URL if no proxy can be in front of it: that would have another. `None` if there is none of these.
    pub fn card(self, server: &Server, http: &HttpConfig) -> Option<ServerCard> {
        let authorization = http.authorization.as_ref();
        let resource = authorization.and_then(Authorization::resource);
        let is_sure = self.is_https || (self.address.ip().is_loopback() && self.names.is_empty());
        let url = match (self.public_url, resource) {
            (None, Some(resource)) => Some(ProtectedResource::resource(resource)),
            (None, None) if !is_sure => None,
            _ => self.url().map(|url| format!("{url}{MCP_PATH}")),
        };
        ServerCard::new(server, &url?, authorization)
    }
}

/// The URL of a server as its operator gives it, without a slash at its end.
///
/// # Errors
/// What is expected, in a sentence for the operator.
pub fn public_url(text: &str) -> Result<String, String> {
    let uri = text.parse::<Uri>().ok().filter(|uri| uri.host().is_some() && uri.query().is_none());
    let is_url = uri.is_some_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    if !is_url || text.contains(['#', '{', '}']) {
        return Err("give scheme and host, such as https://tools.example".to_owned());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn url(address: SocketAddr, names: &[String], is_https: bool) -> Option<String> {
    let scheme = if is_https { "https" } else { "http" };
    let named = is_https || !address.ip().is_loopback();
    let name = names.iter().find(|name| named && *name != "*");
    let has_port = |name: &str| {
        let authority = name.parse::<Authority>();
        authority.is_ok_and(|it| it.port().is_some())
    };
    Some(match name {
        Some(name) if has_port(name) => format!("{scheme}://{name}"),
        Some(name) => format!("{scheme}://{name}:{}", address.port()),
        None if address.ip().is_unspecified() => return None,
        None => format!("{scheme}://{address}"),
    })
}

/// The configurations with which Claude Code, Cursor, VS Code and Codex reach the server at `url`, in their own forms
/// (code.claude.com/docs/en/mcp, cursor.com/docs/context/mcp,
/// code.visualstudio.com/docs/copilot/reference/mcp-configuration, developers.openai.com/codex/mcp).
pub fn snippets(program: &str, url: &str, token: Option<&str>) -> String {
    let authorization = token.map(|token| quoted(&format!("Bearer {token}")));
    let (mut json, mut toml) = (String::new(), String::new());
    if let Some(value) = authorization {
        json = format!(r#", "headers": {{"Authorization": {value}}}"#);
        toml = format!("\n    http_headers = {{ Authorization = {value} }}");
    }
    let server = format!(r#"{{"{program}": {{"type": "http", "url": "{url}"{json}}}}}"#);
    format!(
        "  Claude Code (.mcp.json), Cursor (.cursor/mcp.json):\n    {{\"mcpServers\": {server}}}\n  \
         VS Code (.vscode/mcp.json):\n    {{\"servers\": {server}}}\n  \
         Codex (.codex/config.toml):\n    [mcp_servers.{program}]\n    url = \"{url}\"{toml}"
    )
}

/// A JSON string, which is also valid in TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
