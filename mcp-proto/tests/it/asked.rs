//! Questions to a legacy client whose connection is lost: asked in its stream, answered whenever it is back.

use std::sync::Arc;

use mcp_proto::{
    CallToolResult, Context, ElicitForm, Field, Server, StreamableHttpService, Tool, ToolError,
};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::common::{Raw, request};
use crate::events::{get, open};
use crate::resume::arguments;

/// Says something, waits, asks for a name, and greets.
fn server() -> (Server, Arc<Notify>) {
    let go = Arc::new(Notify::new());
    let tool = Tool::new("greet", "").asking().with_input_schema(json!({"type": "object"}));
    let server = Server::builder("asking", "1", go.clone()).raw_tool(tool, greet).build().unwrap();
    (server, go)
}

async fn greet(
    go: Arc<Notify>,
    arguments: Map<String, Value>,
    context: Context,
) -> Result<CallToolResult, ToolError> {
    // Before the question: in every round.
    if arguments.contains_key("wait") {
        context.progress(1.0, None, Some("wait")).await;
        go.notified().await;
    }
    if arguments.contains_key("roots") {
        let roots = context.list_roots("roots")?;
        return Ok(CallToolResult::text(format!("{} roots", roots.len())));
    }
    let form = ElicitForm::new("Who are you?").field("name", Field::text());
    let answer = context.elicit("name", &form)?;
    let name = answer.text("name").unwrap_or("nobody");
    Ok(CallToolResult::text(format!("Hello, {name}!")))
}

async fn session(service: &StreamableHttpService, version: &str) -> String {
    let params = json!({
        "protocolVersion": version,
        "capabilities": { "elicitation": {}, "roots": {} },
        "clientInfo": { "name": "test", "version": "0" },
    });
    let raw = Raw::post(request(7, "initialize", &params).to_string());
    let reply = raw.send(service).await;
    reply.header("mcp-session-id").unwrap().to_owned()
}

fn greet_after(session: &str, wait: bool) -> Raw {
    let given = if wait { json!({"wait": true}) } else { json!({}) };
    Raw::legacy(session, "tools/call", &arguments("greet", &given))
}

fn answer(session: &str, question: &Value, name: &str) -> Raw {
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let result = json!({"action": "accept", "content": {"name": name}});
    let body = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    Raw::post(body.to_string()).set("mcp-session-id", session)
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_question_to_a_client_that_is_away_waits_for_it() {
    for version in ["2025-06-18", "2025-11-25"] {
        let (server, go) = server();
        let service = StreamableHttpService::new(server);
        let session = session(&service, version).await;
        let mut stream = open(&service, greet_after(&session, true)).await;
        assert_eq!(stream.next_text().await, "wait");
        let last = stream.last.clone();
        drop(stream);
        go.notify_one();
        let mut stream = open(&service, get(&session, Some(&last))).await;
        let question = stream.message().await.unwrap();
        let last = stream.last.clone();
        // Away again; the answer is posted nevertheless.
        drop(stream);
        let reply = answer(&session, &question, "Ada").send(&service).await;
        assert_eq!(reply.status, 202);
        // The next round, in which progress that was told is not told again.
        go.notify_one();
        let mut stream = open(&service, get(&session, Some(&last))).await;
        let rest = stream.rest().await;
        assert_eq!((rest.len(), text(&rest[0])), (1, "Hello, Ada!"), "{version}");
        // Too late, or twice: it may be nobody's fault.
        let reply = answer(&session, &question, "Bob").send(&service).await;
        assert_eq!(reply.status, 202);
    }
}

#[tokio::test]
async fn an_answer_in_another_session_is_none() {
    let (server, _go) = server();
    let service = StreamableHttpService::new(server);
    let (own, other) =
        (session(&service, "2025-11-25").await, session(&service, "2025-11-25").await);
    let mut stream = open(&service, greet_after(&own, false)).await;
    let question = stream.message().await.unwrap();
    assert_eq!(answer(&other, &question, "Eve").send(&service).await.status, 202);
    assert_eq!(answer(&own, &question, "Ada").send(&service).await.status, 202);
    assert_eq!(text(&stream.rest().await[0]), "Hello, Ada!");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_asked_is_answered_at_once() {
    let (server, _go) = server();
    let service = StreamableHttpService::new(server);
    let session = session(&service, "2025-11-25").await;
    let start = Instant::now();
    let raw = greet_after(&session, false).set("accept", "application/json");
    let reply = raw.send(&service).await;
    assert_eq!(reply.status, 200);
    let answer = reply.json();
    assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer}");
    assert_eq!(start.elapsed().as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_went_away_before_it_heard_anything_is_not_waited_for() {
    let (server, go) = server();
    let service = StreamableHttpService::new(server);
    let session = session(&service, "2025-11-25").await;
    let params = json!({"name": "greet", "arguments": {"wait": true}});
    let raw = Raw::legacy(&session, "tools/call", &params);
    // Without a progress token it says nothing, so the client has no id to come back with.
    let soon = std::time::Duration::from_secs(1);
    let waiting = tokio::time::timeout(soon, service.handle(raw.request()));
    assert!(waiting.await.is_err());
    let start = Instant::now();
    go.notify_one();
    service.ended().await;
    assert_eq!(start.elapsed().as_secs(), 0);
}

#[tokio::test]
async fn the_calls_of_a_batch_ask_on_its_stream() {
    let (server, _go) = server();
    let service = StreamableHttpService::new(server);
    let session = session(&service, "2025-03-26").await;
    let ask = |id: i64| request(id, "tools/call", &arguments("greet", &json!({"roots": true})));
    let batch = json!([ask(1), ask(2), request(3, "ping", &json!({}))]);
    let raw = Raw::post(batch.to_string()).set("mcp-session-id", &session);
    let mut stream = open(&service, raw).await;
    let mut answers = Vec::new();
    for _ in 0..3 {
        let message = stream.message().await.unwrap();
        if message["method"] != "roots/list" {
            answers.push(message);
            continue;
        }
        let roots = json!({"roots": [{"uri": "file:///a"}]});
        let body = json!([{"jsonrpc": "2.0", "id": message["id"], "result": roots}]);
        let answer = Raw::post(body.to_string()).set("mcp-session-id", &session);
        assert_eq!(answer.send(&service).await.status, 202);
    }
    answers.extend(stream.rest().await);
    answers.sort_by_key(|answer| answer["id"].as_i64());
    assert_eq!(answers.len(), 3);
    assert_eq!((text(&answers[0]), text(&answers[1])), ("1 roots", "1 roots"));
    assert_eq!(answers[2]["result"], json!({}));
}
