//! Broken session identifiers: REQ-MCP-19 to 21.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::sessions::{
    SESSION, header_from, in_first_session, is_delete, one_session_for_all, second,
};
use super::{Answer, Fault, Mutation, answer, instead, legacy, of, status};

pub(crate) fn table() -> Vec<Mutation> {
    [
        of(
            "REQ-MCP-19",
            [
                legacy("there is one session at a time", "two clients initialize")
                    .by(|| second(409, |asked| asked.is_rpc("initialize"))),
                legacy("all sessions have one identifier", "distinct identifiers")
                    .by(one_session_for_all),
                legacy("the third session is the second", "an identifier of its own").by(|| {
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
                }),
                legacy("the fourth session is the first", "so has a fourth").by(|| {
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
                }),
                legacy("only one session is active at a time", "active at the same time").by(
                    || {
                        let active = Mutex::new(None);
                        instead(move |asked| {
                            let session = asked.session()?.to_owned();
                            let first =
                                active.lock().unwrap().get_or_insert(session.clone()).clone();
                            (asked.is_rpc("tools/list") && session != first)
                                .then(|| Answer::new(404, Value::Null))
                        })
                    },
                ),
                legacy("a session is not known", "a session of its own")
                    .by(|| status(404, |asked| asked.is_rpc("ping"))),
                legacy("a session cannot be ended", "ending one").by(pings_answered),
                legacy("ending one session ends all", "leaves the others").by(|| {
                    let ended = Mutex::new(false);
                    instead(move |asked| {
                        let was = *ended.lock().unwrap();
                        *ended.lock().unwrap() |= is_delete(asked);
                        let error =
                            json!({"jsonrpc": "2.0", "error": {"code": -32000, "message": "gone"}});
                        (was && asked.is_rpc("ping")).then(|| Answer::new(404, error))
                    })
                }),
            ],
        ),
        of(
            "REQ-MCP-20",
            [
                legacy("there is no identifier", "is there and not empty")
                    .by(|| header_from(1, None)),
                legacy("the identifier is empty", "is there and not empty")
                    .by(|| header_from(1, Some(""))),
                legacy("the identifier has a space", "is there and not empty")
                    .by(|| header_from(1, Some("session one"))),
                legacy("older clients get no identifier", "older revision")
                    .by(|| header_from(2, None)),
                legacy("the identifier is not that of the session", "is known by")
                    .by(|| header_from(1, Some("made-up"))),
            ],
        ),
        of(
            "REQ-MCP-21",
            [
                legacy("initialize opens no session", "without a session identifier")
                    .by(|| header_from(1, None)),
                legacy("initialize needs a session", "without a session identifier").by(|| {
                    status(400, |asked| asked.is_rpc("initialize") && asked.session().is_none())
                }),
                legacy("the session is not kept", "the session works")
                    .by(|| status(404, |asked| asked.is_rpc("tools/list"))),
                legacy("there is one session for all", "each time a new one")
                    .by(one_session_for_all),
                legacy("an unknown identifier is refused", "an identifier that is not valid").by(
                    || {
                        status(404, |asked| {
                            asked.is_rpc("initialize") && asked.session() == Some("session-unknown")
                        })
                    },
                ),
                legacy("an unknown identifier is adopted", "an identifier that is not valid")
                    .by(|| header_from(3, Some("session-unknown"))),
                legacy("a live session refuses initialize", "so does one of a live session").by(
                    || {
                        status(400, |asked| {
                            asked.is_rpc("initialize")
                                && asked.session().is_some_and(|id| id != "session-unknown")
                        })
                    },
                ),
                legacy("a live session is replaced", "which goes on")
                    .by(|| second(404, |asked| asked.is_rpc("ping"))),
                legacy("any request opens a session", "nothing but initialize").by(|| {
                    in_first_session(|asked| {
                        asked.is_rpc("tools/list") && asked.session().is_none()
                    })
                }),
            ],
        ),
    ]
    .concat()
}

/// Every `ping` is answered.
fn pings_answered() -> Fault {
    instead(|asked| {
        asked.is_rpc("ping").then(|| {
            Answer::new(200, json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {}}))
        })
    })
}
