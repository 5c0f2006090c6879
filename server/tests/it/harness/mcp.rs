//! MCP over HTTP by the library's client, in both eras.

use mcp_proto_client::{
    Client as Calls, ClientConfig, ClientError, Interest, ListenEvent, Listening,
};
use serde_json::{Value, json};

use super::{Client, Era, HANG, soon};

/// A client of one server.
#[derive(Debug, Clone)]
pub(crate) struct Mcp(Calls);

impl Mcp {
    /// A client that has introduced itself, if its era does that.
    pub(crate) async fn new(client: Client, era: Era) -> Self {
        Self::with(client, config(era)).await
    }

    /// A client that shows a token.
    pub(crate) async fn with_token(client: Client, era: Era, token: &str) -> Self {
        Self::with(client, config(era).with_bearer(token)).await
    }

    async fn with(client: Client, config: ClientConfig) -> Self {
        let url = format!("http://{}/mcp", client.0);
        Self(Calls::http(&url, config).await.unwrap())
    }

    /// What its tools are called.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let tools = self.0.list_tools().await.unwrap().into_iter();
        tools.map(|tool| tool.name).collect()
    }

    /// The error of a request that must have one.
    pub(crate) async fn error(&self, method: &str, params: Value) -> Value {
        match self.0.request(method, params).await {
            Err(ClientError::Rpc(error)) => json!(error),
            other => panic!("{other:?}"),
        }
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
    pub(crate) async fn subscribe(&self, uris: &[&str]) -> Subscribed {
        let interest = uris.iter().fold(Interest::new().resources(), |all, uri| all.resource(*uri));
        let subscribed = self.listen(interest).await;
        if self.0.era() == mcp_proto::Era::Modern {
            let mut sorted = uris.to_vec();
            sorted.sort_unstable();
            let agreed = json!({"resourceSubscriptions": sorted, "resourcesListChanged": true});
            assert_eq!(subscribed.0.agreed(), agreed);
        }
        subscribed
    }

    pub(crate) async fn listen(&self, interest: Interest) -> Subscribed {
        Subscribed(self.0.listen(interest).await.unwrap())
    }

    /// The result of a request that must have one.
    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        self.0.request(method, params).await.unwrap()
    }

    /// The result of a tool.
    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments})).await
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

/// What a client that has subscribed receives.
pub(crate) struct Subscribed(pub(crate) Listening);

impl Subscribed {
    /// The parameters of the next message, which must be this one.
    async fn next(&mut self, method: &str) -> Value {
        match soon(self.0.next()).await {
            Some(ListenEvent::Notification(sent)) if sent.method == method => {
                Value::Object(sent.params)
            }
            other => panic!("{other:?}"),
        }
    }

    /// The URIs of the next updates, in any order: those of one change come together.
    pub(crate) async fn updates<const N: usize>(&mut self) -> [String; N] {
        let mut uris = [const { String::new() }; N];
        for uri in &mut uris {
            let updated = self.next("notifications/resources/updated").await;
            *uri = updated["uri"].as_str().unwrap().to_owned();
        }
        uris.sort_unstable();
        uris
    }

    /// That the next message says that the list has changed.
    pub(crate) async fn list_changed(&mut self) {
        self.next("notifications/resources/list_changed").await;
    }
}

fn config(era: Era) -> ClientConfig {
    let mut config = ClientConfig::new(match era {
        Era::Legacy => mcp_proto::Era::Legacy,
        Era::Modern => mcp_proto::Era::Modern,
    });
    config.timeout = HANG;
    config
}
