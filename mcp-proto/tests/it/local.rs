//! Handlers whose state stays on one thread: run there, side by side and in bounds, and dropped with their callers,
//! over HTTP and stdio in both eras.

use std::cell::RefCell;
use std::rc::Rc;

use mcp_proto::error::LocalError;
use mcp_proto::{CallToolResult, Context, Local, Server, Tool, ToolError};
use serde_json::{Map, Value, json};

use crate::common::{Probe, call, every_client, probe};

/// Of one thread alone.
type Words = Rc<RefCell<Vec<String>>>;

async fn keep(
    words: Local<Words>,
    arguments: Map<String, Value>,
    _: Context,
) -> Result<CallToolResult, ToolError> {
    let kept = words.run(async move |words| {
        let mine = Rc::clone(&words);
        tokio::task::yield_now().await;
        mine.borrow_mut().push(arguments["word"].as_str().unwrap().to_owned());
        mine.borrow().join(" ")
    });
    Ok(CallToolResult::text(kept.await?))
}

fn server(words: Local<Words>) -> Server {
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}});
    let tool = Tool::new("keep", "").with_input_schema(schema);
    Server::builder("s", "1", words).raw_tool(tool, keep).build().unwrap()
}

async fn conversations(server: &Server) {
    let (clients, served) = every_client(server).await;
    let mut all = Vec::new();
    for (name, client) in &clients {
        let word = name.replace(' ', "-");
        all.push(word.clone());
        let params = json!({"name": "keep", "arguments": {"word": word}});
        let answer = client.request("tools/call", params).await.unwrap();
        assert_eq!(answer["content"][0]["text"], all.join(" "));
        let params = json!({"name": "keep", "arguments": {}});
        let answer = client.request("tools/call", params).await.unwrap();
        assert_eq!(answer["isError"], true, "a handler that panics");
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_has_a_thread_of_its_own() {
    let words = Local::on_thread("words", Words::default).unwrap();
    conversations(&server(words)).await;
}

#[tokio::test]
async fn a_state_lives_on_the_thread_that_serves() {
    let (words, calls) = Local::here(Words::default());
    tokio::task::LocalSet::new()
        .run_until(async {
            let running = tokio::task::spawn_local(calls);
            conversations(&server(words)).await;
            // With the last handle it ends.
            running.await.unwrap();
        })
        .await;
}

#[tokio::test]
async fn a_call_is_dropped_when_its_caller_goes_away_and_others_run_meanwhile() {
    let (probe, mut events) = probe();
    let hanging = Local::on_thread("hanging", move || probe).unwrap();
    let hang = hanging.run(async move |probe: Rc<Probe>| {
        let _guard = probe.guard();
        probe.report("started");
        std::future::pending::<()>().await;
    });
    tokio::select! {
        _ = hang => panic!("it never answers"),
        () = events.expect("started") => {}
    }
    events.expect("dropped").await;
    // More than wait and run at once.
    let calls = (0..1_000).map(|number| {
        let hanging = hanging.clone();
        async move { hanging.run(async move |_| number).await }
    });
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.into_iter().map(Result::unwrap).eq(0..1_000));
}

#[tokio::test]
async fn what_fails_is_an_error_and_the_state_lives_on() {
    let number = Local::on_thread("number", || 7).unwrap();
    let panicked = number.run(async |_| assert!(std::env::args().count() == 0)).await;
    assert_eq!(panicked, Err(LocalError::Panicked));
    assert_eq!(number.run(async |number| *number).await, Ok(7));
    let (gone, calls) = Local::here(7);
    drop(calls);
    assert_eq!(gone.run(async |number| *number).await, Err(LocalError::Ended));
    let server = Server::builder("s", "1", gone).raw_tool(
        Tool::new("gone", "").with_input_schema(json!({"type": "object"})),
        async |gone: Local<i32>, _, _| {
            gone.run(async |_| ()).await?;
            Ok(CallToolResult::text("never"))
        },
    );
    let (clients, served) = every_client(&server.build().unwrap()).await;
    for (name, client) in &clients {
        let answer = client.request("tools/call", call("gone")).await.unwrap();
        assert_eq!(answer["isError"], true, "{name}");
    }
    drop(clients);
    served.ended().await;
}
