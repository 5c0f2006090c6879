//! What each matcher accepts and refuses, and what a refusal says.

use mcp_conformance::{Mismatch, Pattern, Vars};
use proptest::prelude::*;
use serde_json::{Value, json};

fn compare(pattern: &Value, actual: &Value) -> Vec<Mismatch> {
    Pattern::parse(pattern).unwrap().compare(Some(actual), &mut Vars::default())
}

#[track_caller]
fn accepts(pattern: &Value, values: &[Value]) {
    for value in values {
        assert_eq!(compare(pattern, value), [], "{pattern} ought to accept {value}");
    }
}

#[track_caller]
fn refuses(pattern: &Value, values: &[Value]) {
    for value in values {
        assert_ne!(compare(pattern, value), [], "{pattern} ought to refuse {value}");
    }
}

#[track_caller]
fn paths(pattern: &Value, actual: &Value, expected: &[&str]) {
    let found = compare(pattern, actual);
    assert_eq!(
        found.iter().map(|mismatch| mismatch.path.as_str()).collect::<Vec<_>>(),
        expected,
        "{found:?}"
    );
}

#[test]
fn literals_are_exact_but_for_the_form_of_numbers() {
    accepts(&json!({"a": [1, 2.5, null, true, "x"]}), &[json!({"a": [1.0, 2.5, null, true, "x"]})]);
    refuses(&json!(1), &[json!("1"), json!(true), json!(1.5), json!(null)]);
    refuses(&json!({"a": null}), &[json!({}), json!({"a": null, "b": null})]);
    refuses(&json!([1, 2]), &[json!([2, 1]), json!([1]), json!([1, 2, 3])]);
}

#[test]
fn presence_is_explicit() {
    accepts(&json!({"$any": true}), &[json!(null), json!({})]);
    accepts(&json!({"a": {"$optional": false}}), &[json!({}), json!({"a": false})]);
    refuses(&json!({"a": {"$optional": false}}), &[json!({"a": true}), json!({"a": null})]);
    accepts(&json!({"$contains": {"a": {"$absent": true}}}), &[json!({}), json!({"b": 1})]);
    refuses(&json!({"$contains": {"a": {"$absent": true}}}), &[json!({"a": null})]);
    refuses(&json!({"a": {"$any": true}}), &[json!({})]);
}

#[test]
fn types_strings_and_lengths() {
    accepts(&json!({"$type": "integer"}), &[json!(1), json!(-3), json!(2.0)]);
    refuses(&json!({"$type": "integer"}), &[json!(1.5), json!("1")]);
    accepts(&json!({"$type": "number"}), &[json!(1), json!(1.5)]);
    refuses(&json!({"$type": "object"}), &[json!([]), json!(null)]);
    accepts(&json!({"$match": "^a.c$"}), &[json!("abc")]);
    refuses(&json!({"$match": "^a.c$"}), &[json!("xabc"), json!(5)]);
    accepts(&json!({"$contains": "b"}), &[json!("abc")]);
    refuses(&json!({"$contains": "b"}), &[json!("ac"), json!(["b"])]);
    accepts(&json!({"$length": 2}), &[json!("äö"), json!([1, 2]), json!({"a": 1, "b": 2})]);
    refuses(&json!({"$length": 2}), &[json!("äöü"), json!([]), json!(2)]);
}

#[test]
fn parts_and_orders() {
    accepts(&json!({"$contains": {"a": 1}}), &[json!({"a": 1, "b": 2})]);
    refuses(&json!({"$contains": {"a": 1}}), &[json!({"b": 2}), json!({"a": 2}), json!([])]);
    accepts(&json!({"$contains": [1, 1]}), &[json!([1, 2, 1])]);
    refuses(&json!({"$contains": [1, 1]}), &[json!([1, 2])]);
    accepts(&json!({"$unordered": [1, 2]}), &[json!([2, 1])]);
    refuses(&json!({"$unordered": [1, 2]}), &[json!([2, 1, 1]), json!([1]), json!([1, 1])]);
    accepts(&json!({"$each": {"$type": "string"}}), &[json!(["a"]), json!({"x": "a"}), json!([])]);
    refuses(&json!({"$each": {"$type": "string"}}), &[json!(["a", 1]), json!("a")]);
}

#[test]
fn pairing_does_not_depend_on_the_order_of_the_patterns() {
    // The first pattern fits both, the second only what a greedy pairing would have given to the first.
    accepts(&json!({"$unordered": [{"$any": true}, 1]}), &[json!([1, 2]), json!([2, 1])]);
}

#[test]
fn combinations() {
    accepts(&json!({"$not": 1}), &[json!(2), json!(null)]);
    refuses(&json!({"$not": 1}), &[json!(1), json!(1.0)]);
    accepts(&json!({"$all": [{"$type": "string"}, {"$length": 1}]}), &[json!("a")]);
    refuses(&json!({"$all": [{"$type": "string"}, {"$length": 1}]}), &[json!("ab"), json!([1])]);
    accepts(&json!({"$oneOf": [200, 204]}), &[json!(204)]);
    refuses(&json!({"$oneOf": [200, 204]}), &[json!(202)]);
    accepts(&json!({"$json": {"a": 1}}), &[json!("{\"a\": 1}")]);
    refuses(&json!({"$json": {"a": 1}}), &[json!("{\"a\": 2}"), json!("{a: 1}"), json!({"a": 1})]);
    accepts(&json!({"$literal": {"$any": true}}), &[json!({"$any": true})]);
    refuses(&json!({"$literal": {"$any": true}}), &[json!(1)]);
}

#[test]
fn variables_are_bound_and_used() {
    let mut vars = Vars::default();
    let pattern =
        json!({"content": {"$json": {"$capture": "state"}}, "structured": {"$var": "state"}});
    let pattern = Pattern::parse(&pattern).unwrap();
    assert_eq!(
        pattern
            .compare(Some(&json!({"content": "{\"t\":1}", "structured": {"t": 1.0}})), &mut vars),
        []
    );
    assert_eq!(vars.get("state"), Some(&json!({"t": 1})));

    let other =
        pattern.compare(Some(&json!({"content": "{\"t\":2}", "structured": {"t": 1}})), &mut vars);
    assert_eq!(other.len(), 1);
    assert_eq!(vars.get("state"), Some(&json!({"t": 1})), "a comparison that fails binds nothing");
}

#[test]
fn variables_in_text_are_literal_even_in_regular_expressions() {
    let mut vars = Vars::default();
    vars.set("id", json!("a.b"));
    let pattern = Pattern::parse(&json!({"$match": "^x${id}$"})).unwrap();
    assert_eq!(pattern.compare(Some(&json!("xa.b")), &mut vars), []);
    assert_ne!(pattern.compare(Some(&json!("xaab")), &mut vars), []);
    let text = Pattern::parse(&json!("$${id} is ${id}")).unwrap();
    assert_eq!(text.compare(Some(&json!("${id} is a.b")), &mut vars), []);
    let unbound =
        Pattern::parse(&json!("${nothing}")).unwrap().compare(Some(&json!("")), &mut vars);
    assert_eq!(unbound[0].reason.as_deref(), Some("no value was captured as `nothing`"));
}

#[test]
fn differences_are_reported_by_their_paths() {
    paths(
        &json!({"a": [1, {"b": 2}], "c": 3}),
        &json!({"a": [1, {"b": 3}], "d": 4}),
        &["/d", "/a/1/b", "/c"],
    );
    paths(&json!({"x/y": {"~": 1}}), &json!({"x/y": {"~": 2}}), &["/x~1y/~0"]);
    paths(&json!([{"$json": {"a": 1}}]), &json!(["{\"a\": 2}"]), &["/0/json/a"]);
    paths(&json!({"$unordered": [1, 2]}), &json!([2, 3]), &["", "/1"]);
}

#[test]
fn broken_patterns_are_reported_with_the_member_at_fault() {
    for (pattern, member, says) in [
        (json!({"a": [{"$sth": 1}]}), "a[0].$sth", "unknown matcher"),
        (json!({"$type": "text"}), "$type", "must be one of"),
        (json!({"$match": "("}), "$match", "unclosed group"),
        (json!({"$any": false}), "$any", "must be true"),
        (json!({"$length": -1}), "$length", "whole number"),
        (json!({"$contains": 1}), "$contains", "a string, an array or an object"),
        (json!({"$any": true, "b": 1}), "$any", "a matcher must be the only member"),
        (json!({"$not": {"$capture": "x"}}), "$not", "cannot be used inside"),
        (json!({"a": "${x"}), "a", "without `}`"),
    ] {
        let problem = Pattern::parse(&pattern).unwrap_err();
        assert_eq!(problem.member(), member, "{problem}");
        assert!(problem.to_string().contains(says), "{problem}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| json!(number)),
        any::<i64>().prop_map(Value::from),
        "[a-z$ ]{0,5}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-z$]{0,4}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_value_is_equal_to_itself_and_to_nothing_else(left in any_json(), right in any_json()) {
        let pattern = json!({"$literal": left});
        prop_assert_eq!(compare(&pattern, &left), []);
        prop_assert_eq!(compare(&pattern, &right).is_empty(), left == right);
    }

    #[test]
    fn order_never_counts_in_unordered(mut items in prop::collection::vec(any_json(), 0..6), seed in any::<u64>()) {
        let pattern = json!({"$unordered": items.iter().map(|item| json!({"$literal": item})).collect::<Vec<_>>()});
        let shift = usize::try_from(seed % 7).unwrap() % items.len().max(1);
        items.rotate_left(shift);
        prop_assert_eq!(compare(&pattern, &items.clone().into()), []);
        items.push(Value::Null);
        prop_assert_ne!(compare(&pattern, &items.into()), []);
    }

    #[test]
    fn no_pattern_makes_the_comparison_panic(pattern in any_json(), actual in any_json()) {
        if let Ok(pattern) = Pattern::parse(&pattern) {
            pattern.compare(Some(&actual), &mut Vars::default());
            pattern.compare(None, &mut Vars::default());
        }
    }
}
