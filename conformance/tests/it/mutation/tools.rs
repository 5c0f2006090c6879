//! Broken tool lists: REQ-MCP-1 to 5.

use serde_json::{Value, json};

use super::{BOTH, Mutation, answer, result, row};

const LIST: &str = "tools/list";

fn tool<'a>(result: &'a mut Value, name: &str) -> &'a mut Value {
    let tools = result["tools"].as_array_mut().unwrap();
    tools.iter_mut().find(|tool| tool["name"] == name).unwrap()
}

/// Takes a name out of a schema's `required`.
fn not_required(schema: &mut Value, member: &str) {
    schema["required"]
        .as_array_mut()
        .unwrap()
        .retain(|name| name != member);
}

/// Wrong arguments of a tool are let through.
fn unchecked(name: &'static str) -> super::Fault {
    super::tool(name, |result| {
        *result = json!({"content": [{"type": "text", "text": "{\"universeId\":1,\"type\":1,\"command\":1}"}],
                         "resultType": "complete"});
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    let exactly = "exactly these three tools";
    vec![
        row("REQ-MCP-01", BOTH, "a tool is missing", exactly, || {
            result(LIST, |result| {
                drop(result["tools"].as_array_mut().unwrap().pop())
            })
        }),
        row(
            "REQ-MCP-01",
            BOTH,
            "there is a fourth tool",
            exactly,
            || {
                result(LIST, |result| {
                    let mut fourth = result["tools"][0].clone();
                    fourth["name"] = "create_universe".into();
                    result["tools"].as_array_mut().unwrap().push(fourth);
                })
            },
        ),
        row("REQ-MCP-01", BOTH, "a tool is there twice", exactly, || {
            result(LIST, |result| {
                result["tools"][1] = result["tools"][0].clone()
            })
        }),
        row(
            "REQ-MCP-01",
            BOTH,
            "there is a second page",
            exactly,
            || result(LIST, |result| result["nextCursor"] = "2".into()),
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "a description is blank",
            "every tool has",
            || {
                result(LIST, |result| {
                    tool(result, "send_universe_command")["description"] = " ".into()
                })
            },
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "a description is missing",
            "every tool has",
            || {
                result(LIST, |result| {
                    tool(result, "get_universe_state")
                        .as_object_mut()
                        .unwrap()
                        .remove("description");
                })
            },
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "a name is empty",
            "every tool has",
            || {
                result(LIST, |result| {
                    tool(result, "get_universe_state")["name"] = "".into()
                })
            },
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "an input schema is missing",
            "every tool has",
            || {
                result(LIST, |result| {
                    tool(result, "list_universe_commands")
                        .as_object_mut()
                        .unwrap()
                        .remove("inputSchema");
                })
            },
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "an input schema is a string",
            "every tool has",
            || {
                result(LIST, |result| {
                    tool(result, "list_universe_commands")["inputSchema"] = "object".into()
                })
            },
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "there are no tools",
            "every tool has",
            || result(LIST, |result| result["tools"] = json!([])),
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "get_universe_state takes anything",
            "get_universe_state refuses",
            || unchecked("get_universe_state"),
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "list_universe_commands takes anything",
            "list_universe_commands refuses",
            || unchecked("list_universe_commands"),
        ),
        row(
            "REQ-MCP-02",
            BOTH,
            "send_universe_command takes anything",
            "send_universe_command refuses",
            || unchecked("send_universe_command"),
        ),
        row(
            "REQ-MCP-03",
            BOTH,
            "universeId is optional",
            "listed as a required string",
            || {
                result(LIST, |result| {
                    not_required(
                        &mut tool(result, "get_universe_state")["inputSchema"],
                        "universeId",
                    )
                })
            },
        ),
        row(
            "REQ-MCP-03",
            BOTH,
            "universeId is a number",
            "listed as a required string",
            || {
                result(LIST, |result| {
                    tool(result, "get_universe_state")["inputSchema"]["properties"]["universeId"]
                        ["type"] = "number".into();
                })
            },
        ),
        row(
            "REQ-MCP-03",
            BOTH,
            "a call without universeId succeeds",
            "a call without it",
            || unchecked("get_universe_state"),
        ),
        row(
            "REQ-MCP-04",
            BOTH,
            "universeId is optional",
            "listed as a required string",
            || {
                result(LIST, |result| {
                    not_required(
                        &mut tool(result, "list_universe_commands")["inputSchema"],
                        "universeId",
                    )
                })
            },
        ),
        row(
            "REQ-MCP-04",
            BOTH,
            "universeId is called id",
            "listed as a required string",
            || {
                result(LIST, |result| {
                    let schema = &mut tool(result, "list_universe_commands")["inputSchema"];
                    schema["properties"] = json!({"id": {"type": "string"}});
                    schema["required"] = json!(["id"]);
                })
            },
        ),
        row(
            "REQ-MCP-04",
            BOTH,
            "a call without universeId succeeds",
            "a call without it",
            || unchecked("list_universe_commands"),
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "universeId is optional",
            "listed as required",
            || {
                result(LIST, |result| {
                    not_required(
                        &mut tool(result, "send_universe_command")["inputSchema"],
                        "universeId",
                    )
                })
            },
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "command is optional",
            "listed as required",
            || {
                result(LIST, |result| {
                    not_required(
                        &mut tool(result, "send_universe_command")["inputSchema"],
                        "command",
                    )
                })
            },
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "command is a string",
            "listed as required",
            || {
                result(LIST, |result| {
                    tool(result, "send_universe_command")["inputSchema"]["properties"]["command"]
                        ["type"] = "string".into();
                })
            },
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "the type of a command is optional",
            "listed as required",
            || {
                result(LIST, |result| {
                    let schema = &mut tool(result, "send_universe_command")["inputSchema"]["properties"]
                        ["command"];
                    not_required(schema, "type");
                })
            },
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "the type of a command is not described",
            "listed as required",
            || {
                result(LIST, |result| {
                    let schema = &mut tool(result, "send_universe_command")["inputSchema"]["properties"]
                        ["command"];
                    schema["properties"].as_object_mut().unwrap().remove("type");
                })
            },
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "calls without universeId succeed",
            "without universeId",
            || unchecked("send_universe_command"),
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "calls without command succeed",
            "without command",
            || {
                accepted(|arguments| {
                    arguments.get("command").is_none() && arguments.get("universeId").is_some()
                })
            },
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "commands without type succeed",
            "without type",
            || {
                accepted(|arguments| {
                    arguments["command"].get("dt").is_some()
                        && arguments["command"].get("type").is_none()
                })
            },
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "the type may be a number",
            "a type that is not a string",
            || accepted(|arguments| arguments["command"]["type"].is_number()),
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "the command may be a string",
            "a command that is not an object",
            || accepted(|arguments| arguments["command"].is_string()),
        ),
        row(
            "REQ-MCP-05",
            BOTH,
            "refused calls change the universe",
            "none of the refused calls",
            || {
                answer(|asked, answer| {
                    if asked.is("GET", "/universes/*") {
                        answer.body["state"]["time"] = 1.into();
                    }
                })
            },
        ),
    ]
}

/// Calls with such arguments are not marked as errors.
fn accepted(fits: fn(&Value) -> bool) -> super::Fault {
    answer(move |asked, answer| {
        if asked.is_call("send_universe_command") && fits(&asked.body["params"]["arguments"]) {
            answer.body["result"]["isError"] = false.into();
        }
    })
}
