//! The tasks extension of 2026-07-28, over both transports: what is declared, created, told, answered and cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_proto::{
    BuildError, CallToolResult, Context, ElicitUrl, Interrupt, Server, StreamableHttpService,
    TaskSupport, TasksConfig, Tool,
};
use serde_json::{Map, Value, json};

use crate::common::{Raw, probe};
use crate::tasks_common::{Caller, EXTENSION, RELATED, able, accept, call, server};

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn is_timestamp(value: &Value) -> bool {
    let text = value.as_str().unwrap();
    let shape = text.replace(|c: char| c.is_ascii_digit(), "0");
    shape == "0000-00-00T00:00:00.000Z"
}

/// An acknowledgement says nothing of the task.
#[track_caller]
fn assert_empty(acknowledged: &Value) {
    assert_eq!(acknowledged["resultType"], "complete");
    assert_eq!(keys(acknowledged), ["_meta", "resultType"]);
}

#[tokio::test]
async fn each_era_declares_tasks_in_its_own_place() {
    let server = server(&probe().0);
    for mut caller in Caller::modern_ones(&server) {
        let capabilities = &caller.result("server/discover", json!({})).await["capabilities"];
        assert_eq!(capabilities["extensions"][EXTENSION], json!({}));
        assert!(capabilities.get("tasks").is_none(), "{capabilities}");
        let tools = caller.result("tools/list", json!({})).await;
        assert!(!tools.to_string().contains("execution"), "{tools}");
    }
    let service = StreamableHttpService::new(server);
    let declared = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    for (version, tasks) in
        [("2025-11-25", Some(declared)), ("2025-06-18", None), ("2024-11-05", None)]
    {
        let told = Raw::initialize(version).send(&service).await.result();
        assert_eq!(told["capabilities"].get("tasks"), tasks.as_ref(), "{version}");
        assert!(told["capabilities"].get("extensions").is_none(), "{told}");
        let mut caller = Caller::legacy(&service, version, None).await;
        let tools = caller.result("tools/list", json!({})).await["tools"].clone();
        let support = |name: &str| {
            let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name);
            tool.unwrap().get("execution").cloned()
        };
        let wanted = |support: &str| tasks.as_ref().map(|_| json!({ "taskSupport": support }));
        assert_eq!(support("greet"), None);
        assert_eq!(support("gate"), wanted("optional"), "{version}");
        assert_eq!(support("job"), wanted("required"), "{version}");
    }
}

#[tokio::test]
async fn a_server_without_tasks_declares_none_and_has_no_methods_of_theirs() {
    let server = Server::builder("none", "1", ()).build().unwrap();
    for mut caller in Caller::modern_ones(&server) {
        let capabilities = &caller.result("server/discover", json!({})).await["capabilities"];
        assert!(capabilities.get("extensions").is_none(), "{capabilities}");
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            assert_eq!(caller.code(method, json!({ "taskId": "x" })).await, -32601);
        }
    }
}

#[test]
fn a_tool_with_task_support_needs_a_server_with_tasks() {
    let tool = Tool::new("long", "Long.")
        .with_input_schema(json!({ "type": "object" }))
        .with_task_support(TaskSupport::Optional);
    let built = Server::builder("none", "1", ())
        .raw_tool(tool, async |(), _, _| Ok(CallToolResult::text("")))
        .build();
    let problem = built.unwrap_err();
    assert!(matches!(&problem, BuildError::Tool { name, .. } if name == "long"), "{problem}");
    assert!(problem.to_string().contains("ServerBuilder::tasks"), "{problem}");
}

#[test]
fn the_extension_is_not_declared_by_hand() {
    let by_hand = Server::builder("none", "1", ()).extension(EXTENSION, Map::new());
    let problem = by_hand.build().unwrap_err();
    assert!(problem.to_string().contains("ServerBuilder::tasks"), "{problem}");
}

#[tokio::test]
async fn what_is_created_is_flat_and_new() {
    let (probe, mut events) = probe();
    for mut caller in Caller::modern_ones(&server(&probe)) {
        let created = caller.result("tools/call", call("gate", &json!({}))).await;
        assert_eq!(
            keys(&created),
            [
                "_meta",
                "createdAt",
                "lastUpdatedAt",
                "pollIntervalMs",
                "resultType",
                "status",
                "taskId",
                "ttlMs"
            ]
        );
        assert_eq!(created["resultType"], "task");
        assert_eq!(created["status"], "working");
        assert_eq!(created["ttlMs"], 3_600_000);
        assert_eq!(created["pollIntervalMs"], 1_000);
        assert!(is_timestamp(&created["createdAt"]), "{created}");
        assert_eq!(created["createdAt"], created["lastUpdatedAt"]);
        events.expect("started").await;
        probe.gate.notify_one();
        caller.until(created["taskId"].as_str().unwrap(), "completed").await;
    }
}

#[tokio::test]
async fn a_task_is_there_when_its_name_is_told_and_has_its_result_when_it_is_done() {
    let (probe, mut events) = probe();
    for mut caller in Caller::modern_ones(&server(&probe)) {
        let id = caller.start("gate", json!({})).await;
        let task = caller.get(&id).await;
        assert_eq!(task["resultType"], "complete");
        assert_eq!(task["taskId"], id);
        assert_eq!(task["status"], "working");
        assert!(task.get("result").is_none() && task.get("error").is_none(), "{task}");
        events.expect("started").await;
        probe.gate.notify_one();
        let done = caller.until(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], id);
        assert!(done["result"]["_meta"].get(RELATED).is_none(), "{done}");
        assert!(done.get("requestState").is_none(), "{done}");
        assert_eq!(done["createdAt"], task["createdAt"]);
        assert!(done["lastUpdatedAt"].as_str() >= task["lastUpdatedAt"].as_str());
        // It stays.
        assert_eq!(caller.get(&id).await, done);
    }
}

#[tokio::test]
async fn failures_of_the_tool_are_completed_and_protocol_errors_failed() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        let id = caller.start("job", json!({ "ends": "badly" })).await;
        let task = caller.until(&id, "completed").await;
        assert_eq!(task["result"]["isError"], true);
        assert!(task["result"]["content"].to_string().contains("NOT_DONE"), "{task}");

        let id = caller.start("job", json!({ "ends": "in protocol" })).await;
        let task = caller.until(&id, "failed").await;
        assert_eq!(task["error"]["code"], -32602);
        assert_eq!(task["error"]["message"], "that cannot be");
        assert_eq!(task["statusMessage"], "that cannot be");
        assert!(task.get("result").is_none(), "{task}");

        // As within a call: a panic is a failure of the tool that tells nothing of the inside.
        let id = caller.start("job", json!({ "ends": "in panic" })).await;
        let task = caller.until(&id, "completed").await;
        assert_eq!(task["result"]["isError"], true);
        assert!(task.to_string().contains("INTERNAL_ERROR"), "{task}");
        assert!(!task.to_string().contains("as the test wants it"), "{task}");
    }
}

#[tokio::test]
async fn a_client_without_the_extension_gets_the_result_or_is_refused_before_the_handler_runs() {
    let (probe, mut events) = probe();
    let service = StreamableHttpService::new(server(&probe));
    for capabilities in [
        json!({}),
        json!({ "extensions": {} }),
        json!({ "extensions": { EXTENSION: null } }),
        json!({ "tasks": {} }),
    ] {
        let mut caller = Caller::modern(&service, capabilities);
        probe.gate.notify_one();
        let result = caller.result("tools/call", call("gate", &json!({}))).await;
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["content"][0]["text"], "no task");
        events.expect("started").await;

        let refused = caller.answer("tools/call", &call("job", &json!({ "ends": "well" }))).await;
        assert_eq!(refused["error"]["code"], -32021);
        assert_eq!(
            refused["error"]["data"]["requiredCapabilities"],
            json!({ "extensions": { EXTENSION: {} } })
        );
        assert!(events.none(), "the handler was called");

        // Before it is noticed that there is no such task, or no task in the params at all.
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            assert_eq!(caller.code(method, json!({ "taskId": "x" })).await, -32021);
        }
    }
    // The next request of the same client is judged by itself.
    let reply = Raw::modern("tools/call", call("job", &json!({}))).send(&service).await;
    assert_eq!(reply.refusal(), (400, -32021, Some(7.into())));
    Caller::modern(&service, able()).start("job", json!({ "ends": "well" })).await;
}

#[tokio::test]
async fn a_tool_without_support_is_never_a_task() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        let mut params = call("greet", &json!({}));
        params["task"] = json!({ "ttl": 60_000 });
        let result = caller.result("tools/call", params).await;
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["content"][0]["text"], "Hello!");
        // A mistake of its author is not the client's to read about.
        let code = caller.code("tools/call", call("undeclared", &json!({}))).await;
        assert_eq!(code, -32603);
    }
}

#[tokio::test]
async fn a_question_stops_the_task_until_it_is_answered() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        let id = caller.start("confirm", json!({})).await;
        let task = caller.until(&id, "input_required").await;
        let requests = &task["inputRequests"];
        assert_eq!(keys(requests), ["confirm"]);
        assert_eq!(requests["confirm"]["method"], "elicitation/create");
        assert!(requests["confirm"]["params"]["requestedSchema"].is_object(), "{task}");
        assert!(task.get("requestState").is_none(), "{task}");
        let acknowledged = caller
            .update(&id, json!({ "confirm": accept(&json!({ "word": "yes", "more": 1 })) }))
            .await;
        assert_empty(&acknowledged);
        let done = caller.until(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "yes");
        assert!(done.get("inputRequests").is_none(), "{done}");
        // Too late, and no harm.
        assert_empty(&caller.update(&id, json!({ "confirm": 5 })).await);
        assert_eq!(caller.get(&id).await, done);
    }
}

#[tokio::test]
async fn some_of_the_answers_leave_the_others_open() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        let id = caller.start("both", json!({})).await;
        let task = caller.until(&id, "input_required").await;
        assert_eq!(keys(&task["inputRequests"]), ["one", "two"]);
        let word = |word: &str| accept(&json!({ "word": word }));
        caller.update(&id, json!({ "two": word("b") })).await;
        let task = caller.get(&id).await;
        assert_eq!(task["status"], "input_required");
        assert_eq!(keys(&task["inputRequests"]), ["one"]);
        // An answer counts once.
        caller.update(&id, json!({ "two": word("c") })).await;
        caller.update(&id, json!({ "one": word("a") })).await;
        let done = caller.until(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "a+b");
    }
}

#[tokio::test]
async fn keys_are_never_used_again_in_a_task() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        let id = caller.start("twice", json!({})).await;
        let word = |word: &str| accept(&json!({ "word": word }));
        let task = caller.until(&id, "input_required").await;
        assert_eq!(keys(&task["inputRequests"]), ["first"]);
        caller.update(&id, json!({ "first": word("a") })).await;
        let task = caller.until(&id, "input_required").await;
        assert_eq!(keys(&task["inputRequests"]), ["second"]);
        caller.update(&id, json!({ "first": word("z"), "second": word("b") })).await;
        let done = caller.until(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "a+b");
    }
}

#[tokio::test]
async fn a_question_that_is_asked_anew_gets_a_new_key() {
    let tool = Tool::new("sign-in", "Needs a user who has signed in.")
        .with_input_schema(json!({ "type": "object" }))
        .with_task_support(TaskSupport::Optional);
    let looks = Arc::new(AtomicUsize::new(0));
    let server = Server::builder("tasks", "1", looks.clone())
        .tasks(TasksConfig::default())
        .raw_tool(tool, async |looks: Arc<AtomicUsize>, _, context: Context| {
            context.start_task()?;
            // The user agrees to go to the URL, and has not been there when the handler looks.
            if looks.fetch_add(1, Ordering::Relaxed) == 3 {
                return Ok(CallToolResult::text("signed in"));
            }
            let url = ElicitUrl::new("Sign in, please.", "https://example.com/sign-in");
            Err(Interrupt::urls_required(&context, [url]).into())
        })
        .build()
        .unwrap();
    for mut caller in Caller::modern_ones(&server) {
        looks.store(0, Ordering::Relaxed);
        let id = caller.start("sign-in", json!({})).await;
        let mut seen: Vec<String> = Vec::new();
        for _ in 0..3 {
            let task = caller.until(&id, "input_required").await;
            let key = keys(&task["inputRequests"])[0].to_owned();
            assert_eq!(task["inputRequests"][&key]["params"]["mode"], "url");
            assert!(!seen.contains(&key), "{key} was used before");
            // An answer to an earlier one is none to this.
            for old in &seen {
                caller.update(&id, json!({ old: { "action": "accept" } })).await;
            }
            assert_eq!(keys(&caller.get(&id).await["inputRequests"]), [&key]);
            caller.update(&id, json!({ &key: { "action": "accept" } })).await;
            seen.push(key);
        }
        let done = caller.until(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "signed in");
    }
}

#[tokio::test]
async fn answers_under_unknown_keys_mean_nothing_and_wrong_ones_leave_the_question_open() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        let id = caller.start("confirm", json!({})).await;
        caller.until(&id, "input_required").await;
        for nothing in [json!({}), json!({ "unknown": { "ignored": true }, "other": null })] {
            assert_empty(&caller.update(&id, nothing).await);
        }
        for wrong in [
            json!(5),
            json!({ "action": "maybe" }),
            accept(&json!({})),
            accept(&json!({ "word": 5 })),
        ] {
            let params = json!({ "taskId": id, "inputResponses": { "confirm": wrong } });
            let answer = caller.answer("tasks/update", &params).await;
            assert_eq!(answer["error"]["code"], -32602, "{wrong}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.starts_with("params.inputResponses[\"confirm\"]: "), "{message}");
        }
        for malformed in [json!({}), json!({ "inputResponses": [] })] {
            let mut params = malformed;
            params["taskId"] = json!(id);
            assert_eq!(caller.code("tasks/update", params).await, -32602);
        }
        assert_eq!(keys(&caller.get(&id).await["inputRequests"]), ["confirm"]);
        caller.update(&id, json!({ "confirm": { "action": "decline" } })).await;
        let done = caller.until(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "no");
    }
}

#[tokio::test]
async fn a_question_to_a_client_that_cannot_be_asked_fails_the_task() {
    let service = StreamableHttpService::new(server(&probe().0));
    let mut caller = Caller::modern(&service, json!({ "extensions": { EXTENSION: {} } }));
    let id = caller.start("confirm", json!({})).await;
    let task = caller.until(&id, "failed").await;
    assert_eq!(task["error"]["code"], -32021);
}

#[tokio::test]
async fn rounds_before_the_task_are_over_before_it_is_created() {
    let (probe, mut events) = probe();
    for mut caller in Caller::modern_ones(&server(&probe)) {
        let asked = caller.result("tools/call", call("named", &json!({}))).await;
        assert_eq!(asked["resultType"], "input_required");
        assert!(asked.get("taskId").is_none(), "{asked}");
        let mut params = call("named", &json!({}));
        params["inputResponses"] = json!({ "user_name": accept(&json!({ "name": "Alice" })) });
        params["requestState"] = asked["requestState"].clone();
        let created = caller.result("tools/call", params).await;
        assert_eq!(created["resultType"], "task");
        for absent in ["requestState", "inputRequests"] {
            assert!(created.get(absent).is_none(), "{created}");
        }
        let done = caller.until(created["taskId"].as_str().unwrap(), "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "Alice");
        events.expect("named").await;
        assert!(events.none(), "what stands behind start_task ran twice");
    }
}

#[tokio::test]
async fn cancelling_drops_the_handler_and_is_acknowledged_however_often() {
    let (probe, mut events) = probe();
    for mut caller in Caller::modern_ones(&server(&probe)) {
        let id = caller.start("hang", json!({})).await;
        events.expect("started").await;
        assert_empty(&caller.result("tasks/cancel", json!({ "taskId": id })).await);
        events.expect("dropped").await;
        let task = caller.get(&id).await;
        assert_eq!(task["status"], "cancelled");
        for absent in ["result", "error", "inputRequests"] {
            assert!(task.get(absent).is_none(), "{task}");
        }
        assert_empty(&caller.result("tasks/cancel", json!({ "taskId": id })).await);
        assert_eq!(caller.get(&id).await, task);

        let id = caller.start("job", json!({ "ends": "well" })).await;
        events.expect("called").await;
        events.expect("called").await;
        let done = caller.until(&id, "completed").await;
        assert_empty(&caller.result("tasks/cancel", json!({ "taskId": id })).await);
        assert_eq!(caller.get(&id).await, done);

        let id = caller.start("confirm", json!({})).await;
        caller.until(&id, "input_required").await;
        caller.result("tasks/cancel", json!({ "taskId": id })).await;
        assert!(caller.get(&id).await.get("inputRequests").is_none());
    }
}
