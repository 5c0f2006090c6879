//! Broken commands: REQ-MCP-8 and 9.

use mcp_conformance::Frame;
use serde_json::json;

use super::results::{SEND, by_rest, persisted, remove, unmarked};
use super::{Mutation, both, command_event, frame, lost, of, said, tool};

pub(crate) fn table() -> Vec<Mutation> {
    [
        of(
            "REQ-MCP-08",
            [
                both("a tick without dt counts nothing", "a tick without dt counts 1")
                    .by(|| said(SEND, |result| result["nextState"]["time"] = 0.into())),
                both("the command is not persisted", "updated in persistence")
                    .by(|| persisted(|state| state["time"] = 0.into())),
                both("commands are not broadcast", "broadcast to real-time")
                    .by(|| lost(|_, _| true)),
                both("the result is broadcast instead of the command", "broadcast to real-time")
                    .by(|| {
                        frame(|_, frame| match frame {
                            Frame::Event(_) => {
                                vec![command_event(&json!({"nextState": {}, "events": []}))]
                            }
                            comment => vec![comment],
                        })
                    }),
                both("MCP commands are not numbered like those of REST", "under the same revision")
                    .by(|| {
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
                    }),
                both("REST answers 202 without a result", "REST answers the same").by(|| {
                    by_rest(|_, answer| *answer = super::Answer::new(202, json!({"ok": true})))
                }),
                both("REST leaves out the events", "REST answers the same")
                    .by(|| by_rest(|_, answer| remove(&mut answer.body, "events"))),
                both("commands are broadcast twice", "the body added by MCP is broadcast").by(
                    || {
                        frame(|_, frame| match frame {
                            Frame::Event(_) => vec![frame.clone(), frame],
                            comment => vec![comment],
                        })
                    },
                ),
                both("bodies added by REST are not broadcast", "the one added by REST").by(|| {
                    let by_mcp = std::sync::Mutex::new(None);
                    lost(move |asked, event| {
                        let mut by_mcp = by_mcp.lock().unwrap();
                        let other = *by_mcp.get_or_insert_with(|| asked.path.clone()) != asked.path;
                        other && event.data.contains("addStar")
                    })
                }),
                both("a refusal is told as a success", "told as an error").by(|| {
                    tool(SEND, |result| {
                        if result["isError"] == true {
                            unmarked(result);
                        }
                    })
                }),
                both("a refusal has no reason", "told as an error").by(|| {
                    tool(SEND, |result| {
                        if result["isError"] == true {
                            result["content"][0]["text"] = "refused".into();
                        }
                    })
                }),
                both("REST accepts what it refuses", "REST refuses the same").by(|| {
                    by_rest(|asked, answer| {
                        if asked.body["type"] == "removeStar" {
                            answer.status = 200;
                        }
                    })
                }),
                both("a refusal changes the state", "a refusal changes nothing").by(|| {
                    persisted(|state| {
                        if !state["rootIds"].as_array().unwrap().is_empty() {
                            state["time"] = 7.into();
                        }
                    })
                }),
                both("a refusal is broadcast", "a refusal is not broadcast").by(|| {
                    frame(|_, frame| match &frame {
                        Frame::Event(event) if event.data.contains("\"dt\":2") => {
                            vec![
                                command_event(&json!({"type": "removeStar", "id": "nowhere"})),
                                frame,
                            ]
                        }
                        _ => vec![frame],
                    })
                }),
            ],
        ),
        of(
            "REQ-MCP-09",
            [
                both("the result has no state", "the updated state and the events")
                    .by(|| said(SEND, |result| remove(result, "nextState"))),
                both("the result has no events", "the updated state and the events")
                    .by(|| said(SEND, |result| remove(result, "events"))),
                both("the result only acknowledges", "the updated state and the events")
                    .by(|| said(SEND, |result| *result = json!({"ok": true}))),
                both("the state is the one before", "again after a tick")
                    .by(|| said(SEND, |result| result["nextState"]["time"] = 0.into())),
                both("short results do not say what happened", "the events form").by(|| {
                    said(SEND, |result| {
                        if result["nextState"].is_null() {
                            remove(result, "events");
                        }
                    })
                }),
                both("short results do not say what changed", "the changes form").by(|| {
                    said(SEND, |result| {
                        if result["nextState"].is_null() && !result["changes"].is_null() {
                            remove(result, "changes");
                        }
                    })
                }),
                both("the state told is not kept", "the one that persists")
                    .by(|| persisted(|state| state["time"] = 0.into())),
            ],
        ),
    ]
    .concat()
}
