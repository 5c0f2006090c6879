//! Broken forms of results: REQ-MCP-10 to 13.

use serde_json::{Value, json};

use super::results::{GET, LIST, SEND, from_nth, remove, texts, unmarked};
use super::{BOTH, Mutation, row, tool};

pub(crate) fn table() -> Vec<Mutation> {
    vec![
        row(
            "REQ-MCP-10",
            BOTH,
            "content is empty",
            "success of get_universe_state",
            || tool(GET, |result| result["content"] = json!([])),
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "content is missing",
            "success of list_universe_commands",
            || tool(LIST, |result| remove(result, "content")),
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "content is an object",
            "success of send_universe_command",
            || {
                tool(SEND, |result| {
                    result["content"] = result["content"][0].take()
                })
            },
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "a text is empty",
            "success of send_universe_command",
            || texts(SEND, |_| String::new()),
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "an entry is no text",
            "success of get_universe_state",
            || tool(GET, |result| result["content"][0]["type"] = "json".into()),
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "one of two entries is no text",
            "success of get_universe_state",
            || {
                tool(GET, |result| {
                    let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
                    result["content"].as_array_mut().unwrap().push(image);
                })
            },
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "errors of get_universe_state have no content",
            "error of get_universe_state",
            || from_nth(GET, 2, |result| result["content"] = json!([])),
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "errors of list_universe_commands are not marked",
            "error of list_universe",
            || from_nth(LIST, 2, unmarked),
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "errors of send_universe_command have no text",
            "error of send_universe_command",
            || from_nth(SEND, 2, |result| remove(&mut result["content"][0], "text")),
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "wrong arguments have no content",
            "wrong arguments",
            || from_nth(GET, 3, |result| remove(result, "content")),
        ),
        row(
            "REQ-MCP-10",
            BOTH,
            "refusals have no content",
            "a refused command",
            || from_nth(SEND, 3, |result| result["content"] = json!([])),
        ),
        row(
            "REQ-MCP-11",
            BOTH,
            "a state is marked as an error",
            "after get_universe_state",
            || tool(GET, |result| result["isError"] = true.into()),
        ),
        row(
            "REQ-MCP-11",
            BOTH,
            "a listing is marked as an error",
            "after list_universe_commands",
            || tool(LIST, |result| result["isError"] = true.into()),
        ),
        row(
            "REQ-MCP-11",
            BOTH,
            "a command's result is marked as an error",
            "after send_universe_command",
            || tool(SEND, |result| result["isError"] = true.into()),
        ),
        row(
            "REQ-MCP-11",
            BOTH,
            "isError is null",
            "after get_universe_state",
            || tool(GET, |result| result["isError"] = Value::Null),
        ),
        row(
            "REQ-MCP-12",
            BOTH,
            "a state is not JSON",
            "get_universe_state parses",
            || texts(GET, |_| "[object Object]".to_owned()),
        ),
        row(
            "REQ-MCP-12",
            BOTH,
            "a state is cut off",
            "get_universe_state parses",
            || texts(GET, |text| text[..text.len() - 1].to_owned()),
        ),
        row(
            "REQ-MCP-12",
            BOTH,
            "a state is serialized twice",
            "get_universe_state parses",
            || texts(GET, |text| json!(text).to_string()),
        ),
        row(
            "REQ-MCP-12",
            BOTH,
            "a number loses its fraction",
            "get_universe_state parses",
            || texts(GET, |text| text.replace("42.5", "42")),
        ),
        row(
            "REQ-MCP-12",
            BOTH,
            "a result is a sentence",
            "send_universe_command parses",
            || texts(SEND, |_| "The universe has ticked.".to_owned()),
        ),
        row(
            "REQ-MCP-12",
            BOTH,
            "structuredContent is missing",
            "structuredContent says the same",
            || tool(GET, |result| remove(result, "structuredContent")),
        ),
        row(
            "REQ-MCP-13",
            BOTH,
            "a category is spelt otherwise",
            "all ten categories are named",
            || {
                texts(LIST, |text| {
                    text.replace("Star hierarchy", "Star Hierarchy")
                })
            },
        ),
        row(
            "REQ-MCP-13",
            BOTH,
            "a category is missing",
            "all ten categories are named",
            || texts(LIST, |text| text.replace("Simulation", "simulation")),
        ),
        row(
            "REQ-MCP-13",
            BOTH,
            "the categories have no commands",
            "with their 25 command types",
            || texts(LIST, |text| text.replace("\"addStar\"", "\"\"")),
        ),
    ]
}
