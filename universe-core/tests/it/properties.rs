//! Whatever well-formed commands come, in whatever order, a universe stays sound.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use universe_core::{Command, Family, State};

use crate::support::{faults, step};

const STEPS: usize = 1_000;

/// Few ids, so that commands meet each other; bodies and groups share them.
fn id() -> impl Strategy<Value = &'static str> {
    select(vec!["", "a", "b", "c", "d", "e", "f", "11", "constructor", "星"])
}

fn id_or_null() -> impl Strategy<Value = Option<&'static str>> {
    proptest::option::of(id())
}

fn child() -> impl Strategy<Value = Value> {
    (id(), select(vec!["system", "group"])).prop_map(|(id, kind)| json!({ "id": id, "type": kind }))
}

fn body(parent: Option<&str>) -> Value {
    json!({
        "name": "n", "mass": 1, "radius": 0.7, "color": "#FFF", "parentId": parent,
        "orbitalDistance": 3, "orbitalSpeed": 1, "note": { "kept": [null] },
    })
}

fn nebula(id: &str) -> Value {
    json!({
        "id": id, "name": "n", "position": { "x": 0, "y": 0, "z": 0 }, "radius": 1, "density": 1,
        "brightness": 1, "baseColor": "", "accentColor": "", "noiseScale": 1, "noiseDetail": 1, "seed": 1,
    })
}

fn bodies() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (id(), id_or_null()).prop_map(|(id, parent)| {
            json!({ "type": "addStar", "id": id, "payload": body(parent) })
        }),
        1 => id().prop_map(|id| json!({ "type": "updateStar", "id": id, "payload": { "mass": 2 } })),
        1 => (id(), id_or_null()).prop_map(|(id, parent)| {
            json!({ "type": "updateStar", "id": id, "payload": { "parentId": parent } })
        }),
        1 => (id(), proptest::collection::vec(id(), 0..3)).prop_map(|(id, children)| {
            json!({ "type": "updateStar", "id": id, "payload": { "children": children } })
        }),
        1 => id().prop_map(|id| json!({ "type": "removeStar", "id": id })),
        4 => (id(), id()).prop_map(|(child, parent)| {
            json!({ "type": "attachStar", "childId": child, "parentId": parent })
        }),
        2 => id().prop_map(|id| json!({ "type": "detachStar", "childId": id })),
        1 => id().prop_map(|id| json!({ "type": "updateRing", "planetId": id, "patch": {} })),
        1 => id().prop_map(|id| json!({ "type": "removeRing", "planetId": id })),
    ]
}

fn groups() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (id(), id_or_null(), proptest::collection::vec(child(), 0..3))
            .prop_map(|(id, parent, children)| {
                let payload = json!({ "name": "g", "children": children, "parentGroupId": parent });
                json!({ "type": "addGroup", "id": id, "payload": payload })
            }),
        1 => (id(), id_or_null()).prop_map(|(id, parent)| {
            json!({ "type": "updateGroup", "id": id, "payload": { "parentGroupId": parent } })
        }),
        1 => (id(), proptest::collection::vec(child(), 0..3)).prop_map(|(id, children)| {
            json!({ "type": "updateGroup", "id": id, "payload": { "children": children } })
        }),
        1 => id().prop_map(|id| json!({ "type": "removeGroup", "id": id })),
        4 => (id(), child()).prop_map(|(group, child)| {
            json!({ "type": "addToGroup", "groupId": group, "child": child })
        }),
        2 => (id(), id()).prop_map(|(group, child)| {
            json!({ "type": "removeFromGroup", "groupId": group, "childId": child })
        }),
        4 => (child(), id_or_null()).prop_map(|(child, target)| {
            let (id, kind) = (&child["id"], &child["type"]);
            json!({ "type": "moveToGroup", "childId": id, "childType": kind, "targetGroupId": target })
        }),
    ]
}

fn others() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-1e300..1e300_f64).prop_map(|dt| json!({ "type": "tick", "dt": dt })),
        Just(json!({ "type": "tick", "dt": f64::MAX })),
        id().prop_map(|id| json!({ "type": "setNebulae", "nebulae": { id: nebula(id) } })),
        id().prop_map(|id| json!({ "type": "updateNebula", "id": id, "patch": { "radius": 2 } })),
        id().prop_map(|id| json!({ "type": "removeNebula", "id": id })),
    ]
}

fn command() -> impl Strategy<Value = Value> {
    prop_oneof![10 => bodies(), 10 => groups(), 1 => others()]
}

/// Runs the commands, judging after each; returns how many were accepted.
fn run(state: &mut State, commands: Vec<Value>, clean: bool) -> usize {
    let mut accepted = 0;
    let mut earlier = state.clone();
    for (number, value) in commands.into_iter().enumerate() {
        // A few of the above are malformed, e.g. a group that is given the same child twice.
        let Ok(command) = Command::from_value(value) else {
            continue;
        };
        let before = state.clone();
        let judged = (number % 25 == 0).then(|| before.to_value());
        accepted += usize::from(step(state, &command).is_ok());
        state.check().unwrap_or_else(|findings| panic!("{command:?}: {findings}"));
        if let Some(judged) = judged {
            assert_eq!(before.to_value(), judged, "{command:?} disturbed its start");
            let after = state.to_value();
            if clean {
                assert_eq!(faults(&after), [].into(), "{command:?}");
            }
            assert_eq!(&State::from_value(after).unwrap(), state);
            differs_rightly(&earlier, state);
            earlier = state.clone();
        }
    }
    accepted
}

/// What is reported to differ is what differs as JSON.
fn differs_rightly(earlier: &State, later: &State) {
    let (before, after) = (earlier.to_value(), later.to_value());
    let told: BTreeSet<_> =
        later.changed_since(earlier).map(|(family, id)| (family, id.to_string())).collect();
    let mut differing = BTreeSet::new();
    for family in Family::ALL {
        let (before, after) = (&before[family.name()], &after[family.name()]);
        let maps = [before, after].map(|map| map.as_object().unwrap());
        for id in maps.iter().flat_map(|map| map.keys()) {
            if before.get(id) != after.get(id) {
                differing.insert((family, id.clone()));
            }
        }
    }
    assert_eq!(told, differing);
    let roots = |state: &Value| [state["rootIds"].clone(), state["rootGroupIds"].clone()];
    if roots(&before) != roots(&after) {
        assert!(later.roots_changed_since(earlier));
    }
    assert!(!later.roots_changed_since(later) && later.changed_since(later).next().is_none());
}

/// Many bodies, so that most of them are in nodes that the two universes share.
#[test]
fn of_many_bodies_just_those_that_differ_are_reported() {
    let mut state = State::default();
    let mut apply = |value: Value| {
        state = state.apply(&Command::from_value(value).unwrap()).unwrap().state;
        state.clone()
    };
    for n in 0..2_000 {
        let parent = (n > 0).then_some("0");
        apply(json!({ "type": "addStar", "id": n.to_string(), "payload": body(parent) }));
    }
    let before = apply(json!({ "type": "tick", "dt": 1 }));
    let ticked = apply(json!({ "type": "tick", "dt": 1 }));
    assert_eq!(ticked.changed_since(&before).count(), 0);
    apply(json!({ "type": "updateStar", "id": "1234", "payload": { "mass": 7 } }));
    apply(json!({ "type": "attachStar", "childId": "17", "parentId": "16" }));
    let after = apply(json!({ "type": "removeStar", "id": "1999" }));
    let told: Vec<_> = after.changed_since(&before).map(|(_, id)| &**id).collect();
    assert_eq!(told, ["0", "1234", "16", "17", "1999"]);
    assert!(!after.roots_changed_since(&before));
    differs_rightly(&before, &after);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_thousand_commands_leave_a_sound_universe(
        commands in proptest::collection::vec(command(), STEPS),
    ) {
        let mut state = State::default();
        let accepted = run(&mut state, commands, true);
        prop_assert!(accepted > STEPS / 10, "only {accepted} were accepted");
        prop_assert_eq!(faults(&state.to_value()), [].into());
    }

    #[test]
    fn imports_with_tolerated_faults_stay_as_sound_as_they_were(
        commands in proptest::collection::vec(command(), STEPS / 4),
    ) {
        // An unlisted rogue planet; a system in two groups; a group with a missing system.
        let mut rogue = body(None);
        rogue["id"] = "a".into();
        rogue["children"] = json!([]);
        rogue["orbitalPhase"] = json!(0);
        let group = |id: &str, children: Value| {
            json!({ "id": id, "name": "g", "parentGroupId": null, "children": children })
        };
        let a = json!({ "id": "a", "type": "system" });
        let missing = json!({ "id": "b", "type": "system" });
        let mut state = State::from_partial(json!({
            "stars": { "a": rogue },
            "groups": { "c": group("c", json!([a])), "d": group("d", json!([missing, a])) },
            "rootGroupIds": ["d", "c"],
        }))
        .unwrap();
        run(&mut state, commands, false);
        // What is written by itself is what serde writes.
        let written = state.to_json().unwrap();
        prop_assert_eq!(&written, &serde_json::to_vec(&state).unwrap());
        for max in 0..written.len() {
            prop_assert_eq!(state.to_json_within(max).unwrap(), None);
        }
        prop_assert_eq!(state.to_json_within(written.len()).unwrap(), Some(written));
    }
}

/// Read from text, and from values; with ids that have to be escaped, and what is not known.
#[test]
fn what_is_written_reads_back_as_it_was() {
    let mut star = body(None);
    star["id"] = "quote \" and \n line".into();
    star["children"] = json!([]);
    star["orbitalPhase"] = json!(0);
    let given = json!({
        "stars": { "quote \" and \n line": star },
        "rootIds": ["quote \" and \n line"],
        "nebulae": { "n\\": nebula("n\\") },
        "tab\t": [1.5, null],
        "time": -0.5,
    });
    let text = given.to_string();
    for state in [State::from_partial(given).unwrap(), State::from_text(text).unwrap()] {
        let written = state.to_json().unwrap();
        assert_eq!(written, serde_json::to_vec(&state).unwrap());
        let read: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(read, state.to_value());
    }
}
