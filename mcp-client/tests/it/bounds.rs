//! What a server can make the client do by its answers: a bounded amount of everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig, ClientError};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::fake::{Fake, Seen};

async fn connected(fake: &Fake, config: ClientConfig) -> Client {
    Client::http(&fake.url(), config).await.unwrap()
}

/// What the server did wrong.
fn broken<T: std::fmt::Debug>(result: Result<T, ClientError>) -> String {
    match result.unwrap_err() {
        ClientError::Protocol(problem) => problem,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn an_output_schema_that_could_take_without_end_is_not_compiled() {
    let names = (0..20_001).map(|number| (format!("m{number}"), json!({})));
    let many = json!({"type": "object", "properties": Map::from_iter(names)});
    // Each of thirty definitions refers twice to the next: a billion schemas.
    let twice = |next: usize| {
        let next = json!({ "$ref": format!("#/$defs/d{next}") });
        json!({ "allOf": [next, next] })
    };
    let mut definitions: Map<_, _> =
        (0..30).map(|number| (format!("d{number}"), twice(number + 1))).collect();
    definitions.insert("d30".to_owned(), json!({}));
    let bomb = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    for (schema, problem) in [(many, "20000 nodes"), (bomb, "")] {
        let fake = Fake::new(move |seen, _| match seen.name() {
            "tools/list" => {
                let tool =
                    json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema});
                seen.result(json!({ "tools": [tool] }))
            }
            _ => seen.result(json!({"content": [], "structuredContent": {}})),
        })
        .await;
        let client = connected(&fake, ClientConfig::new(Era::Modern)).await;
        client.list_tools().await.unwrap();
        for _ in 0..2 {
            let told = broken(client.call_tool("t", json!({})).await);
            assert!(told.contains("outputSchema says") && told.contains(problem), "{told}");
        }
    }
}

fn page(seen: &Seen, cursor: &str, padding: usize) -> crate::fake::Answer {
    let padding = "x".repeat(padding);
    seen.result(json!({"tools": [], "nextCursor": cursor, "_meta": {"padding": padding}}))
}

#[tokio::test]
async fn a_cursor_that_leads_to_its_own_page_ends_the_list() {
    let fake = Fake::new(|seen, _| page(seen, "again", 0)).await;
    let client = connected(&fake, ClientConfig::new(Era::Modern)).await;
    let told = broken(client.list_tools().await);
    assert!(told.contains("nextCursor"), "{told}");
    assert_eq!(fake.names().len(), 2);
}

#[tokio::test]
async fn the_pages_of_a_list_are_four_messages_large_at_the_most() {
    let fake = Fake::new(|seen, before| page(seen, &before.to_string(), 8_000)).await;
    let mut config = ClientConfig::new(Era::Modern);
    config.max_message_bytes = 10_000;
    let client = connected(&fake, config).await;
    let told = broken(client.list_tools().await);
    assert!(told.contains("40000 bytes"), "{told}");
    assert_eq!(fake.names().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_pages_of_a_list_take_ten_times_a_request_at_the_most() {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        let (reader, mut writer) = tokio::io::split(far);
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] != "tools/list" {
                continue;
            }
            let cursor = count.fetch_add(1, Ordering::SeqCst).to_string();
            tokio::time::sleep(Duration::from_secs(20)).await;
            let result = json!({ "tools": [], "nextCursor": cursor });
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    });
    let (reader, writer) = tokio::io::split(near);
    let client = Client::streams(reader, writer, ClientConfig::new(Era::Modern));
    let error = client.await.unwrap().list_tools().await.unwrap_err();
    assert_eq!(error, ClientError::Timeout(Duration::from_secs(300)));
    assert!(asked.load(Ordering::SeqCst) <= 16);
}

#[tokio::test]
async fn a_result_asks_64_questions_at_the_most() {
    let asked = Arc::new(AtomicUsize::new(0));
    for count in [64, 65] {
        let questions: Map<_, _> = (0..count)
            .map(|number| (format!("q{number}"), json!({"method": "roots/list"})))
            .collect();
        let fake = Fake::new(move |seen, before| match (seen.name(), before % 2) {
            ("tools/call", 0) => seen.result(json!({
                "resultType": "input_required", "inputRequests": questions,
            })),
            ("tasks/get", 0) => seen.result(json!({
                "taskId": "t", "status": "input_required", "inputRequests": questions,
                "pollIntervalMs": 1,
            })),
            ("tasks/get", _) => {
                seen.result(json!({"taskId": "t", "status": "completed", "result": {}}))
            }
            _ => seen.result(json!({"content": []})),
        })
        .await;
        let heard = Arc::clone(&asked);
        let config = ClientConfig::new(Era::Modern).with_answers(move |_| {
            heard.fetch_add(1, Ordering::SeqCst);
            async { Ok(json!({"roots": []})) }
        });
        let client = connected(&fake, config).await;
        let called = client.call_tool_raw("t", json!({})).await;
        let task = client.task("t").result().await;
        if count == 64 {
            assert!(called.is_ok() && task.is_ok(), "{called:?} {task:?}");
            continue;
        }
        for result in [called, task] {
            let told = broken(result);
            assert!(told.contains("65 questions"), "{told}");
        }
    }
    assert_eq!(asked.load(Ordering::SeqCst), 128);
}
