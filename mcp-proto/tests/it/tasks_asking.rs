//! Tasks of 2025-11-25 that ask: on the stream of which `tasks/result`, and what becomes of a question without an
//! answer.

use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use mcp_proto::{
    CallToolResult, Context, ElicitForm, ElicitUrl, Field, Interrupt, Json, ServerBuilder,
    StreamableHttpService, TaskSupport, TasksConfig, Tool, ToolError,
};
use serde_json::{Value, json};

use crate::common::{Echo, PATIENCE, Probe, messages, probe};
use crate::tasks_common::{Caller, EXTENSION, RELATED, accept, builder, server};

const JSON: http::HeaderValue = http::HeaderValue::from_static("application/json");

#[tokio::test]
async fn questions_come_on_the_stream_of_the_result() {
    let server = server(&probe().0);
    let service = StreamableHttpService::new(server.clone());
    let mut http = Caller::legacy(&service, "2025-11-25", None).await;
    let id = http.start("twice", json!({})).await;
    http.until(&id, "input_required").await;
    let waiting = http.http("tasks/result", &json!({ "taskId": id }));
    let mut stream = Stream::of(service.handle(waiting).await);
    for (word, prompt) in [("a", "Really?"), ("b", "Really?")] {
        let question = stream.next().await;
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], prompt);
        assert_eq!(question["params"]["_meta"][RELATED]["taskId"], id);
        assert!(question["id"].is_string(), "{question}");
        http.reply(&question["id"], &accept(&json!({ "word": word }))).await;
    }
    let result = stream.next().await;
    assert_eq!(result["result"]["content"][0]["text"], "a+b");

    let mut pipe = Caller::legacy_pipe(&server).await;
    let id = pipe.start("both", json!({})).await;
    let waiting = pipe.send("tasks/result", &json!({ "taskId": id })).await;
    for word in ["a", "b"] {
        let question = pipe.peer().next().await;
        assert_eq!(question["params"]["_meta"][RELATED]["taskId"], id);
        let result = accept(&json!({ "word": word }));
        let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        pipe.peer().send(&reply).await;
    }
    let result = pipe.peer().next().await;
    assert_eq!(result["id"], waiting);
    assert_eq!(result["result"]["content"][0]["text"], "a+b");
}

#[tokio::test]
async fn a_client_that_comes_back_is_asked_again() {
    let service = StreamableHttpService::new(server(&probe().0));
    let mut caller = Caller::legacy(&service, "2025-11-25", None).await;
    let id = caller.start("confirm", json!({})).await;
    let open = async |caller: &mut Caller| {
        let waiting = caller.http("tasks/result", &json!({ "taskId": id }));
        Stream::of(service.handle(waiting).await)
    };
    let mut first = open(&mut caller).await;
    let lost = first.next().await;
    assert_eq!(lost["method"], "elicitation/create");
    // The connection breaks; in this era that does not end the request.
    drop(first);
    let mut second = open(&mut caller).await;
    let question = second.next().await;
    assert_eq!(question["method"], "elicitation/create");
    assert_ne!(question["id"], lost["id"]);
    // The newest is asked, and it alone.
    caller.reply(&lost["id"], &accept(&json!({ "word": "lost" }))).await;
    assert_eq!(caller.get(&id).await["status"], "input_required");
    caller.reply(&question["id"], &accept(&json!({ "word": "found" }))).await;
    let result = second.next().await;
    assert_eq!(result["result"]["content"][0]["text"], "found");
    assert_eq!(caller.get(&id).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_not_answered_in_time_fails_the_tool() {
    let server = server(&probe().0);
    let mut caller = Caller::legacy_pipe(&server).await;
    let id = caller.start("confirm", json!({})).await;
    caller.send("tasks/result", &json!({ "taskId": id })).await;
    let question = caller.peer().next().await;
    tokio::time::advance(std::time::Duration::from_secs(301)).await;
    let cancelled = caller.peer().next().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    assert_eq!(cancelled["params"]["_meta"][RELATED]["taskId"], id);
    let result = caller.peer().next().await["result"].clone();
    assert_eq!(result["isError"], true);
    assert!(result.to_string().contains("CLIENT_DID_NOT_ANSWER"), "{result}");
    assert_eq!(caller.get(&id).await["status"], "failed");
}

/// Asks once the gate is open.
fn later(probe: &Probe) -> ServerBuilder<Probe> {
    let tool = Tool::new("later", "Asks later.")
        .asking()
        .with_input_schema(json!({ "type": "object" }))
        .with_task_support(TaskSupport::Optional);
    let asks = async |probe: Probe, _, context: Context| {
        context.start_task()?;
        probe.report("started");
        probe.gate.notified().await;
        let form = ElicitForm::new("Really?").field("word", Field::text().required());
        let answer = context.elicit("confirm", &form)?;
        Ok(CallToolResult::text(answer.text("word").unwrap_or("no")))
    };
    builder(probe, TasksConfig::default()).raw_tool(tool, asks)
}

#[tokio::test]
async fn a_result_whose_client_is_gone_leaves_the_question_to_the_next() {
    let (probe, mut events) = probe();
    let service = StreamableHttpService::new(later(&probe).build().unwrap());
    let mut caller = Caller::legacy(&service, "2025-11-25", None).await;
    let id = caller.start("later", json!({})).await;
    events.expect("started").await;
    let waiting = caller.http("tasks/result", &json!({ "taskId": id }));
    assert!(service.handle(waiting).now_or_never().is_none());
    // The connection broke before there was anything to ask.
    probe.gate.notify_one();
    caller.until(&id, "input_required").await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(caller.get(&id).await["status"], "input_required");
    let waiting = caller.http("tasks/result", &json!({ "taskId": id }));
    let mut stream = Stream::of(service.handle(waiting).await);
    let question = stream.next().await;
    probe.gate.notify_one();
    caller.reply(&question["id"], &accept(&json!({ "word": "back" }))).await;
    let result = stream.next().await;
    assert_eq!(result["result"]["content"][0]["text"], "back");
}

#[tokio::test]
async fn a_result_that_takes_json_alone_cannot_be_asked_and_ends_no_task() {
    let service = StreamableHttpService::new(server(&probe().0));
    let mut caller = Caller::legacy(&service, "2025-11-25", None).await;
    let id = caller.start("confirm", json!({})).await;
    caller.until(&id, "input_required").await;
    let mut deaf = caller.http("tasks/result", &json!({ "taskId": id }));
    deaf.headers_mut().insert("accept", JSON);
    let response = tokio::time::timeout(PATIENCE, service.handle(deaf)).await;
    let body = response.unwrap().into_body().collect().await.unwrap();
    let answer: Value = serde_json::from_slice(&body.to_bytes()).unwrap();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("text/event-stream"), "{message}");
    assert_eq!(caller.get(&id).await["status"], "input_required");
}

#[tokio::test]
async fn open_questions_are_taken_back_when_the_task_is_cancelled() {
    let mut caller = Caller::legacy_pipe(&server(&probe().0)).await;
    let id = caller.start("both", json!({})).await;
    let waiting = caller.send("tasks/result", &json!({ "taskId": id })).await;
    let mut open = Vec::new();
    for _ in 0..2 {
        open.push(caller.peer().next().await["id"].clone());
    }
    let cancelling = caller.send("tasks/cancel", &json!({ "taskId": id })).await;
    let mut ended = Vec::new();
    while ended.len() < 2 {
        let said = caller.peer().next().await;
        if said["method"] == "notifications/cancelled" {
            assert_eq!(said["params"]["_meta"][RELATED]["taskId"], id);
            open.retain(|question| *question != said["params"]["requestId"]);
        } else {
            ended.push(said["id"].clone());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(ended.contains(&json!(waiting)) && ended.contains(&json!(cancelling)));
}

#[tokio::test]
async fn the_newest_result_that_still_waits_is_asked() {
    let mut caller = Caller::legacy_pipe(&server(&probe().0)).await;
    let id = caller.start("confirm", json!({})).await;
    let first = caller.send("tasks/result", &json!({ "taskId": id })).await;
    let lost = caller.peer().next().await;
    let second = caller.send("tasks/result", &json!({ "taskId": id })).await;
    // The older one takes its question back, the newer puts its own.
    let mut said = [caller.peer().next().await, caller.peer().next().await];
    said.sort_by_key(|said| said["method"].to_string());
    assert_eq!(said[0]["method"], "elicitation/create");
    assert_eq!(said[1]["method"], "notifications/cancelled");
    assert_eq!(said[1]["params"]["requestId"], lost["id"]);
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": second } });
    caller.peer().send(&cancelled).await;
    let question = caller.peer().next().await;
    assert_eq!(question["method"], "elicitation/create");
    let answer = accept(&json!({ "word": "first" }));
    let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer });
    caller.peer().send(&reply).await;
    let result = caller.peer().next().await;
    assert_eq!(result["id"], first);
    assert_eq!(result["result"]["content"][0]["text"], "first");
}

#[tokio::test]
async fn an_answer_that_is_none_fails_the_tool_as_within_a_call() {
    let typed =
        Tool::new("typed", "Says a word.").asking().with_task_support(TaskSupport::Optional);
    let asks = async |asked: Echo, context: Context| {
        let form = ElicitForm::new("Really?").field("word", Field::text().required());
        context.elicit("confirm", &form)?;
        Ok::<_, ToolError>(Json(asked))
    };
    for (reply, code) in [
        (json!({ "result": { "action": "maybe" } }), "CLIENT_ANSWER_INVALID"),
        (json!({ "error": { "code": -1, "message": "will not" } }), "CLIENT_REFUSED"),
    ] {
        for (tool, arguments) in [("confirm", json!({})), ("typed", json!({ "text": "x" }))] {
            let server = builder(&probe().0, TasksConfig::default())
                .tool(typed.clone(), asks)
                .build()
                .unwrap();
            let mut caller = Caller::legacy_pipe(&server).await;
            let id = caller.start(tool, arguments).await;
            caller.send("tasks/result", &json!({ "taskId": id })).await;
            let question = caller.peer().next().await;
            let mut reply = reply.clone();
            reply["jsonrpc"] = json!("2.0");
            reply["id"] = question["id"].clone();
            caller.peer().send(&reply).await;
            let result = caller.peer().next().await["result"].clone();
            assert_eq!(result["isError"], true, "{result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(code), "{text}");
            // Clients check structured content against the output schema, which is for successes.
            let structured = result.get("structuredContent").is_some();
            assert_eq!(structured, tool == "confirm", "{result}");
            assert_eq!(caller.get(&id).await["status"], "failed");
        }
    }
}

#[tokio::test]
async fn urls_that_are_required_again_are_asked_for_under_new_keys() {
    let (probe, _events) = probe();
    let tool = Tool::new("files", "Needs a login.")
        .asking()
        .with_input_schema(json!({ "type": "object" }))
        .with_task_support(TaskSupport::Optional);
    let needs = async |_: Probe, _, context: Context| -> Result<CallToolResult, ToolError> {
        context.start_task()?;
        let url = ElicitUrl::new("Sign in.", "https://login.example/");
        Err(Interrupt::urls_required(&context, [url]).into())
    };
    let server = builder(&probe, TasksConfig::default()).raw_tool(tool, needs).build().unwrap();
    let service = StreamableHttpService::new(server);
    let able = json!({ "elicitation": { "url": {} }, "extensions": { EXTENSION: {} } });
    let mut caller = Caller::modern(&service, able);
    let id = caller.start("files", json!({})).await;
    let mut known = Vec::new();
    for action in ["accept", "accept", "decline"] {
        let task = caller.until(&id, "input_required").await;
        let requests = task["inputRequests"].as_object().unwrap();
        let (key, _) = requests.iter().next().unwrap();
        assert!(!known.contains(key), "{key} again");
        known.push(key.clone());
        let answers = json!({ key.as_str(): { "action": action } });
        caller.update(&id, answers).await;
    }
    let task = caller.until(&id, "failed").await;
    assert_eq!(task["error"]["code"], -32602);
}

struct Stream {
    body: mcp_proto::http::ResponseBody,
    ahead: Vec<Value>,
}

impl Stream {
    fn of(response: http::Response<mcp_proto::http::ResponseBody>) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), ahead: Vec::new() }
    }

    async fn next(&mut self) -> Value {
        while self.ahead.is_empty() {
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await;
            let data = frame.expect("nothing came").unwrap().unwrap();
            self.ahead = messages(&data.into_data().unwrap());
        }
        self.ahead.remove(0)
    }
}
