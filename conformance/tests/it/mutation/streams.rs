//! Broken neighbours: REQ-MCP-24 and 25.

use std::sync::Mutex;

use mcp_conformance::Frame;
use serde_json::{Value, json};

use super::{
    Answer, Asked, BOTH, Fault, LEGACY, MODERN, Mutation, Overheard, answer, command_event, frame,
    instead, overhear, row,
};

/// The answers to `method path` are changed.
fn rest(method: &'static str, path: &'static str, change: fn(&mut Answer)) -> Fault {
    answer(move |asked, answer| {
        if asked.is(method, path) {
            change(answer);
        }
    })
}

/// `method path` is not served.
fn gone(method: &'static str, path: &'static str) -> Fault {
    instead(move |asked| {
        asked
            .is(method, path)
            .then(|| Answer::new(404, json!({"error": "no such path"})))
    })
}

/// Streams that fit the first function end after a request that fits the second one.
fn ends_after(own: fn(&Asked) -> bool, other: fn(&Asked) -> bool) -> Fault {
    overhear(move |stream, request| match own(stream) && other(request) {
        true => Overheard::Ends,
        false => Overheard::Nothing,
    })
}

/// Streams that fit the first function say something after a request that fits the second one.
fn says_after(own: fn(&Asked) -> bool, other: fn(&Asked) -> bool) -> Fault {
    overhear(move |stream, request| match own(stream) && other(request) {
        true => Overheard::Says(command_event(&json!({"type": "tick"}))),
        false => Overheard::Nothing,
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    let mut table = neighbours();
    table.extend(streams());
    table
}

fn neighbours() -> Vec<Mutation> {
    vec![
        row(
            "REQ-MCP-24",
            MODERN,
            "the subscription is not acknowledged",
            "acknowledged",
            || frame(|_, _| vec![]),
        ),
        row("REQ-MCP-24", BOTH, "/health is gone", "GET /health", || {
            gone("GET", "/health")
        }),
        row(
            "REQ-MCP-24",
            BOTH,
            "/health says something else",
            "GET /health",
            || {
                rest("GET", "/health", |answer| {
                    answer.body = json!({"status": "UP"})
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "creating answers 200",
            "POST /universes",
            || rest("POST", "/universes", |answer| answer.status = 200),
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "names are not trimmed",
            "POST /universes",
            || {
                rest("POST", "/universes", |answer| {
                    answer.body["name"] = "  REQ-MCP-24  ".into()
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "the list is wrapped",
            "GET /universes",
            || {
                rest("GET", "/universes", |answer| {
                    answer.body = json!({"items": answer.body})
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "the list lacks the universe",
            "GET /universes",
            || rest("GET", "/universes", |answer| answer.body = json!([])),
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "a record has another member",
            "GET /universes/:id",
            || {
                answer(|asked, answer| {
                    if asked.is("GET", "/universes/*") && answer.status == 200 {
                        answer.body["_id"] = 0.into();
                    }
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "renaming is gone",
            "PUT /universes/:id",
            || gone("PUT", "/universes/*"),
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "commands are answered 202",
            "POST /universes/:id/commands",
            || {
                rest("POST", "/universes/*", |answer| {
                    *answer = Answer::new(202, json!({"ok": true}))
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "commands are not streamed",
            "GET /universes/:id/events",
            || {
                frame(|asked, frame| match frame {
                    Frame::Event(_) if asked.is_events() => vec![],
                    other => vec![other],
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "MCP has a state of its own",
            "MCP sees what REST did",
            || super::said("get_universe_state", |state| state["time"] = 0.into()),
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "malformed commands are accepted",
            "a malformed command",
            || {
                answer(|asked, answer| {
                    if asked.is("POST", "/universes/*") && asked.body.get("type").is_none() {
                        answer.status = 200;
                    }
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "unknown universes fail",
            "a command to an unknown",
            || {
                rest("POST", "/universes/u-missing/commands", |answer| {
                    answer.status = 500
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "unknown universes are not named",
            "reading an unknown",
            || {
                rest("GET", "/universes/u-missing", |answer| {
                    answer.body = json!({"error": "not found"})
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "blank names are taken",
            "without a name",
            || {
                answer(|asked, answer| {
                    if asked.is("POST", "/universes") && asked.body["name"] == " " {
                        answer.status = 201;
                    }
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "deleting answers 200",
            "DELETE /universes/:id",
            || {
                rest("DELETE", "/universes/*", |answer| {
                    *answer = Answer::new(200, json!({"ok": true}))
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "deleted universes live on",
            "a deleted universe",
            || {
                answer(|asked, answer| {
                    if asked.is("GET", "/universes/*") && asked.path != "/universes/u-missing" {
                        answer.status = 200;
                    }
                })
            },
        ),
        row(
            "REQ-MCP-24",
            BOTH,
            "the MCP stream ends with the universe",
            "the MCP stream stayed open",
            || ends_after(Asked::is_listen, |other| other.is("DELETE", "/universes/*")),
        ),
    ]
}

fn streams() -> Vec<Mutation> {
    let nowhere_else = "and nowhere else";
    vec![
        row(
            "REQ-MCP-25",
            BOTH,
            "the end of a universe is not told",
            "tells the end",
            || {
                frame(|asked, frame| match &frame {
                    Frame::Event(event)
                        if asked.is_events() && event.event.as_deref() != Some("command") =>
                    {
                        vec![]
                    }
                    _ => vec![frame],
                })
            },
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "the MCP stream is refused",
            "the MCP stream is active",
            || instead(|asked| asked.is_listen().then(|| Answer::new(405, Value::Null))),
        ),
        row(
            "REQ-MCP-25",
            MODERN,
            "the subscription is not acknowledged",
            "acknowledged",
            || {
                frame(|asked, frame| {
                    if asked.is_listen() {
                        vec![]
                    } else {
                        vec![frame]
                    }
                })
            },
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "there is one stream for all",
            "another client opens",
            || {
                instead(|asked| {
                    asked
                        .is_events()
                        .then(|| Answer::new(409, json!({"error": "there is a stream already"})))
                })
            },
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "commands appear on the MCP stream",
            nowhere_else,
            || says_after(Asked::is_listen, |other| other.commanded().is_some()),
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "MCP calls appear on the MCP stream",
            nowhere_else,
            || {
                says_after(Asked::is_listen, |other| {
                    other.is_call("send_universe_command")
                })
            },
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "a command ends the MCP stream",
            nowhere_else,
            || ends_after(Asked::is_listen, |other| other.commanded().is_some()),
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "commands by MCP go to the MCP stream only",
            "a command by MCP is seen",
            || {
                let first = Mutex::new(true);
                frame(move |_, frame| match &frame {
                    Frame::Event(event)
                        if event.data.contains("tick")
                            && std::mem::take(&mut *first.lock().unwrap()) =>
                    {
                        vec![]
                    }
                    _ => vec![frame],
                })
            },
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "commands by REST are lost",
            "a command by REST is seen",
            || {
                frame(|_, frame| match &frame {
                    Frame::Event(event) if event.data.contains("\"dt\":2") => vec![],
                    _ => vec![frame],
                })
            },
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "a stream says other universes' commands",
            "its own universe's commands",
            || {
                overhear(|own, other| match other.commanded() {
                    Some(id)
                        if own.is_events() && other.body["dt"] == 8 && !own.path.contains(id) =>
                    {
                        Overheard::Says(command_event(&json!({"type": "tick", "dt": 8})))
                    }
                    _ => Overheard::Nothing,
                })
                .and(frame(|_, frame| match &frame {
                    Frame::Event(event) if event.data.contains("\"dt\":4") => vec![],
                    _ => vec![frame],
                }))
            },
        ),
        row(
            "REQ-MCP-25",
            LEGACY,
            "the MCP stream was given up",
            "still attached",
            || {
                let opened = Mutex::new(false);
                instead(move |asked| {
                    let again = asked.is("GET", "/mcp")
                        && std::mem::replace(&mut *opened.lock().unwrap(), true);
                    again.then(|| Answer::new(200, Value::Null))
                })
            },
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "the MCP stream ends with a stream of commands",
            "leaves the MCP stream open",
            || ends_after(Asked::is_listen, |other| other.is("DELETE", "/universes/*")),
        ),
        row(
            "REQ-MCP-25",
            BOTH,
            "a stream outlives its universe",
            "ends with its universe",
            || Fault::default().endless(),
        ),
        row(
            "REQ-MCP-25",
            LEGACY,
            "the MCP stream outlives its session",
            "ends with its session",
            || {
                instead(|asked| {
                    asked
                        .is("DELETE", "/mcp")
                        .then(|| Answer::new(204, Value::Null))
                })
            },
        ),
        row(
            "REQ-MCP-25",
            LEGACY,
            "the end of a session ends the streams of commands",
            "leaves the stream of commands",
            || ends_after(Asked::is_events, |other| other.is("DELETE", "/mcp")),
        ),
        row(
            "REQ-MCP-25",
            MODERN,
            "later commands are lost",
            "leaves the stream of commands",
            || {
                frame(|_, frame| match &frame {
                    Frame::Event(event) if event.data.contains("\"dt\":16") => vec![],
                    _ => vec![frame],
                })
            },
        ),
    ]
}
