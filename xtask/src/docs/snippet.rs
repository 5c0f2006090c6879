//! Checks that JSON and TOML snippets are well-formed, and that those for MCP clients have the format that the client
//! documents.
//!
//! A comment above the block names the client: `<!-- client: cursor -->`.

use serde_json::Value;

use super::block::{Block, blocks};

/// A client, and the place of the servers in its configuration file.
struct Client {
    name: &'static str,
    /// The member or table that contains the servers.
    servers: &'static str,
    /// Whether every server has a `type`. Other clients reject or ignore unknown members.
    typed: bool,
    /// Whether a server can be configured by its URL.
    remote: bool,
}

/// The clients, as documented by each.
const CLIENTS: [Client; 6] = [
    Client { name: "claude-code", servers: "mcpServers", typed: true, remote: true },
    Client { name: "claude-desktop", servers: "mcpServers", typed: false, remote: false },
    Client { name: "codex", servers: "mcp_servers", typed: false, remote: true },
    Client { name: "cursor", servers: "mcpServers", typed: false, remote: true },
    Client { name: "inspector", servers: "mcpServers", typed: true, remote: true },
    Client { name: "vscode", servers: "servers", typed: true, remote: true },
];

/// Members of a server that the client starts, and of one that it reaches by URL.
const STARTED: [&str; 4] = ["type", "command", "args", "env"];
const REACHED: [&str; 4] = ["type", "url", "headers", "bearer_token_env_var"];

/// The findings in the snippets of a page.
pub(super) fn check(path: &str, page: &str) -> Vec<String> {
    blocks(page)
        .iter()
        .filter_map(|block| {
            let problem = judge(block).err()?;
            Some(format!("{path}:{}: {problem}", block.line))
        })
        .collect()
}

fn judge(block: &Block) -> Result<(), String> {
    let value: Value = match block.language.as_str() {
        "json" => {
            serde_json::from_str(&block.text).map_err(|error| format!("not JSON: {error}"))?
        }
        "toml" => toml::from_str(&block.text).map_err(|error| format!("not TOML: {error}"))?,
        _ => return Ok(()),
    };
    let named = block.notes.iter().find_map(|note| note.strip_prefix("client: "));
    let Some(name) = named else {
        return Ok(());
    };
    let client = CLIENTS.iter().find(|client| client.name == name);
    fits(client.ok_or_else(|| format!("unknown client {name}"))?, &value)
}

fn fits(client: &Client, value: &Value) -> Result<(), String> {
    let servers = value.get(client.servers).and_then(Value::as_object);
    let servers =
        servers.ok_or_else(|| format!("{} has its servers in {}", client.name, client.servers))?;
    if value.as_object().is_some_and(|all| all.len() != 1) || servers.is_empty() {
        return Err(format!("only {} with servers belongs here", client.servers));
    }
    for (name, server) in servers {
        let is_text = |member: &str| server.get(member).is_some_and(Value::is_string);
        let (known, kind) = match (is_text("command"), is_text("url")) {
            (true, false) => (STARTED, "stdio"),
            (false, true) if client.remote => (REACHED, "http"),
            (false, true) => return Err(format!("{} starts its servers", client.name)),
            _ => return Err(format!("{name} needs either command or url")),
        };
        for member in server.as_object().into_iter().flat_map(|it| it.keys()) {
            if !known.contains(&member.as_str()) {
                return Err(format!("{name} has {member}, which {} does not know", client.name));
            }
        }
        let said = server.get("type").and_then(Value::as_str);
        if said.is_some_and(|said| {
            !client.typed || (said != kind && !(kind == "http" && said == "streamable-http"))
        }) {
            return Err(format!("the type of {name} is wrong for {}", client.name));
        }
        if said.is_none() && client.typed && (kind == "http" || client.name == "vscode") {
            return Err(format!("{name} needs its type in {}", client.name));
        }
        let texts = server.get("args").and_then(Value::as_array);
        if texts.is_some_and(|texts| !texts.iter().all(Value::is_string)) {
            return Err(format!("args of {name} are texts"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(client: &str, language: &str, text: &str) -> bool {
        let page = format!("<!-- client: {client} -->\n```{language}\n{text}\n```\n");
        !check("a.md", &page).is_empty()
    }

    #[test]
    fn the_form_of_each_client_is_known() {
        let stdio = r#"{"mcpServers":{"a":{"command":"a","args":["b"]}}}"#;
        for client in ["claude-code", "claude-desktop", "cursor", "inspector"] {
            assert!(!wrong(client, "json", stdio), "{client}");
        }
        assert!(wrong("vscode", "json", stdio));
        let vscode = r#"{"servers":{"a":{"type":"http","url":"http://a"}}}"#;
        assert!(!wrong("vscode", "json", vscode));
        assert!(!wrong("codex", "toml", "[mcp_servers.a]\nurl = \"http://a\""));
    }

    #[test]
    fn what_a_client_would_refuse_is_found() {
        for (client, text) in [
            ("vscode", r#"{"servers":{"a":{"command":"a"}}}"#),
            ("cursor", r#"{"mcpServers":{"a":{"type":"http","url":"http://a"}}}"#),
            ("claude-code", r#"{"mcpServers":{"a":{"url":"http://a"}}}"#),
            ("claude-desktop", r#"{"mcpServers":{"a":{"url":"http://a"}}}"#),
            ("cursor", r#"{"mcpServers":{"a":{"command":"a","url":"http://a"}}}"#),
            ("cursor", r#"{"mcpServers":{"a":{"command":"a","cmd":1}}}"#),
            ("cursor", r#"{"mcpServers":{"a":{"command":"a","args":[1]}}}"#),
            ("other", "{}"),
            ("cursor", "{"),
        ] {
            assert!(wrong(client, "json", text), "{client}: {text}");
        }
        assert!(wrong("codex", "toml", "[mcp.a]\ncommand = \"a\""));
    }
}
