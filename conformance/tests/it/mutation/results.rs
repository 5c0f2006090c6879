//! Broken results of tools: REQ-MCP-6 to 13.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_conformance::Frame;
use serde_json::{Value, json};

use super::{BOTH, Mutation, answer, command_event, frame, row, said, tool};

const GET: &str = "get_universe_state";
const LIST: &str = "list_universe_commands";
const SEND: &str = "send_universe_command";

/// What this tool says changes as text only.
fn texts(name: &'static str, change: fn(&str) -> String) -> super::Fault {
    tool(name, move |result| {
        let text = result["content"][0]["text"].as_str().unwrap();
        result["content"][0]["text"] = change(text).into();
    })
}

/// The n-th result of a tool (counted from 1) and all after it are changed.
fn from_nth(name: &'static str, nth: usize, change: fn(&mut Value)) -> super::Fault {
    let count = AtomicUsize::new(0);
    tool(name, move |result| {
        if count.fetch_add(1, Ordering::Relaxed) + 1 >= nth {
            change(result);
        }
    })
}

/// A record read by REST is changed.
fn persisted(change: fn(&mut Value)) -> super::Fault {
    answer(move |asked, answer| {
        if asked.is("GET", "/universes/*") {
            change(&mut answer.body["state"]);
        }
    })
}

/// The answer of REST to a command is changed.
fn by_rest(change: fn(&super::Asked, &mut super::Answer)) -> super::Fault {
    answer(move |asked, answer| {
        if asked.is("POST", "/universes/*") {
            change(asked, answer);
        }
    })
}

fn remove(value: &mut Value, member: &str) {
    value.as_object_mut().unwrap().remove(member);
}

/// Errors are not marked.
fn unmarked(result: &mut Value) {
    remove(result, "isError");
}

pub(crate) fn table() -> Vec<Mutation> {
    let mut table = states();
    table.extend(commands());
    table.extend(formats());
    table
}

fn states() -> Vec<Mutation> {
    vec![
        row(
            "REQ-MCP-06",
            BOTH,
            "the state is of another universe",
            "of the universe asked for",
            || said(GET, |state| state["time"] = 0.into()),
        ),
        row(
            "REQ-MCP-06",
            BOTH,
            "a member of the state is missing",
            "of the universe asked for",
            || said(GET, |state| remove(state, "belts")),
        ),
        row(
            "REQ-MCP-06",
            BOTH,
            "the record is told instead of the state",
            "of the universe asked for",
            || {
                said(GET, |state| {
                    *state = json!({"id": "u", "state": state.take()})
                })
            },
        ),
        row(
            "REQ-MCP-06",
            BOTH,
            "structuredContent differs from the text",
            "of the universe asked for",
            || tool(GET, |result| result["structuredContent"]["time"] = 1.into()),
        ),
        row(
            "REQ-MCP-06",
            BOTH,
            "all universes are told alike",
            "of no other",
            || {
                from_nth(GET, 2, |result| {
                    super::restate(result, |state| state["time"] = 42.5.into())
                })
            },
        ),
        row(
            "REQ-MCP-06",
            BOTH,
            "the state is cached",
            "includes the three stars",
            || {
                from_nth(GET, 3, |result| {
                    super::restate(result, |state| state["stars"] = json!({}))
                })
            },
        ),
        row(
            "REQ-MCP-06",
            BOTH,
            "persistence lacks a star",
            "what persistence holds",
            || persisted(|state| drop(state["rootIds"].as_array_mut().unwrap().pop())),
        ),
        row(
            "REQ-MCP-07",
            BOTH,
            "a category is missing",
            "all ten categories",
            || texts(LIST, |text| text.replace("\"Nebulae\"", "\"Clouds\"")),
        ),
        row(
            "REQ-MCP-07",
            BOTH,
            "a command is missing",
            "all ten categories",
            || texts(LIST, |text| text.replace("\"removeRing\"", "\"ring\"")),
        ),
        row(
            "REQ-MCP-07",
            BOTH,
            "a command stands in the wrong category",
            "all ten categories",
            || {
                texts(LIST, |text| {
                    let swapped = text
                        .replace("\"tick\"", "\"?\"")
                        .replace("\"replaceSnapshot\"", "\"tick\"");
                    swapped.replace("\"?\"", "\"replaceSnapshot\"")
                })
            },
        ),
        row(
            "REQ-MCP-07",
            BOTH,
            "the listing depends on the universe",
            "a universe with another state",
            || from_nth(LIST, 2, |result| result["content"][0]["text"] = "{}".into()),
        ),
        row(
            "REQ-MCP-07",
            BOTH,
            "the listing changes with the state",
            "after the state has changed",
            || {
                from_nth(LIST, 3, |result| {
                    let text = result["content"][0]["text"].as_str().unwrap();
                    result["content"][0]["text"] = format!("{text} ").into();
                })
            },
        ),
    ]
}

fn commands() -> Vec<Mutation> {
    vec![
        row(
            "REQ-MCP-08",
            BOTH,
            "a tick without dt counts nothing",
            "a tick without dt counts 1",
            || said(SEND, |result| result["nextState"]["time"] = 0.into()),
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "the command is not persisted",
            "updated in persistence",
            || persisted(|state| state["time"] = 0.into()),
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "commands are not broadcast",
            "broadcast to real-time",
            || {
                frame(|_, frame| match frame {
                    Frame::Event(_) => vec![],
                    comment => vec![comment],
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "the result is broadcast instead of the command",
            "broadcast to real-time",
            || {
                frame(|_, frame| match frame {
                    Frame::Event(_) => vec![command_event(&json!({"nextState": {}, "events": []}))],
                    comment => vec![comment],
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "MCP commands are not numbered like those of REST",
            "under the same revision",
            || {
                let first = std::sync::Mutex::new(None);
                frame(move |asked, mut frame| {
                    let mut first = first.lock().unwrap();
                    if let Frame::Event(event) = &mut frame
                        && *first.get_or_insert_with(|| asked.path.clone()) == asked.path
                    {
                        event.id = Some("70".to_owned());
                    }
                    vec![frame]
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "REST answers 202 without a result",
            "REST answers the same",
            || by_rest(|_, answer| *answer = super::Answer::new(202, json!({"ok": true}))),
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "REST leaves out the events",
            "REST answers the same",
            || by_rest(|_, answer| remove(&mut answer.body, "events")),
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "commands are broadcast twice",
            "the body added by MCP is broadcast",
            || {
                frame(|_, frame| match frame {
                    Frame::Event(_) => vec![frame.clone(), frame],
                    comment => vec![comment],
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "bodies added by REST are not broadcast",
            "the one added by REST",
            || {
                let by_mcp = std::sync::Mutex::new(None);
                frame(move |asked, frame| {
                    let mut by_mcp = by_mcp.lock().unwrap();
                    let other = *by_mcp.get_or_insert_with(|| asked.path.clone()) != asked.path;
                    match &frame {
                        Frame::Event(event) if other && event.data.contains("addStar") => vec![],
                        _ => vec![frame],
                    }
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "a refusal is told as a success",
            "told as an error",
            || {
                tool(SEND, |result| {
                    if result["isError"] == true {
                        unmarked(result);
                    }
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "a refusal has no reason",
            "told as an error",
            || {
                tool(SEND, |result| {
                    if result["isError"] == true {
                        result["content"][0]["text"] = "refused".into();
                    }
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "REST accepts what it refuses",
            "REST refuses the same",
            || {
                by_rest(|asked, answer| {
                    if asked.body["type"] == "removeStar" {
                        answer.status = 200;
                    }
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "a refusal changes the state",
            "a refusal changes nothing",
            || {
                persisted(|state| {
                    if !state["rootIds"].as_array().unwrap().is_empty() {
                        state["time"] = 7.into();
                    }
                })
            },
        ),
        row(
            "REQ-MCP-08",
            BOTH,
            "a refusal is broadcast",
            "a refusal is not broadcast",
            || {
                frame(|_, frame| match &frame {
                    Frame::Event(event) if event.data.contains("\"dt\":2") => {
                        vec![
                            command_event(&json!({"type": "removeStar", "id": "nowhere"})),
                            frame,
                        ]
                    }
                    _ => vec![frame],
                })
            },
        ),
        row(
            "REQ-MCP-09",
            BOTH,
            "the result has no state",
            "the updated state and the events",
            || said(SEND, |result| remove(result, "nextState")),
        ),
        row(
            "REQ-MCP-09",
            BOTH,
            "the result has no events",
            "the updated state and the events",
            || said(SEND, |result| remove(result, "events")),
        ),
        row(
            "REQ-MCP-09",
            BOTH,
            "the result only acknowledges",
            "the updated state and the events",
            || said(SEND, |result| *result = json!({"ok": true})),
        ),
        row(
            "REQ-MCP-09",
            BOTH,
            "the state is the one before",
            "again after a tick",
            || said(SEND, |result| result["nextState"]["time"] = 0.into()),
        ),
        row(
            "REQ-MCP-09",
            BOTH,
            "the state told is not kept",
            "the one that persists",
            || persisted(|state| state["time"] = 0.into()),
        ),
    ]
}

fn formats() -> Vec<Mutation> {
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
            "a state is no JSON",
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
