//! Broken session identifiers: REQ-MCP-19 to 21.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::sessions::{
    SESSION, header_from, in_first_session, is_delete, one_session_for_all, second, status,
};
use super::{Answer, Fault, LEGACY, Mutation, answer, instead, row};

pub(crate) fn table() -> Vec<Mutation> {
    vec![
        row(
            "REQ-MCP-19",
            LEGACY,
            "there is one session at a time",
            "two clients initialize",
            || second(409, |asked| asked.is_rpc("initialize")),
        ),
        row(
            "REQ-MCP-19",
            LEGACY,
            "all sessions have one identifier",
            "distinct identifiers",
            one_session_for_all,
        ),
        row(
            "REQ-MCP-19",
            LEGACY,
            "the third session is the second",
            "an identifier of its own",
            || {
                let given = Mutex::new(Vec::new());
                answer(move |asked, answer| {
                    if asked.is_rpc("initialize") {
                        let mut given = given.lock().unwrap();
                        given.push(answer.headers[SESSION].clone());
                        if given.len() == 3 {
                            answer.headers.insert(SESSION, given[1].clone());
                        }
                    }
                })
            },
        ),
        row(
            "REQ-MCP-19",
            LEGACY,
            "the fourth session is the first",
            "so has a fourth",
            || {
                let given = Mutex::new(Vec::new());
                answer(move |asked, answer| {
                    if asked.is_rpc("initialize") {
                        let mut given = given.lock().unwrap();
                        given.push(answer.headers[SESSION].clone());
                        if given.len() == 4 {
                            answer.headers.insert(SESSION, given[0].clone());
                        }
                    }
                })
            },
        ),
        row(
            "REQ-MCP-19",
            LEGACY,
            "only one session is active at a time",
            "active at the same time",
            || {
                let active = Mutex::new(None);
                instead(move |asked| {
                    let session = asked.session()?.to_owned();
                    let first = active
                        .lock()
                        .unwrap()
                        .get_or_insert(session.clone())
                        .clone();
                    (asked.is_rpc("tools/list") && session != first)
                        .then(|| Answer::new(404, Value::Null))
                })
            },
        ),
        row(
            "REQ-MCP-19",
            LEGACY,
            "a session is not known",
            "a session of its own",
            || status(404, |asked| asked.is_rpc("ping")),
        ),
        row(
            "REQ-MCP-19",
            LEGACY,
            "a session cannot be ended",
            "ending one",
            pings_answered,
        ),
        row(
            "REQ-MCP-19",
            LEGACY,
            "ending one session ends all",
            "leaves the others",
            || {
                let ended = Mutex::new(false);
                instead(move |asked| {
                    let was = *ended.lock().unwrap();
                    *ended.lock().unwrap() |= is_delete(asked);
                    let error =
                        json!({"jsonrpc": "2.0", "error": {"code": -32000, "message": "gone"}});
                    (was && asked.is_rpc("ping")).then(|| Answer::new(404, error))
                })
            },
        ),
        row(
            "REQ-MCP-20",
            LEGACY,
            "there is no identifier",
            "is there and not empty",
            || header_from(1, None),
        ),
        row(
            "REQ-MCP-20",
            LEGACY,
            "the identifier is empty",
            "is there and not empty",
            || header_from(1, Some("")),
        ),
        row(
            "REQ-MCP-20",
            LEGACY,
            "the identifier has a space",
            "is there and not empty",
            || header_from(1, Some("session one")),
        ),
        row(
            "REQ-MCP-20",
            LEGACY,
            "older clients get no identifier",
            "older revision",
            || header_from(2, None),
        ),
        row(
            "REQ-MCP-20",
            LEGACY,
            "the identifier is not that of the session",
            "is known by",
            || header_from(1, Some("made-up")),
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "initialize opens no session",
            "without a session identifier",
            || header_from(1, None),
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "initialize needs a session",
            "without a session identifier",
            || {
                status(400, |asked| {
                    asked.is_rpc("initialize") && asked.session().is_none()
                })
            },
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "the session is not kept",
            "the session works",
            || status(404, |asked| asked.is_rpc("tools/list")),
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "there is one session for all",
            "each time a new one",
            one_session_for_all,
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "an unknown identifier is refused",
            "an identifier that is not valid",
            || {
                status(404, |asked| {
                    asked.is_rpc("initialize") && asked.session() == Some("session-unknown")
                })
            },
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "an unknown identifier is adopted",
            "an identifier that is not valid",
            || header_from(3, Some("session-unknown")),
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "a live session refuses initialize",
            "so does one of a live session",
            || {
                status(400, |asked| {
                    asked.is_rpc("initialize")
                        && asked.session().is_some_and(|id| id != "session-unknown")
                })
            },
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "a live session is replaced",
            "which goes on",
            || second(404, |asked| asked.is_rpc("ping")),
        ),
        row(
            "REQ-MCP-21",
            LEGACY,
            "any request opens a session",
            "nothing but initialize",
            || in_first_session(|asked| asked.is_rpc("tools/list") && asked.session().is_none()),
        ),
    ]
}

/// Every `ping` is answered.
fn pings_answered() -> Fault {
    instead(|asked| {
        asked.is_rpc("ping").then(|| {
            Answer::new(
                200,
                json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {}}),
            )
        })
    })
}
