//! Transport, sessions and coexistence as the requirements' scenarios tell them (MCP-17 to MCP-25).

use serde_json::{Value, json};

use crate::harness::wire::{initialize, open_session};
use crate::harness::{Era, Feed, Local, Mcp, Wire, tick};

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

#[tokio::test]
async fn a_session_is_opened_used_and_ended() {
    let server = Local::start().await;
    let client = server.client;
    let reply = client.call("POST", "/mcp", &[ACCEPT], &initialize()).await;
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.json()["result"]["serverInfo"]["name"],
        "universe-server"
    );
    assert!(
        reply.json()["result"]["instructions"]
            .as_str()
            .unwrap()
            .contains("send_universe_command")
    );
    let session = reply.header("mcp-session-id").to_owned();
    assert!(!session.is_empty());
    let other = open_session(&mut client.connect().await).await;
    assert_ne!(session, other);

    let header = [ACCEPT, ("mcp-session-id", session.as_str())];
    let list = Era::Legacy.request(&json!("a"), "tools/list", json!({}));
    let reply = client.call("POST", "/mcp", &header, &list).await;
    assert_eq!((reply.status, &reply.json()["id"]), (200, &json!("a")));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let reply = client.call("POST", "/mcp", &header, &initialized).await;
    assert_eq!((reply.status, reply.body.len()), (202, 0));

    let stream = client.open("GET", "/mcp", &header).await;
    assert_eq!(stream.status(), 200);
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut stream = Feed::new(stream.into_body());
    let deleted = client.call("DELETE", "/mcp", &header, &Value::Null).await;
    assert!(deleted.status < 300, "{deleted:?}");
    while stream.block().await.is_some() {}
    for method in ["POST", "GET", "DELETE"] {
        let body = if method == "POST" {
            list.clone()
        } else {
            Value::Null
        };
        let reply = client.call(method, "/mcp", &header, &body).await;
        assert_eq!(reply.status, 404, "{method}");
        assert!(reply.json()["error"]["message"].is_string(), "{reply:?}");
    }
    // The other session does not notice.
    let header = [ACCEPT, ("mcp-session-id", other.as_str())];
    assert_eq!(
        client.call("POST", "/mcp", &header, &list).await.status,
        200
    );
}

#[tokio::test]
async fn without_a_session_there_is_an_answer_that_says_so() {
    let server = Local::start().await;
    let list = Era::Legacy.request(&json!(1), "tools/list", json!({}));
    for (method, body) in [
        ("POST", list),
        ("GET", Value::Null),
        ("DELETE", Value::Null),
    ] {
        let reply = server.client.call(method, "/mcp", &[ACCEPT], &body).await;
        assert_eq!(reply.status, 400, "{method}");
        assert!(
            reply.json()["error"]["message"]
                .as_str()
                .unwrap()
                .contains("initialize"),
            "{reply:?}"
        );
    }
    let reply = server
        .client
        .call("PUT", "/mcp", &[ACCEPT], &json!({}))
        .await;
    assert_eq!(
        (reply.status, reply.header("allow")),
        (405, "POST, GET, DELETE, OPTIONS")
    );
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
async fn the_endpoints_beside_mcp_are_as_ever() {
    let server = Local::start().await;
    let client = server.client;
    let mcp = Mcp::new(client, Era::Legacy).await;
    let id = client.create("u", json!({})).await;
    mcp.command(&id, &tick()).await;
    assert_eq!(client.get("/health").await.json()["ok"], true);
    assert_eq!(client.get("/universes").await.json()[0]["id"], json!(id));
    assert_eq!(client.command(&id, &tick()).await["nextState"]["time"], 2.0);
}

#[tokio::test]
async fn the_stream_of_mcp_and_the_feed_of_a_universe_do_not_meet() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let mcp = Mcp::new(client, Era::Legacy).await;
    let session = Wire::new(client, Era::Legacy).await.session.unwrap();
    let headers = [ACCEPT, ("mcp-session-id", session.as_str())];
    let stream = client.open("GET", "/mcp", &headers).await;
    let mut stream = Feed::new(stream.into_body());
    let mut feed = client.feed(&id, None).await;
    mcp.command(&id, &tick()).await;
    client.command(&id, &tick()).await;
    for revision in 1..=2 {
        let event = feed.event().await.unwrap();
        assert_eq!((event.kind.as_str(), event.id), ("command", Some(revision)));
    }
    // Either may go; the other stays.
    let ended = client.call("DELETE", "/mcp", &headers, &Value::Null).await;
    assert!(ended.status < 300);
    assert_eq!(
        stream.event().await,
        None,
        "nothing of the universe was told there"
    );
    client.command(&id, &tick()).await;
    assert_eq!(feed.event().await.unwrap().id, Some(3));
    let session = Wire::new(client, Era::Legacy).await.session.unwrap();
    let headers = [ACCEPT, ("mcp-session-id", session.as_str())];
    let stream = client.open("GET", "/mcp", &headers).await;
    client.delete(&format!("/universes/{id}")).await;
    assert_eq!(feed.event().await.unwrap().kind, "deleted");
    assert!(feed.has_ended().await);
    let second = client.call("GET", "/mcp", &headers, &Value::Null).await;
    assert_eq!(
        second.status, 409,
        "the stream of the session is still open"
    );
    drop(stream);
}

#[tokio::test]
async fn broken_and_deep_bodies_are_answered_and_harm_nobody() {
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
        assert!(
            answer.starts_with("HTTP/1.1 400 ") && answer.contains("-32700"),
            "{answer}"
        );
    }
    let id = client.create("u", json!({})).await;
    assert_eq!(mcp.command(&id, &tick()).await["nextState"]["time"], 1.0);
}
