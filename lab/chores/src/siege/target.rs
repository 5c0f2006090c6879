//! The servers under attack and the requests that both sides send them.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::Value;

use super::wire::{Answer, Client};
use xtask::Result;

/// The addresses of the victim and the attacker: the server sees them as two clients.
pub(super) const VICTIM: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 1);
pub(super) const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The time limit for one call.
pub(super) const CALL_DEADLINE: Duration = Duration::from_secs(5);

/// The latest legacy revision, and the revision that has batches.
const LEGACY: &str = "2025-11-25";
pub(super) const BATCHING: &str = "2025-03-26";

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// `universe-server` on an empty data directory.
    Universe,
    /// The example `mcp-proto/examples/everything.rs`.
    Everything,
}

/// A server and one of its clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) kind: Kind,
    pub(super) address: SocketAddr,
    /// The address that connections come from.
    pub(super) from: Ipv4Addr,
}

/// A request, independent of the HTTP version.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    /// Shared, so that a hundred requests with the same large body store it once.
    pub(super) body: Arc<str>,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Universe => "universe",
            Self::Everything => "everything",
        }
    }

    /// The largest body that the server takes by default, in bytes.
    pub(super) fn max_body(self) -> usize {
        match self {
            Self::Universe => 10 << 20,
            Self::Everything => 4 << 20,
        }
    }
}

impl Target {
    pub(super) fn client(&self) -> Client {
        Client::new(self.from, self.address)
    }

    /// The head up to the length of the body, without the empty line.
    pub(super) fn head(&self, message: &Message) -> String {
        let mut head =
            format!("{} {} HTTP/1.1\r\nhost: {}\r\n", message.method, message.path, self.address);
        for (name, value) in &message.headers {
            // Writing to a string cannot fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head
    }

    /// The whole request as HTTP/1.1.
    pub(super) fn http1(&self, message: &Message) -> Vec<u8> {
        let head = self.head(message);
        let (length, body) = (message.body.len(), &message.body);
        format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes()
    }

    /// Sends a message on `client`, and accepts only a successful answer.
    ///
    /// # Errors
    /// When there is no answer or a wrong answer, with a description.
    pub(super) fn ask(&self, client: &mut Client, message: &Message) -> Result<Answer> {
        self.ask_within(client, message, CALL_DEADLINE)
    }

    /// As [`Target::ask`], with another deadline.
    pub(super) fn ask_within(
        &self,
        client: &mut Client,
        message: &Message,
        deadline: Duration,
    ) -> Result<Answer> {
        let answer = client.call(&self.http1(message), deadline)?;
        let failed = answer.body.contains(r#""isError":true"#)
            || (message.path == "/mcp" && answer.body.contains(r#""error":{"#));
        if !(200..300).contains(&answer.status) || failed {
            let start: String = answer.body.chars().take(160).collect();
            return Err(format!("status {}: {start}", answer.status).into());
        }
        Ok(answer)
    }

    /// Opens a session of the legacy era and returns its id.
    ///
    /// # Errors
    /// As [`Target::ask`].
    pub(super) fn initialize(&self, client: &mut Client, revision: &str) -> Result<String> {
        let params = format!(
            r#"{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"siege","version":"0"}}}}"#
        );
        let answer = self.ask(client, &legacy("", "initialize", &params))?;
        let id = answer.session.ok_or("initialize without a session id")?;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.ask(client, &post(session_headers(&id, LEGACY), ready.to_owned()))?;
        Ok(id)
    }

    /// Creates a universe with one body whose name has `bytes` bytes, and returns its id; empty on the other server.
    ///
    /// # Errors
    /// As [`Target::ask`].
    pub(super) fn universe(&self, bytes: usize) -> Result<String> {
        if self.kind == Kind::Everything {
            return Ok(String::new());
        }
        let name = "n".repeat(bytes.max(1));
        let body = format!(
            r##"{{"name":"siege","state":{{"stars":{{"a":{{"id":"a","name":"{name}","mass":1,"radius":1,"color":"#FFFFFF","children":[],"parentId":null,"orbitalDistance":0,"orbitalSpeed":0,"orbitalPhase":0}}}},"rootIds":["a"]}}}}"##
        );
        let mut message = post(json_headers(), body);
        "/universes".clone_into(&mut message.path);
        let answer = self.ask_within(&mut self.client(), &message, CALL_DEADLINE * 4)?;
        let record: Value = serde_json::from_str(&answer.body)?;
        let id = record.get("id").and_then(Value::as_str);
        Ok(id.ok_or("a universe without an id")?.to_owned())
    }
}

/// A POST to the MCP endpoint.
pub(super) fn post(headers: Vec<(&'static str, String)>, body: String) -> Message {
    Message { method: "POST", path: "/mcp".to_owned(), headers, body: body.into() }
}

/// A modern request with `id` as JSON. `params` is empty, or members that end with a comma. The header repeats `name`,
/// the called tool, if there is one.
pub(super) fn modern(id: &str, method: &str, name: &str, params: &str) -> Message {
    let mut headers = json_headers();
    headers.push(("mcp-protocol-version", "2026-07-28".to_owned()));
    headers.push(("mcp-method", method.to_owned()));
    if !name.is_empty() {
        headers.push(("mcp-name", name.to_owned()));
    }
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{meta}}}}}"#);
    post(headers, body)
}

/// A modern call of a tool.
pub(super) fn modern_call(tool: &str, arguments: &str) -> Message {
    let params = format!(r#""name":"{tool}","arguments":{arguments},"#);
    modern("1", "tools/call", tool, &params)
}

/// A modern call by a client that accepts a task as the answer.
pub(super) fn modern_task(tool: &str, arguments: &str) -> Message {
    let mut message = modern_call(tool, arguments);
    let tasks = r#"Capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
    // The capabilities are the last member.
    message.body = message.body.replace(r#"Capabilities":{}}"#, tasks).into();
    message
}

/// A modern `subscriptions/listen` request. `filter` is a JSON object.
pub(super) fn listen(id: &str, filter: &str) -> Message {
    let params = format!(r#""notifications":{filter},"#);
    modern(id, "subscriptions/listen", "", &params)
}

/// A legacy request in a session. The session is empty for `initialize`.
pub(super) fn legacy(session: &str, method: &str, params: &str) -> Message {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    post(session_headers(session, LEGACY), body)
}

/// A legacy call of a tool.
pub(super) fn legacy_call(session: &str, tool: &str, arguments: &str) -> Message {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    legacy(session, "tools/call", &params)
}

/// The GET request for the stream of a session's messages other than answers.
pub(super) fn get_stream(session: &str) -> Message {
    Message {
        method: "GET",
        path: "/mcp".to_owned(),
        headers: session_headers(session, LEGACY),
        body: Arc::default(),
    }
}

/// The headers of a request in a session.
pub(super) fn session_headers(session: &str, revision: &str) -> Vec<(&'static str, String)> {
    let mut headers = json_headers();
    if !session.is_empty() {
        headers.push(("mcp-session-id", session.to_owned()));
        headers.push(("mcp-protocol-version", revision.to_owned()));
    }
    headers
}

pub(super) fn json_headers() -> Vec<(&'static str, String)> {
    let both = "application/json, text/event-stream";
    vec![("content-type", "application/json".to_owned()), ("accept", both.to_owned())]
}
