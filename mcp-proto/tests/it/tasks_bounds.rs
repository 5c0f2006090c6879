//! How many tasks there are, for how long, and how they end with their server. Time is made by the tests.

use std::time::Duration;

use mcp_proto::budget::Bound;
use mcp_proto::{Server, StreamableHttpService, TasksConfig};
use serde_json::json;
use tokio::time::{Instant, advance};

use crate::common::probe;
use crate::tasks_common::{Caller, able, accept, builder, call, config, server};

const SECOND: Duration = Duration::from_secs(1);

fn modern(server: &Server) -> Caller {
    Caller::modern(&StreamableHttpService::new(server.clone()), able())
}

#[tokio::test(start_paused = true)]
async fn a_task_is_kept_as_long_as_its_ttl_says_and_no_longer() {
    let (probe, mut events) = probe();
    let server = builder(&probe, config(|config| config.ttl = SECOND * 60)).build().unwrap();
    let mut caller = modern(&server);
    let started = Instant::now();
    let done = caller.start("job", json!({ "ends": "well" })).await;
    let running = caller.start("hang", json!({})).await;
    let asking = caller.start("confirm", json!({})).await;
    for event in ["called", "called", "started"] {
        events.expect(event).await;
    }
    assert_eq!(caller.get(&done).await["ttlMs"], 60_000);
    caller.until(&done, "completed").await;
    caller.until(&asking, "input_required").await;
    advance(started + SECOND * 59 - Instant::now()).await;
    caller.until(&done, "completed").await;
    assert_eq!(caller.get(&running).await["status"], "working");
    assert_eq!(caller.get(&asking).await["status"], "input_required");
    // The handler goes by itself: nobody asks meanwhile.
    assert!(events.none());
    advance(SECOND).await;
    events.expect("dropped").await;
    for id in [done, running, asking] {
        for method in ["tasks/get", "tasks/cancel"] {
            assert_eq!(caller.code(method, json!({ "taskId": id })).await, -32602);
        }
    }
    server.tasks_ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_legacy_client_chooses_the_ttl_within_bounds() {
    let (probe, mut events) = probe();
    let server = builder(&probe, config(|config| config.max_ttl = SECOND * 7_200)).build().unwrap();
    let service = StreamableHttpService::new(server);
    let mut caller = Caller::legacy(&service, "2025-11-25", None).await;
    for (asked, given) in [
        (json!({}), 3_600_000),
        (json!({ "ttl": null }), 3_600_000),
        (json!({ "ttl": 5_000 }), 5_000),
        (json!({ "ttl": 5_000.7 }), 5_000),
        (json!({ "ttl": 0 }), 1_000),
        (json!({ "ttl": 1e300 }), 7_200_000),
        (json!({ "ttl": 86_400_000 }), 7_200_000),
    ] {
        let mut params = call("hang", &json!({}));
        params["task"] = asked.clone();
        let created = caller.result("tools/call", params).await;
        assert_eq!(created["task"]["ttl"], given, "{asked}");
        events.expect("started").await;
    }
    // Who waits for the result is told when the time is over.
    let mut params = call("hang", &json!({}));
    params["task"] = json!({ "ttl": 2_000 });
    let created = caller.result("tools/call", params).await;
    let id = created["task"]["taskId"].clone();
    assert_eq!(caller.code("tasks/result", json!({ "taskId": id })).await, -32602);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_sees_the_task_through() {
    for mut caller in Caller::modern_ones(&server(&probe().0)) {
        let created = caller.result("tools/call", call("sleep", &json!({ "seconds": 89.5 }))).await;
        let interval = Duration::from_millis(created["pollIntervalMs"].as_u64().unwrap());
        let id = created["taskId"].as_str().unwrap().to_owned();
        let (started, mut polls) = (Instant::now(), 0);
        while caller.get(&id).await["status"] == "working" {
            tokio::time::sleep(interval).await;
            polls += 1;
        }
        assert_eq!(polls, 90);
        assert_eq!(started.elapsed(), SECOND * 90);
        assert_eq!(caller.get(&id).await["result"]["content"][0]["text"], "slept");
    }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_tasks_are_the_most_and_their_places_come_back() {
    let (probe, mut events) = probe();
    let server = builder(&probe, config(|config| config.ttl = SECOND * 60)).build().unwrap();
    let mut caller = modern(&server);
    for round in 0..2 {
        for _ in 0..10_000 {
            caller.start("hang", json!({})).await;
        }
        let answer = caller.answer("tools/call", &call("hang", &json!({}))).await;
        assert_eq!(answer["error"]["code"], -32603, "{round}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("try again later"), "{message}");
        for _ in 0..10_000 {
            events.expect("started").await;
        }
        assert!(events.none());
        advance(SECOND * 60).await;
        for _ in 0..10_000 {
            events.expect("dropped").await;
        }
        server.tasks_ended().await;
    }
}

#[tokio::test]
async fn one_owner_cannot_take_every_place() {
    let (probe, _events) = probe();
    let server = builder(&probe, config(|config| config.tasks.share = 2)).build().unwrap();
    let service = StreamableHttpService::new(server);
    let by = |principal| {
        let mut caller = Caller::modern(&service, able());
        caller.principal = principal;
        caller
    };
    let params = call("hang", &json!({}));
    for _ in 0..2 {
        by(Some("ann")).start("hang", json!({})).await;
    }
    assert_eq!(by(Some("ann")).code("tools/call", params.clone()).await, -32603);
    // The eras count together, principals apart.
    let mut legacy = Caller::legacy(&service, "2025-11-25", Some("ann")).await;
    let mut as_task = params.clone();
    as_task["task"] = json!({});
    assert_eq!(legacy.code("tools/call", as_task).await, -32603);
    by(Some("bob")).start("hang", json!({})).await;
    // Nobody is not somebody.
    for _ in 0..3 {
        by(None).start("hang", json!({})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_bounded_in_bytes() {
    let (probe, _events) = probe();
    let bounds = config(|config| {
        config.max_task_bytes = 1_000;
        config.bytes = Bound::of(2_500);
        config.ttl = SECOND * 60;
    });
    let mut caller = modern(&builder(&probe, bounds).build().unwrap());
    for _ in 0..2 {
        // One task.
        let id = caller.start("large", json!({ "bytes": 2_000 })).await;
        let task = caller.until(&id, "failed").await;
        assert_eq!(task["error"]["code"], -32603);
        let message = task["error"]["message"].as_str().unwrap();
        assert!(message.contains("bytes") && message.contains("1000"), "{message}");
        let arguments = json!({ "bytes": 1, "more": "x".repeat(1_000) });
        assert_eq!(caller.code("tools/call", call("large", &arguments)).await, -32602);
        // All together.
        for fits in [true, true, false] {
            let id = caller.start("large", json!({ "bytes": 700 })).await;
            let status = if fits { "completed" } else { "failed" };
            caller.until(&id, status).await;
        }
        let arguments = json!({ "bytes": 1, "more": "x".repeat(800) });
        assert_eq!(caller.code("tools/call", call("large", &arguments)).await, -32603);
        // The room comes back with time.
        advance(SECOND * 60).await;
    }
}

#[tokio::test]
async fn answers_are_bounded_in_bytes() {
    let (probe, _events) = probe();
    let bounds = config(|config| config.max_task_bytes = 1_000);
    let mut caller = modern(&builder(&probe, bounds).build().unwrap());
    let id = caller.start("confirm", json!({})).await;
    caller.until(&id, "input_required").await;
    let large = accept(&json!({ "word": "x".repeat(1_000) }));
    let params = json!({ "taskId": id, "inputResponses": { "confirm": large } });
    assert_eq!(caller.code("tasks/update", params).await, -32602);
    assert_eq!(caller.get(&id).await["status"], "input_required");
    // What nobody asked for is not kept, whatever its size.
    caller.update(&id, json!({ "other": "x".repeat(1_000) })).await;
    caller.update(&id, json!({ "confirm": accept(&json!({ "word": "small" })) })).await;
    caller.until(&id, "completed").await;
}

#[tokio::test]
async fn the_last_handle_of_the_server_takes_its_tasks_along() {
    let (probe, mut events) = probe();
    let server = server(&probe);
    let mut caller = modern(&server);
    caller.start("hang", json!({})).await;
    caller.start("confirm", json!({})).await;
    events.expect("started").await;
    drop(server);
    assert!(events.none());
    drop(caller);
    events.expect("dropped").await;
}

#[tokio::test(start_paused = true)]
async fn a_closed_server_gives_its_tasks_some_time() {
    let (probe, mut events) = probe();
    let bounds = config(|config| config.max_time_after_close = SECOND * 5);
    let server = builder(&probe, bounds).build().unwrap();
    let service = StreamableHttpService::new(server.clone());
    let mut caller = Caller::modern(&service, able());
    let quick = caller.start("sleep", json!({ "seconds": 4 })).await;
    let slow = caller.start("hang", json!({})).await;
    events.expect("started").await;
    let closed = Instant::now();
    service.close();
    let answer = caller.answer("tools/call", &call("hang", &json!({}))).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(answer["error"]["message"].as_str().unwrap().contains("closing"), "{answer}");
    assert!(events.none());
    service.ended().await;
    assert_eq!(closed.elapsed().as_secs(), 5);
    events.expect("dropped").await;
    assert_eq!(caller.get(&quick).await["status"], "completed");
    let task = caller.get(&slow).await;
    assert_eq!(task["status"], "failed");
    assert_eq!(task["error"]["code"], -32603);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_running_tasks_ends_at_once() {
    let server = server(&probe().0);
    let mut caller = modern(&server);
    let id = caller.start("job", json!({ "ends": "well" })).await;
    caller.until(&id, "completed").await;
    server.close();
    let before = Instant::now();
    server.tasks_ended().await;
    assert_eq!(before.elapsed(), Duration::ZERO);
    let none = Server::builder("none", "1", ()).build().unwrap();
    none.tasks_ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_tools_own_limit_holds_for_each_time_it_is_called() {
    let (probe, _events) = probe();
    let tool = mcp_proto::Tool::new("slow", "Slow.")
        .asking()
        .with_input_schema(json!({ "type": "object" }))
        .with_task_support(mcp_proto::TaskSupport::Optional)
        .with_timeout(SECOND * 10);
    let server = builder(&probe, TasksConfig::default())
        .raw_tool(tool, async |_, _, context: mcp_proto::Context| {
            context.start_task()?;
            std::future::pending::<Result<(), _>>().await
        })
        .build()
        .unwrap();
    let mut caller = modern(&server);
    let id = caller.start("slow", json!({})).await;
    tokio::time::sleep(SECOND * 11).await;
    let task = caller.until(&id, "completed").await;
    assert!(task["result"].to_string().contains("TIMEOUT"), "{task}");
}

#[tokio::test]
async fn a_handler_that_asks_without_end_fails_its_task() {
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tool = mcp_proto::Tool::new("ask", "Asks.")
        .asking()
        .with_input_schema(json!({ "type": "object" }))
        .with_task_support(mcp_proto::TaskSupport::Optional);
    let server = Server::builder("ask", "1", asked)
        .tasks(TasksConfig::default())
        .raw_tool(tool, async |asked, _, context: mcp_proto::Context| {
            context.start_task()?;
            let asked = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            context.elicit(&asked.to_string(), &mcp_proto::ElicitForm::new("And?"))?;
            Ok(mcp_proto::CallToolResult::text("enough"))
        })
        .build()
        .unwrap();
    let mut caller = modern(&server);
    let id = caller.start("ask", json!({})).await;
    for asked in 0..32 {
        caller.until(&id, "input_required").await;
        let responses = json!({ asked.to_string(): accept(&json!({})) });
        caller.update(&id, responses).await;
    }
    let task = caller.until(&id, "failed").await;
    assert_eq!(task["error"]["code"], -32603);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_result_and_a_cancellation_that_meet_one_wins_for_good() {
    let (probe, _events) = probe();
    let mut caller = modern(&server(&probe));
    for _ in 0..200 {
        let id = caller.start("job", json!({ "ends": "well" })).await;
        caller.result("tasks/cancel", json!({ "taskId": id })).await;
        let task = caller.get(&id).await;
        let cancelled = task["status"] == "cancelled" && task.get("result").is_none();
        let completed = task["status"] == "completed" && task.get("result").is_some();
        assert!(cancelled || completed, "{task}");
        for _ in 0..3 {
            tokio::task::yield_now().await;
            assert_eq!(caller.get(&id).await, task);
        }
    }
}

#[tokio::test]
async fn one_owner_cannot_take_all_the_room() {
    let (probe, _events) = probe();
    let bounds = config(|config| {
        config.max_task_bytes = 1_000;
        config.bytes = Bound { total: 10_000, share: 2_500 };
    });
    let service = StreamableHttpService::new(builder(&probe, bounds).build().unwrap());
    let by = |principal| {
        let mut caller = Caller::modern(&service, able());
        caller.principal = principal;
        caller
    };
    let mut ann = by(Some("ann"));
    for fits in [true, true, true, false] {
        let id = ann.start("large", json!({ "bytes": 500 })).await;
        let status = if fits { "completed" } else { "failed" };
        ann.until(&id, status).await;
    }
    let arguments = json!({ "bytes": 1, "more": "x".repeat(800) });
    let refused = ann.answer("tools/call", &call("large", &arguments)).await;
    assert_eq!(refused["error"]["code"], -32603);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("for this client"), "{message}");
    for other in [Some("bob"), None] {
        let mut other = by(other);
        let id = other.start("large", arguments.clone()).await;
        other.until(&id, "completed").await;
    }
    // Nobody is not somebody.
    for _ in 0..4 {
        let id = by(None).start("large", json!({ "bytes": 500 })).await;
        by(None).until(&id, "completed").await;
    }
}

#[tokio::test]
async fn a_ttl_without_end_is_a_long_one() {
    let (probe, _events) = probe();
    let bounds = config(|config| {
        config.ttl = Duration::MAX;
        config.max_ttl = Duration::MAX;
    });
    let mut caller = modern(&builder(&probe, bounds).build().unwrap());
    let id = caller.start("hang", json!({})).await;
    let ttl = caller.get(&id).await["ttlMs"].as_u64().unwrap();
    assert!(ttl > 86_400_000 * 365, "{ttl}");
}
