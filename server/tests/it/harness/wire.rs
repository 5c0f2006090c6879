//! The one raw writer and reader of MCP over HTTP, for what the library's client hides: statuses and headers of answers,
//! ids of sessions, encodings, requests of many clients with the same id, and how far a killed server answered.

use serde_json::{Value, json};

use super::client::Headers;
use super::{Client, Connection, Reply};

pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// A client of one server. Every request opens a connection of its own.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    client: Client,
    /// `None` in the modern era.
    pub(crate) session: Option<String>,
    /// Its `Accept-Encoding` or `Authorization`.
    more: Vec<(&'static str, String)>,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Legacy, Self::Modern];

    /// Parameters with what this era puts into every request.
    pub(crate) fn params(self, mut params: Value) -> Value {
        if self == Self::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
            });
        }
        params
    }

    pub(crate) fn request(self, id: &Value, method: &str, params: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": self.params(params)})
    }
}

/// The request that opens a legacy session.
pub(crate) fn initialize() -> Value {
    Era::Legacy.request(
        &json!(0),
        "initialize",
        json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}),
    )
}

impl Wire {
    /// A client that has introduced itself, if its era does that.
    pub(crate) async fn new(client: Client, era: Era) -> Self {
        Self::with(client, era, Vec::new()).await
    }

    /// A client that shows a token.
    pub(crate) async fn with_token(client: Client, era: Era, token: &str) -> Self {
        let more = vec![("authorization", format!("Bearer {token}"))];
        Self::with(client, era, more).await
    }

    async fn with(client: Client, era: Era, more: Vec<(&'static str, String)>) -> Self {
        let mut wire = Self {
            client,
            session: None,
            more,
        };
        if era == Era::Legacy {
            let mut headers = vec![ACCEPT];
            headers.extend(wire.more());
            wire.session = Some(opened(&mut client.connect().await, &headers).await);
        }
        wire
    }

    /// The same, which takes answers in an encoding.
    pub(crate) fn accepting(mut self, encoding: &str) -> Self {
        self.more.push(("accept-encoding", encoding.to_owned()));
        self
    }

    /// The answer to a request as it comes.
    pub(crate) async fn send(&self, id: &Value, method: &str, params: Value) -> Reply {
        let mut connection = self.client.connect().await;
        let reply = self.try_send(&mut connection, id, method, params).await;
        reply.expect("the server answers")
    }

    /// `None` when the server goes before it has answered.
    pub(crate) async fn try_send(
        &self,
        connection: &mut Connection,
        id: &Value,
        method: &str,
        params: Value,
    ) -> Option<Reply> {
        let era = match self.session {
            Some(_) => Era::Legacy,
            None => Era::Modern,
        };
        let body = era.request(id, method, params);
        let headers = self.headers(method, &body["params"]);
        connection.try_call("POST", "/mcp", &headers, &body).await
    }

    fn more(&self) -> impl Iterator<Item = (&str, &str)> {
        self.more
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
    }

    /// The headers of a request.
    fn headers<'h>(&'h self, method: &'h str, params: &'h Value) -> Vec<(&'h str, &'h str)> {
        let named = match method {
            "tools/call" | "prompts/get" => &params["name"],
            "resources/read" => &params["uri"],
            _ => &Value::Null,
        };
        let mut headers = vec![ACCEPT];
        headers.extend(self.more());
        match &self.session {
            Some(session) => {
                headers.extend([
                    ("mcp-session-id", session.as_str()),
                    ("mcp-protocol-version", LEGACY),
                ]);
            }
            None => {
                headers.extend([("mcp-protocol-version", MODERN), ("mcp-method", method)]);
                headers.extend(named.as_str().map(|name| ("mcp-name", name)));
            }
        }
        headers
    }
}

/// Opens a legacy session and gives its id.
pub(crate) async fn open_session(connection: &mut Connection) -> String {
    opened(connection, &[ACCEPT]).await
}

async fn opened(connection: &mut Connection, headers: Headers<'_>) -> String {
    let reply = connection
        .call("POST", "/mcp", headers, &initialize())
        .await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.header("mcp-session-id").to_owned()
}
