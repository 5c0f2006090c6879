//! Broken forms of results: REQ-MCP-10 to 13.

use serde_json::{Value, json};

use super::results::{GET, LIST, SEND, from_nth, remove, texts, unmarked};
use super::{Mutation, both, of, tool};

pub(crate) fn table() -> Vec<Mutation> {
    [
        of(
            "REQ-MCP-10",
            [
                both("content is empty", "success of get_universe_state")
                    .by(|| tool(GET, |result| result["content"] = json!([]))),
                both("content is missing", "success of list_universe_commands")
                    .by(|| tool(LIST, |result| remove(result, "content"))),
                both("content is an object", "success of send_universe_command")
                    .by(|| tool(SEND, |result| result["content"] = result["content"][0].take())),
                both("a text is empty", "success of send_universe_command")
                    .by(|| texts(SEND, |_| String::new())),
                both("an entry is no text", "success of get_universe_state")
                    .by(|| tool(GET, |result| result["content"][0]["type"] = "json".into())),
                both("one of two entries is no text", "success of get_universe_state").by(|| {
                    tool(GET, |result| {
                        let image = json!({"type": "image", "data": "", "mimeType": "image/png"});
                        result["content"].as_array_mut().unwrap().push(image);
                    })
                }),
                both("errors of get_universe_state have no content", "error of get_universe_state")
                    .by(|| from_nth(GET, 2, |result| result["content"] = json!([]))),
                both("errors of list_universe_commands are not marked", "error of list_universe")
                    .by(|| from_nth(LIST, 2, unmarked)),
                both(
                    "errors of send_universe_command have no text",
                    "error of send_universe_command",
                )
                .by(|| from_nth(SEND, 2, |result| remove(&mut result["content"][0], "text"))),
                both("wrong arguments have no content", "wrong arguments")
                    .by(|| from_nth(GET, 3, |result| remove(result, "content"))),
                both("refusals have no content", "a refused command")
                    .by(|| from_nth(SEND, 3, |result| result["content"] = json!([]))),
            ],
        ),
        of(
            "REQ-MCP-11",
            [
                both("a state is marked as an error", "after get_universe_state")
                    .by(|| tool(GET, |result| result["isError"] = true.into())),
                both("a listing is marked as an error", "after list_universe_commands")
                    .by(|| tool(LIST, |result| result["isError"] = true.into())),
                both("a command's result is marked as an error", "after send_universe_command")
                    .by(|| tool(SEND, |result| result["isError"] = true.into())),
                both("isError is null", "after get_universe_state")
                    .by(|| tool(GET, |result| result["isError"] = Value::Null)),
            ],
        ),
        of(
            "REQ-MCP-12",
            [
                both("a state is not JSON", "get_universe_state parses")
                    .by(|| texts(GET, |_| "[object Object]".to_owned())),
                both("a state is cut off", "get_universe_state parses")
                    .by(|| texts(GET, |text| text[..text.len() - 1].to_owned())),
                both("a state is serialized twice", "get_universe_state parses")
                    .by(|| texts(GET, |text| json!(text).to_string())),
                both("a number loses its fraction", "get_universe_state parses")
                    .by(|| texts(GET, |text| text.replace("42.5", "42"))),
                both("a result is a sentence", "send_universe_command parses")
                    .by(|| texts(SEND, |_| "The universe has ticked.".to_owned())),
                both("structuredContent is missing", "structuredContent says the same")
                    .by(|| tool(GET, |result| remove(result, "structuredContent"))),
            ],
        ),
        of(
            "REQ-MCP-13",
            [
                both("a category is spelt otherwise", "all ten categories are named")
                    .by(|| texts(LIST, |text| text.replace("Star hierarchy", "Star Hierarchy"))),
                both("a category is missing", "all ten categories are named")
                    .by(|| texts(LIST, |text| text.replace("Simulation", "simulation"))),
                both("the categories have no commands", "with their 25 command types")
                    .by(|| texts(LIST, |text| text.replace("\"addStar\"", "\"\""))),
            ],
        ),
    ]
    .concat()
}
