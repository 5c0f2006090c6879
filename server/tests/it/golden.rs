//! The golden cases of the domain, sent through MCP: what the published schema allows is what the domain allows.

use std::path::Path;
use std::sync::Arc;

use mcp_proto::jsonrpc::Request;
use mcp_proto::{Context, Server};
use serde_json::{Value, json};
use universe_core::State;
use universe_server::commands::{CommandService, ServiceLimits};
use universe_server::mcp;
use universe_server::store::{MemoryLimits, MemoryStore, UniverseId};

/// The result of a call of `send_universe_command`, as its text has it.
async fn send(server: &Server, id: &UniverseId, command: &Value) -> (bool, Value) {
    let params = json!({
        "name": "send_universe_command",
        "arguments": { "universeId": id.as_str(), "command": command },
    });
    let request = Request::new(1, "tools/call", params);
    let response = server.handle(request, Context::test()).await;
    let result = response.outcome.expect("a result").to_value();
    let text = result["content"][0]["text"].as_str().expect("one text");
    let text = serde_json::from_str(text).expect("JSON");
    (result["isError"] == true, text)
}

/// Equal, with numbers compared as doubles.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

#[tokio::test]
async fn conforming_commands_do_through_mcp_what_they_do_in_the_domain() {
    let vectors =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../universe-core/tests/vectors/reducer.jsonl");
    let vectors = std::fs::read_to_string(vectors).expect("the golden cases");
    let service = CommandService::new(
        Arc::new(MemoryStore::new(MemoryLimits::default())),
        ServiceLimits::default(),
    );
    let server = mcp::server(service.clone(), mcp::ToolSet::Core, None).expect("a server");
    let mut told = 0;
    for case in vectors.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case")) {
        if case["class"] != "conform" || case.get("command").is_none() {
            continue;
        }
        let name = &case["name"];
        let id = UniverseId::random();
        let state =
            State::from_value(case["state"].clone()).expect("a state that holds the invariants");
        service.create(id.clone(), "golden".to_owned(), state).await.expect("a universe");
        let (is_error, answer) = send(&server, &id, &case["command"]).await;
        let (state, events) = if is_error {
            let now = service.get(&id).await.expect("the universe").state.to_value();
            (now, answer["error"]["data"]["events"].clone())
        } else {
            (answer["nextState"].clone(), answer["events"].clone())
        };
        assert!(same(&state, &case["nextState"]), "{name}: {state}");
        assert!(same(&events, &case["events"]), "{name}: {answer}");
        service.delete(&id, None).await.expect("deleted");
        told += 1;
    }
    assert!(told > 150, "only {told} cases were told");
}
