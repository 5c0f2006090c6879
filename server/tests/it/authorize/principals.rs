//! What is bound to a caller: its sessions, what it was asked, and its share. Both callers have all scopes, and call
//! from one address.

use mcp_proto::budget::{Bound, BudgetConfig};
use serde_json::{Value, json};

use super::{Asking, tokens};
use crate::harness::wire::MODERN;
use crate::harness::{Client, Era, Local, Reply, Wire, soon};

#[tokio::test]
async fn a_session_is_nothing_to_others() {
    let asking = Asking::new(&["ada admin", "bob admin"], &[]).await;
    let ada = Wire::with_token(asking.client(), Era::Legacy, "ada").await;
    let session = ada.session.clone().unwrap();
    let body = Era::Legacy.request(&json!(1), "tools/list", json!({}));
    for (token, known) in [("Bearer bob", false), ("Bearer ada", true)] {
        let headers = [
            ("authorization", token),
            ("accept", "application/json, text/event-stream"),
            ("mcp-session-id", session.as_str()),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        for (method, body, good) in
            [("POST", &body, 200), ("GET", &Value::Null, 200), ("DELETE", &Value::Null, 204)]
        {
            let reply = asking.client().open_with(method, "/mcp", &headers, body).await;
            let status = reply.status().as_u16();
            assert_eq!(status, if known { good } else { 404 }, "{token} {method}");
        }
    }
}

/// The call that deletes a universe, with the answer to its question if there is one.
async fn delete(client: Client, token: &str, id: &str, state: Option<&Value>) -> Reply {
    let shown = format!("Bearer {token}");
    let headers = [
        ("authorization", shown.as_str()),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "delete_universe"),
    ];
    let params = json!({"name": "delete_universe", "arguments": {"universeId": id}});
    let mut request = Era::Modern.request(&json!(1), "tools/call", params);
    let meta = &mut request["params"]["_meta"];
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {"form": {}}});
    if let Some(state) = state {
        request["params"]["requestState"] = state.clone();
        request["params"]["inputResponses"] =
            json!({"delete": {"action": "accept", "content": {"delete": true}}});
    }
    client.call("POST", "/mcp", &headers, &request).await
}

#[tokio::test]
async fn what_one_caller_was_asked_another_cannot_answer() {
    let asking = Asking::new(&["ada admin", "bob admin"], &[]).await;
    let client = asking.client();
    let question = delete(client, "ada", "sol", None).await.json();
    let state = &question["result"]["requestState"];
    assert!(state.is_string(), "{question}");
    let stolen = delete(client, "bob", "sol", Some(state)).await.json();
    assert!(stolen["error"].is_object(), "{stolen}");
    assert_eq!(asking.get("root", "/universes/sol").await.status, 200);
    let done = delete(client, "ada", "sol", Some(state)).await.json();
    assert_eq!(done["result"]["structuredContent"]["deleted"], "sol", "{done}");
}

#[tokio::test]
async fn a_share_is_of_a_caller_and_not_of_an_address() {
    let mut budget = BudgetConfig::default();
    budget.listeners = Bound { total: 9, share: 2 };
    let server = Local::asking(&tokens(&["ada write", "bob write"]), budget).await;
    let client = server.client;
    let ada = [("authorization", "Bearer ada")];
    let bob = [("authorization", "Bearer bob")];
    let made = client.call("POST", "/universes", &ada, &json!({"name": "u", "state": {}})).await;
    let path = format!("/universes/{}/events", made.json()["id"].as_str().unwrap());
    let first = client.open("GET", &path, &ada).await;
    let _second = client.open("GET", &path, &ada).await;
    assert_eq!(client.call("GET", &path, &ada, &Value::Null).await.status, 429);
    // REST and MCP have one account.
    let listening = {
        let mut headers = ada.to_vec();
        headers.extend([
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", MODERN),
            ("mcp-method", "subscriptions/listen"),
        ]);
        let params = json!({"notifications": {"resourcesListChanged": true}});
        let body = Era::Modern.request(&json!(1), "subscriptions/listen", params);
        client.call("POST", "/mcp", &headers, &body).await
    };
    assert_eq!(listening.status, 429, "{listening:?}");
    assert_eq!(client.open("GET", &path, &bob).await.status(), 200);
    drop(first);
    soon(async {
        while client.open("GET", &path, &ada).await.status() != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
