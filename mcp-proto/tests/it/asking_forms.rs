//! Questions as they are sent, by revision, and what counts as an answer to them.

use std::sync::Arc;

use mcp_proto::jsonrpc::Request;
use mcp_proto::{
    Choice, Context, CreateMessage, ElicitForm, ElicitUrl, Field, Interrupt, ModelHint,
    ModelPreferences, ProtocolVersion, Questions, Role, SamplingContent, SamplingMessage,
    SamplingTool, Server, ToolChoice,
};
use serde_json::{Map, Value, json};

use crate::asking::{all_capabilities, asker, name_form};
use crate::common::with_meta;
use crate::peer::Peer;

/// The parameters of the question that a handler asks a client of a revision, as they are on the wire.
async fn asked(
    version: &str,
    ask: impl Fn(&Context) -> Result<Value, Interrupt> + Send + Sync + 'static,
) -> Value {
    let server = asker(ask).build().unwrap();
    if version == "2026-07-28" {
        let result = modern(&server, json!({})).await.unwrap();
        assert_eq!(result["resultType"], "input_required", "{result}");
        let question = result["inputRequests"]["q"].clone();
        // A question of the modern era is no message.
        assert!(question.get("id").is_none() && question.get("jsonrpc").is_none());
        return question["params"].clone();
    }
    let mut peer = legacy(server, version).await;
    let question = peer.next().await;
    assert!(question["id"].is_string(), "{question}");
    question["params"].clone()
}

/// A call of the tool by a client of a legacy revision.
async fn legacy(server: Server, version: &str) -> Peer {
    let mut peer = Peer::new(server);
    peer.send(
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": all_capabilities(),
        "clientInfo": { "name": "test", "version": "0" },
    } }),
    )
    .await;
    assert_eq!(peer.next().await["result"]["protocolVersion"], version);
    peer.send(&json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "ask" },
    }))
    .await;
    peer
}

/// The result of a modern call with these answers, or its error's code and message.
async fn modern(server: &Server, answers: Value) -> Result<Value, (i64, String)> {
    let params = json!({ "name": "ask", "inputResponses": answers });
    let mut context = Context::test();
    context.client_capabilities = Arc::new(all_capabilities().into());
    let request = Request::new(7, "tools/call", with_meta(params));
    let outcome = server.handle(request, context).await.outcome;
    outcome
        .map(|payload| payload.to_value())
        .map_err(|error| (error.code, error.message))
}

/// What a handler gets for this answer to its question, or the refusal.
async fn answered(
    answer: Value,
    ask: impl Fn(&Context) -> Result<Value, Interrupt> + Send + Sync + 'static,
) -> Result<Value, String> {
    let server = asker(ask).build().unwrap();
    match modern(&server, json!({ "q": answer })).await {
        Ok(result) => Ok(result["structuredContent"]["said"].clone()),
        Err((code, message)) => {
            assert_eq!(code, -32602, "{message}");
            let problem = message.strip_prefix("params.inputResponses[\"q\"]: ");
            Err(problem.expect(&message).to_owned())
        }
    }
}

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
        (
            Field::email(),
            json!({ "type": "string", "format": "email" }),
        ),
        (Field::uri(), json!({ "type": "string", "format": "uri" })),
        (Field::date(), json!({ "type": "string", "format": "date" })),
        (
            Field::date_time(),
            json!({ "type": "string", "format": "date-time" }),
        ),
        (
            Field::number()
                .with_bounds(Some(0.5), None)
                .with_default(95.5),
            json!({ "type": "number", "minimum": 0.5, "default": 95.5 }),
        ),
        (
            Field::integer()
                .with_bounds(None, Some(130.0))
                .with_default(30),
            json!({ "type": "integer", "maximum": 130, "default": 30 }),
        ),
        (
            Field::boolean().with_default(true),
            json!({ "type": "boolean", "default": true }),
        ),
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
            let params = asked(version, move |context| {
                Ok(json!(context.elicit("q", &form)?.content))
            });
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
        let said = answered(answer, move |context| {
            Ok(json!(context.elicit("q", &form)?.content))
        });
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
        let said = answered(answer, move |context| {
            Ok(json!(context.elicit("q", &form)?.content))
        });
        let problem = said.await.unwrap_err();
        assert!(problem.starts_with("content.f: "), "{field:?}: {problem}");
    }
}

#[tokio::test]
async fn an_answer_is_what_the_form_asks_for_and_no_more() {
    let form = || {
        ElicitForm::new("?")
            .field("name", Field::text().required())
            .field("age", Field::integer())
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

#[tokio::test]
async fn a_url_is_named_towards_the_revision_that_wants_a_name() {
    let ask = |context: &Context| {
        let url = ElicitUrl::new("Please pay.", "https://pay.example/?n=1").with_id("e-1");
        Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
    };
    let params =
        json!({ "mode": "url", "message": "Please pay.", "url": "https://pay.example/?n=1" });
    assert_eq!(asked("2026-07-28", ask).await, params);
    let mut named = params;
    named["elicitationId"] = json!("e-1");
    assert_eq!(asked("2025-11-25", ask).await, named);

    // Without a name of the server's own it is one that nobody can guess.
    let unnamed = || {
        asked("2025-11-25", |context| {
            let url = ElicitUrl::new("Please pay.", "https://pay.example/");
            Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
        })
    };
    let (one, other) = (unnamed().await, unnamed().await);
    assert_ne!(one["elicitationId"], other["elicitationId"]);
    assert_eq!(one["elicitationId"].as_str().unwrap().len(), 36);

    // Whatever a client brings along: nothing was filled in.
    let said = answered(
        json!({ "action": "accept", "content": { "card": "4111" } }),
        |context| {
            let url = ElicitUrl::new("Please pay.", "https://pay.example/");
            let answers = context.ask(&Questions::new().elicit_url("q", url))?;
            Ok(json!(answers.elicited("q")?.content))
        },
    );
    assert_eq!(said.await, Ok(json!({})));
}

#[tokio::test]
async fn sampling_is_sent_whole_and_as_its_revision_wants_it() {
    fn message() -> CreateMessage {
        let mut message = CreateMessage::new(
            [
                SamplingMessage::user("Hello"),
                SamplingMessage::new(
                    Role::Assistant,
                    [SamplingContent::text("Hi."), SamplingContent::text("And?")],
                ),
            ],
            100,
        )
        .with_system_prompt("Be brief.");
        message.temperature = Some(0.5);
        message.stop_sequences = vec!["END".to_owned()];
        message.metadata = json!({ "k": 1 }).as_object().cloned();
        let mut preferences = ModelPreferences::default();
        preferences.hints.push(ModelHint {
            name: "sonnet".to_owned(),
        });
        preferences.speed_priority = Some(1.0);
        message.model_preferences = Some(preferences);
        message
    }
    let ask = |context: &Context| Ok(json!(context.sample("q", &message())?.text()));
    let text = |text: &str| json!({ "type": "text", "text": text });
    let rest = json!({
        "maxTokens": 100,
        "systemPrompt": "Be brief.",
        "temperature": 0.5,
        "stopSequences": ["END"],
        "metadata": { "k": 1 },
        "modelPreferences": { "hints": [{ "name": "sonnet" }], "speedPriority": 1.0 },
    });
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let mut params = asked(version, ask).await;
        let messages = params.as_object_mut().unwrap().remove("messages");
        assert_eq!(params, rest, "{version}");
        // A message of several pieces is new in 2025-11-25.
        let expected = match version < "2025-11-25" {
            true => json!([
                { "role": "user", "content": text("Hello") },
                { "role": "assistant", "content": text("Hi.") },
                { "role": "assistant", "content": text("And?") },
            ]),
            false => json!([
                { "role": "user", "content": text("Hello") },
                { "role": "assistant", "content": [text("Hi."), text("And?")] },
            ]),
        };
        assert_eq!(messages, Some(expected), "{version}");
    }

    let with_tools = |context: &Context| {
        let tool = SamplingTool::new("add", "Adds.", json!({ "type": "object" }));
        let mut message = CreateMessage::text("2+2?", 100).with_tool(tool);
        message.tool_choice = Some(ToolChoice::Required);
        Ok(json!(context.sample("q", &message)?.text()))
    };
    for version in ["2025-11-25", "2026-07-28"] {
        let params = asked(version, with_tools).await;
        assert_eq!(params["toolChoice"], json!({ "mode": "required" }));
        assert_eq!(
            params["tools"],
            json!([{ "name": "add", "description": "Adds.", "inputSchema": { "type": "object" } }])
        );
    }
}

#[tokio::test]
async fn sampled_messages_are_one_piece_or_several() {
    let sampled = |content: Value| {
        let answer = json!({ "role": "assistant", "content": content, "model": "m" });
        answered(answer, |context| {
            let said = context.sample("q", &CreateMessage::text("?", 9))?;
            Ok(json!([said.content.len(), said.text()]))
        })
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    assert_eq!(sampled(text("a")).await, Ok(json!([1, "a"])));
    assert_eq!(
        sampled(json!([text("a"), text("b")])).await,
        Ok(json!([2, "a\nb"]))
    );
    let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
    assert_eq!(sampled(image).await, Ok(json!([1, ""])));
    for content in [
        json!(null),
        json!("a"),
        json!([1]),
        json!({ "type": "film" }),
    ] {
        assert!(
            sampled(content)
                .await
                .unwrap_err()
                .starts_with("a CreateMessageResult is wanted: ")
        );
    }
    // It was given none.
    let tool = json!({ "type": "tool_use", "id": "1", "name": "add", "input": { "a": 2 } });
    assert_eq!(
        sampled(tool.clone()).await,
        Err("the model uses tools, although it was given none".to_owned())
    );
    let answer =
        json!({ "role": "assistant", "content": tool, "model": "m", "stopReason": "toolUse" });
    let used = answered(answer, |context| {
        let tool = SamplingTool::new("add", "Adds.", json!({ "type": "object" }));
        let said = context.sample("q", &CreateMessage::text("2+2?", 9).with_tool(tool))?;
        Ok(json!([said.content, said.stop_reason]))
    });
    let tool = json!({ "type": "tool_use", "id": "1", "name": "add", "input": { "a": 2 } });
    assert_eq!(used.await, Ok(json!([[tool], "toolUse"])));
}

#[tokio::test]
async fn roots_are_files() {
    let roots = |answer: Value| answered(answer, |context| Ok(json!(context.list_roots("q")?)));
    assert_eq!(roots(json!({ "roots": [] })).await, Ok(json!([])));
    let good = json!([{ "uri": "file:///a" }, { "uri": "file:///b", "name": "B" }]);
    assert_eq!(roots(json!({ "roots": good })).await, Ok(good));
    assert_eq!(
        roots(json!({ "roots": [{ "uri": "file:///a", "name": null }] })).await,
        Ok(json!([{ "uri": "file:///a" }]))
    );
    for uri in ["https://a.example/", "/a", "FILE:///a", "file:a", ""] {
        assert_eq!(
            roots(json!({ "roots": [{ "uri": "file:///a" }, { "uri": uri }] })).await,
            Err("the uri of a root must begin with file://".to_owned())
        );
    }
    for answer in [
        json!({}),
        json!(null),
        json!({ "roots": {} }),
        json!({ "roots": [1] }),
    ] {
        roots(answer).await.unwrap_err();
    }
    roots(json!({ "roots": [{ "uri": "file:///a", "name": 1 }] }))
        .await
        .unwrap_err();
    // It has no parameters.
    for (version, params) in [("2025-11-25", json!(null)), ("2026-07-28", json!({}))] {
        let asked = asked(version, |context| Ok(json!(context.list_roots("q")?))).await;
        assert_eq!(asked, params);
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_the_authors_mistake() {
    type Mistake = fn(&Context) -> Result<Value, Interrupt>;
    let mistakes: [Mistake; 10] = [
        |context| {
            let form = ElicitForm::new("?").field("f", Field::integer().with_default("x"));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let form = ElicitForm::new("?").field("f", Field::one_of(["a"]).with_default("b"));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let form = ElicitForm::new("?").field("f", Field::text().with_pattern("["));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let form = ElicitForm::new("?").field("f", Field::one_of(Vec::<String>::new()));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let form = ElicitForm::new("?").field("f", Field::any_of_titled([]));
            Ok(json!(context.elicit("q", &form)?.content))
        },
        |context| {
            let url = ElicitUrl::new("?", "pay.example");
            Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
        },
        |context| Ok(json!(context.list_roots(&"k".repeat(129))?)),
        |context| {
            let many = (0..33).fold(Questions::new(), |all, key| all.roots(key.to_string()));
            Ok(json!(context.ask(&many)?.roots("0")?))
        },
        // Read what was not asked.
        |context| {
            let answers = context.ask(&Questions::new())?;
            Ok(json!(answers.sampled("q")?.text()))
        },
        |context| {
            let typed: Option<Map<String, Value>> = context.elicit_typed("q", "?")?;
            Ok(json!(typed.map(|members| members.len())))
        },
    ];
    for (index, mistake) in mistakes.into_iter().enumerate() {
        let server = asker(mistake).build().unwrap();
        let outcome = modern(&server, json!({})).await;
        assert_eq!(outcome.unwrap_err().0, -32603, "{index}");
        let mut peer = legacy(server, "2025-11-25").await;
        assert_eq!(peer.next().await["error"]["code"], -32603, "{index}");
    }
    // As many and as long as may be.
    let server = asker(|context| {
        let key = |n| format!("{n:0>128}");
        let many = (0..32).fold(Questions::new(), |all, n| all.roots(key(n)));
        Ok(json!(context.ask(&many)?.roots(&key(0))?))
    });
    let result = modern(&server.build().unwrap(), json!({})).await.unwrap();
    assert_eq!(result["inputRequests"].as_object().unwrap().len(), 32);
}

#[tokio::test]
async fn what_a_revision_does_not_know_is_not_asked() {
    type Ask = fn(&Context) -> Result<Value, Interrupt>;
    let form: Ask = |context| Ok(json!(context.elicit("q", &name_form())?.content));
    let several: Ask = |context| {
        let form = ElicitForm::new("?").field("f", Field::any_of(["a"]));
        Ok(json!(context.elicit("q", &form)?.content))
    };
    let url: Ask = |context| {
        let url = ElicitUrl::new("?", "https://pay.example/");
        Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
    };
    let tools: Ask = |context| {
        let tool = SamplingTool::new("add", "Adds.", json!({ "type": "object" }));
        Ok(json!(
            context
                .sample("q", &CreateMessage::text("?", 9).with_tool(tool))?
                .text()
        ))
    };
    for (ask, since) in [
        (form, ProtocolVersion::V2025_06_18),
        (several, ProtocolVersion::V2025_11_25),
        (url, ProtocolVersion::V2025_11_25),
        (tools, ProtocolVersion::V2025_11_25),
    ] {
        for version in ProtocolVersion::ALL {
            if version == ProtocolVersion::LATEST {
                continue;
            }
            let server = asker(ask).build().unwrap();
            let said = legacy(server, version.as_str()).await.next().await;
            if version >= since {
                assert!(said.get("method").is_some(), "{version}: {said}");
            } else {
                assert_eq!(said["error"]["code"], -32602, "{version}: {said}");
            }
        }
    }
}
