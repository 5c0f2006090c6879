//! A digest is the same for the same request, and differs for every other one.

use std::collections::BTreeSet;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn of(params: &Value) -> [u8; 32] {
    digest("tools/call", params.as_object().expect("an object"), &[])
}

#[test]
fn the_order_of_members_does_not_matter() {
    let read = |text| of(&serde_json::from_str(text).expect("JSON"));
    assert_eq!(
        read(r#"{"a": 1, "b": {"x": [1, 2], "y": null}}"#),
        read(r#"{"b": {"y": null, "x": [1, 2]}, "a": 1}"#),
    );
    // A map that keeps insertion order may return its members in any order.
    let named: Vec<(String, Value)> = ["b", "a", "", "aa", "ä", "B"]
        .into_iter()
        .map(|name| (name.to_owned(), json!(name)))
        .collect();
    let stack = |members: &[&(String, Value)]| {
        let below = Value::Null;
        let (mut hash, mut open) = (Sha256::new(), vec![(None, &below)]);
        let members = members.iter().map(|(name, value)| (name, value));
        push_members(&mut hash, &mut open, members);
        let names: Vec<_> = open.iter().rev().map(|(name, _)| *name).collect();
        names.into_iter().map(|name| name.map(str::to_owned)).collect::<Vec<_>>()
    };
    let given: Vec<_> = named.iter().collect();
    let reversed: Vec<_> = named.iter().rev().collect();
    assert_eq!(stack(&given), stack(&reversed));
    let sorted = ["", "B", "a", "aa", "b", "ä"].map(|name| Some(name.to_owned()));
    assert_eq!(stack(&given), [&sorted[..], &[None]].concat());
}

#[test]
fn numbers_are_what_they_are_worth() {
    for (a, b) in [("1", "1.0"), ("-3", "-3e0"), ("0", "-0.0"), ("0.5", "5e-1")] {
        let read =
            |number: &str| of(&serde_json::from_str(&format!("{{\"n\":{number}}}")).unwrap());
        assert_eq!(read(a), read(b), "{a} {b}");
    }
}

#[test]
fn the_members_left_out_are_those_of_the_params_alone() {
    let except = ["_meta", "inputResponses", "requestState"];
    let left_out = |params: Value| digest("tools/call", params.as_object().unwrap(), &except);
    let plain = left_out(json!({ "name": "x" }));
    let retried = json!({
        "name": "x", "_meta": { "progressToken": 1 }, "inputResponses": {}, "requestState": "s",
    });
    assert_eq!(left_out(retried), plain);
    assert_eq!(plain, of(&json!({ "name": "x" })));
    assert_ne!(
        left_out(json!({ "arguments": { "requestState": "s" } })),
        left_out(json!({ "arguments": {} })),
    );
}

#[test]
fn what_looks_alike_is_not_the_same() {
    let alike = [
        json!({}),
        json!({ "": null }),
        json!({ "a": null }),
        json!({ "a": false }),
        json!({ "a": true }),
        json!({ "a": 0 }),
        json!({ "a": 1 }),
        json!({ "a": "1" }),
        json!({ "a": "" }),
        json!({ "a": "n" }),
        json!({ "a": [] }),
        json!({ "a": {} }),
        json!({ "a": [null] }),
        json!({ "a": [[]] }),
        json!({ "a": ["b", "c"] }),
        json!({ "a": ["bc"] }),
        json!({ "a": ["a", "sb"] }),
        json!({ "a": ["as", "b"] }),
        json!({ "a": [["b"], "c"] }),
        json!({ "a": [["b", "c"]] }),
        json!({ "a": ["b"], "c": null }),
        json!({ "a": { "b": "c" } }),
        json!({ "a": {}, "b": "c" }),
        json!({ "ab": "c" }),
        json!({ "a": -1 }),
        json!({ "a": u64::MAX }),
        json!({ "a": u64::MAX - 1 }),
        json!({ "a": i64::MIN }),
        json!({ "a": 9_007_199_254_740_993_u64 }),
        json!({ "a": 9_007_199_254_740_992_u64 }),
        json!({ "a": 0.1 }),
        json!({ "a": 1e300 }),
    ];
    let digests: BTreeSet<_> = alike.iter().map(of).collect();
    assert_eq!(digests.len(), alike.len());
    assert_ne!(digest("a", &Map::new(), &[]), digest("b", &Map::new(), &[]));
}

#[test]
fn nesting_takes_no_recursion() {
    let mut deep = json!(0);
    for _ in 0..100_000 {
        deep = Value::Array(vec![deep]);
    }
    let mut params = Map::new();
    params.insert("deep".to_owned(), deep);
    assert_ne!(digest("a", &params, &[]), digest("a", &Map::new(), &[]));
    // The value's own drop is recursive.
    let mut rest = params.remove("deep");
    while let Some(Value::Array(mut items)) = rest {
        rest = items.pop();
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(".{0,3}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Changes the value at place `at` in the order of the walk, and nothing else.
fn change(value: &mut Value, at: usize) {
    let mut open = vec![value];
    let mut place = 0;
    while let Some(value) = open.pop() {
        if place == at {
            match value {
                Value::Null => *value = json!(false),
                Value::Bool(was) => *was = !*was,
                Value::Number(was) => {
                    *value = json!(f64::from_bits(was.as_f64().unwrap().to_bits() ^ 1));
                }
                Value::String(was) => was.push('x'),
                Value::Array(items) => items.push(Value::Null),
                Value::Object(members) => {
                    let name = "x".repeat(1 + members.keys().map(String::len).max().unwrap_or(0));
                    members.insert(name, Value::Null);
                }
            }
            return;
        }
        place += 1;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values_mut()),
            _ => {}
        }
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_value_matters(value in any_json()) {
        let params = json!({ "arguments": value });
        let before = of(&params);
        prop_assert_eq!(before, of(&params.clone()));
        for at in 0..count(&params) {
            let mut changed = params.clone();
            change(&mut changed, at);
            prop_assert_ne!(&changed, &params);
            prop_assert_ne!(of(&changed), before, "{} {}", params, changed);
        }
    }

    #[test]
    fn every_name_and_every_place_matters(items in vec(any_json(), 2..5), name in ".{0,4}") {
        let renamed = |name: &str| of(&json!({ "arguments": { name: items } }));
        prop_assert_ne!(renamed(&name), renamed(&format!("{name}x")));
        let mut swapped = items.clone();
        swapped.swap(0, 1);
        let equal = swapped == items;
        prop_assert_eq!(of(&json!({ "a": swapped })) == of(&json!({ "a": items })), equal);
    }
}
