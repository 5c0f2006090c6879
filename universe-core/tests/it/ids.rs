//! Any text is an ordinary id.

use serde_json::{Value, json};
use universe_core::{Command, State};

use crate::support::{faults, step};

const IDS: [&str; 16] = [
    "",
    " ",
    "constructor",
    "__proto__",
    "toString",
    "newListener",
    "null",
    "undefined",
    "11",
    "18e1",
    "25.5",
    "32-",
    "星-α/β \"q\" \\ \u{1}",
    "a~b/c",
    "\u{0}",
    "6f9619ff-8b86-d011-b42d-00c04fc964ff",
];

fn accept(state: &mut State, command: &Value) -> Value {
    let read = Command::from_value(command.clone()).unwrap_or_else(|e| panic!("{command}: {e}"));
    step(state, &read).unwrap_or_else(|refusal| panic!("{command}: {refusal}"))
}

#[test]
fn odd_ids_are_unknown_until_added() {
    let state = State::default();
    for id in IDS {
        let commands = [
            (
                json!({ "type": "updateStar", "id": id, "payload": { "name": "x" } }),
                "STAR_NOT_FOUND",
            ),
            (json!({ "type": "removeStar", "id": id }), "STAR_NOT_FOUND"),
            (json!({ "type": "detachStar", "childId": id }), "DETACH_FAILED_NOT_ATTACHED"),
            (json!({ "type": "updateGroup", "id": id, "payload": {} }), "GROUP_NOT_FOUND"),
            (json!({ "type": "updateNebula", "id": id, "patch": {} }), "NEBULA_NOT_FOUND"),
            (json!({ "type": "removeRing", "planetId": id }), "RING_NOT_FOUND"),
        ];
        for (command, code) in commands {
            let refusal = state.apply(&Command::from_value(command).unwrap()).unwrap_err();
            assert_eq!(refusal.code(), code, "{id:?}");
            assert!(refusal.message().contains(&format!("{id:?}")), "{}", refusal.message());
        }
    }
}

#[test]
fn odd_ids_go_through_every_hierarchy() {
    let mut state = State::default();
    let mut above = Value::Null;
    for id in IDS {
        let payload = json!({
            "name": "", "mass": 1, "radius": 1, "color": "", "parentId": above,
            "orbitalDistance": 1, "orbitalSpeed": 1,
        });
        let events =
            accept(&mut state, &json!({ "type": "addStar", "id": id, "payload": payload }));
        assert_eq!(events, json!([{ "type": "starAdded", "id": id }]));
        let payload = json!({ "name": "", "children": [], "parentGroupId": above });
        accept(&mut state, &json!({ "type": "addGroup", "id": id, "payload": payload }));
        let child = json!({ "id": id, "type": "system" });
        accept(&mut state, &json!({ "type": "addToGroup", "groupId": id, "child": child }));
        above = id.into();
    }
    assert_eq!(faults(&state.to_value()), [].into());
    let again =
        State::from_value(serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap());
    assert_eq!(again.unwrap(), state);

    let events = accept(&mut state, &json!({ "type": "removeStar", "id": IDS[0] }));
    assert_eq!(events[0]["removedIds"], json!(IDS), "each before its children");
    assert_eq!(state.star_count(), 0);
    assert!(state.groups().all(|group| group.children().all(|child| child.id() != group.id())));
    for id in IDS {
        accept(&mut state, &json!({ "type": "removeGroup", "id": id }));
    }
    assert_eq!(state.to_value(), State::default().to_value());
}

#[test]
fn findings_point_at_odd_ids() {
    let broken = json!({ "stars": { "a~b/c": 5 }, "rootIds": ["\u{0}"] });
    let findings = State::from_partial(broken).unwrap_err();
    let paths: Vec<_> = findings.iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, ["/stars/a~0b~1c"]);
}
