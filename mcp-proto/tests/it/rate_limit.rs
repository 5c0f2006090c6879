//! The layer that limits how often each caller calls.

use std::time::Duration;

use mcp_proto::jsonrpc::Request;
use mcp_proto::scopes::Guarded;
use mcp_proto::{
    Context, GetPromptResult, Prompt, RequestError, Resource, Server, ServerBuilder, Tool, layers,
};
use serde_json::{Value, json};

use crate::common::{every_client, refused};

const HOUR: Duration = Duration::from_secs(3600);

fn offering() -> ServerBuilder<()> {
    let tool = |name: &str| Tool::new(name, "");
    Server::builder("s", "1", ())
        .tool(tool("print"), async || "printed")
        .tool(tool("look"), async || "seen")
        .raw_prompt(Prompt::new("ask", ""), async |(), _, _: Context| {
            Ok::<_, RequestError>(GetPromptResult::text("ask"))
        })
        .resource(Resource::new("memo://one", "one"), async || "1")
}

#[tokio::test]
async fn a_call_above_the_limit_says_when_to_try_again() {
    for index in 0..4 {
        let server = offering().layer(layers::rate_limit(3, HOUR)).build().unwrap();
        let (clients, served) = every_client(&server).await;
        let (name, client) = &clients[index];
        let print = || client.request("tools/call", json!({ "name": "print" }));
        print().await.unwrap();
        client.request("prompts/get", json!({ "name": "ask" })).await.unwrap();
        client.request("resources/read", json!({ "uri": "memo://one" })).await.unwrap();
        let over = print().await.unwrap();
        assert_eq!(over["isError"], true, "{name}: {over}");
        let text = over["content"][0]["text"].as_str().unwrap();
        let error = serde_json::from_str::<Value>(text).unwrap()["error"].clone();
        assert_eq!(error["code"], "RATE_LIMIT");
        let seconds = error["data"]["retryAfterSeconds"].as_u64().unwrap();
        assert!((1100..=1200).contains(&seconds), "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&format!("try again in {seconds} s")), "{message}");
        let over = client.request("prompts/get", json!({ "name": "ask" })).await;
        let over = refused(over);
        // It is not about the params.
        assert_eq!(over.code, -32603, "{name}");
        assert_eq!(over.data.unwrap()["code"], "RATE_LIMIT");
        client.request("tools/list", json!({})).await.unwrap();
        drop(clients);
        served.ended().await;
    }
}

async fn is_done(server: &Server, tool: &str, caller: &str) -> bool {
    let call = Request::new(1, "tools/call", json!({ "name": tool }));
    let answer = server.handle(call, Context::test().with_principal(caller)).await;
    answer.outcome.unwrap().to_value()["isError"] != true
}

#[tokio::test(start_paused = true)]
async fn each_caller_has_calls_again_as_time_goes_on() {
    let server = offering().layer(layers::rate_limit(2, HOUR)).build().unwrap();
    let print = async |caller| is_done(&server, "print", caller).await;
    assert!(print("ann").await && print("ann").await && !print("ann").await);
    assert!(print("bob").await);
    // What is refused costs nothing.
    tokio::time::advance(HOUR / 2).await;
    assert!(print("ann").await && !print("ann").await);
    // No more than two are saved.
    tokio::time::advance(HOUR * 10).await;
    assert!(print("ann").await && print("ann").await && !print("ann").await);
}

#[tokio::test]
async fn one_tool_has_a_limit_of_its_own() {
    let print = Guarded::Tool("print".to_owned());
    let server = offering().layer_on(print, layers::rate_limit(1, HOUR)).build().unwrap();
    assert!(is_done(&server, "print", "ann").await && !is_done(&server, "print", "ann").await);
    for _ in 0..3 {
        assert!(is_done(&server, "look", "ann").await);
    }
}

#[tokio::test]
async fn of_too_many_callers_those_with_calls_left_are_forgotten() {
    let server = offering().layer(layers::rate_limit(2, HOUR)).build().unwrap();
    for _ in 0..3 {
        is_done(&server, "print", "ann").await;
    }
    for number in 0..10_000 {
        assert!(is_done(&server, "print", &number.to_string()).await);
    }
    assert!(!is_done(&server, "print", "ann").await);
    // Many of the others had to go at once, so that the next new callers do not search for one each.
    for caller in ["0", "1200"] {
        for expected in [true, true, false] {
            assert_eq!(is_done(&server, "print", caller).await, expected, "{caller}");
        }
    }
    assert!(is_done(&server, "print", "9000").await && !is_done(&server, "print", "9000").await);
}
