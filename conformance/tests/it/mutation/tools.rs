//! Broken tool lists: REQ-MCP-1 to 5.

use serde_json::{Value, json};

use super::results::{GET, LIST as COMMANDS, SEND, persisted, remove};
use super::{Fault, Mutation, answer, both, of, result};

const LIST: &str = "tools/list";

/// One tool is listed in another form.
fn listed(name: &'static str, change: fn(&mut Value)) -> Fault {
    result(LIST, move |result| {
        let tools = result["tools"].as_array_mut().unwrap();
        change(tools.iter_mut().find(|tool| tool["name"] == name).unwrap());
    })
}

/// Takes a name out of a schema's `required`.
fn not_required(schema: &mut Value, member: &str) {
    schema["required"].as_array_mut().unwrap().retain(|name| name != member);
}

/// Wrong arguments of a tool are let through.
fn unchecked(name: &'static str) -> Fault {
    super::tool(name, |result| {
        let text = json!({"universeId": 1, "type": 1, "command": 1}).to_string();
        *result = json!({"content": [{"type": "text", "text": text}], "resultType": "complete"});
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    let exactly = "exactly these three tools";
    [
        of(
            "REQ-MCP-01",
            [
                both("a tool is missing", exactly).by(|| {
                    result(LIST, |result| drop(result["tools"].as_array_mut().unwrap().pop()))
                }),
                both("there is a fourth tool", exactly).by(|| {
                    result(LIST, |result| {
                        let mut fourth = result["tools"][0].clone();
                        fourth["name"] = "create_universe".into();
                        result["tools"].as_array_mut().unwrap().push(fourth);
                    })
                }),
                both("a tool is there twice", exactly)
                    .by(|| result(LIST, |result| result["tools"][1] = result["tools"][0].clone())),
                both("there is a second page", exactly)
                    .by(|| result(LIST, |result| result["nextCursor"] = "2".into())),
            ],
        ),
        of(
            "REQ-MCP-02",
            [
                both("a description is blank", "every tool has")
                    .by(|| listed(SEND, |tool| tool["description"] = " ".into())),
                both("a description is missing", "every tool has")
                    .by(|| listed(GET, |tool| remove(tool, "description"))),
                both("a name is empty", "every tool has")
                    .by(|| listed(GET, |tool| tool["name"] = "".into())),
                both("an input schema is missing", "every tool has")
                    .by(|| listed(COMMANDS, |tool| remove(tool, "inputSchema"))),
                both("an input schema is a string", "every tool has")
                    .by(|| listed(COMMANDS, |tool| tool["inputSchema"] = "object".into())),
                both("there are no tools", "every tool has")
                    .by(|| result(LIST, |result| result["tools"] = json!([]))),
                both("get_universe_state takes anything", "get_universe_state refuses")
                    .by(|| unchecked(GET)),
                both("list_universe_commands takes anything", "list_universe_commands refuses")
                    .by(|| unchecked(COMMANDS)),
                both("send_universe_command takes anything", "send_universe_command refuses")
                    .by(|| unchecked(SEND)),
            ],
        ),
        of(
            "REQ-MCP-03",
            [
                both("universeId is optional", "listed as a required string").by(|| {
                    listed(GET, |tool| not_required(&mut tool["inputSchema"], "universeId"))
                }),
                both("universeId is a number", "listed as a required string").by(|| {
                    listed(GET, |tool| {
                        tool["inputSchema"]["properties"]["universeId"]["type"] = "number".into()
                    })
                }),
                both("a call without universeId succeeds", "a call without it")
                    .by(|| unchecked(GET)),
            ],
        ),
        of(
            "REQ-MCP-04",
            [
                both("universeId is optional", "listed as a required string").by(|| {
                    listed(COMMANDS, |tool| not_required(&mut tool["inputSchema"], "universeId"))
                }),
                both("universeId is called id", "listed as a required string").by(|| {
                    listed(COMMANDS, |tool| {
                        let schema = &mut tool["inputSchema"];
                        schema["properties"] = json!({"id": {"type": "string"}});
                        schema["required"] = json!(["id"]);
                    })
                }),
                both("a call without universeId succeeds", "a call without it")
                    .by(|| unchecked(COMMANDS)),
            ],
        ),
        of(
            "REQ-MCP-05",
            [
                both("universeId is optional", "listed as required").by(|| {
                    listed(SEND, |tool| not_required(&mut tool["inputSchema"], "universeId"))
                }),
                both("command is optional", "listed as required")
                    .by(|| listed(SEND, |tool| not_required(&mut tool["inputSchema"], "command"))),
                both("command is a string", "listed as required").by(|| {
                    listed(SEND, |tool| {
                        tool["inputSchema"]["properties"]["command"]["type"] = "string".into()
                    })
                }),
                both("the type of a command is optional", "listed as required").by(|| {
                    listed(SEND, |tool| {
                        let schema = &mut tool["inputSchema"]["properties"]["command"];
                        not_required(schema, "type");
                    })
                }),
                both("the type of a command is not described", "listed as required").by(|| {
                    listed(SEND, |tool| {
                        let schema = &mut tool["inputSchema"]["properties"]["command"];
                        remove(&mut schema["properties"], "type");
                    })
                }),
                both("calls without universeId succeed", "without universeId")
                    .by(|| unchecked(SEND)),
                both("calls without command succeed", "without command").by(|| {
                    accepted(|arguments| {
                        arguments.get("command").is_none() && arguments.get("universeId").is_some()
                    })
                }),
                both("commands without type succeed", "without type").by(|| {
                    accepted(|arguments| {
                        arguments["command"].get("dt").is_some()
                            && arguments["command"].get("type").is_none()
                    })
                }),
                both("the type may be a number", "a type that is not a string")
                    .by(|| accepted(|arguments| arguments["command"]["type"].is_number())),
                both("the command may be a string", "a command that is not an object")
                    .by(|| accepted(|arguments| arguments["command"].is_string())),
                both("refused calls change the universe", "none of the refused calls")
                    .by(|| persisted(|state| state["time"] = 1.into())),
            ],
        ),
    ]
    .concat()
}

/// Calls with such arguments are not marked as errors.
fn accepted(fits: fn(&Value) -> bool) -> Fault {
    answer(move |asked, answer| {
        if asked.is_call(SEND) && fits(&asked.body["params"]["arguments"]) {
            answer.body["result"]["isError"] = false.into();
        }
    })
}
