//! Broken commands: REQ-MCP-8 and 9.

use mcp_conformance::Frame;
use serde_json::json;

use super::results::{SEND, by_rest, persisted, remove, unmarked};
use super::{BOTH, Mutation, command_event, frame, row, said, tool};

pub(crate) fn table() -> Vec<Mutation> {
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
            "short results do not say what happened",
            "the events form",
            || {
                said(SEND, |result| {
                    if result["nextState"].is_null() {
                        remove(result, "events");
                    }
                })
            },
        ),
        row(
            "REQ-MCP-09",
            BOTH,
            "short results do not say what changed",
            "the changes form",
            || {
                said(SEND, |result| {
                    if result["nextState"].is_null() && !result["changes"].is_null() {
                        remove(result, "changes");
                    }
                })
            },
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
