//! One server process and every way to call its tools: over HTTP and on pipes, in both eras.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Client, Era, Mcp, Server, Stdio};

/// A server on a directory of its own, and a caller for each way.
pub(crate) struct Ways {
    pub(crate) client: Client,
    callers: Vec<Caller>,
    _server: Server,
    dir: TempDir,
}

/// A client of the tools.
pub(crate) enum Caller {
    Http(Mcp),
    Pipes(Box<Stdio>),
}

impl Ways {
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let server = Server::with(dir.path(), arguments).await;
        let mut callers = Vec::new();
        for era in Era::BOTH {
            callers.push(Caller::Http(Mcp::new(server.client, era).await));
            let pipes = Stdio::on(dir.path(), era).await;
            callers.push(Caller::Pipes(Box::new(pipes)));
        }
        Self { client: server.client, callers, _server: server, dir }
    }

    /// The data directory.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The callers: HTTP and pipes in the older era, then in the newer one.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = (usize, &mut Caller)> {
        self.callers.iter_mut().enumerate()
    }
}

impl Caller {
    /// The result of a tool.
    pub(crate) async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        match self {
            Self::Http(mcp) => mcp.tool(name, arguments).await,
            Self::Pipes(pipes) => pipes.tool(name, arguments).await,
        }
    }

    /// The tools that are listed.
    pub(crate) async fn tools(&mut self) -> Vec<Value> {
        let mut listed = match self {
            Self::Http(mcp) => mcp.result("tools/list", json!({})).await,
            Self::Pipes(pipes) => {
                pipes.ask(&json!("list"), "tools/list", json!({})).await["result"].take()
            }
        };
        match listed["tools"].take() {
            Value::Array(tools) => tools,
            other => panic!("{other}"),
        }
    }

    /// What a tool that must succeed answers: the same as text and as structured content.
    pub(crate) async fn content(&mut self, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        let text: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        result["structuredContent"].take()
    }

    /// The `error` of a tool that must fail.
    pub(crate) async fn error(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.tool(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let mut body: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        body["error"].take()
    }

    /// Sends a command that must be accepted.
    pub(crate) async fn send(&mut self, universe: &str, command: Value) -> Value {
        let arguments = json!({"universeId": universe, "command": command});
        self.content("send_universe_command", arguments).await
    }
}
