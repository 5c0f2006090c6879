//! MCP over HTTP as raw JSON-RPC, in both eras.

use hyper::body::Incoming;
use serde_json::{Value, json};

use super::{Client, Connection, Feed, Reply};

pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const MODERN: &str = "2026-07-28";

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// A client of one server.
#[derive(Debug, Clone)]
pub(crate) struct Mcp {
    client: Client,
    /// `None` in the modern era.
    pub(crate) session: Option<String>,
    /// Its `Accept-Encoding`.
    encoding: Option<&'static str>,
    /// Its `Authorization`.
    authorization: Option<String>,
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

impl Mcp {
    /// A client that has introduced itself, if its era does that.
    pub(crate) async fn new(client: Client, era: Era) -> Self {
        let session = match era {
            Era::Modern => None,
            Era::Legacy => Some(open_session(&mut client.connect().await).await),
        };
        Self {
            client,
            session,
            encoding: None,
            authorization: None,
        }
    }

    /// A client that shows a token.
    pub(crate) async fn with_token(client: Client, era: Era, token: &str) -> Self {
        let mut mcp = Self {
            client,
            session: None,
            encoding: None,
            authorization: Some(format!("Bearer {token}")),
        };
        if era == Era::Legacy {
            let authorization = mcp.authorization.as_deref().unwrap_or_default();
            let headers = [
                ("accept", "application/json, text/event-stream"),
                ("authorization", authorization),
            ];
            let reply = client.call("POST", "/mcp", &headers, &initialize()).await;
            assert_eq!(reply.status, 200, "{reply:?}");
            mcp.session = Some(reply.header("mcp-session-id").to_owned());
        }
        mcp
    }

    /// What its tools are called.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let listed = self.result("tools/list", json!({})).await;
        let tools = listed["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The same, which takes answers in an encoding.
    pub(crate) fn accepting(self, encoding: &'static str) -> Self {
        Self {
            encoding: Some(encoding),
            ..self
        }
    }

    pub(crate) fn era(&self) -> Era {
        if self.session.is_some() {
            Era::Legacy
        } else {
            Era::Modern
        }
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
        let body = self.era().request(id, method, params);
        let headers = self.headers(method, &body["params"]);
        connection.try_call("POST", "/mcp", &headers, &body).await
    }

    /// The headers of a request.
    fn headers<'h>(&'h self, method: &'h str, params: &'h Value) -> Vec<(&'h str, &'h str)> {
        let named = match method {
            "tools/call" | "prompts/get" => &params["name"],
            "resources/read" => &params["uri"],
            _ => &Value::Null,
        };
        let mut headers = vec![("accept", "application/json, text/event-stream")];
        headers.extend(self.encoding.map(|encoding| ("accept-encoding", encoding)));
        headers.extend(
            self.authorization
                .iter()
                .map(|it| ("authorization", it.as_str())),
        );
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

    /// The error of a request that must have one.
    pub(crate) async fn error(&self, method: &str, params: Value) -> Value {
        let mut message = self.send(&json!(1), method, params).await.json();
        assert!(message["error"].is_object(), "{message}");
        message["error"].take()
    }

    /// The contents of a resource.
    pub(crate) async fn read(&self, uri: &str) -> Value {
        let mut result = self.result("resources/read", json!({ "uri": uri })).await;
        let contents = result["contents"].as_array_mut().unwrap();
        assert_eq!(contents.len(), 1, "{uri}");
        assert_eq!(contents[0]["uri"], uri);
        contents[0].take()
    }

    /// The contents of a resource that is JSON.
    pub(crate) async fn read_json(&self, uri: &str) -> Value {
        let contents = self.read(uri).await;
        assert_eq!(contents["mimeType"], "application/json");
        serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
    }

    /// Subscribes to these resources and to the list of resources.
    pub(crate) async fn hear(&self, uris: &[&str]) -> Heard {
        if let Some(session) = &self.session {
            for uri in uris {
                let done = self
                    .result("resources/subscribe", json!({ "uri": uri }))
                    .await;
                assert_eq!(done, json!({}));
            }
            let headers = [("accept", "text/event-stream"), ("mcp-session-id", session)];
            let stream = self.client.open("GET", "/mcp", &headers).await;
            assert_eq!(stream.status(), 200);
            return Heard(Feed::new(stream.into_body()));
        }
        let wanted = json!({"resourceSubscriptions": uris, "resourcesListChanged": true});
        let mut heard = self.listen(wanted).await;
        let agreed = heard.next().await;
        assert_eq!(
            agreed["method"], "notifications/subscriptions/acknowledged",
            "{agreed}"
        );
        let agreed = &agreed["params"]["notifications"];
        let mut sorted = uris.to_vec();
        sorted.sort_unstable();
        assert_eq!(agreed["resourceSubscriptions"], json!(sorted));
        assert_eq!(agreed["resourcesListChanged"], true);
        heard
    }

    /// A modern client listens.
    pub(crate) async fn listen(&self, wanted: Value) -> Heard {
        let method = "subscriptions/listen";
        let params = json!({ "notifications": wanted });
        let body = self.era().request(&json!("listen"), method, params);
        let headers = self.headers(method, &body["params"]);
        let stream = self.client.open_with("POST", "/mcp", &headers, &body).await;
        assert_eq!(stream.status(), 200);
        Heard(Feed::new(stream.into_body()))
    }

    /// The result of a request that must have one.
    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let reply = self.send(&json!(1), method, params).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let mut message = reply.json();
        assert_eq!(message["id"], 1, "{message}");
        assert!(message["result"].is_object(), "{message}");
        message["result"].take()
    }

    /// The result of a tool.
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
            .await
    }

    /// What a tool that must succeed answers.
    pub(crate) async fn content(&self, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].take()
    }

    /// The text of a tool that must fail.
    pub(crate) async fn refusal(&self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn command(&self, universe: &str, command: &Value) -> Value {
        let arguments = json!({"universeId": universe, "command": command});
        self.content("send_universe_command", arguments).await
    }
}

/// What a client hears that has subscribed.
pub(crate) struct Heard(Feed<Incoming>);

impl Heard {
    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        self.0.event().await.expect("it goes on").data
    }

    /// The URIs of the next updates, in any order: those of one change come together.
    pub(crate) async fn updates<const N: usize>(&mut self) -> [String; N] {
        let mut uris = [const { String::new() }; N];
        for uri in &mut uris {
            let message = self.next().await;
            assert_eq!(
                message["method"], "notifications/resources/updated",
                "{message}"
            );
            *uri = message["params"]["uri"].as_str().unwrap().to_owned();
        }
        uris.sort_unstable();
        uris
    }

    /// That the next message says that the list has changed.
    pub(crate) async fn list_changed(&mut self) {
        let message = self.next().await;
        assert_eq!(
            message["method"], "notifications/resources/list_changed",
            "{message}"
        );
    }
}

/// Opens a legacy session and gives its id.
pub(crate) async fn open_session(connection: &mut Connection) -> String {
    let accept = [("accept", "application/json, text/event-stream")];
    let reply = connection
        .call("POST", "/mcp", &accept, &initialize())
        .await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.header("mcp-session-id").to_owned()
}
