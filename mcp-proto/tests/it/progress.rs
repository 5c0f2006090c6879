//! Progress: numbers that only grow, on the stream of the request that asked for them, until its answer.

use std::sync::Arc;

use mcp_proto::{
    CallToolResult, Context, Era, GetPromptResult, Prompt, ProtocolVersion, Resource,
    ResourceContents, Server, StreamableHttpService, Tool,
};
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use crate::common::{PATIENCE, Raw, every_client, messages, open_session};

fn tool(name: &str) -> Tool {
    Tool::new(name, "").with_input_schema(json!({"type": "object"}))
}

async fn report(context: &Context) {
    for (progress, total, message) in [
        (0.0, Some(2.5), None),
        (0.0, None, Some("again")),
        (0.25, Some(2.5), Some("a quarter")),
        (0.2, None, Some("back")),
        (f64::NAN, None, Some("nothing")),
        (f64::INFINITY, None, Some("everything")),
        (1.5, Some(f64::NAN), None),
        (2.5, None, Some("done")),
    ] {
        context.progress(progress, total, message).await;
    }
}

/// Lets the late report come; tells that it came.
#[derive(Clone, Default)]
struct Late {
    go: Arc<Notify>,
    came: Arc<Notify>,
}

fn server(late: &Late) -> Server {
    Server::builder("s", "1", late.clone())
        .raw_tool(tool("report"), async |_, _: Map<String, Value>, context| {
            report(&context).await;
            Ok(CallToolResult::text(""))
        })
        .raw_tool(tool("tasks"), async |_, _: Map<String, Value>, context: Context| {
            let tasks = (1..=50_u32).map(|number| {
                let context = context.clone();
                tokio::spawn(async move { context.progress(f64::from(number), None, None).await })
            });
            let tasks: Vec<_> = tasks.collect();
            for task in tasks {
                task.await.unwrap();
            }
            Ok(CallToolResult::text(""))
        })
        .raw_tool(tool("late"), async |late: Late, _: Map<String, Value>, context: Context| {
            tokio::spawn(async move {
                late.go.notified().await;
                context.progress(1.0, None, None).await;
                late.came.notify_one();
            });
            Ok(CallToolResult::text(""))
        })
        .resource(Resource::new("x:1", "one"), async |_, context| {
            report(&context).await;
            Ok(ResourceContents::text("x:1", ""))
        })
        .raw_prompt(Prompt::new("p", ""), async |_, _, context| {
            report(&context).await;
            Ok(GetPromptResult::text(""))
        })
        .build()
        .unwrap()
}

/// The params of what is sent before the answer.
async fn progress_params(client: &Client, method: &str, params: Value) -> Vec<Value> {
    let mut receiver = client.notifications();
    client.request(method, params).await.unwrap();
    let mut reports = Vec::new();
    while let Ok(said) = receiver.try_recv() {
        assert_eq!(said.method, "notifications/progress");
        reports.push(Value::Object(said.params));
    }
    reports
}

#[tokio::test]
async fn reports_grow_may_be_fractions_and_come_with_the_token_as_it_was() {
    let (clients, _served) = every_client(&server(&Late::default())).await;
    for (how, client) in &clients {
        for token in [json!("p"), json!(""), json!(7), json!(-1), json!(u64::MAX)] {
            for (method, mut params) in [
                ("tools/call", json!({"name": "report"})),
                ("resources/read", json!({"uri": "x:1"})),
                ("prompts/get", json!({"name": "p"})),
            ] {
                params["_meta"] = json!({ "progressToken": token });
                assert_eq!(
                    progress_params(client, method, params).await,
                    [
                        json!({"progressToken": token, "progress": 0.0, "total": 2.5}),
                        json!({"progressToken": token, "progress": 0.25, "total": 2.5, "message": "a quarter"}),
                        json!({"progressToken": token, "progress": 1.5}),
                        json!({"progressToken": token, "progress": 2.5, "message": "done"}),
                    ],
                    "{how} {method}"
                );
            }
        }
        for token in [Value::Null, json!(1.5), json!(true), json!(["p"]), json!({})] {
            let params = json!({"name": "report", "_meta": { "progressToken": token }});
            let reports = progress_params(client, "tools/call", params).await;
            assert!(reports.is_empty(), "{how} {token}: {reports:?}");
        }
    }
}

#[tokio::test]
async fn a_token_that_is_too_long_counts_as_none() {
    let (clients, _served) = every_client(&server(&Late::default())).await;
    for (how, client) in &clients {
        for (length, reports) in [(1_024, 4), (1_025, 0), (1 << 20, 0)] {
            let params = json!({
                "name": "report",
                "_meta": { "progressToken": "x".repeat(length) },
            });
            let sent = progress_params(client, "tools/call", params).await;
            assert_eq!(sent.len(), reports, "{how} {length}");
        }
    }
}

#[tokio::test]
async fn the_first_revision_has_no_messages_of_progress() {
    for (version, has_message) in
        [(ProtocolVersion::V2024_11_05, false), (ProtocolVersion::V2025_03_26, true)]
    {
        let mut config = ClientConfig::new(Era::Legacy);
        config.version = Some(version);
        let client = Client::memory(server(&Late::default()), config).await.unwrap();
        let params = json!({"name": "report", "_meta": {"progressToken": "p"}});
        let reports = progress_params(&client, "tools/call", params).await;
        assert_eq!(reports.len(), 4);
        let with_message = reports.iter().any(|report| report.get("message").is_some());
        assert_eq!(with_message, has_message, "{version:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reports_of_several_tasks_grow_as_they_are_sent() {
    let service = StreamableHttpService::new(server(&Late::default()));
    for _ in 0..50 {
        let params = json!({"name": "tasks", "_meta": {"progressToken": "p"}});
        let reply = Raw::modern("tools/call", params).send(&service).await;
        let mut events = reply.events();
        events.pop();
        let numbers: Vec<_> =
            events.iter().map(|event| event["params"]["progress"].as_f64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|one, two| one < two), "{numbers:?}");
        // The greatest is never left out.
        assert_eq!(numbers.last(), Some(&50.0));
    }
}

#[tokio::test]
async fn nothing_is_reported_after_the_answer() {
    let late = Late::default();
    let service = StreamableHttpService::new(server(&late));
    let session = open_session(&service).await;
    let params = || json!({"name": "late", "_meta": {"progressToken": "p"}});
    for raw in [
        Raw::modern("tools/call", params()),
        Raw::legacy(&session, "tools/call", &params()),
        Raw::modern("tools/call", params()).set("accept", "text/event-stream"),
    ] {
        let reply = raw.send(&service).await;
        // The report comes now, and there is no one to take it: it neither waits nor is told.
        late.go.notify_one();
        tokio::time::timeout(PATIENCE, late.came.notified())
            .await
            .expect("a report after the answer waits for nobody");
        let text = String::from_utf8(reply.body.to_vec()).unwrap();
        assert!(!text.contains("notifications/progress"), "{text}");
    }
}

#[tokio::test]
async fn reports_go_on_the_stream_of_their_request() {
    let service = StreamableHttpService::new(server(&Late::default()));
    let call = |token: &str| {
        let params = json!({"name": "report", "_meta": {"progressToken": token}});
        Raw::modern_id(token, "tools/call", params)
    };
    let (one, two, none) = tokio::join!(
        call("one").send(&service),
        call("two").send(&service),
        Raw::modern("tools/call", json!({"name": "report"})).send(&service)
    );
    for (reply, token) in [(one, "one"), (two, "two")] {
        let mut events = messages(&reply.body);
        assert_eq!(events.pop().unwrap()["id"], token);
        assert_eq!(events.len(), 4);
        assert!(events.iter().all(|event| event["params"]["progressToken"] == token));
    }
    assert!(none.json()["result"].is_object());
}
