//! What breaks subscriptions, names in headers, calls, limits, and the types of messages.

use std::sync::atomic::{AtomicBool, Ordering};

use http::{HeaderValue, Method};
use serde_json::{Value, json};

use super::{Mutant, instead_error, instead_result, legacy, modern, named, set};
use crate::mutation::{
    Answer, Fault, SentRequest, answer, answer_to, ask, instead, result, status,
};

/// After the cancellation of an unknown request the next one fails.
fn deaf() -> Fault {
    let is_deaf = AtomicBool::new(false);
    instead(move |asked| {
        if asked.body["params"]["requestId"] == "no such request" {
            is_deaf.store(true, Ordering::SeqCst);
            return None;
        }
        is_deaf.swap(false, Ordering::SeqCst).then(|| Answer::new(500, Value::Null))
    })
}

/// A result that a call of the small server could have.
fn done(more: &Value) -> Value {
    let text = json!({"type": "text", "text": "done"});
    let mut result = json!({"content": [text], "resultType": "complete", "_meta": named()});
    let members = more.as_object().unwrap().clone();
    result.as_object_mut().unwrap().extend(members);
    result
}

fn is_unknown_token(asked: &SentRequest) -> bool {
    asked.headers.get("authorization").is_some_and(|it| it == "Bearer no-such-token")
}

/// Answers so to a token that no server issued, with this challenge, in which `HOST` is the server.
fn refusing(status: u16, challenge: Option<&'static str>) -> Fault {
    instead(move |asked| {
        let mut refusal = Answer::new(status, Value::Null);
        if let Some(challenge) = challenge {
            let host = asked.headers["host"].to_str().unwrap();
            let value = challenge.replace("HOST", host).parse().unwrap();
            refusal.headers.insert("www-authenticate", value);
        }
        is_unknown_token(asked).then_some(refusal)
    })
}

pub(super) fn heads() -> Vec<Mutant> {
    vec![
        modern(
            "modern.name-header",
            ask(|asked| {
                if asked.is_call("no_such_thing_of_this_server") {
                    set(asked, "mcp-name", "no_such_thing_of_this_server");
                }
            }),
        ),
        modern(
            "modern.name-encoding",
            instead_error(|asked| asked.is_call("no_such_thing_\u{e9}"), 400, -32020),
        ),
        modern(
            "modern.name-encoding",
            ask(|asked| {
                if asked.is_call("no_such_thing_\u{e9}") {
                    set(asked, "mcp-name", "=?base64?bm9fc3VjaF90aGluZ1/DqQ==?=");
                }
            }),
        ),
        modern("modern.param-header", regional()),
        modern(
            "modern.removed-methods",
            instead_result(
                |asked| asked.is_rpc("ping"),
                json!({"resultType": "complete", "_meta": named()}),
            ),
        ),
        modern("modern.get-and-delete", status(200, |asked| asked.method == Method::DELETE)),
        legacy(
            "session.unknown",
            answer_to(
                |asked| asked.session().is_some_and(|it| it.starts_with("00000000")),
                |answer| answer.status = 400,
            ),
        ),
        legacy("access.challenge", refusing(403, Some("Bearer"))),
        modern("access.challenge", refusing(401, None)),
        legacy("access.metadata", refusing(401, Some("Bearer"))),
        modern(
            "access.metadata",
            refusing(401, Some("Bearer resource_metadata=\"http://HOST/nothing\"")),
        ),
        legacy(
            "http.accept",
            answer(|asked, answer| {
                let accepts = asked.headers.get("accept");
                if accepts.is_some_and(|it| it == "application/json") {
                    let streams = HeaderValue::from_static("text/event-stream");
                    answer.headers.insert("content-type", streams);
                }
            }),
        ),
        legacy(
            "http.resume-unknown",
            instead(|asked| {
                let replayed = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
                let resumes = asked.headers.contains_key("last-event-id");
                resumes.then(|| Answer::new(200, replayed))
            }),
        ),
        modern(
            "robust.large-message",
            instead(|asked| {
                let text = asked.body["params"]["x"].as_str();
                let long = text.is_some_and(|text| text.len() > 1_000_000);
                long.then(|| Answer::new(500, Value::Null))
            }),
        ),
        legacy("base.cancel-unknown", deaf()),
        legacy(
            "base.concurrent",
            answer_to(
                |asked| asked.body["id"] == "together-3",
                |answer| answer.body["id"] = "together-4".into(),
            ),
        ),
    ]
}

pub(super) fn messages() -> Vec<Mutant> {
    vec![
        modern(
            "listen.acknowledged",
            instead_result(
                |asked| asked.is_rpc("subscriptions/listen") && asked.body["id"] == 77,
                {
                    let mut meta = named();
                    meta["io.modelcontextprotocol/subscriptionId"] = 77.into();
                    json!({"resultType": "complete", "_meta": meta})
                },
            ),
        ),
        modern(
            "listen.filter",
            ask(|asked| {
                if asked.is_rpc("subscriptions/listen")
                    && asked.body["params"]["notifications"].is_null()
                {
                    asked.body["params"]["notifications"] = json!({});
                }
            }),
        ),
        modern("listen.several", instead_error(|asked| asked.body["id"] == "second", 200, -32603)),
        legacy(
            "messages.schema",
            result("prompts/list", |result| result["prompts"][0]["description"] = Value::Null),
        ),
        modern(
            "messages.schema",
            result("tools/list", |result| {
                result["tools"][0]["annotations"] = json!({"readOnlyHint": "no"});
            }),
        ),
        modern(
            "messages.error-codes",
            answer(|asked, answer| {
                if asked.is_rpc("no/such/method") && asked.body["id"].is_i64() {
                    return;
                }
                if asked.is_call("no_such_thing_\u{e9}") && answer.body["error"]["code"] == -32602 {
                    answer.body["error"]["code"] = (-32001).into();
                }
            }),
        ),
        modern(
            "messages.no-requests",
            instead(|asked| {
                let ping = json!({"jsonrpc": "2.0", "id": "of the server", "method": "ping"});
                let own =
                    json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": done(&json!({}))});
                asked.is_call("look").then(|| Answer::new(200, json!([ping, own])))
            }),
        ),
    ]
}

pub(super) fn calls() -> Vec<Mutant> {
    vec![
        modern(
            "tools.arguments",
            listing_look(
                "inputSchema",
                json!({"type": "object", "properties": {"x": {"type": "string"}}}),
            ),
        ),
        legacy(
            "tools.structured-content",
            listing_look("outputSchema", json!({"type": "object", "required": ["x"]})),
        ),
        modern(
            "tools.structured-content",
            listing_look(
                "outputSchema",
                json!({"type": "object", "properties": {"x": {"type": "integer"}}}),
            )
            .and(instead_result(
                |asked| asked.is_call("look"),
                done(&json!({"structuredContent": {"x": "one"}})),
            )),
        ),
        modern(
            "tools.progress",
            instead(|asked| {
                let params = json!({"progressToken": "another", "progress": 1});
                let progress =
                    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
                let own =
                    json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": done(&json!({}))});
                let wanted = !asked.body["params"]["_meta"]["progressToken"].is_null();
                wanted.then(|| Answer::new(200, json!([progress, own])))
            }),
        ),
        legacy(
            "prompts.arguments",
            result("prompts/list", |result| {
                result["prompts"][0]["arguments"] = json!([{"name": "x", "required": true}]);
            }),
        ),
        legacy(
            "completion.unknown",
            result("initialize", |result| result["capabilities"]["completions"] = json!({})).and(
                instead_result(
                    |asked| asked.is_rpc("completion/complete"),
                    json!({"completion": {"values": []}}),
                ),
            ),
        ),
        legacy("tools.portable-name", first_tool("name", "n".repeat(65).into())),
        legacy("schemas.root", first_tool("inputSchema", json!({"type": "object", "anyOf": [{}]}))),
        modern(
            "schemas.property-names",
            first_tool("inputSchema", json!({"type": "object", "properties": {"a b": {}}})),
        ),
        modern("tools.order", turning()),
        modern("tools.order", remembering()),
        modern(
            "schemas.header-names",
            annotated(json!({"type": "number", "x-mcp-header": "Size"})),
        ),
        modern("schemas.header-names", annotated(json!({"type": "string", "x-mcp-header": "a b"}))),
        modern(
            "schemas.header-names",
            annotated(
                json!({"type": "array", "items": {"type": "string", "x-mcp-header": "Item"}}),
            ),
        ),
    ]
}

/// A tool has a parameter with a member of this schema.
fn annotated(schema: Value) -> Fault {
    result("tools/list", move |result| {
        for tool in result["tools"].as_array_mut().unwrap() {
            if tool["name"] == "write" {
                let parameter = json!({"type": "object", "properties": {"y": schema}});
                tool["inputSchema"]["properties"] = json!({ "x": parameter });
            }
        }
    })
}

/// An argument of the read-only tool is to be repeated in a header, which is not compared.
fn regional() -> Fault {
    let schema = json!({"type": "string", "x-mcp-header": "Region"});
    let schema = json!({"type": "object", "properties": {"region": schema}});
    let refusing = instead(|asked| {
        let region = &asked.body["params"]["arguments"]["region"];
        let refused = done(&json!({"isError": true}));
        (asked.is_call("look") && region.is_object()).then(|| asked.answered(refused))
    });
    let unasked = ask(|asked| {
        if asked.is_call("look") && asked.body["params"]["arguments"]["region"].is_string() {
            asked.body["params"]["arguments"] = json!({});
        }
    });
    listing_look("inputSchema", schema).and(refusing).and(unasked)
}

/// The read-only tool is listed with another schema, and takes whatever comes.
fn listing_look(member: &'static str, schema: Value) -> Fault {
    result("tools/list", move |result| {
        for tool in result["tools"].as_array_mut().unwrap() {
            if tool["name"] == "look" {
                tool[member] = schema.clone();
            }
        }
    })
    .and(ask(|asked| {
        if asked.is_call("look") {
            asked.body["params"]["arguments"] = json!({});
        }
    }))
}

fn first_tool(member: &'static str, value: Value) -> Fault {
    result("tools/list", move |result| result["tools"][0][member] = value.clone())
}

/// A tool that was called is listed no more.
fn remembering() -> Fault {
    let is_called = AtomicBool::new(false);
    answer(move |asked, answer| {
        is_called.fetch_or(asked.is_call("look"), Ordering::SeqCst);
        let tools = answer.body.pointer_mut("/result/tools").and_then(Value::as_array_mut);
        if let Some(tools) = tools.filter(|_| is_called.load(Ordering::SeqCst)) {
            tools.retain(|it| it["name"] != "look");
        }
    })
}

/// Every second list of tools is in another order.
fn turning() -> Fault {
    let turned = AtomicBool::new(false);
    result("tools/list", move |result| {
        if turned.fetch_xor(true, Ordering::SeqCst) {
            result["tools"].as_array_mut().unwrap().reverse();
        }
    })
}
