//! Hierarchies far deeper than any stack: nothing may recurse along them. Each test runs on a
//! small stack to make sure.

use std::thread;

use serde_json::{Map, Value, json};
use universe_core::{Command, State};

const DEPTH: usize = 100_000;

fn on_a_small_stack(test: fn()) {
    thread::Builder::new().stack_size(256 * 1024).spawn(test).unwrap().join().unwrap();
}

fn command(value: Value) -> Command {
    Command::from_value(value).unwrap()
}

/// Bodies `0` to `DEPTH - 1`, each in orbit around the one before.
fn chain_of_bodies() -> Value {
    let body = |n: usize| {
        let children: Vec<_> = (n + 1 < DEPTH).then(|| (n + 1).to_string()).into_iter().collect();
        let parent = n.checked_sub(1).map(|n| n.to_string());
        json!({
            "id": n.to_string(), "name": "", "mass": 1, "radius": 1, "color": "", "children": children,
            "parentId": parent, "orbitalDistance": 1, "orbitalSpeed": 1, "orbitalPhase": 0,
        })
    };
    let stars: Map<_, _> = (0..DEPTH).map(|n| (n.to_string(), body(n))).collect();
    json!({ "stars": stars, "rootIds": ["0"] })
}

/// Groups `0` to `DEPTH - 1`, each in the one before.
fn chain_of_groups() -> Value {
    let group = |n: usize| {
        let child = (n + 1 < DEPTH).then(|| json!({ "id": (n + 1).to_string(), "type": "group" }));
        let children: Vec<_> = child.into_iter().collect();
        let parent = n.checked_sub(1).map(|n| n.to_string());
        json!({ "id": n.to_string(), "name": "", "children": children, "parentGroupId": parent })
    };
    let groups: Map<_, _> = (0..DEPTH).map(|n| (n.to_string(), group(n))).collect();
    json!({ "groups": groups, "rootGroupIds": ["0"] })
}

#[test]
fn a_deep_chain_of_bodies() {
    on_a_small_stack(|| {
        let state = State::from_partial(chain_of_bodies()).unwrap();
        assert_eq!(state.star_count(), DEPTH);
        let text = serde_json::to_string(&state).unwrap();
        let again = State::from_value(serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(again, state);

        let last = (DEPTH - 1).to_string();
        let cycle = command(json!({ "type": "attachStar", "childId": "0", "parentId": last }));
        assert_eq!(state.apply(&cycle).unwrap_err().code(), "ATTACH_FAILED_CYCLE");

        let detach = command(json!({ "type": "detachStar", "childId": "1" }));
        let detached = state.apply(&detach).unwrap().state;
        let attach = command(json!({ "type": "attachStar", "childId": "0", "parentId": last }));
        let turned = detached.apply(&attach).unwrap().state;
        turned.check().unwrap();
        assert_eq!(turned.root_ids().collect::<Vec<_>>(), ["1"]);

        let remove = command(json!({ "type": "removeStar", "id": "0" }));
        let applied = state.apply(&remove).unwrap();
        assert_eq!(applied.state.star_count(), 0);
        let event = serde_json::to_value(&applied.events[0]).unwrap();
        assert_eq!(event["removedIds"].as_array().unwrap().len(), DEPTH);
        assert_eq!(event["removedIds"][DEPTH - 1], json!(last));
        applied.state.check().unwrap();
    });
}

#[test]
fn a_deep_chain_of_groups() {
    on_a_small_stack(|| {
        let state = State::from_partial(chain_of_groups()).unwrap();
        let last = (DEPTH - 1).to_string();
        for value in [
            json!({ "type": "moveToGroup", "childId": "0", "childType": "group", "targetGroupId": last }),
            json!({ "type": "addToGroup", "groupId": last, "child": { "id": "0", "type": "group" } }),
        ] {
            let refusal = state.apply(&command(value)).unwrap_err();
            assert_eq!(refusal.code(), "MOVE_TO_GROUP_FAILED_CYCLE");
        }
        let remove = command(json!({ "type": "removeGroup", "id": "50000" }));
        let removed = state.apply(&remove).unwrap().state;
        removed.check().unwrap();
        assert_eq!(removed.group("50001").unwrap().parent_group_id(), Some("49999"));
    });
}

#[test]
fn a_long_cycle_is_found_in_a_snapshot() {
    on_a_small_stack(|| {
        let mut universe = chain_of_bodies();
        let last = (DEPTH - 1).to_string();
        universe["stars"]["0"]["parentId"] = json!(last);
        universe["stars"][&last]["children"] = json!(["0"]);
        universe["rootIds"] = json!([]);
        let findings = State::from_partial(universe.clone()).unwrap_err();
        assert_eq!((findings.len(), findings.omitted()), (50, DEPTH - 50));
        assert!(findings.to_string().starts_with("/stars/0/parentId: leads back to itself"));

        let error = Command::from_value(json!({ "type": "replaceSnapshot", "snapshot": universe }));
        let first = error.unwrap_err().findings().iter().next().unwrap().clone();
        assert_eq!(first.path, "/snapshot/stars/0/parentId");
    });
}

#[test]
fn values_nest_up_to_a_bound() {
    let nested = |levels: usize| (1..levels).fold(json!([]), |inner, _| json!([inner]));
    let update =
        |value: Value| json!({ "type": "updateStar", "id": "a", "payload": { "x": value } });
    assert!(Command::from_value(update(nested(64))).is_ok());
    let error = Command::from_value(update(nested(65))).unwrap_err();
    assert_eq!(error.to_string(), "malformed command: /payload/x: nests deeper than 64 levels");
    assert!(State::from_partial(json!({ "custom": nested(64) })).is_ok());
    assert!(State::from_partial(json!({ "custom": nested(65) })).is_err());
}
