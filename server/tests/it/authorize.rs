//! Who may call, and what each caller may do: the same over REST and MCP.

mod issued;
mod principals;
mod scopes;
mod start;
mod tls;
mod verbs;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::harness::process::verb;
use crate::harness::wire::initialize;
use crate::harness::{Client, Era, Mcp, Reply, Server, Stdio, Wire, add_star, tick};

/// A server with these callers, each of whom has the token that is its name, and the universes `sol` and `other`.
struct Asking {
    server: Server,
    dir: TempDir,
}

/// The tokens of a file: a name and scopes in each line.
fn tokens(callers: &[&str]) -> String {
    let line = |caller: &&str| {
        let name = caller.split(' ').next().unwrap();
        let hash = Sha256::digest(name);
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{hex} {caller}\n")
    };
    callers.iter().map(line).collect()
}

impl Asking {
    async fn new(callers: &[&str], arguments: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("tokens");
        let root = ["root admin"];
        std::fs::write(&file, tokens(&[&root, callers].concat())).unwrap();
        let file = file.to_str().unwrap().to_owned();
        let given = [&["--demo", "--extra-tools", "--auth-token-file", &file], arguments].concat();
        let data = dir.path().join("data");
        let server = Server::with(&data, &given).await;
        Self { server, dir }
    }

    fn client(&self) -> Client {
        self.server.client
    }

    async fn call(&self, token: &str, method: &str, path: &str, body: &Value) -> Reply {
        let shown = format!("Bearer {token}");
        let headers = [("authorization", shown.as_str())];
        self.client().call(method, path, &headers, body).await
    }

    async fn get(&self, token: &str, path: &str) -> Reply {
        self.call(token, "GET", path, &Value::Null).await
    }

    /// A universe of root's.
    async fn create(&self, name: &str) -> String {
        let body = json!({"name": name, "state": {}});
        let created = self.call("root", "POST", "/universes", &body).await;
        assert_eq!(created.status, 201, "{created:?}");
        created.json()["id"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn both_dialects_want_a_token_and_refuse_in_the_same_words() {
    let asking = Asking::new(&[], &[]).await;
    let client = asking.client();
    let rows = [
        (None, 401, None),
        (Some("Basic cm9vdDpyb290"), 401, None),
        (Some("Bearer unknown"), 401, Some("error=\"invalid_token\"")),
        (Some("Bearer two words"), 400, Some("error=\"invalid_request\"")),
        (Some("Bearer root"), 200, None),
    ];
    for (shown, status, told) in rows {
        let mut headers = vec![("accept", "application/json, text/event-stream")];
        headers.extend(shown.map(|shown| ("authorization", shown)));
        let legacy = client.call("POST", "/mcp", &headers, &initialize()).await;
        let modern = {
            let mut headers = headers.clone();
            headers.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")]);
            let body = Era::Modern.request(&json!(1), "tools/list", json!({}));
            client.call("POST", "/mcp", &headers, &body).await
        };
        let mut replies = vec![legacy, modern];
        for path in [
            "/universes",
            "/universes/sol",
            "/universes/sol/history",
            "/universes/sol/tree",
            "/metrics",
        ] {
            replies.push(client.call("GET", path, &headers, &Value::Null).await);
        }
        let of_mcp = replies[0].header("www-authenticate").to_owned();
        for reply in &replies {
            assert_eq!(reply.status, status, "{shown:?} {reply:?}");
            let challenge = reply.header("www-authenticate");
            assert_eq!(challenge, of_mcp);
            assert_eq!(challenge.starts_with("Bearer"), status != 200, "{challenge}");
            assert!(told.is_none_or(|told| challenge.contains(told)), "{challenge}");
        }
    }
    let in_query = client.get("/universes?access_token=root").await;
    assert_eq!(in_query.status, 401, "a token in the query is nobody's");
    for path in ["/universes/nothing", "/universes/%00", "/nowhere"] {
        let reply = client.get(path).await;
        assert_eq!(reply.status, 401, "{path} {reply:?}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("sol"), "{reply:?}");
        let reply = client.call("OPTIONS", path, &[], &Value::Null).await;
        assert!(!String::from_utf8_lossy(&reply.body).contains("sol"), "{reply:?}");
    }
    for path in ["/health", "/livez", "/readyz", "/version"] {
        assert_eq!(client.get(path).await.status, 200, "{path}");
    }
    for (method, path, body) in [
        ("POST", "/universes", json!({"name": "x", "state": {}})),
        ("PUT", "/universes/sol", json!({"name": "x"})),
        ("DELETE", "/universes/sol", Value::Null),
        ("POST", "/universes/sol/commands", tick()),
        ("POST", "/universes/sol/undo", json!({"revision": 0})),
        ("GET", "/universes/sol/events", Value::Null),
    ] {
        assert_eq!(client.call(method, path, &[], &body).await.status, 401, "{method} {path}");
    }
}

#[tokio::test]
async fn a_scope_is_enough_for_its_work_and_no_more() {
    let asking = Asking::new(&["reader read", "writer write", "nobody other"], &[]).await;
    let command = add_star("x");
    for (token, may_read, may_write) in
        [("reader", true, false), ("writer", true, true), ("nobody", false, false)]
    {
        let (read, write) = (if may_read { 200 } else { 403 }, if may_write { 200 } else { 403 });
        assert_eq!(asking.get(token, "/universes/sol").await.status, read, "{token}");
        assert_eq!(asking.get(token, "/metrics").await.status, read, "{token}");
        let sent = asking.call(token, "POST", "/universes/sol/commands", &tick()).await;
        assert_eq!(sent.status, write, "{token}");
        if !may_write {
            let challenge = sent.header("www-authenticate");
            assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
            assert!(challenge.contains("scope=\"write\""), "{challenge}");
        }
        let deleted = asking.call(token, "DELETE", "/universes/sol", &Value::Null).await;
        assert_eq!(deleted.status, 403);
        assert!(deleted.header("www-authenticate").contains("scope=\"admin\""));
        for era in Era::BOTH {
            let mcp = Mcp::with_token(asking.client(), era, token).await;
            let wire = Wire::with_token(asking.client(), era, token).await;
            let tools = mcp.tools().await;
            let has = |name: &str| tools.iter().any(|tool| tool == name);
            assert_eq!(has("get_universe_state"), may_read, "{token} {era:?}");
            assert_eq!(has("send_universe_command"), may_write, "{token} {era:?}");
            assert_eq!(has("create_universe"), may_write, "{token} {era:?}");
            assert!(!has("delete_universe"), "{token} {era:?}");
            let reply = wire.command("sol", &command).await;
            assert_eq!(reply.status, write, "{token} {era:?} {reply:?}");
            let sol = json!({"universeId": "sol"});
            let reply = wire.call("delete_universe", sol).await;
            assert_eq!(reply.status, 403, "{reply:?}");
            assert!(reply.header("www-authenticate").contains("scope=\"admin\""));
            let reply =
                wire.send(&json!(1), "resources/read", json!({"uri": "universe://sol"})).await;
            assert_eq!(reply.status, read, "{token} {era:?} {reply:?}");
        }
    }
    assert_eq!(asking.call("root", "DELETE", "/universes/sol", &Value::Null).await.status, 204);
}

#[tokio::test]
async fn the_owner_of_the_directory_is_not_asked() {
    let asking = Asking::new(&[], &[]).await;
    let data = asking.dir.path().join("data");
    let listed = verb(&data, &["list"]).await;
    assert!(listed.stdout.contains("sol"), "{}", listed.stderr);
    let sent = verb(&data, &["send", "sol", r#"{"type":"tick","dt":1}"#]).await;
    assert!(sent.status.success(), "{}", sent.stderr);
    for era in Era::BOTH {
        let mut joined = Stdio::on(&data, era).await;
        joined.command("sol", &tick()).await;
    }
}
