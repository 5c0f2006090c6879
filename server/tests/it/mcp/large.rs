//! Large universes, of whose text parts are kept: every way reads the state as it is, after each change.

use serde_json::{Value, json};
use universe_core::{Command, State};

use crate::harness::{Ways, add_star, remove_star, set_mass, tick};

const GET: &str = "get_universe_state";

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
            let answer = caller.content(GET, json!({ "universeId": id })).await;
            assert_eq!(answer, before.to_value(), "after {change}");
            let universe = client.universe(&id).await;
            assert_eq!(universe["state"], answer, "after {change}");
        }
        // As a whole: nothing that was kept is of use.
        let path = format!("/universes/{id}");
        let reply = client.put(&path, &json!({ "state": large() })).await;
        assert_eq!(reply.status, 200);
        state = State::from_partial(large()).unwrap();
        let answer = caller.content(GET, json!({ "universeId": id })).await;
        assert_eq!(answer, state.to_value());
    }
}
