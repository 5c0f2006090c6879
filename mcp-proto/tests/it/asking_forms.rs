//! Forms as they are sent, by revision, and what counts as an answer to them.

use mcp_proto::input::Choice;
use mcp_proto::{ElicitForm, Field};
use serde_json::{Value, json};

use crate::asking_common::{answered, asked};

/// Every kind of field, and its schema on the wire since 2025-11-25.
fn fields() -> Vec<(Field, Value)> {
    let choices = || [Choice::new("a", "First"), Choice::new("b", "Second")];
    vec![
        (Field::text(), json!({ "type": "string" })),
        (
            Field::text()
                .with_title("Name")
                .with_description("Yours")
                .with_bounds(Some(1.0), Some(9.0))
                .with_pattern("^[a-z]+$")
                .with_default("ann"),
            json!({
                "type": "string", "title": "Name", "description": "Yours", "minLength": 1,
                "maxLength": 9, "pattern": "^[a-z]+$", "default": "ann",
            }),
        ),
        (Field::email(), json!({ "type": "string", "format": "email" })),
        (Field::uri(), json!({ "type": "string", "format": "uri" })),
        (Field::date(), json!({ "type": "string", "format": "date" })),
        (Field::date_time(), json!({ "type": "string", "format": "date-time" })),
        (
            Field::number().with_bounds(Some(0.5), None).with_default(95.5),
            json!({ "type": "number", "minimum": 0.5, "default": 95.5 }),
        ),
        (
            Field::integer().with_bounds(None, Some(130.0)).with_default(30),
            json!({ "type": "integer", "maximum": 130, "default": 30 }),
        ),
        (Field::boolean().with_default(true), json!({ "type": "boolean", "default": true })),
        (
            Field::one_of(["a", "b"]).with_default("b"),
            json!({ "type": "string", "enum": ["a", "b"], "default": "b" }),
        ),
        (
            Field::one_of_titled(choices()),
            json!({ "type": "string", "oneOf": [
                { "const": "a", "title": "First" }, { "const": "b", "title": "Second" },
            ] }),
        ),
        (
            Field::one_of_named(choices()),
            json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"] }),
        ),
        (
            Field::any_of(["a", "b"]).with_bounds(Some(1.0), Some(2.0)),
            json!({
                "type": "array", "items": { "type": "string", "enum": ["a", "b"] },
                "minItems": 1, "maxItems": 2,
            }),
        ),
        (
            Field::any_of_titled(choices()).with_default(vec!["a"]),
            json!({
                "type": "array", "default": ["a"], "items": { "anyOf": [
                    { "const": "a", "title": "First" }, { "const": "b", "title": "Second" },
                ] },
            }),
        ),
    ]
}

#[tokio::test]
async fn every_kind_of_field_is_sent_as_its_revision_wants_it() {
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        for (index, (field, expected)) in fields().into_iter().enumerate() {
            if version == "2025-06-18" && expected["type"] == "array" {
                continue;
            }
            let form = ElicitForm::new("Please.")
                .field("first", field.clone())
                .field("second", field.required());
            let params =
                asked(version, move |context| Ok(json!(context.elicit("q", &form)?.content)));
            let mut params = params.await;
            let expected = match (version, expected.get("oneOf")) {
                ("2025-06-18", Some(_)) => fields()[index + 1].1.clone(),
                _ => expected,
            };
            assert_eq!(
                params["requestedSchema"].take(),
                json!({
                    "type": "object",
                    "properties": { "first": expected, "second": expected },
                    "required": ["second"],
                }),
                "{version}"
            );
            assert_eq!(params["message"], "Please.");
            let mode = (version != "2025-06-18").then_some(json!("form"));
            assert_eq!(params.get("mode"), mode.as_ref());
        }
    }
}

#[tokio::test]
async fn answers_are_checked_against_the_form() {
    let good = [
        (Field::text(), json!("x")),
        (Field::text(), json!("")),
        (Field::text().with_bounds(None, Some(2.0)), json!("äö")),
        (Field::email(), json!("a@b.example")),
        (Field::uri(), json!("https://a.example/")),
        (Field::date(), json!("2026-07-28")),
        (Field::date_time(), json!("2026-07-28T12:00:00Z")),
        (Field::number(), json!(1.5)),
        (Field::integer(), json!(-3)),
        (Field::boolean(), json!(false)),
        (Field::one_of(["a", "b"]), json!("b")),
        (Field::one_of_titled([Choice::new("a", "A")]), json!("a")),
        (Field::one_of_named([Choice::new("a", "A")]), json!("a")),
        (Field::any_of(["a", "b"]), json!(["b", "a"])),
        (Field::any_of(["a", "b"]), json!([])),
        (Field::any_of_titled([Choice::new("a", "A")]), json!(["a"])),
    ];
    for (field, value) in good {
        let form = ElicitForm::new("?").field("f", field.clone());
        let answer = json!({ "action": "accept", "content": { "f": value } });
        let said = answered(answer, move |context| Ok(json!(context.elicit("q", &form)?.content)));
        assert_eq!(said.await, Ok(json!({ "f": value })), "{field:?}");
    }
    let bad = [
        (Field::text(), json!(1)),
        (Field::text(), json!(["x"])),
        (Field::text().with_bounds(Some(2.0), None), json!("x")),
        (Field::text().with_bounds(None, Some(2.0)), json!("xyz")),
        (Field::text().with_pattern("^a$"), json!("b")),
        (Field::email(), json!("a")),
        (Field::uri(), json!("no uri")),
        (Field::date(), json!("2026-02-30")),
        (Field::date_time(), json!("noon")),
        (Field::number(), json!("1")),
        (Field::number().with_bounds(Some(1.0), None), json!(0.5)),
        (Field::integer(), json!(1.5)),
        (Field::boolean(), json!("true")),
        (Field::one_of(["a", "b"]), json!("c")),
        (Field::one_of_titled([Choice::new("a", "A")]), json!("A")),
        (Field::one_of_named([Choice::new("a", "A")]), json!("A")),
        (Field::any_of(["a", "b"]), json!("a")),
        (Field::any_of(["a", "b"]), json!(["a", "c"])),
        (Field::any_of(["a"]).with_bounds(Some(1.0), None), json!([])),
        (Field::any_of_titled([Choice::new("a", "A")]), json!(["A"])),
    ];
    for (field, value) in bad {
        let form = ElicitForm::new("?").field("f", field.clone());
        let answer = json!({ "action": "accept", "content": { "f": value } });
        let said = answered(answer, move |context| Ok(json!(context.elicit("q", &form)?.content)));
        let problem = said.await.unwrap_err();
        assert!(problem.starts_with("content.f: "), "{field:?}: {problem}");
    }
}

#[tokio::test]
async fn an_answer_is_what_the_form_asks_for_and_no_more() {
    let form = || {
        ElicitForm::new("?").field("name", Field::text().required()).field("age", Field::integer())
    };
    let said = |answer: Value| {
        answered(answer, move |context| {
            let answer = context.elicit("q", &form())?;
            Ok(json!([format!("{:?}", answer.action), answer.content]))
        })
    };
    let accept = |content: Value| said(json!({ "action": "accept", "content": content }));
    assert_eq!(
        accept(json!({ "name": "Ann", "age": 30.0, "more": { "deep": [1] } })).await,
        // Handlers can read it as an integer.
        Ok(json!(["Accept", { "name": "Ann", "age": 30 }]))
    );
    // Left empty is left out, also where a client says so by null.
    assert_eq!(
        accept(json!({ "name": "Ann", "age": null })).await,
        Ok(json!(["Accept", { "name": "Ann" }]))
    );
    let missing = Err("content.name is missing".to_owned());
    for content in [json!({}), json!({ "name": null }), json!(null)] {
        assert_eq!(accept(content).await, missing);
    }
    assert_eq!(said(json!({ "action": "accept" })).await, missing);
    let no_object = Err("content must be an object".to_owned());
    assert_eq!(accept(json!(["Ann"])).await, no_object);
    let no_answer = "an object whose action is accept, decline or cancel is wanted";
    for answer in [
        json!(null),
        json!([]),
        json!(42),
        json!("accept"),
        json!({}),
        json!({ "action": "Accept" }),
        json!({ "action": null }),
        json!({ "content": { "name": "Ann" } }),
    ] {
        assert_eq!(said(answer).await, Err(no_answer.to_owned()));
    }
}
