//! Sessions with a handshake outlive the server's process: modelcontextprotocol/python-sdk#1676,
//! BuilderIO/agent-native#5547, anthropics/claude-code#83404. Most clients do not begin again on 404.

use std::fs;
use std::path::Path;

use hyper::body::Incoming;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::process::{binary, done};
use crate::harness::{Client, Feed, Reply, Server, add_star, set_mass};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// A client that keeps to the session it was given.
struct Session {
    client: Client,
    version: &'static str,
    id: String,
}

impl Session {
    async fn open(client: Client, version: &'static str) -> Self {
        let info = json!({"name": "test", "version": "0"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let reply = client.call("POST", "/mcp", &[ACCEPT], &body).await;
        assert_eq!(reply.json()["result"]["protocolVersion"], version);
        Self { client, version, id: reply.header("mcp-session-id").to_owned() }
    }

    fn headers(&self) -> [(&str, &str); 3] {
        [ACCEPT, ("mcp-session-id", &self.id), ("mcp-protocol-version", self.version)]
    }

    async fn send(&self, method: &str, params: Value) -> Reply {
        let body = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
        self.client.call("POST", "/mcp", &self.headers(), &body).await
    }

    async fn result(&self, method: &str, params: Value) -> Value {
        let reply = self.send(method, params).await;
        assert_eq!(reply.status, 200, "{}: {reply:?}", self.version);
        reply.json()["result"].take()
    }

    async fn stream(&self) -> Feed<Incoming> {
        let response = self.client.open("GET", "/mcp", &self.headers()).await;
        assert_eq!(response.status(), 200, "{}", self.version);
        Feed::new(response.into_body())
    }

    async fn end(&self) {
        let reply = self.client.call("DELETE", "/mcp", &self.headers(), &Value::Null).await;
        assert_eq!(reply.status, 204, "{}", self.version);
    }
}

/// A server on the address of an earlier one.
async fn again(dir: &Path, client: Client) -> Server {
    let mut command = binary();
    command.args(["--listen", &client.0.to_string(), "--data-dir"]).arg(dir);
    Server::start(command).await
}

#[tokio::test]
async fn a_session_goes_on_at_the_next_server_after_kill_9() {
    let dir = TempDir::new().unwrap();
    let mut server = Server::on(dir.path()).await;
    let client = server.client;
    let universe = client.create("u", json!({})).await;
    client.command(&universe, &add_star("sun")).await;
    let sun = format!("universe://{universe}/stars/sun");
    let mut sessions = Vec::new();
    for version in VERSIONS {
        let session = Session::open(client, version).await;
        session.result("resources/subscribe", json!({ "uri": sun })).await;
        sessions.push(session);
    }
    let ended = Session::open(client, VERSIONS[3]).await;
    ended.end().await;
    server.kill().await;

    let mut server = again(dir.path(), client).await;
    assert_eq!(ended.send("ping", json!({})).await.status, 404, "DELETE is for good");
    let mut mass = 1;
    for session in &sessions {
        let arguments = json!({ "universeId": universe });
        let params = json!({"name": "get_universe_state", "arguments": arguments});
        let result = session.result("tools/call", params).await;
        assert_ne!(result["isError"], true, "{result}");
        let mut stream = session.stream().await;
        // Nobody knows what it has missed.
        let missed = "notifications/resources/list_changed";
        assert_eq!(stream.event().await.unwrap().data["method"], missed, "{}", session.version);
        for _ in 0..2 {
            let event = stream.event().await.unwrap().data;
            assert_eq!(event["method"], "notifications/resources/updated", "{}", session.version);
            assert_eq!(event["params"]["uri"], sun);
            mass += 1;
            client.command(&universe, &set_mass("sun", mass)).await;
        }
    }
    // And at the one after a stop.
    server.stop().await;
    let server = again(dir.path(), client).await;
    for session in &sessions {
        session.result("ping", json!({})).await;
    }
    drop(server);
}

#[tokio::test]
async fn the_file_of_sessions_is_no_part_of_the_universes() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("sessions.db");
    let mut server = Server::on(dir.path()).await;
    let client = server.client;
    let session = Session::open(client, VERSIONS[3]).await;
    let universe = client.create("u", json!({})).await;
    let backup = dir.path().join("universes.backup");
    done(dir.path(), &["backup", backup.to_str().unwrap()]).await;
    server.stop().await;
    assert!(file.exists());
    done(dir.path(), &["check"]).await;
    let other = TempDir::new().unwrap();
    done(other.path(), &["restore", backup.to_str().unwrap()]).await;
    assert!(!other.path().join("sessions.db").exists());

    // A directory of a server that did not know it opens, and so does one whose file is damaged.
    fs::remove_file(&file).unwrap();
    let mut server = again(dir.path(), client).await;
    assert_eq!(session.send("ping", json!({})).await.status, 404);
    client.universe(&universe).await;
    server.stop().await;
    fs::write(&file, "not a database. ".repeat(100)).unwrap();
    let server = again(dir.path(), client).await;
    let told = server.greeting.join("\n");
    assert!(told.contains("move it away to begin without sessions"), "{told}");
    client.universe(&universe).await;
    Session::open(client, VERSIONS[3]).await;
}
