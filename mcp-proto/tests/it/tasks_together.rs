//! Tasks of several servers that share a store: each server answers for the tasks of all.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_proto::http::HttpConfig;
use mcp_proto::session::{MemorySessions, SessionStore};
use mcp_proto::{Keys, Server, StreamableHttpService, TasksConfig};
use serde_json::{Value, json};

use crate::common::{Events, Probe, probe};
use crate::tasks_common::{Caller, Stream, able, accept, builder, config};
use crate::tasks_store::{Memory, SOON};

const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
/// How many tasks a page has: more than are read from the store at once.
const PAGE: usize = 11;

/// Two servers, what both share, and what happens in their handlers.
struct Pair {
    memory: Arc<Memory>,
    servers: [Server; 2],
    services: [StreamableHttpService; 2],
    probe: Probe,
    events: Events,
}

impl Pair {
    fn new() -> Self {
        Self::with(TasksConfig::default())
    }

    fn with(config: TasksConfig) -> Self {
        let (memory, (probe, events)) = (Memory::new(), probe());
        let sessions: Arc<dyn SessionStore> = Arc::new(MemorySessions::default());
        let servers = [0, 1].map(|node| {
            let server = builder(&probe, config).task_store(memory.of(node));
            let server = server.keys(Keys::new([7; 32])).page_size(PAGE);
            server.build().unwrap()
        });
        let services = servers.clone().map(|server| {
            let sessions = Arc::clone(&sessions);
            StreamableHttpService::with_sessions(server, HttpConfig::default(), sessions)
        });
        Self { memory, servers, services, probe, events }
    }

    /// A client of the modern era at both servers.
    fn modern(&self) -> [Caller; 2] {
        let mut at_a = Caller::modern(&self.services[0], able());
        at_a.principal = Some("ann");
        let at_b = at_a.at(&self.services[1]);
        [at_a, at_b]
    }

    /// The same of the older one.
    async fn legacy(&self) -> [Caller; 2] {
        let at_a = Caller::legacy(&self.services[0], "2025-11-25", Some("ann")).await;
        let at_b = at_a.at(&self.services[1]);
        [at_a, at_b]
    }

    /// Both.
    async fn both(&self) -> [[Caller; 2]; 2] {
        [self.modern(), self.legacy().await]
    }
}

/// Asks until the task has a status, while time goes by on a clock that nothing waits for.
async fn until(caller: &mut Caller, id: &str, status: &str) -> Value {
    for _ in 0..1_000 {
        let task = caller.get(id).await;
        if task["status"] == status {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never became {status}: {}", caller.get(id).await);
}

fn named(id: &str) -> Value {
    json!({ "taskId": id })
}

#[tokio::test(start_paused = true)]
async fn what_one_runs_the_other_shows_from_the_beginning_to_the_end() {
    let mut pair = Pair::new();
    for [mut at_a, mut at_b] in pair.both().await {
        let id = at_a.start("chatty", json!({})).await;
        // At once: it was kept before its client knew of it.
        let (here, there) = (at_a.get(&id).await, at_b.get(&id).await);
        assert_eq!(here, there);
        assert_eq!(there["status"], "working");
        pair.probe.gate.notify_one();
        pair.events.expect("half").await;
        tokio::time::sleep(SOON).await;
        assert_eq!(at_b.get(&id).await["statusMessage"], "half");
        pair.probe.gate.notify_one();
        pair.events.expect("more").await;
        pair.probe.gate.notify_one();
        let done = until(&mut at_b, &id, "completed").await;
        assert_eq!(done, at_a.get(&id).await);
    }
}

#[tokio::test(start_paused = true)]
async fn the_result_is_waited_for_at_the_other_and_the_list_is_of_both() {
    let mut pair = Pair::new();
    let [mut at_a, mut at_b] = pair.legacy().await;
    let first = at_a.start("gate", json!({})).await;
    let second = at_b.start("hang", json!({})).await;
    for _ in 0..2 {
        pair.events.expect("started").await;
    }
    for caller in [&mut at_a, &mut at_b] {
        let listed = caller.result("tasks/list", json!({})).await;
        let ids: Vec<_> = listed["tasks"].as_array().unwrap().iter().collect();
        let ids: Vec<_> = ids.iter().map(|task| task["taskId"].clone()).collect();
        assert_eq!(ids, [json!(first), json!(second)]);
    }
    let mut other = at_b.at(&pair.services[1]);
    let id = first.clone();
    let waiting = tokio::spawn(async move { other.result("tasks/result", named(&id)).await });
    tokio::time::sleep(SOON).await;
    assert!(!waiting.is_finished());
    pair.probe.gate.notify_one();
    let result = waiting.await.unwrap();
    assert_eq!(result["content"][0]["text"], first.as_str());
    assert_eq!(at_a.result("tasks/result", named(&first)).await, result);
    let unknown = at_b.answer("tasks/result", &named("0")).await;
    assert_eq!(unknown["error"]["code"], INVALID_PARAMS);
}

#[tokio::test(start_paused = true)]
async fn a_page_of_one_goes_on_at_the_other() {
    let mut pair = Pair::new();
    let mut started = Vec::new();
    let [at_a, at_b] = &mut pair.legacy().await;
    for turn in 0..PAGE + 2 {
        let caller = if turn % 2 == 0 { &mut *at_a } else { &mut *at_b };
        started.push(json!(caller.start("hang", json!({})).await));
        pair.events.expect("started").await;
    }
    let ids = |listed: &Value| -> Vec<Value> {
        let tasks = listed["tasks"].as_array().unwrap().iter();
        tasks.map(|task| task["taskId"].clone()).collect()
    };
    let first = at_a.result("tasks/list", json!({})).await;
    assert_eq!(ids(&first), started[..PAGE]);
    let cursor = json!({ "cursor": first["nextCursor"] });
    let second = at_b.result("tasks/list", cursor).await;
    assert_eq!(ids(&second), started[PAGE..]);
    assert_eq!(second.get("nextCursor"), None);
}

#[tokio::test(start_paused = true)]
async fn a_task_is_cancelled_at_the_other_once() {
    let mut pair = Pair::new();
    for [mut at_a, mut at_b] in pair.both().await {
        let id = at_a.start("hang", json!({})).await;
        pair.events.expect("started").await;
        at_b.result("tasks/cancel", named(&id)).await;
        assert_eq!(at_b.get(&id).await["status"], "cancelled");
        // Its handler is dropped where it runs.
        pair.events.expect("dropped").await;
        assert_eq!(at_a.get(&id).await["status"], "cancelled");
        assert_eq!(at_a.get(&id).await, at_b.get(&id).await);
        let own = at_a.start("hang", json!({})).await;
        pair.events.expect("started").await;
        at_a.result("tasks/cancel", named(&own)).await;
        pair.events.expect("dropped").await;
        assert_eq!(at_b.get(&own).await["status"], "cancelled");
    }
    let [mut at_a, mut at_b] = pair.legacy().await;
    let id = at_a.start("hang", json!({})).await;
    at_a.result("tasks/cancel", named(&id)).await;
    for caller in [&mut at_a, &mut at_b] {
        assert_eq!(caller.code("tasks/cancel", named(&id)).await, INVALID_PARAMS);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_is_answered_at_any() {
    let pair = Pair::new();
    let [mut at_a, mut at_b] = pair.modern();
    let id = at_a.start("both", json!({})).await;
    let asked = until(&mut at_b, &id, "input_required").await;
    assert_eq!(asked["inputRequests"], at_a.get(&id).await["inputRequests"]);
    // What does not fit is refused as by the server that runs it.
    let unfit = json!({ "taskId": id, "inputResponses": { "one": 1 } });
    assert_eq!(at_b.code("tasks/update", unfit).await, INVALID_PARAMS);
    let answer = |word: &str| accept(&json!({ "word": word }));
    at_b.update(&id, json!({ "one": answer("a"), "none": 1 })).await;
    let open = at_b.get(&id).await["inputRequests"].clone();
    assert_eq!(open.as_object().unwrap().keys().collect::<Vec<_>>(), ["two"]);
    at_a.update(&id, json!({ "two": answer("b") })).await;
    for caller in [&mut at_a, &mut at_b] {
        let done = until(caller, &id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "a+b");
    }
    // One question after the other, all answered at the other.
    let id = at_a.start("twice", json!({})).await;
    for key in ["first", "second"] {
        let asked = until(&mut at_b, &id, "input_required").await;
        assert!(asked["inputRequests"][key].is_object(), "{asked}");
        at_b.update(&id, json!({ key: answer(key) })).await;
    }
    let done = until(&mut at_a, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "first+second");
}

#[tokio::test(start_paused = true)]
async fn a_legacy_client_is_asked_where_it_waits() {
    let pair = Pair::new();
    let [mut at_a, mut at_b] = pair.legacy().await;
    let id = at_a.start("twice", json!({})).await;
    let http = at_b.http("tasks/result", &named(&id));
    let mut stream = Stream::of(pair.services[1].handle(http).await);
    for word in ["a", "b"] {
        let question = stream.next().await;
        assert_eq!(question["method"], "elicitation/create");
        at_b.reply(&question["id"], &accept(&json!({ "word": word }))).await;
    }
    let answer = stream.next().await;
    assert_eq!(answer["result"]["content"][0]["text"], "a+b", "{answer}");
    // An answer that is not valid fails the tool, which runs in the other server.
    let id = at_a.start("confirm", json!({})).await;
    let http = at_b.http("tasks/result", &named(&id));
    let mut stream = Stream::of(pair.services[1].handle(http).await);
    let question = stream.next().await;
    at_b.reply(&question["id"], &accept(&json!({ "word": 1 }))).await;
    let answer = stream.next().await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(until(&mut at_a, &id, "failed").await, at_b.get(&id).await);
}

#[tokio::test(start_paused = true)]
async fn a_listener_is_notified_of_the_tasks_of_the_other() {
    let pair = Pair::new();
    let [mut at_a, mut at_b] = pair.modern();
    let id = at_a.start("confirm", json!({})).await;
    until(&mut at_a, &id, "input_required").await;
    let wanted = json!({ "notifications": { "taskIds": [id] } });
    let http = at_b.http("subscriptions/listen", &wanted);
    let mut stream = Stream::of(pair.services[1].handle(http).await);
    let agreed = stream.next().await;
    assert_eq!(agreed["params"]["notifications"]["taskIds"], json!([id]));
    let mut told = stream.next().await;
    while told["params"]["status"] != "input_required" {
        told = stream.next().await;
    }
    at_a.update(&id, json!({ "confirm": accept(&json!({ "word": "yes" })) })).await;
    while told["params"]["status"] != "completed" {
        told = stream.next().await;
        assert_eq!(told["method"], "notifications/tasks");
    }
    assert_eq!(told["params"]["result"]["content"][0]["text"], "yes");
}

#[tokio::test(start_paused = true)]
async fn the_tasks_of_a_server_that_ended_have_failed() {
    let mut pair = Pair::new();
    let reason = "the server that ran this task has ended";
    let [mut modern, mut modern_at_b] = pair.modern();
    let [mut legacy, mut legacy_at_b] = pair.legacy().await;
    let id = modern.start("hang", json!({})).await;
    let waited_for = legacy.start("hang", json!({})).await;
    let listed = legacy.start("hang", json!({})).await;
    for _ in 0..3 {
        pair.events.expect("started").await;
    }
    let wanted = json!({ "notifications": { "taskIds": [id] } });
    let http = modern_at_b.http("subscriptions/listen", &wanted);
    let mut stream = Stream::of(pair.services[1].handle(http).await);
    let mut other = legacy_at_b.at(&pair.services[1]);
    let waiting =
        tokio::spawn(async move { other.answer("tasks/result", &named(&waited_for)).await });
    stream.next().await;
    assert_eq!(stream.next().await["params"]["status"], "working");

    pair.memory.end(0);
    // Those that wait are notified within some seconds, others at once.
    let failed = stream.next().await["params"].clone();
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["error"]["message"], reason);
    let answer = waiting.await.unwrap();
    assert_eq!(answer["error"]["message"], reason);
    let tasks = legacy_at_b.result("tasks/list", json!({})).await["tasks"].clone();
    let tasks = tasks.as_array().unwrap();
    assert!(tasks.iter().all(|task| task["status"] == "failed"));
    assert!(tasks.iter().any(|task| task["taskId"] == listed.as_str()));
    assert_eq!(tasks[0]["statusMessage"], reason);
    let again = modern_at_b.get(&id).await;
    assert_eq!(again["lastUpdatedAt"], failed["lastUpdatedAt"]);
    // A server that was only thought to have ended agrees.
    for _ in 0..3 {
        pair.events.expect("dropped").await;
    }
    assert_eq!(modern.get(&id).await, again);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_or_is_dropped_leaves_no_task_working() {
    let mut pair = Pair::new();
    let [mut at_a, mut at_b] = pair.modern();
    let id = at_a.start("hang", json!({})).await;
    pair.events.expect("started").await;
    pair.servers[0].close();
    pair.servers[0].tasks_ended().await;
    let failed = at_b.get(&id).await;
    let reason = "the server closed before the task was done";
    assert_eq!(failed["error"]["message"], reason, "{failed}");

    let mut pair = Pair::new();
    let [mut at_a, mut at_b] = pair.modern();
    let id = at_a.start("hang", json!({})).await;
    pair.events.expect("started").await;
    let at_b_alone = pair.services[1].clone();
    let (_memory, _other) = (pair.memory, pair.servers[1].clone());
    drop((at_a, pair.servers, pair.services));
    pair.events.expect("dropped").await;
    let failed = until(&mut at_b, &id, "failed").await;
    assert_eq!(failed["error"]["message"], reason, "{failed}");
    drop(at_b_alone);
}

#[tokio::test(start_paused = true)]
async fn of_others_tasks_nothing_is_known_at_any_server() {
    let mut pair = Pair::new();
    for [mut at_a, mut at_b] in pair.both().await {
        let id = at_a.start("hang", json!({})).await;
        pair.events.expect("started").await;
        at_b.principal = Some("bob");
        let unknown = at_b.answer("tasks/get", &named("0123")).await;
        let foreign = at_b.answer("tasks/get", &named(&id)).await;
        // Over a session of another principal nothing is answered at all.
        if let Some(code) = foreign["error"]["code"].as_i64() {
            assert_eq!(code, unknown["error"]["code"]);
        }
        at_b.principal = Some("ann");
        assert_eq!(at_b.get(&id).await["status"], "working");
    }
    // A task stays in its era.
    let ([mut modern, _], [_, mut legacy]) = (pair.modern(), pair.legacy().await);
    let id = modern.start("hang", json!({})).await;
    assert_eq!(legacy.code("tasks/get", named(&id)).await, INVALID_PARAMS);
    // One without a principal belongs to any caller that knows its name.
    let [mut at_a, mut at_b] = pair.modern();
    (at_a.principal, at_b.principal) = (None, None);
    let id = at_a.start("hang", json!({})).await;
    assert_eq!(at_b.get(&id).await["status"], "working");
    at_b.principal = Some("ann");
    assert_eq!(at_b.code("tasks/get", named(&id)).await, INVALID_PARAMS);
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_tasks_go_on_and_are_not_said_to_be_unknown() {
    let mut pair = Pair::new();
    for [mut at_a, mut at_b] in pair.both().await {
        let id = at_a.start("gate", json!({})).await;
        pair.events.expect("started").await;
        pair.memory.is_away.store(true, Ordering::SeqCst);
        let away = at_b.answer("tasks/get", &named(&id)).await;
        assert_eq!(away["error"]["code"], INTERNAL);
        let message = away["error"]["message"].as_str().unwrap();
        assert!(message.contains("unavailable"), "{message}");
        assert_eq!(at_b.code("tasks/cancel", named(&id)).await, INTERNAL);
        // The server that runs it knows of it. How it ends counts once it is kept.
        pair.probe.gate.notify_one();
        tokio::time::sleep(SOON).await;
        assert_eq!(at_a.get(&id).await["status"], "working");
        pair.memory.is_away.store(false, Ordering::SeqCst);
        until(&mut at_b, &id, "completed").await;
        until(&mut at_a, &id, "completed").await;
        pair.memory.is_away.store(true, Ordering::SeqCst);
        let refused = at_a.answer("tasks/get", &named("0123")).await;
        assert_eq!(refused["error"]["code"], INTERNAL, "{refused}");
        pair.memory.is_away.store(false, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_was_kept_without_a_word_is_the_end() {
    let mut pair = Pair::new();
    for [mut at_a, mut at_b] in pair.both().await {
        let id = at_a.start("gate", json!({})).await;
        pair.events.expect("started").await;
        pair.memory.loses_an_answer.store(true, Ordering::SeqCst);
        pair.probe.gate.notify_one();
        for caller in [&mut at_b, &mut at_a] {
            let done = until(caller, &id, "completed").await;
            let result = match done.get("result") {
                Some(result) => result.clone(),
                None => caller.result("tasks/result", named(&id)).await,
            };
            assert_eq!(result["content"][0]["text"], id.as_str());
        }
        assert!(!pair.memory.loses_an_answer.load(Ordering::SeqCst));
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_the_store_does_not_take_fails_its_task() {
    let pair = Pair::new();
    pair.memory.max.store(2_000, Ordering::SeqCst);
    for [mut at_a, mut at_b] in pair.both().await {
        let id = at_a.start("large", json!({ "bytes": 3_000 })).await;
        let failed = until(&mut at_b, &id, "failed").await;
        let message = failed["statusMessage"].as_str().unwrap();
        assert!(message.contains("its store takes 2000"), "{message}");
        until(&mut at_a, &id, "failed").await;
    }
}

#[tokio::test(start_paused = true)]
async fn bounds_hold_wherever_answers_come_in() {
    let pair = Pair::with(config(|config| config.max_task_bytes = 1_000));
    let [mut at_a, mut at_b] = pair.modern();
    let id = at_a.start("both", json!({})).await;
    until(&mut at_b, &id, "input_required").await;
    let answer = |bytes| accept(&json!({ "word": "x".repeat(bytes) }));
    at_b.update(&id, json!({ "one": answer(600) })).await;
    for caller in [&mut at_b, &mut at_a] {
        tokio::time::sleep(SOON).await;
        let more = json!({ "taskId": id, "inputResponses": { "two": answer(600) } });
        let refused = caller.answer("tasks/update", &more).await;
        assert_eq!(refused["error"]["code"], INVALID_PARAMS, "{refused}");
    }
    assert!(pair.memory.largest() < 3_000);
    // A time that is over is over everywhere.
    tokio::time::sleep(Duration::from_secs(60 * 60)).await;
    for caller in [&mut at_b, &mut at_a] {
        assert_eq!(caller.code("tasks/get", named(&id)).await, INVALID_PARAMS);
    }
}
