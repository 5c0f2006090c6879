//! The one raw writer and reader of MCP over HTTP, for what the library's client hides: statuses and headers of
//! answers, ids of sessions, encodings, requests of many clients with the same id, how many requests there are, and how
//! far a killed server answered.

use http::Response;
use hyper::body::Incoming;
use serde_json::{Value, json};

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
    era: Era,
    /// `None` in the modern era.
    pub(crate) session: Option<String>,
    /// Of every request.
    headers: Vec<(&'static str, String)>,
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

    async fn with(client: Client, era: Era, mut headers: Vec<(&'static str, String)>) -> Self {
        let mut session = None;
        let version = match era {
            Era::Legacy => {
                let id = opened(&mut client.connect().await, &headers).await;
                headers.push(("mcp-session-id", id.clone()));
                session = Some(id);
                LEGACY
            }
            Era::Modern => MODERN,
        };
        headers.push(("mcp-protocol-version", version.to_owned()));
        Self { client, era, session, headers }
    }

    /// The same client, of the same session, at another server.
    pub(crate) fn at(&self, client: Client) -> Self {
        let same = self.clone();
        Self { client, ..same }
    }

    /// Opens the GET stream of a session, after an event if that is given.
    pub(crate) async fn stream(&self, last: Option<&str>) -> Response<Incoming> {
        let mut headers = vec![("accept", "text/event-stream")];
        let more = self.headers.iter();
        headers.extend(more.map(|(name, value)| (*name, value.as_str())));
        headers.extend(last.map(|last| ("last-event-id", last)));
        self.client.open("GET", "/mcp", &headers).await
    }

    /// Ends the session.
    pub(crate) async fn end(&self) -> Reply {
        let headers: Vec<_> =
            self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.client.call("DELETE", "/mcp", &headers, &Value::Null).await
    }

    /// The same, which takes answers in an encoding.
    pub(crate) fn accepting(mut self, encoding: &str) -> Self {
        self.headers.push(("accept-encoding", encoding.to_owned()));
        self
    }

    /// The answer to a request as it comes.
    pub(crate) async fn send(&self, id: &Value, method: &str, params: Value) -> Reply {
        let mut connection = self.client.connect().await;
        let reply = self.try_send(&mut connection, id, method, params).await;
        reply.expect("the server answers")
    }

    /// The answer to a call of a tool.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Reply {
        let params = json!({"name": name, "arguments": arguments});
        self.send(&json!(1), "tools/call", params).await
    }

    /// The answer to a command for a universe.
    pub(crate) async fn command(&self, universe: &str, command: &Value) -> Reply {
        let arguments = json!({"universeId": universe, "command": command});
        self.call("send_universe_command", arguments).await
    }

    /// `None` when the server goes before it has answered.
    pub(crate) async fn try_send(
        &self,
        connection: &mut Connection,
        id: &Value,
        method: &str,
        params: Value,
    ) -> Option<Reply> {
        let body = self.era.request(id, method, params);
        let mut headers = all(&self.headers);
        if self.era == Era::Modern {
            let params = &body["params"];
            let named = params["name"].as_str().or(params["uri"].as_str());
            headers.push(("mcp-method", method));
            headers.extend(named.map(|name| ("mcp-name", name)));
        }
        connection.try_call("POST", "/mcp", &headers, &body).await
    }
}

fn all<'a>(headers: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    let own = headers.iter().map(|(name, value)| (*name, value.as_str()));
    std::iter::once(ACCEPT).chain(own).collect()
}

/// Opens a legacy session and gives its id.
pub(crate) async fn open_session(connection: &mut Connection) -> String {
    opened(connection, &[]).await
}

async fn opened(connection: &mut Connection, headers: &[(&'static str, String)]) -> String {
    let headers = all(headers);
    let reply = connection.call("POST", "/mcp", &headers, &initialize()).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.header("mcp-session-id").to_owned()
}
