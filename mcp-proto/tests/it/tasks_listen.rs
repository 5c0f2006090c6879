//! What a `subscriptions/listen` hears of tasks.

use mcp_proto::StreamableHttpService;
use serde_json::{Value, json};

use crate::common::probe;
use crate::tasks_common::{Caller, EXTENSION, Stream, able, accept, server};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn task_ids(ids: &Value) -> Value {
    json!({ "notifications": { "taskIds": ids } })
}

async fn open(service: &StreamableHttpService, caller: &mut Caller, params: &Value) -> Stream {
    let http = caller.http("subscriptions/listen", params);
    Stream::of(service.handle(http).await)
}

#[tokio::test]
async fn a_listener_hears_what_its_tasks_are_and_become() {
    let (probe, mut events) = probe();
    let service = StreamableHttpService::new(server(&probe));
    let mut caller = Caller::modern(&service, able());
    let id = caller.start("chatty", json!({})).await;
    let other = caller.start("hang", json!({})).await;
    events.expect("started").await;
    let mut stream = open(&service, &mut caller, &task_ids(&json!([id]))).await;
    let first = stream.next().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({ "taskIds": [id] }));
    let subscription = first["params"]["_meta"][SUBSCRIPTION].clone();
    assert!(subscription.is_i64(), "{first}");

    // What it is, at once.
    let now = stream.next().await;
    assert_eq!(now["method"], "notifications/tasks");
    assert_eq!(now["params"]["status"], "working");
    probe.gate.notify_one();
    events.expect("half").await;
    let half = stream.next().await;
    assert_eq!(half["params"]["statusMessage"], "half");
    // Of another task nothing is heard.
    caller.result("tasks/cancel", json!({ "taskId": other })).await;
    probe.gate.notify_one();
    events.expect("dropped").await;
    events.expect("more").await;
    let more = stream.next().await;
    let cut = more["params"]["statusMessage"].as_str().unwrap();
    assert_eq!(cut.len(), mcp_proto::task::MAX_TASK_STATUS);
    probe.gate.notify_one();
    let done = stream.next().await;
    assert!(done.get("id").is_none(), "{done}");
    let mut params = done["params"].clone();
    assert_eq!(params["_meta"], json!({ SUBSCRIPTION: subscription }));
    // All that `tasks/get` tells.
    let mut told = caller.get(&id).await;
    assert_eq!(told["status"], "completed");
    told.as_object_mut().unwrap().retain(|key, _| key != "_meta" && key != "resultType");
    params.as_object_mut().unwrap().remove("_meta");
    assert_eq!(params, told);
}

#[tokio::test]
async fn questions_and_ends_are_told_over_a_pipe_too() {
    let server = server(&probe().0);
    let mut caller = Caller::modern_pipe(&server);
    let id = caller.start("confirm", json!({})).await;
    caller.until(&id, "input_required").await;
    let listen = caller.send("subscriptions/listen", &task_ids(&json!([id]))).await;
    assert_eq!(caller.peer().next().await["params"]["notifications"]["taskIds"], json!([id]));
    let asks = caller.peer().next().await;
    assert_eq!(asks["params"]["status"], "input_required");
    assert_eq!(asks["params"]["inputRequests"]["confirm"]["method"], "elicitation/create");
    let responses = json!({ "confirm": accept(&json!({ "word": "yes" })) });
    let params = json!({ "taskId": id, "inputResponses": responses });
    let said = caller.messages("tasks/update", &params).await;
    let mut told: Vec<Value> = said.into_iter().filter(|said| said.get("id").is_none()).collect();
    while told.last().is_none_or(|last| last["params"]["status"] != "completed") {
        told.push(caller.peer().next().await);
    }
    for told in &told {
        assert_eq!(told["method"], "notifications/tasks");
        assert_eq!(told["params"]["_meta"][SUBSCRIPTION], listen);
    }
    assert_eq!(told.last().unwrap()["params"]["result"]["content"][0]["text"], "yes");
}

#[tokio::test]
async fn only_tasks_that_are_the_callers_own_are_agreed_on() {
    let (probe, _events) = probe();
    let service = StreamableHttpService::new(server(&probe));
    let mut ann = Caller::modern(&service, able());
    ann.principal = Some("ann");
    let mut bob = Caller::modern(&service, able());
    bob.principal = Some("bob");
    let (of_ann, of_bob) = (ann.start("hang", json!({})).await, bob.start("hang", json!({})).await);
    let wanted = task_ids(&json!([of_ann, "none", of_bob, of_bob]));
    let mut stream = open(&service, &mut bob, &wanted).await;
    let agreed = stream.next().await["params"]["notifications"].clone();
    assert_eq!(agreed, json!({ "taskIds": [of_bob] }));
    let mut stream = open(&service, &mut bob, &task_ids(&json!([of_ann]))).await;
    let agreed = stream.next().await["params"]["notifications"].clone();
    assert_eq!(agreed, json!({ "taskIds": [] }));
}

#[tokio::test]
async fn a_listener_without_the_extension_and_a_malformed_wish_are_refused() {
    let service = StreamableHttpService::new(server(&probe().0));
    let mut other = Caller::modern(&service, json!({}));
    let refused = other.answer("subscriptions/listen", &task_ids(&json!([]))).await;
    assert_eq!(refused["error"]["code"], -32021);
    assert_eq!(
        refused["error"]["data"]["requiredCapabilities"]["extensions"][EXTENSION],
        json!({})
    );
    // Who does not ask for tasks may listen.
    let mut stream = open(&service, &mut other, &json!({ "notifications": {} })).await;
    let agreed = stream.next().await["params"]["notifications"].clone();
    assert_eq!(agreed, json!({}));

    let mut caller = Caller::modern(&service, able());
    for wrong in [json!("x"), json!([5]), json!(vec!["x"; 257])] {
        let code = caller.code("subscriptions/listen", task_ids(&wrong)).await;
        assert_eq!(code, -32602, "{wrong}");
    }
}

#[tokio::test]
async fn a_listener_of_a_task_takes_a_place() {
    let (probe, _events) = probe();
    let server = crate::tasks_common::builder(&probe, mcp_proto::TasksConfig::default())
        .max_listeners(1)
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server.clone());
    let mut caller = Caller::modern(&service, able());
    let id = caller.start("hang", json!({})).await;
    let wanted = task_ids(&json!([id]));
    let mut stream = open(&service, &mut caller, &wanted).await;
    assert_eq!(caller.code("subscriptions/listen", wanted.clone()).await, -32603);
    stream.next().await;
    stream.next().await;
    // It ends with the server, as others do.
    server.close();
    let last = stream.next().await;
    assert_eq!(last["result"]["resultType"], "complete");
}
