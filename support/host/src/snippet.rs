//! Snippets for the configuration of a client, to reach a server that listens.

use std::fmt::Write as _;
use std::net::SocketAddr;

use http::uri::Authority;

/// The URL by which clients reach a server that listens on an address: by the first name that it answers to, where
/// others reach it and where a certificate has names. `None` if it listens on every address and has no name.
#[must_use]
pub fn url(address: SocketAddr, names: &[String], is_https: bool) -> Option<String> {
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
#[must_use]
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
