//! The simple judge decides as the crate `jsonschema` does, for every schema that it takes on.

use proptest::prelude::*;
use serde_json::{Number, Value, json};

use super::*;
use crate::schema::compiled::{CompiledSchema, Nulls};

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
        ("type", json!(["string", "null"])),
        ("type", json!(["integer"])),
        ("const", json!(1.0)),
        ("const", json!({ "a": 1 })),
        ("exclusiveMinimum", json!(1)),
        ("exclusiveMaximum", json!(1.5)),
        ("uniqueItems", json!(true)),
        ("uniqueItems", json!(false)),
        ("minProperties", json!(1)),
        ("maxProperties", json!(1)),
        ("prefixItems", json!([{ "type": "integer" }, false])),
        ("items", json!(false)),
        ("additionalProperties", json!(true)),
        ("anyOf", json!([{ "type": "string", "maxLength": 2 }, { "required": ["a"] }])),
        (
            "oneOf",
            json!([
                { "properties": { "a": { "const": 1 }, "b": { "type": "integer" } }, "required": ["a"] },
                { "properties": { "a": { "const": "ab" } }, "required": ["a"] },
            ]),
        ),
        ("oneOf", json!([{ "type": "number" }, { "type": "integer" }])),
        ("allOf", json!([{ "minLength": 2 }, { "maxItems": 2, "minProperties": 1 }])),
        ("$defs", json!({ "a": { "type": "string" } })),
        ("$schema", json!("https://json-schema.org/draft/2020-12/schema")),
        ("$id", json!("https://example.com/a")),
        ("deprecated", json!(true)),
    ];
    let wrong = [
        ("type", json!("text")),
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
        ("anyOf", json!([])),
        ("type", json!([])),
        ("type", json!(["string", "string"])),
        ("prefixItems", json!({})),
        ("allOf", json!([1])),
        ("uniqueItems", json!(1)),
        ("$id", json!("a b")),
        ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        ("multipleOf", json!(2)),
        ("not", json!({})),
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

fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options().offline().build(schema).ok()
}

/// Judges a value in both ways, which must agree. Findings are there exactly if it does not fit.
fn judge(schema: &Value, validator: &jsonschema::Validator, value: &Value) -> bool {
    let is_right = validator.is_valid(value);
    assert_eq!(fits(schema, value), is_right, "{value} by {schema}");
    match check(schema, value) {
        Ok(()) => assert!(is_right, "{value} by {schema}"),
        Err(findings) => assert!(!is_right && !findings.is_empty(), "{value} by {schema}"),
    }
    is_right
}

#[test]
fn a_value_fits_exactly_if_another_validator_says_so() {
    let (keywords, instances) = (keywords(), instances());
    let (mut simple, mut right, mut wrong) = (0, 0, 0);
    for (first, one) in &keywords {
        for (second, other) in &keywords {
            let schema = json!({ *first: one, *second: other });
            if beyond(&schema, 1).is_some() {
                continue;
            }
            simple += 1;
            let validator = validator(&schema).unwrap_or_else(|| panic!("{schema}"));
            for instance in &instances {
                if judge(&schema, &validator, instance) { right += 1 } else { wrong += 1 }
            }
        }
    }
    // Otherwise hardly anything was compared.
    assert!(simple > 2_000 && right > 10_000 && wrong > 10_000, "{simple} {right} {wrong}");
}

#[test]
fn what_no_validator_takes_is_not_simple() {
    for (keyword, content) in keywords() {
        let schema = json!({ keyword: content });
        assert!(validator(&schema).is_some() || beyond(&schema, 1).is_some(), "{schema}");
    }
}

#[test]
fn what_is_not_enforced_is_named_with_its_place() {
    let part = json!({ "items": { "anyOf": [true, { "pattern": "^a" }] } });
    for (schema, nodes, said) in [
        (
            json!({ "properties": { "a": part } }),
            9,
            "\"pattern\" at \"/properties/a/items/anyOf/1\"",
        ),
        (json!({ "not": {} }), 2, "\"not\" at the root of the schema"),
        (
            json!({ "$defs": { "a": {} }, "properties": { "a/b": { "$ref": "#/$defs/a" } } }),
            5,
            "\"$ref\" at \"/properties/a~1b\"",
        ),
        (json!({ "type": "text" }), 2, "the value of \"type\" at the root of the schema"),
        (json!({}), 1_001, "a schema of more than 1000 nodes"),
    ] {
        assert_eq!(beyond(&schema, nodes).unwrap().to_string(), said);
    }
    for (keyword, content) in
        [("title", json!("A")), ("examples", json!([1])), ("unknown", json!([{ "$ref": 1 }]))]
    {
        assert!(beyond(&json!({ keyword: content }), 2).is_none(), "{keyword}");
    }
}

#[test]
fn a_null_counts_as_left_out_where_it_is_optional_and_not_allowed() {
    let member = json!({ "type": "string" });
    let object = json!({ "properties": { "a": member, "b": member, "c": { "type": ["null", "string"] } }, "required": ["b"] });
    let kinds = json!([
        { "properties": { "kind": { "const": "one" }, "a": member }, "required": ["kind"] },
        { "properties": { "kind": { "const": "two" } }, "required": ["kind"] },
    ]);
    for (schema, given, taken) in [
        (&object, json!({ "a": null, "b": "" }), Some(json!({ "b": "" }))),
        (&object, json!({ "b": null }), None),
        (&object, json!({ "b": "", "c": null }), Some(json!({ "b": "", "c": null }))),
        (&json!({ "items": object }), json!([{ "a": null, "b": "" }]), Some(json!([{ "b": "" }]))),
        (
            &json!({ "prefixItems": [{}], "items": object }),
            json!([null, { "a": null, "b": "" }]),
            Some(json!([null, { "b": "" }])),
        ),
        (
            &json!({ "additionalProperties": object }),
            json!({ "x": { "a": null, "b": "" } }),
            Some(json!({ "x": { "b": "" } })),
        ),
        (
            &json!({ "oneOf": kinds }),
            json!({ "kind": "one", "a": null }),
            Some(json!({ "kind": "one" })),
        ),
        (
            &json!({ "anyOf": kinds }),
            json!({ "kind": "two", "a": null }),
            Some(json!({ "kind": "two", "a": null })),
        ),
        (&json!({ "allOf": [object] }), json!({ "a": null, "b": "" }), Some(json!({ "b": "" }))),
        // Also where the whole schema is more than simple.
        (
            &json!({ "properties": { "a": { "type": "string", "pattern": "" } }, "not": { "minProperties": 1 } }),
            json!({ "a": null }),
            Some(json!({})),
        ),
    ] {
        let schema = CompiledSchema::of_results(schema.clone()).unwrap();
        let kept = schema.accept(given.clone(), Nulls::Keep).ok();
        assert_eq!(kept, taken.is_some().then(|| given.clone()));
        assert_eq!(schema.accept(given, Nulls::TakeOut).ok(), taken);
    }
}

#[test]
fn no_more_is_found_than_is_reported() {
    let schema = json!({ "items": { "type": "string" } });
    let found = check(&schema, &json!(vec![1; 1_000_000])).unwrap_err();
    assert_eq!(found.len(), 20);
    let schema = json!({ "additionalProperties": false });
    let many: Map<String, Value> =
        (0..1_000_000).map(|n| (format!("member-{n}"), Value::Null)).collect();
    let [one] = check(&schema, &many.into()).unwrap_err().try_into().unwrap();
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
    fn numbers_are_compared_as_another_validator_does(one in number(), other in number()) {
        let schemas = [
            json!({ "minimum": other }),
            json!({ "maximum": other }),
            json!({ "exclusiveMinimum": other }),
            json!({ "exclusiveMaximum": other }),
            json!({ "enum": [other] }),
            json!({ "const": other }),
            json!({ "type": "integer" }),
        ];
        for schema in schemas {
            judge(&schema, &validator(&schema).unwrap(), &json!(one));
        }
    }
}
