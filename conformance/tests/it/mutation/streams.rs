//! Broken neighbours: REQ-MCP-24 and 25.

use std::sync::Mutex;

use serde_json::json;

use super::sessions::is_delete;
use super::{
    Answer, Fault, Mutation, Overheard, SentRequest, answer, answer_to, both, command_event,
    instead, legacy, lost, modern, of, overhear, status,
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
        asked.is(method, path).then(|| Answer::new(404, json!({"error": "no such path"})))
    })
}

/// Streams that fit the first function end after a request that fits the second one.
pub(super) fn ends_after(own: fn(&SentRequest) -> bool, other: fn(&SentRequest) -> bool) -> Fault {
    overhear(
        move |stream, request| {
            if own(stream) && other(request) { Overheard::Ends } else { Overheard::Nothing }
        },
    )
}

/// Streams that fit the first function say something after a request that fits the second one.
fn says_after(own: fn(&SentRequest) -> bool, other: fn(&SentRequest) -> bool) -> Fault {
    overhear(move |stream, request| {
        if own(stream) && other(request) {
            Overheard::Says(command_event(&json!({"type": "tick"})))
        } else {
            Overheard::Nothing
        }
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    [neighbours(), streams()].concat()
}

fn neighbours() -> Vec<Mutation> {
    of(
        "REQ-MCP-24",
        [
            modern("the subscription is not acknowledged", "acknowledged").by(|| lost(|_, _| true)),
            both("/health is gone", "GET /health").by(|| gone("GET", "/health")),
            both("/health says something else", "GET /health")
                .by(|| rest("GET", "/health", |answer| answer.body = json!({"status": "UP"}))),
            both("creating answers 200", "POST /universes")
                .by(|| rest("POST", "/universes", |answer| answer.status = 200)),
            both("names are not trimmed", "POST /universes").by(|| {
                rest("POST", "/universes", |answer| answer.body["name"] = "  REQ-MCP-24  ".into())
            }),
            both("the list is wrapped", "GET /universes").by(|| {
                rest("GET", "/universes", |answer| answer.body = json!({"items": answer.body}))
            }),
            both("the list lacks the universe", "GET /universes")
                .by(|| rest("GET", "/universes", |answer| answer.body = json!([]))),
            both("a record has another member", "GET /universes/:id").by(|| {
                rest("GET", "/universes/*", |answer| {
                    if answer.status == 200 {
                        answer.body["_id"] = 0.into();
                    }
                })
            }),
            both("renaming is gone", "PUT /universes/:id").by(|| gone("PUT", "/universes/*")),
            both("commands are answered 202", "POST /universes/:id/commands").by(|| {
                rest("POST", "/universes/*", |answer| {
                    *answer = Answer::new(202, json!({"ok": true}))
                })
            }),
            both("commands are not streamed", "GET /universes/:id/events")
                .by(|| lost(|asked, _| asked.is_events())),
            both("MCP has a state of its own", "MCP sees what REST did")
                .by(|| super::said("get_universe_state", |state| state["time"] = 0.into())),
            both("malformed commands are accepted", "a malformed command").by(|| {
                answer_to(
                    |asked| asked.is("POST", "/universes/*") && asked.body.get("type").is_none(),
                    |answer| answer.status = 200,
                )
            }),
            both("unknown universes fail", "a command to an unknown")
                .by(|| rest("POST", "/universes/u-missing/commands", |answer| answer.status = 500)),
            both("unknown universes are not named", "reading an unknown").by(|| {
                rest("GET", "/universes/u-missing", |answer| {
                    answer.body = json!({"error": "not found"})
                })
            }),
            both("blank names are taken", "without a name").by(|| {
                answer_to(
                    |asked| asked.is("POST", "/universes") && asked.body["name"] == " ",
                    |answer| answer.status = 201,
                )
            }),
            both("deleting answers 200", "DELETE /universes/:id").by(|| {
                rest("DELETE", "/universes/*", |answer| {
                    *answer = Answer::new(200, json!({"ok": true}))
                })
            }),
            both("deleted universes live on", "a deleted universe").by(|| {
                answer_to(
                    |asked| asked.is("GET", "/universes/*") && asked.path != "/universes/u-missing",
                    |answer| answer.status = 200,
                )
            }),
            both("the MCP stream ends with the universe", "the MCP stream stayed open").by(|| {
                ends_after(SentRequest::is_listen, |other| other.is("DELETE", "/universes/*"))
            }),
        ],
    )
}

fn streams() -> Vec<Mutation> {
    let nowhere_else = "and nowhere else";
    of(
        "REQ-MCP-25",
        [
            both("the end of a universe is not told", "tells the end").by(|| {
                lost(|asked, event| asked.is_events() && event.event.as_deref() != Some("command"))
            }),
            both("the MCP stream is refused", "the MCP stream is active")
                .by(|| status(405, SentRequest::is_listen)),
            modern("the subscription is not acknowledged", "acknowledged")
                .by(|| lost(|asked, _| asked.is_listen())),
            both("there is one stream for all", "another client opens")
                .by(|| status(409, SentRequest::is_events)),
            both("commands appear on the MCP stream", nowhere_else)
                .by(|| says_after(SentRequest::is_listen, |other| other.commanded().is_some())),
            both("MCP calls appear on the MCP stream", nowhere_else).by(|| {
                says_after(SentRequest::is_listen, |other| other.is_call("send_universe_command"))
            }),
            both("a command ends the MCP stream", nowhere_else)
                .by(|| ends_after(SentRequest::is_listen, |other| other.commanded().is_some())),
            both("commands by MCP go to the MCP stream only", "a command by MCP is seen").by(
                || {
                    let first = Mutex::new(true);
                    lost(move |_, event| {
                        event.data.contains("tick") && std::mem::take(&mut *first.lock().unwrap())
                    })
                },
            ),
            both("commands by REST are lost", "a command by REST is seen")
                .by(|| lost(|_, event| event.data.contains("\"dt\":2"))),
            both("a stream says other universes' commands", "its own universe's commands").by(
                || {
                    overhear(|own, other| match other.commanded() {
                        Some(id)
                            if own.is_events()
                                && other.body["dt"] == 8
                                && !own.path.contains(id) =>
                        {
                            Overheard::Says(command_event(&json!({"type": "tick", "dt": 8})))
                        }
                        _ => Overheard::Nothing,
                    })
                    .and(lost(|_, event| event.data.contains("\"dt\":4")))
                },
            ),
            both("the MCP stream ends with a stream of commands", "leaves the MCP stream open").by(
                || ends_after(SentRequest::is_listen, |other| other.is("DELETE", "/universes/*")),
            ),
            both("a stream outlives its universe", "ends with its universe")
                .by(|| Fault::default().endless()),
            legacy("the MCP stream outlives its session", "ends with its session")
                .by(|| status(204, is_delete)),
            legacy(
                "the end of a session ends the streams of commands",
                "leaves the stream of commands",
            )
            .by(|| ends_after(SentRequest::is_events, |other| other.is("DELETE", "/mcp"))),
            modern("later commands are lost", "leaves the stream of commands")
                .by(|| lost(|_, event| event.data.contains("\"dt\":16"))),
        ],
    )
}
