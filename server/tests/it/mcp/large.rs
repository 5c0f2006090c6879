//! Large universes, of whose text parts are kept: every way reads the state as it is, after each change.

use serde_json::{Value, json};
use universe_core::{Command, State};

use crate::harness::ways::Caller;
use crate::harness::{Ways, add_star, remove_star, set_mass, tick};

const GET: &str = "get_universe_state";
const SEND: &str = "send_universe_command";

/// More than one part of a kept text, with characters that are escaped in it.
fn large() -> Value {
    let name = "a \"quoted\" name, Ω\n".repeat(40);
    let body = |number: usize| {
        let mut body = add_star(&format!("body-{number:03}"))["payload"].clone();
        body["name"] = json!(format!("{number} {name}"));
        body["children"] = json!([]);
        body["orbitalPhase"] = json!(0);
        (format!("body-{number:03}"), body)
    };
    let mut stars: serde_json::Map<_, _> = (0..700).map(body).collect();
    for (id, body) in &mut stars {
        body["id"] = json!(id);
    }
    let ids: Vec<_> = stars.keys().cloned().collect();
    json!({ "stars": stars, "rootIds": ids, "own": { "kept": [1, "two"] } })
}

#[tokio::test]
async fn every_way_reads_a_large_universe_as_it_is_after_each_change() {
    let mut ways = Ways::start(&[]).await;
    let client = ways.client;
    let mut state = State::from_partial(large()).unwrap();
    assert!(!state.is_within(300 << 10));
    let id = client.create("large", large()).await;
    let group = json!({ "type": "addGroup", "id": "g", "payload": { "name": "G", "children": [], "parentGroupId": null } });
    let changes = [
        tick(),
        set_mass("body-350", 7),
        add_star("body-350-and-more"),
        remove_star("body-000"),
        group,
        json!({ "type": "removeGroup", "id": "g" }),
    ];
    for (_, caller) in ways.each() {
        let mut before = state.clone();
        for change in &changes {
            let command = Command::from_value(change.clone()).unwrap();
            before = before.apply(&command).unwrap().state;
            client.command(&id, change).await;
            let answer = caller.content(GET, json!({ "universeId": id, "whole": true })).await;
            assert_eq!(answer, before.to_value(), "after {change}");
            let universe = client.universe(&id).await;
            assert_eq!(universe["state"], answer, "after {change}");
        }
        // As a whole: nothing that was kept is of use.
        let path = format!("/universes/{id}");
        let reply = client.put(&path, &json!({ "state": large() })).await;
        assert_eq!(reply.status, 200);
        state = State::from_partial(large()).unwrap();
        let answer = caller.content(GET, json!({ "universeId": id, "whole": true })).await;
        assert_eq!(answer, state.to_value());
    }
}

/// openai/codex#31805, byadsco/meta-ads-mcp#150: an answer over stdio that is longer than the client takes ends its
/// connection. These tools promise both forms (REQ-MCP-10, REQ-MCP-12), so the answer says how to ask for less.
#[tokio::test]
async fn an_answer_that_is_too_long_for_stdio_says_how_to_ask_for_less() {
    let mut ways = Ways::start(&["--max-answer", "1MiB"]).await;
    let client = ways.client;
    let id = client.create("large", large()).await;
    let snapshot = client.universe(&id).await["state"].take();
    for (_, caller) in ways.each() {
        let whole = json!({ "universeId": id, "whole": true });
        let ticked = json!({ "universeId": id, "command": tick(), "result": "state" });
        if let Caller::Http(_) = caller {
            assert!(caller.content(GET, whole).await["stars"].is_object());
            assert!(caller.content(SEND, ticked).await["nextState"].is_object());
            continue;
        }
        let error = caller.error(GET, whole).await;
        assert_eq!(error["code"], "ANSWER_TOO_LARGE", "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("`select`") && message.contains("`limit`"), "{message}");
        let page = caller.content(GET, json!({ "universeId": id, "limit": 10 })).await;
        assert_eq!(page["selected"], 700);
        // Known before the command is carried out.
        let before = client.universe(&id).await["revision"].take();
        let error = caller.error(SEND, ticked).await;
        assert_eq!(error["code"], "ANSWER_TOO_LARGE", "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&id) && message.contains("nothing was changed"), "{message}");
        assert_eq!(client.universe(&id).await["revision"], before);
        // Known afterwards alone.
        let empty = client.create("empty", json!({})).await;
        let replace = json!({ "type": "replaceSnapshot", "snapshot": snapshot });
        let replace = json!({ "universeId": empty, "command": replace, "result": "changes" });
        let error = caller.error(SEND, replace).await;
        assert_eq!(error["code"], "ANSWER_TOO_LARGE", "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("the command was carried out"), "{message}");
        assert_eq!(client.universe(&empty).await["revision"], 1);
    }
}
