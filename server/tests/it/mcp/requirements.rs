//! The transport of MCP beside what the transcripts of its requirements show (MCP-17 to MCP-25).

use serde_json::{Value, json};

use crate::harness::wire::initialize;
use crate::harness::{Era, Local, Mcp, tick};

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

#[tokio::test]
async fn initialize_says_whose_server_it_is_and_what_for() {
    let server = Local::start().await;
    let reply = server.client.call("POST", "/mcp", &[ACCEPT], &initialize()).await;
    let result = &reply.json()["result"];
    assert_eq!(result["serverInfo"]["name"], "universe-server");
    let instructions = result["instructions"].as_str().unwrap();
    assert!(instructions.contains("send_universe_command"), "{instructions}");
}

#[tokio::test]
async fn without_a_session_there_is_an_answer_that_says_so() {
    let server = Local::start().await;
    let list = Era::Legacy.request(&json!(1), "tools/list", json!({}));
    for (method, body) in [("POST", list), ("GET", Value::Null), ("DELETE", Value::Null)] {
        let reply = server.client.call(method, "/mcp", &[ACCEPT], &body).await;
        assert_eq!(reply.status, 400, "{method}");
        assert!(
            reply.json()["error"]["message"].as_str().unwrap().contains("initialize"),
            "{reply:?}"
        );
    }
    let reply = server.client.call("PUT", "/mcp", &[ACCEPT], &json!({})).await;
    assert_eq!((reply.status, reply.header("allow")), (405, "POST, GET, DELETE, OPTIONS"));
}

#[tokio::test]
async fn mcp_takes_bodies_up_to_the_servers_limit() {
    let server = Local::start().await;
    let mut connection = server.client.connect().await;
    let mut body = initialize();
    // Unknown members are passed over; what is kept of a client is bounded much lower.
    body["params"]["filler"] = json!("");
    let bare = body.to_string().len();
    for (bytes, status) in [(10 * 1024 * 1024, 200), (10 * 1024 * 1024 + 1, 413)] {
        body["params"]["filler"] = json!("x".repeat(bytes - bare));
        assert_eq!(body.to_string().len(), bytes);
        let reply = connection.call("POST", "/mcp", &[ACCEPT], &body).await;
        assert_eq!(reply.status, status);
    }
}

#[tokio::test]
async fn broken_and_deep_bodies_are_answered_and_do_no_harm() {
    let server = Local::start().await;
    let client = server.client;
    let mcp = Mcp::new(client, Era::Legacy).await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    for body in ["", "{", "nonsense", &deep] {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = client.raw(request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("-32700"), "{answer}");
    }
    let id = client.create("u", json!({})).await;
    assert_eq!(mcp.command(&id, &tick()).await["nextState"]["time"], 1.0);
}
