//! What breaks lists, and tools, resources and prompts by themselves.

use serde_json::{Value, json};

use super::{Mutant, instead_error, instead_result, legacy, modern, named, recode, without};
use crate::mutation::{Fault, SentRequest, ask, instead, result};

pub(super) fn lists() -> Vec<Mutant> {
    vec![
        legacy("lists.declared", instead_error(|asked| asked.is_rpc("prompts/list"), 200, -32601)),
        legacy(
            "messages.schema",
            result("prompts/list", |result| result["nextCursor"] = Value::Null),
        ),
        modern("messages.schema", result("prompts/list", |result| without(result, "prompts"))),
        modern(
            "messages.schema",
            result("resources/templates/list", |result| {
                without(result, "resourceTemplates");
            }),
        ),
        legacy("messages.schema", first("resources/list", |it| without(it, "name"))),
        modern("messages.schema", first("prompts/list", |it| without(it, "name"))),
        legacy(
            "lists.unknown-cursor",
            ask(|asked| {
                if asked.body["params"]["cursor"] == "no cursor of this server" {
                    without(&mut asked.body["params"], "cursor");
                }
            }),
        ),
        legacy(
            "lists.end",
            result("tools/list", |result| result["nextCursor"] = "again".into()).and(
                instead_result(
                    |asked| asked.body["params"]["cursor"] == "again",
                    json!({"tools": [], "nextCursor": "again"}),
                ),
            ),
        ),
        modern(
            "lists.cache-scope",
            result("tools/list", |result| {
                result["cacheScope"] = "public".into();
                result["nextCursor"] = "more".into();
            })
            .and(instead_result(
                |asked| asked.body["params"]["cursor"] == "more",
                json!({
                    "tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                    "_meta": named(),
                }),
            )),
        ),
        legacy("tools.unique", twice("tools/list")),
        modern("resources.unique", twice("resources/list")),
        legacy("prompts.unique", twice("prompts/list")),
        legacy("tools.name-characters", first("tools/list", |it| it["name"] = "a name".into())),
        modern(
            "messages.schema",
            first("tools/list", |it| without(&mut it["inputSchema"], "type")),
        ),
        legacy(
            "messages.schema",
            first("tools/list", |it| {
                it["outputSchema"] = json!({"type": "string"});
            }),
        ),
        modern("tools.description", first("tools/list", |it| without(it, "description"))),
        modern(
            "schemas.local-references",
            first("tools/list", |it| {
                it["inputSchema"]["properties"] =
                    json!({"x": {"$ref": "https://example.com/x.json"}});
            }),
        ),
        // gemini-cli-extensions/stitch#13: a client drops all tools of the server.
        legacy(
            "schemas.local-references",
            first("tools/list", |it| {
                let items = json!({"$ref": "#/$defs/Missing"});
                it["inputSchema"]["properties"] = json!({"x": {"type": "array", "items": items}});
            }),
        ),
    ]
}

pub(super) fn offers() -> Vec<Mutant> {
    vec![
        modern(
            "resources.read",
            instead_error(|asked| asked.is_rpc("resources/read"), 200, -32602),
        ),
        legacy(
            "tools.unknown",
            instead_result(
                |asked| asked.is_call("no_such_tool_of_this_server"),
                json!({"content": [], "isError": true}),
            ),
        ),
        modern(
            "messages.schema",
            result("tools/call", |result| result["content"][0]["type"] = "poem".into()),
        ),
        legacy(
            "messages.schema",
            result("resources/read", |result| {
                without(&mut result["contents"][0], "uri");
            }),
        ),
        legacy(
            "resources.unknown",
            instead_result(
                |asked| {
                    asked.is_rpc("resources/read") && asked.body["params"]["uri"] != "test://one"
                },
                json!({"contents": []}),
            ),
        ),
        modern("prompts.unknown", recode("prompts/get", -32603)),
        modern(
            "messages.schema",
            instead(|asked| {
                let mut answer = asked.refused(400, -32021);
                answer.body["error"]["data"] = json!({"requiredCapabilities": ["sampling"]});
                is_part(asked).then_some(answer)
            }),
        ),
        // It asks for nothing, and gives no state.
        modern(
            "messages.schema",
            instead_result(is_part, json!({"resultType": "input_required", "_meta": named()})),
        ),
        modern(
            "messages.schema",
            instead_result(
                |asked| asked.is_rpc("prompts/list") && asked.body["params"]["cursor"].is_null(),
                json!({"resultType": "input_required", "requestState": "s", "_meta": named()}),
            ),
        ),
        legacy(
            "logging.level",
            instead_result(|asked| asked.is_rpc("logging/setLevel"), json!({})),
        ),
        modern(
            "logging.level",
            ask(|asked| {
                if let Some(meta) = asked.body.pointer_mut("/params/_meta") {
                    without(meta, "io.modelcontextprotocol/logLevel");
                }
            }),
        ),
        legacy(
            "capabilities.undeclared",
            result("initialize", |result| {
                without(&mut result["capabilities"], "prompts");
            }),
        ),
    ]
}

fn is_part(asked: &SentRequest) -> bool {
    asked.is_rpc("prompts/get") && asked.body["params"]["name"] == "part"
}

/// The first item of a list is changed.
fn first(method: &'static str, change: fn(&mut Value)) -> Fault {
    let member = method.split('/').next().unwrap_or_default();
    result(method, move |result| change(&mut result[member][0]))
}

/// The first item of a list stands in it twice.
fn twice(method: &'static str) -> Fault {
    let member = method.split('/').next().unwrap_or_default();
    result(method, move |result| {
        let item = result[member][0].clone();
        result[member].as_array_mut().unwrap().push(item);
    })
}
