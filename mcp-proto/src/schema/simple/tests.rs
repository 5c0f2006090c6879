//! What is said here of simple schemas is what the validator of whole ones says.

use proptest::prelude::*;
use serde_json::{Number, Value, json};

use super::*;
use crate::schema::compiled::CompiledSchema;
use crate::schema::enforced::Judged;
use crate::schema::{Finding, Nulls};

/// Values of keywords, right and wrong ones.
fn keywords() -> Vec<(&'static str, Value)> {
    let name = json!({ "type": "string", "minLength": 2, "maxLength": 3 });
    let right = [
        ("type", json!("object")),
        ("type", json!("integer")),
        ("type", json!("string")),
        ("type", json!("array")),
        ("description", json!("text")),
        ("format", json!("date")),
        ("default", json!(null)),
        ("enum", json!(["ab", 1, { "a": 1 }])),
        ("enum", json!([])),
        ("examples", json!([1])),
        ("minimum", json!(1)),
        ("maximum", json!(1.5)),
        ("maximum", json!(9_007_199_254_740_993_u64)),
        ("minLength", json!(2)),
        ("maxLength", json!(2)),
        ("minItems", json!(1)),
        ("maxItems", json!(1)),
        ("items", json!({ "type": "integer" })),
        ("required", json!(["a"])),
        ("required", json!([])),
        ("properties", json!({ "a": name, "b": {} })),
        ("additionalProperties", json!(false)),
        ("additionalProperties", json!({ "type": "string" })),
        ("enum", json!([1.0, null, [1]])),
        ("minimum", json!(0.5)),
        ("minimum", json!(-9_223_372_036_854_775_808_i64)),
        ("maximum", json!(1e300)),
        ("minLength", json!(1)),
        ("minItems", json!(2)),
        ("maxItems", json!(0)),
        ("type", json!("number")),
        ("type", json!("null")),
        ("items", json!({ "type": "string", "maxLength": 1 })),
        ("required", json!(["c", "a"])),
        (
            "properties",
            json!({ "a": { "type": "object", "properties": { "b/c": { "enum": [1] } } }, "c": { "type": "integer" } }),
        ),
        ("x-mcp-header", json!("A")),
    ];
    let wrong = [
        ("type", json!("text")),
        ("type", json!(["string", "null"])),
        ("title", json!(1)),
        ("enum", json!("ab")),
        ("minimum", json!("1")),
        ("minLength", json!(-1)),
        ("maxItems", json!(1.5)),
        ("items", json!([{}])),
        ("required", json!(["a", "a"])),
        ("required", json!("a")),
        ("properties", json!({ "a": 1 })),
        ("properties", json!({ "a": { "type": 1 } })),
        ("additionalProperties", json!("no")),
        ("pattern", json!("[")),
        ("$ref", json!("#/nowhere")),
    ];
    right.into_iter().chain(wrong).collect()
}

fn instances() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(-1),
        json!(9_007_199_254_740_993_u64),
        json!("ab"),
        json!("äöü"),
        json!("a"),
        json!([]),
        json!([1]),
        json!([1, "a"]),
        json!({}),
        json!({ "a": 1 }),
        json!({ "a": "ab" }),
        json!({ "a": "ab", "b": 1 }),
        json!({ "a": "ab", "c": "text" }),
        json!({ "c": 1 }),
        json!(1e300),
        json!(-1e300),
        json!(18_446_744_073_709_551_615_u64),
        json!(-9_223_372_036_854_775_808_i64),
        json!(9_007_199_254_740_992.0),
        json!("a".repeat(121)),
        json!([[1.0], "ab", null, 1.0]),
        json!({ "a": null, "b": null, "c": null }),
        json!({ "a": { "b/c": null } }),
        json!({ "a": { "b/c": 1.0, "d": null }, "c": "no" }),
        json!({ "a": { "b/c": 2 }, "d": 1, "e": "ab", "": 0 }),
        json!(vec![1; 30]),
    ]
}

/// The validator has another order where members with and without a schema of their own are wrong.
fn sorted(judged: Result<(), Vec<Finding>>) -> Result<(), Vec<Finding>> {
    judged.map_err(|mut found| {
        found.sort_by(|one, other| (&one.path, &one.message).cmp(&(&other.path, &other.message)));
        found
    })
}

fn whole(schema: &Value) -> Option<Judged> {
    Judged::compile(schema, 1).ok()
}

/// Judges an instance in both ways; gives whether it is right, and whether it is right with nulls left out.
fn judge(schema: &Value, instance: &Value) -> (bool, bool) {
    let (Some(whole), Ok(simple)) = (whole(schema), CompiledSchema::of_results(schema.clone()))
    else {
        panic!("it does not compile: {schema}");
    };
    let said = sorted(whole.check(schema, instance));
    if schema["additionalProperties"] == false && schema.get("properties").is_none() {
        // Then the validator has a message of its own, which does not name the member.
        assert_eq!(simple.check(instance).is_ok(), said.is_ok());
        return (said.is_ok(), said.is_ok());
    }
    assert_eq!(sorted(simple.check(instance)), said, "{instance} by {schema}");
    assert_eq!(fits(schema, instance), said.is_ok(), "{instance} by {schema}");
    let mut accepted = false;
    for nulls in [Nulls::Keep, Nulls::TakeOut] {
        let said = whole.accept(schema, instance.clone(), nulls);
        accepted = said.is_ok();
        let simple = simple.accept(instance.clone(), nulls);
        match (simple, said) {
            // The whole one forgives the nulls of an instance only if nothing else is wrong in it.
            (Err((_, simple)), Err((_, said))) => {
                assert!(
                    !simple.is_empty() && simple.iter().all(|one| said.contains(one)),
                    "{simple:?} {said:?}"
                );
            }
            (simple, said) => assert_eq!(simple, said, "{instance} by {schema}"),
        }
    }
    (said.is_ok(), accepted)
}

#[test]
fn what_is_wrong_is_what_the_validator_says() {
    let (keywords, instances) = (keywords(), instances());
    let (mut simple, mut right, mut wrong, mut forgiven) = (0, 0, 0, 0);
    for (first, one) in &keywords {
        for (second, other) in &keywords {
            let schema = json!({ *first: one, *second: other });
            if !is_simple(&schema) {
                continue;
            }
            simple += 1;
            for instance in &instances {
                match judge(&schema, instance) {
                    (true, _) => right += 1,
                    (false, false) => wrong += 1,
                    (false, true) => forgiven += 1,
                }
            }
        }
    }
    // Otherwise hardly anything was compared.
    assert!(
        simple > 800 && right > 2_000 && wrong > 2_000 && forgiven > 20,
        "{simple} {right} {wrong} {forgiven}"
    );
}

#[test]
fn what_the_compiler_refuses_is_not_simple() {
    for (keyword, value) in keywords() {
        let schema = json!({ keyword: value });
        assert!(whole(&schema).is_some() || !is_simple(&schema), "{schema}");
    }
}

#[test]
fn the_part_of_a_schema_says_nothing_that_the_whole_does_not() {
    let mut keywords = keywords();
    keywords.extend([
        ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        ("$ref", json!("#/definitions/a")),
        ("definitions", json!({ "a": { "type": "string" } })),
        ("patternProperties", json!({ "^[a-c]$": {} })),
        ("prefixItems", json!([{}, {}])),
        ("items", json!([{}, {}])),
        ("anyOf", json!([{ "type": "string" }, { "required": ["c"] }])),
        ("properties", json!({ "a": true, "c": { "$ref": "#/properties/a" } })),
    ]);
    let instances = instances();
    let (mut parts, mut found) = (0, 0);
    for (first, one) in &keywords {
        for (second, other) in &keywords {
            let schema = json!({
                "definitions": { "a": { "type": "string" } }, *first: one, *second: other,
            });
            let Some(whole) = whole(&schema) else {
                continue;
            };
            let part = part_of(&schema);
            assert!(is_simple(&part), "{part}");
            parts += 1;
            for instance in &instances {
                if !fits(&part, instance) {
                    found += 1;
                    assert!(whole.check(&schema, instance).is_err(), "{instance} by {schema}");
                }
            }
        }
    }
    assert!(parts > 1_000 && found > 5_000, "{parts} {found}");
}

#[test]
fn no_more_is_found_than_is_reported() {
    let schema = json!({ "items": { "type": "string" } });
    let found = findings(&schema, &json!(vec![1; 1_000_000]), false);
    assert_eq!(found.len(), MAX_FINDINGS);
    let schema = json!({ "additionalProperties": false });
    let many: Map<String, Value> =
        (0..1_000_000).map(|n| (format!("member-{n}"), Value::Null)).collect();
    let [one] = findings(&schema, &many.into(), false).try_into().unwrap();
    let Finding { message, member, .. } = one;
    assert!(message.len() < 1_100 && message.contains("'member-1', '"), "{message}");
    assert_eq!(member.as_deref(), Some("member-0"));
}

/// Numbers of all forms, most of them near to each other.
fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        (-3_i64..3).prop_map(Number::from),
        prop_oneof![
            any::<f64>(),
            -3.0..3.0,
            (-3_i32..3).prop_map(f64::from),
            (53..70_i32).prop_map(|n| 2_f64.powi(n))
        ]
        .prop_filter_map("a number", Number::from_f64),
    ]
}

proptest! {
    #[test]
    fn numbers_are_compared_as_the_validator_does(one in number(), other in number()) {
        for keyword in ["minimum", "maximum"] {
            judge(&json!({ keyword: other }), &json!(one));
        }
        judge(&json!({ "enum": [other] }), &json!(one));
        judge(&json!({ "type": "integer" }), &json!(one));
    }
}
