//! Layers around calls: functions and services of tower, over HTTP and stdio in both eras.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};

use futures_util::future::BoxFuture;
use mcp_proto::scopes::Guarded;
use mcp_proto::service::{Call, Next, Outcome, from_fn};
use mcp_proto::stdio::StdioConfig;
use mcp_proto::{
    CallToolResult, Context, GetPromptResult, Prompt, RequestError, Resource, ResourceContents,
    Server, ServerBuilder, StreamableHttpService, Tool, ToolError, Update,
};
use serde_json::{Map, Value, json};
use tower_layer::Layer;
use tower_service::Service;

use crate::common::{Raw, builder, call, every_client, probe, refused, request, with_meta};
use crate::peer::Peer;

type Lines = Arc<Mutex<Vec<String>>>;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "number": { "type": "integer" } },
        "additionalProperties": false,
    })
}

fn offering() -> ServerBuilder<()> {
    let tool = |name: &str| Tool::new(name, "").with_input_schema(schema());
    Server::builder("s", "1", ())
        .raw_tool(tool("good"), async |(), given: Map<_, _>, _| {
            Ok(CallToolResult::text(Value::from(given).to_string()))
        })
        .raw_tool(tool("bad"), async |(), _, _| {
            Err::<(), _>(ToolError::new("NO_PAPER", "fill in paper"))
        })
        .raw_prompt(Prompt::new("ask", ""), async |(), _, _: Context| {
            Ok::<_, RequestError>(GetPromptResult::text("ask"))
        })
        .resource(Resource::new("memo://one", "one"), async |(), _: Context| {
            Ok(ResourceContents::text("memo://one", "1"))
        })
}

/// Writes a line about each call.
fn audit(lines: &Lines) -> impl Fn(Call, Next) -> BoxFuture<'static, Outcome> + use<> {
    let lines = Arc::clone(lines);
    move |call, next| {
        let lines = Arc::clone(&lines);
        Box::pin(async move {
            let who = call.context.client_info.as_ref().map(|client| client.name.clone());
            let name = call.name.clone().unwrap_or_default();
            let what = format!("{} {name} {}", call.method, call.context.session().is_some());
            assert!(who.is_some());
            let outcome = next.run(call).await;
            let ended = outcome.error_text().unwrap_or_else(|| "done".to_owned());
            assert_eq!(outcome.is_failure(), ended != "done");
            lines.lock().unwrap().push(format!("{what}: {ended}"));
            outcome
        })
    }
}

#[tokio::test]
async fn a_layer_sees_calls_and_their_outcomes() {
    let lines = Lines::default();
    let server = offering().layer(from_fn(audit(&lines))).build().unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        lines.lock().unwrap().clear();
        let (good, bad) = (json!({ "name": "good" }), json!({ "name": "bad" }));
        client.request("tools/call", good).await.unwrap();
        assert_eq!(client.request("tools/call", bad).await.unwrap()["isError"], true);
        client.request("tools/call", json!({ "name": "none" })).await.unwrap_err();
        client.request("prompts/get", json!({ "name": "ask" })).await.unwrap();
        client.request("resources/read", json!({ "uri": "memo://one" })).await.unwrap();
        client.request("tools/list", json!({})).await.unwrap();
        let older = name.ends_with("Legacy");
        let expected = [
            ("tools/call good", "done"),
            ("tools/call bad", "fill in paper"),
            ("tools/call none", "unknown tool \"none\""),
            ("prompts/get ask", "done"),
            ("resources/read memo://one", "done"),
            ("tools/list ", "done"),
        ];
        let expected = expected.map(|(what, ended)| format!("{what} {older}: {ended}"));
        assert_eq!(*lines.lock().unwrap(), expected, "{name}");
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn a_layer_changes_arguments_before_they_are_judged() {
    let numbers = from_fn(async |mut call: Call, next: Next| {
        if let Some(Value::String(text)) =
            call.arguments.as_mut().and_then(|given| given.get_mut("number"))
            && let Ok(number) = text.parse::<i64>()
        {
            call.arguments = Some(json!({ "number": number }));
        }
        next.run(call).await
    });
    let server = offering().layer(numbers).build().unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        for (given, taken) in [("50", Some("{\"number\":50}")), ("x", None)] {
            let params = json!({ "name": "good", "arguments": { "number": given } });
            let result = client.request("tools/call", params).await.unwrap();
            assert_eq!(result["isError"] == true, taken.is_none(), "{name}: {result}");
            if let Some(taken) = taken {
                assert_eq!(result["content"][0]["text"], taken, "{name}");
            }
        }
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn a_layer_on_one_item_answers_by_itself() {
    let closed = || {
        from_fn(async |call: Call, _: Next| {
            assert_eq!(
                call.tool().map(|tool| tool.name.clone()),
                match &*call.method {
                    "tools/call" => call.name.clone(),
                    _ => None,
                }
            );
            call.fail(ToolError::new("CLOSED", "come back tomorrow"))
        })
    };
    let server = offering()
        .layer_on(Guarded::Tool("good".into()), closed())
        .layer_on(Guarded::Prompt("ask".into()), closed())
        .layer_on(Guarded::Resources("memo://".into()), closed())
        .layer_on(Guarded::Method("tools/list".into()), closed())
        .build()
        .unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let good = client.request("tools/call", json!({ "name": "good" })).await.unwrap();
        assert_eq!(good["isError"], true, "{name}");
        let body: Value =
            serde_json::from_str(good["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(body["error"]["code"], "CLOSED", "{name}");
        let bad = client.request("tools/call", json!({ "name": "bad" })).await.unwrap();
        assert!(bad.to_string().contains("NO_PAPER"), "{name}");
        for (method, params) in [
            ("prompts/get", json!({ "name": "ask" })),
            ("resources/read", json!({ "uri": "memo://one" })),
            ("tools/list", json!({})),
        ] {
            let error = client.request(method, params).await.unwrap_err().to_string();
            assert!(error.contains("come back tomorrow"), "{name}: {error}");
        }
        client.request("prompts/list", json!({})).await.unwrap();
    }
    drop(clients);
    served.ended().await;
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A service of tower, as its users write them. It is ready at the second look, and fails for one tool.
#[derive(Clone)]
struct Picky<S> {
    inner: S,
    looked: bool,
}

struct PickyLayer;

impl<S> Layer<S> for PickyLayer {
    type Service = Picky<S>;

    fn layer(&self, inner: S) -> Picky<S> {
        Picky { inner, looked: false }
    }
}

impl<S> Service<Call> for Picky<S>
where
    S: Service<Call, Response = Outcome, Future: Send + 'static, Error: Into<BoxError>>,
{
    type Response = Outcome;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Outcome, BoxError>>;

    fn poll_ready(&mut self, context: &mut TaskContext<'_>) -> Poll<Result<(), BoxError>> {
        if self.looked {
            return Poll::Ready(Ok(()));
        }
        self.looked = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, call: Call) -> Self::Future {
        assert!(self.looked);
        if call.name.as_deref() == Some("bad") {
            return Box::pin(async { Err("a secret".into()) });
        }
        let answered = self.inner.call(call);
        Box::pin(async move { answered.await.map_err(Into::into) })
    }
}

#[tokio::test]
async fn a_service_of_tower_is_a_layer_and_its_error_is_not_sent() {
    let server = offering().layer(PickyLayer).build().unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let good = client.request("tools/call", json!({ "name": "good" })).await.unwrap();
        assert_eq!(good["content"][0]["text"], "{}", "{name}");
        let error = refused(client.request("tools/call", json!({ "name": "bad" })).await);
        assert_eq!(error.code, -32603, "{name}");
        assert!(!error.message.contains("secret"), "{name}: {error:?}");
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn a_layer_repeats_a_call() {
    let count = Arc::new(AtomicUsize::new(0));
    let tool = Tool::new("flaky", "").with_input_schema(schema());
    let server = Server::builder("s", "1", Arc::clone(&count))
        .raw_tool(tool, async |count: Arc<AtomicUsize>, _, _| {
            match count.fetch_add(1, Ordering::SeqCst) % 2 {
                0 => Err(ToolError::new("BUSY", "try again")),
                _ => Ok(CallToolResult::text("done")),
            }
        })
        .layer(from_fn(async |call: Call, next: Next| {
            let outcome = next.run(call.clone()).await;
            if outcome.is_failure() { next.run(call).await } else { outcome }
        }))
        .build()
        .unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let result = client.request("tools/call", json!({ "name": "flaky" })).await.unwrap();
        assert_eq!(result["content"][0]["text"], "done", "{name}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 2 * clients.len());
    drop(clients);
    served.ended().await;
}

/// What a layer answers by itself is adapted to the connection as what a handler answers.
#[tokio::test]
async fn a_layer_answers_from_memory() {
    let remembers = || {
        from_fn(async |call: Call, next: Next| match call.name.as_deref() {
            Some("good") => call.answer(&CallToolResult::text("remembered")),
            Some("bad") => call.answer(&CallToolResult::text("x".repeat(100_000))),
            _ => next.run(call).await,
        })
    };
    let server = offering().layer(remembers()).build().unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let result = client.request("tools/call", json!({ "name": "good" })).await.unwrap();
        assert_eq!(result["content"][0]["text"], "remembered", "{name}");
    }
    drop(clients);
    served.ended().await;
    let mut config = StdioConfig::default();
    config.max_answer_bytes = 20_000;
    let mut peer = Peer::with(offering().layer(remembers()).build().unwrap(), config);
    peer.send(&request(1, "tools/call", &with_meta(json!({ "name": "bad" })))).await;
    let answer = peer.next().await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer.to_string().contains("ANSWER_TOO_LARGE"), "{answer}");
    peer.end().await;
}

#[tokio::test]
async fn a_call_within_layers_ends_with_its_client() {
    let (probe, mut events) = probe();
    let server = builder(&probe).layer(from_fn(|call: Call, next: Next| next.run(call)));
    let service = StreamableHttpService::new(server.build().unwrap());
    let hanging = service.handle(Raw::modern("tools/call", call("hang")).request());
    tokio::select! {
        _ = hanging => panic!("it never answers"),
        () = events.expect("started") => {}
    }
    events.expect("dropped").await;
}

#[tokio::test]
async fn a_layer_that_panics_harms_one_call() {
    let panics = from_fn(async |call: Call, next: Next| {
        assert_ne!(call.name.as_deref(), Some("bad"), "a layer");
        next.run(call).await
    });
    let server = offering().layer(panics).build().unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let error = refused(client.request("tools/call", json!({ "name": "bad" })).await);
        assert_eq!(error.code, -32603, "{name}");
        client.request("tools/call", json!({ "name": "good" })).await.unwrap();
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn the_last_layer_is_the_outermost_and_a_running_server_gets_more() {
    let lines = Lines::default();
    let named = |name: &'static str| {
        let lines = Arc::clone(&lines);
        from_fn(move |call: Call, next: Next| {
            lines.lock().unwrap().push(name.to_owned());
            next.run(call)
        })
    };
    let server = offering().layer(named("inner")).layer(named("outer")).build().unwrap();
    let (clients, served) = every_client(&server).await;
    server.layer(&named("later"));
    server.update(Update::new(()).layer(named("last"))).unwrap();
    for (name, client) in &clients {
        lines.lock().unwrap().clear();
        client.request("tools/call", json!({ "name": "good" })).await.unwrap();
        assert_eq!(*lines.lock().unwrap(), ["last", "later", "outer", "inner"], "{name}");
    }
    drop(clients);
    served.ended().await;
}
