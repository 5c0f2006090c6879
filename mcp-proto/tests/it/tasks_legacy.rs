//! The experimental tasks of 2025-11-25, over both transports: asked for by the client, held by `tasks/result`.

use mcp_proto::{StreamableHttpService, TasksConfig};
use serde_json::{Value, json};

use crate::common::probe;
use crate::tasks_common::{Caller, RELATED, builder, call, server};

fn as_task(tool: &str, arguments: &Value, task: &Value) -> Value {
    let mut params = call(tool, arguments);
    params["task"] = task.clone();
    params
}

#[tokio::test]
async fn a_task_is_created_when_the_client_asks_for_it() {
    let (probe, mut events) = probe();
    for mut caller in Caller::legacy_ones(&server(&probe)).await {
        let asked = as_task("gate", &json!({}), &json!({ "ttl": 60_000 }));
        let created = caller.result("tools/call", asked).await;
        let members: Vec<_> = created.as_object().unwrap().keys().collect();
        assert_eq!(members, ["task"]);
        let task = &created["task"];
        assert_eq!(task["status"], "working");
        assert_eq!(task["ttl"], 60_000);
        assert_eq!(task["pollInterval"], 1_000);
        assert!(task["createdAt"].is_string() && task["lastUpdatedAt"].is_string(), "{task}");
        for modern in ["ttlMs", "pollIntervalMs", "resultType", "_meta"] {
            assert!(task.get(modern).is_none(), "{task}");
        }
        let id = task["taskId"].as_str().unwrap();
        events.expect("started").await;
        let told = caller.get(id).await;
        assert_eq!(told, *task);
        probe.gate.notify_one();
        let result = caller.result("tasks/result", json!({ "taskId": id })).await;
        assert_eq!(result["content"][0]["text"], id);
        assert_eq!(result["_meta"], json!({ RELATED: { "taskId": id } }));
        assert!(result.get("resultType").is_none(), "{result}");
        let done = caller.get(id).await;
        assert_eq!(done["status"], "completed");
        assert!(done.get("result").is_none(), "{done}");
        // As often as it is asked for.
        assert_eq!(caller.result("tasks/result", json!({ "taskId": id })).await, result);
    }
}

#[tokio::test]
async fn the_tools_declaration_and_the_clients_wish_must_agree() {
    let (probe, mut events) = probe();
    let server = server(&probe);
    for mut caller in Caller::legacy_ones(&server).await {
        let refused = caller.answer("tools/call", &call("job", &json!({ "ends": "well" }))).await;
        assert_eq!(refused["error"]["code"], -32601);
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("params.task"), "{message}");
        assert!(events.none(), "the handler was called");
        let refused = as_task("greet", &json!({}), &json!({}));
        assert_eq!(caller.code("tools/call", refused).await, -32601);
        // Without the wish it runs within its call.
        probe.gate.notify_one();
        let result = caller.result("tools/call", call("gate", &json!({}))).await;
        assert_eq!(result["content"][0]["text"], "no task");
        events.expect("started").await;
        for malformed in [json!(5), json!([]), json!({ "ttl": "long" }), json!({ "ttl": -1 })] {
            let params = as_task("gate", &json!({}), &malformed);
            assert_eq!(caller.code("tools/call", params).await, -32602, "{malformed}");
        }
        let unknown = as_task("unknown", &json!({}), &json!({}));
        assert_eq!(caller.code("tools/call", unknown).await, -32602);
    }
    // Older revisions have no tasks: the wish is passed over.
    let service = StreamableHttpService::new(server);
    let mut older = Caller::legacy(&service, "2025-06-18", None).await;
    probe.gate.notify_one();
    let asked = as_task("gate", &json!({}), &json!({}));
    let result = older.result("tools/call", asked).await;
    assert_eq!(result["content"][0]["text"], "no task");
    assert_eq!(older.code("tools/call", call("job", &json!({}))).await, -32601);
    for method in ["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"] {
        assert_eq!(older.code(method, json!({ "taskId": "x" })).await, -32601);
    }
}

#[tokio::test]
async fn the_result_is_what_the_call_would_have_been_answered() {
    for mut caller in Caller::legacy_ones(&server(&probe().0)).await {
        let id = caller.start("job", json!({ "ends": "badly" })).await;
        let result = caller.result("tasks/result", json!({ "taskId": id })).await;
        assert_eq!(result["isError"], true);
        assert_eq!(result["_meta"][RELATED]["taskId"], id);
        // In this revision a failure of the tool is one of the task.
        let task = caller.get(&id).await;
        assert_eq!(task["status"], "failed");
        assert!(task["statusMessage"].is_string(), "{task}");

        let id = caller.start("job", json!({ "ends": "in protocol" })).await;
        let answer = caller.answer("tasks/result", &json!({ "taskId": id })).await;
        assert_eq!(answer["error"], json!({ "code": -32602, "message": "that cannot be" }));
        let task = caller.get(&id).await;
        assert_eq!(task["status"], "failed");
        assert_eq!(task["statusMessage"], "that cannot be");

        // Arguments are judged inside.
        let id = caller.start("job", json!({})).await;
        let result = caller.result("tasks/result", json!({ "taskId": id })).await;
        assert_eq!(result["isError"], true);
    }
}

#[tokio::test]
async fn cancelling_drops_the_handler_once() {
    let (probe, mut events) = probe();
    for mut caller in Caller::legacy_ones(&server(&probe)).await {
        let id = caller.start("hang", json!({})).await;
        events.expect("started").await;
        let task = caller.result("tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(task["taskId"], id);
        assert_eq!(task["status"], "cancelled");
        events.expect("dropped").await;
        let refused = caller.answer("tasks/cancel", &json!({ "taskId": id })).await;
        assert_eq!(refused["error"]["code"], -32602);
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("cancelled"), "{message}");
        assert_eq!(caller.code("tasks/result", json!({ "taskId": id })).await, -32602);
        assert_eq!(caller.get(&id).await["status"], "cancelled");
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            assert_eq!(caller.code(method, json!({ "taskId": "none" })).await, -32602);
        }
        assert_eq!(caller.code("tasks/update", json!({ "taskId": id })).await, -32601);
    }
}

#[tokio::test]
async fn a_waiting_result_hears_of_the_cancellation() {
    let (probe, mut events) = probe();
    let mut caller = Caller::legacy_pipe(&server(&probe)).await;
    let id = caller.start("hang", json!({})).await;
    events.expect("started").await;
    let waiting = caller.send("tasks/result", &json!({ "taskId": id })).await;
    let said = caller.messages("tasks/cancel", &json!({ "taskId": id })).await;
    let mut said = said.into_iter();
    let mut next = async || match said.next() {
        Some(said) => said,
        None => caller.peer().next().await,
    };
    let (one, two) = (next().await, next().await);
    let ended = [one, two].into_iter().find(|said| said["id"] == waiting).unwrap();
    assert_eq!(ended["error"]["code"], -32602);
}

#[tokio::test]
async fn progress_and_logs_go_to_who_waits_for_the_result() {
    let (probe, mut events) = probe();
    let mut caller = Caller::legacy_pipe(&server(&probe)).await;
    let mut params = as_task("chatty", &json!({}), &json!({}));
    params["_meta"] = json!({ "progressToken": "p" });
    let created = caller.result("tools/call", params).await;
    let id = created["task"]["taskId"].as_str().unwrap().to_owned();
    let waiting = caller.send("tasks/result", &json!({ "taskId": id })).await;
    // An answer to what came later: the waiting one is at work.
    caller.get(&id).await;
    probe.gate.notify_one();
    events.expect("half").await;
    let progress = caller.peer().next().await;
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(progress["params"]["progressToken"], "p");
    assert_eq!(progress["params"]["_meta"][RELATED]["taskId"], id);
    let log = caller.peer().next().await;
    assert_eq!(log["method"], "notifications/message");
    assert_eq!(log["params"]["_meta"][RELATED]["taskId"], id);
    assert_eq!(caller.get(&id).await["statusMessage"], "half");
    probe.gate.notify_one();
    events.expect("more").await;
    probe.gate.notify_one();
    assert_eq!(caller.peer().next().await["id"], waiting);
}

#[tokio::test]
async fn what_is_said_while_nobody_waits_is_lost_and_holds_nothing_up() {
    let (probe, mut events) = probe();
    for mut caller in Caller::legacy_ones(&server(&probe)).await {
        let mut params = as_task("chatty", &json!({}), &json!({}));
        params["_meta"] = json!({ "progressToken": "p" });
        let created = caller.result("tools/call", params).await;
        let id = created["task"]["taskId"].as_str().unwrap().to_owned();
        for event in ["half", "more"] {
            probe.gate.notify_one();
            events.expect(event).await;
        }
        probe.gate.notify_one();
        caller.until(&id, "completed").await;
        let said = caller.messages("tasks/result", &json!({ "taskId": id })).await;
        assert_eq!(said.len(), 1, "{said:?}");
    }
}

#[tokio::test]
async fn a_list_has_the_callers_own_tasks_page_by_page() {
    let (probe, _events) = probe();
    let server = builder(&probe, TasksConfig::default()).page_size(2).build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let mut ann = Caller::legacy(&service, "2025-11-25", Some("ann")).await;
    let mut bob = Caller::legacy(&service, "2025-11-25", Some("bob")).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(ann.start("hang", json!({})).await);
        bob.start("hang", json!({})).await;
    }
    let mut listed = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let params = match cursor {
            Value::Null => json!({}),
            cursor => json!({ "cursor": cursor }),
        };
        let page = ann.result("tasks/list", params).await;
        let tasks = page["tasks"].as_array().unwrap().clone();
        assert!((1..=2).contains(&tasks.len()), "{page}");
        for task in tasks {
            assert_eq!(ann.get(task["taskId"].as_str().unwrap()).await, task);
            listed.push(task["taskId"].as_str().unwrap().to_owned());
        }
        match page.get("nextCursor") {
            None => break,
            Some(next) => cursor = next.clone(),
        }
    }
    assert_eq!(listed, ids);
    for wrong in [json!(""), json!(1), json!("x")] {
        let code = ann.code("tasks/list", json!({ "cursor": wrong })).await;
        assert_eq!(code, -32602, "{wrong}");
    }
    // A cursor is the caller's own, and no invention.
    let first = ann.result("tasks/list", json!({})).await;
    let cursor = first["nextCursor"].clone();
    assert_eq!(bob.code("tasks/list", json!({ "cursor": cursor })).await, -32602);
    for cursor in [json!(""), json!("2"), json!(5)] {
        assert_eq!(ann.code("tasks/list", json!({ "cursor": cursor })).await, -32602);
    }
    // The same person in another session; somebody else in none.
    let mut again = Caller::legacy(&service, "2025-11-25", Some("ann")).await;
    assert_eq!(again.result("tasks/list", json!({})).await["tasks"], first["tasks"]);
    let mut nobody = Caller::legacy(&service, "2025-11-25", None).await;
    assert_eq!(nobody.result("tasks/list", json!({})).await, json!({ "tasks": [] }));
}

#[tokio::test]
async fn a_task_belongs_to_its_principal_or_else_to_its_session() {
    let (probe, _events) = probe();
    let server = server(&probe);
    let service = StreamableHttpService::new(server.clone());
    let session = async |principal| Caller::legacy(&service, "2025-11-25", principal).await;
    let refuses = async |mut stranger: Caller, id: &str| {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            assert_eq!(stranger.code(method, json!({ "taskId": id })).await, -32602);
        }
        let listed = stranger.result("tasks/list", json!({})).await;
        assert!(!listed.to_string().contains(id), "{listed}");
    };
    let id = session(Some("ann")).await.start("hang", json!({})).await;
    assert_eq!(session(Some("ann")).await.get(&id).await["taskId"], id);
    refuses(session(Some("bob")).await, &id).await;
    refuses(session(None).await, &id).await;

    let mut nobody = session(None).await;
    let id = nobody.start("hang", json!({})).await;
    assert_eq!(nobody.get(&id).await["taskId"], id);
    refuses(session(None).await, &id).await;
    refuses(Caller::legacy_pipe(&server).await, &id).await;

    let mut pipe = Caller::legacy_pipe(&server).await;
    let id = pipe.start("hang", json!({})).await;
    assert_eq!(pipe.get(&id).await["taskId"], id);
    refuses(Caller::legacy_pipe(&server).await, &id).await;
}
