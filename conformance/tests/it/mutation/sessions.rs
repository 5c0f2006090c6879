//! Sessions that do not end: REQ-MCP-22 and 23. Also what the tables of sessions share.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{
    Answer, Fault, Mutation, SentRequest, answer, answer_to, ask, instead, legacy, of, status,
};

pub(super) const SESSION: &str = "mcp-session-id";

/// The n-th `initialize` (counted from 1) and those after it are answered with another session header.
pub(super) fn header_from(nth: usize, value: Option<&'static str>) -> Fault {
    let count = Mutex::new(0);
    answer(move |asked, answer| {
        if asked.is_rpc("initialize") {
            let mut count = count.lock().unwrap();
            *count += 1;
            if *count >= nth {
                match value {
                    Some(value) => drop(answer.headers.insert(SESSION, value.parse().unwrap())),
                    None => drop(answer.headers.remove(SESSION)),
                }
            }
        }
    })
}

/// Every `initialize` after the first is answered with the first one's session.
pub(super) fn one_session_for_all() -> Fault {
    let first = Mutex::new(None);
    answer(move |asked, answer| {
        if asked.is_rpc("initialize") {
            let session = answer.headers[SESSION].clone();
            let first = first.lock().unwrap().get_or_insert(session).clone();
            answer.headers.insert(SESSION, first);
        }
    })
}

/// Such requests are answered with this status and JSON that is not JSON-RPC.
pub(super) fn no_rpc(status: u16, fits: fn(&SentRequest) -> bool) -> Fault {
    instead(move |asked| fits(asked).then(|| Answer::new(status, json!({"error": "no session"}))))
}

/// Such requests are answered with an empty event stream.
pub(super) fn stream(fits: fn(&SentRequest) -> bool) -> Fault {
    instead(move |asked| {
        fits(asked).then(|| {
            let mut answer = Answer::new(200, Value::Null);
            answer.headers.insert("content-type", "text/event-stream".parse().unwrap());
            answer
        })
    })
}

/// Such requests reach the server in the session of the first that `initialize` opened.
pub(super) fn in_first_session(fits: fn(&SentRequest) -> bool) -> Fault {
    let known = Arc::new(Mutex::new(None));
    let seen = known.clone();
    answer(move |asked, answer| {
        if asked.is_rpc("initialize") {
            seen.lock().unwrap().get_or_insert(answer.headers[SESSION].clone());
        }
    })
    .and(ask(move |asked| {
        if fits(asked)
            && let Some(session) = known.lock().unwrap().clone()
        {
            asked.headers.insert(SESSION, session);
        }
    }))
}

/// `tools/list` is answered 200 in any session.
pub(super) fn listed_always() -> Fault {
    answer_to(|asked| asked.is_rpc("tools/list"), |answer| answer.status = 200)
}

pub(super) fn is_delete(asked: &SentRequest) -> bool {
    asked.is("DELETE", "/mcp")
}

pub(super) fn is_get(asked: &SentRequest) -> bool {
    asked.is("GET", "/mcp")
}

pub(super) fn is_unknown(asked: &SentRequest) -> bool {
    asked.session() == Some("session-expired")
}

/// From its second time on, a GET is answered without a stream.
fn second_get() -> Fault {
    let opened = Mutex::new(false);
    instead(move |asked| {
        let again = is_get(asked) && std::mem::replace(&mut *opened.lock().unwrap(), true);
        again.then(|| Answer::new(200, Value::Null))
    })
}

/// From its second time on, such a request is answered with this status.
pub(super) fn second(status: u16, fits: fn(&SentRequest) -> bool) -> Fault {
    let count = Mutex::new(0);
    instead(move |asked| {
        let mut count = count.lock().unwrap();
        *count += usize::from(fits(asked));
        (fits(asked) && *count > 1)
            .then(|| Answer::new(status, json!({"jsonrpc": "2.0", "id": 7, "result": {}})))
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    [
        of(
            "REQ-MCP-22",
            [
                legacy("DELETE is refused", "the session is terminated")
                    .by(|| status(405, is_delete)),
                legacy("DELETE does nothing", "its stream ends").by(|| status(204, is_delete)),
                legacy("DELETE leaves the stream open", "its stream ends")
                    .by(|| Fault::default().endless()),
                legacy("GET opens a stream of a dead session", "GET receives an error")
                    .by(second_get),
                legacy("DELETE succeeds twice", "DELETE receives an error")
                    .by(|| second(204, is_delete)),
                legacy("POST works in a dead session", "POST receives an error").by(listed_always),
                legacy("a dead session's identifier is given again", "with another identifier")
                    .by(one_session_for_all),
            ],
        ),
        of(
            "REQ-MCP-23",
            [
                legacy("GET with an unknown session opens a stream", "GET with an unknown")
                    .by(|| stream(|asked| is_get(asked) && is_unknown(asked))),
                legacy("the refusal of GET is not JSON-RPC", "GET with an unknown")
                    .by(|| no_rpc(404, |asked| is_get(asked) && is_unknown(asked))),
                legacy("GET with an unknown session fails", "GET with an unknown")
                    .by(|| status(500, |asked| is_get(asked) && is_unknown(asked))),
                legacy("DELETE of an unknown session succeeds", "DELETE with an unknown")
                    .by(|| status(204, |asked| is_delete(asked) && is_unknown(asked))),
                legacy("POST with an unknown session is answered 400", "POST with an unknown")
                    .by(|| no_rpc(400, |asked| asked.is_rpc("tools/list") && is_unknown(asked))),
                legacy("unknown sessions are opened by POST", "POST with an unknown").by(|| {
                    in_first_session(|asked| asked.is_rpc("tools/list") && is_unknown(asked))
                }),
                legacy("GET needs no session", "GET without a session")
                    .by(|| stream(|asked| is_get(asked) && asked.session().is_none())),
                legacy("DELETE needs no session", "DELETE without a session")
                    .by(|| status(204, |asked| is_delete(asked) && asked.session().is_none())),
                legacy("a bad DELETE ends all sessions", "is not touched")
                    .by(|| status(404, |asked| asked.is_rpc("ping"))),
            ],
        ),
    ]
    .concat()
}
