//! Broken transports and sessions: REQ-MCP-17 to 23.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{Answer, Asked, BOTH, Fault, LEGACY, MODERN, Mutation, answer, ask, instead, row};

const SESSION: &str = "mcp-session-id";

/// The n-th `initialize` (counted from 1) and those after it are answered with another session header.
fn header_from(nth: usize, value: Option<&'static str>) -> Fault {
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
fn one_session_for_all() -> Fault {
    let first = Mutex::new(None);
    answer(move |asked, answer| {
        if asked.is_rpc("initialize") {
            let session = answer.headers[SESSION].clone();
            let first = first.lock().unwrap().get_or_insert(session).clone();
            answer.headers.insert(SESSION, first);
        }
    })
}

/// Such requests are answered with this status, without the server.
fn status(status: u16, fits: fn(&Asked) -> bool) -> Fault {
    instead(move |asked| fits(asked).then(|| Answer::new(status, Value::Null)))
}

/// Such requests are answered with this status and JSON that is no JSON-RPC.
fn no_rpc(status: u16, fits: fn(&Asked) -> bool) -> Fault {
    instead(move |asked| fits(asked).then(|| Answer::new(status, json!({"error": "no session"}))))
}

/// Such requests are answered with an empty event stream.
fn stream(fits: fn(&Asked) -> bool) -> Fault {
    instead(move |asked| {
        fits(asked).then(|| {
            let mut answer = Answer::new(200, Value::Null);
            answer
                .headers
                .insert("content-type", "text/event-stream".parse().unwrap());
            answer
        })
    })
}

/// Such requests reach the server in the session of the first that `initialize` opened.
fn in_first_session(fits: fn(&Asked) -> bool) -> Fault {
    let known = Arc::new(Mutex::new(None));
    let seen = known.clone();
    answer(move |asked, answer| {
        if asked.is_rpc("initialize") {
            seen.lock()
                .unwrap()
                .get_or_insert(answer.headers[SESSION].clone());
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

fn is_delete(asked: &Asked) -> bool {
    asked.is("DELETE", "/mcp")
}

fn is_get(asked: &Asked) -> bool {
    asked.is("GET", "/mcp")
}

fn is_unknown(asked: &Asked) -> bool {
    asked.session() == Some("session-expired")
}

/// From its second time on, such a request is answered with this status.
fn second(status: u16, fits: fn(&Asked) -> bool) -> Fault {
    let count = Mutex::new(0);
    instead(move |asked| {
        let mut count = count.lock().unwrap();
        *count += usize::from(fits(asked));
        (fits(asked) && *count > 1)
            .then(|| Answer::new(status, json!({"jsonrpc": "2.0", "id": 7, "result": {}})))
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    let mut table = transport();
    table.extend(identifiers());
    table.extend(ends());
    table
}

fn transport() -> Vec<Mutation> {
    vec![
        row(
            "REQ-MCP-17",
            LEGACY,
            "initialize has no session",
            "POST /mcp with initialize",
            || header_from(1, None),
        ),
        row(
            "REQ-MCP-17",
            LEGACY,
            "initialize is not served here",
            "POST /mcp with initialize",
            || status(404, |asked| asked.is_rpc("initialize")),
        ),
        row(
            "REQ-MCP-17",
            LEGACY,
            "initialize is answered with an error",
            "POST /mcp with initialize",
            || {
                answer(|asked, answer| {
                    if asked.is_rpc("initialize") {
                        let error = json!({"code": -32603, "message": "failed"});
                        answer.body = json!({"jsonrpc": "2.0", "id": 1, "error": error});
                    }
                })
            },
        ),
        row(
            "REQ-MCP-17",
            LEGACY,
            "the answer has another id",
            "POST /mcp with initialize",
            || {
                answer(|asked, answer| {
                    if asked.is_rpc("initialize") {
                        answer.body["id"] = "1".into();
                    }
                })
            },
        ),
        row(
            "REQ-MCP-17",
            LEGACY,
            "the session does not work",
            "used at the same path",
            || status(404, |asked| asked.is_rpc("tools/list")),
        ),
        row(
            "REQ-MCP-17",
            BOTH,
            "MCP is served on every path",
            "no other path",
            || ask(|asked| asked.path = "/mcp".to_owned()),
        ),
        row(
            "REQ-MCP-17",
            MODERN,
            "discovery is not served",
            "with server/discover",
            || status(404, |asked| asked.is_rpc("server/discover")),
        ),
        row(
            "REQ-MCP-17",
            MODERN,
            "discovery opens a session",
            "with server/discover",
            || answer(|_, answer| drop(answer.headers.insert(SESSION, "s".parse().unwrap()))),
        ),
        row(
            "REQ-MCP-17",
            MODERN,
            "the result has no type",
            "with server/discover",
            || {
                answer(|_, answer| {
                    drop(
                        answer.body["result"]
                            .as_object_mut()
                            .unwrap()
                            .remove("resultType"),
                    )
                })
            },
        ),
        row(
            "REQ-MCP-18",
            BOTH,
            "calls are accepted but not answered",
            "POST:",
            || status(202, |asked| asked.is_rpc("tools/call")),
        ),
        row(
            "REQ-MCP-18",
            BOTH,
            "the listening stream is refused",
            "server-to-client notifications",
            || status(405, Asked::is_listen),
        ),
        row(
            "REQ-MCP-18",
            LEGACY,
            "the listening stream is JSON",
            "server-to-client notifications",
            || status(200, Asked::is_listen),
        ),
        row(
            "REQ-MCP-18",
            BOTH,
            "the listening stream ends at once",
            "stays open",
            || {
                super::overhear(|own, other| {
                    match own.is_listen() && other.is_call("get_universe_state") {
                        true => super::Overheard::Ends,
                        false => super::Overheard::Nothing,
                    }
                })
            },
        ),
        row(
            "REQ-MCP-18",
            MODERN,
            "the subscription is not acknowledged",
            "acknowledged",
            || super::frame(|_, _| vec![]),
        ),
        row("REQ-MCP-18", LEGACY, "DELETE is refused", "DELETE:", || {
            status(405, is_delete)
        }),
        row(
            "REQ-MCP-18",
            LEGACY,
            "DELETE is answered with an error",
            "DELETE:",
            || status(500, is_delete),
        ),
        row(
            "REQ-MCP-18",
            LEGACY,
            "DELETE leaves the stream open",
            "its stream ends",
            || Fault::default().endless(),
        ),
        row(
            "REQ-MCP-18",
            LEGACY,
            "DELETE leaves the session alive",
            "the session is gone",
            || {
                answer(|asked, answer| {
                    if asked.is_rpc("tools/list") {
                        answer.status = 200;
                    }
                })
            },
        ),
        row(
            "REQ-MCP-18",
            MODERN,
            "GET is answered 200",
            "nothing to GET",
            || stream(is_get),
        ),
        row(
            "REQ-MCP-18",
            MODERN,
            "DELETE is answered 204",
            "nothing to DELETE",
            || status(204, is_delete),
        ),
        row(
            "REQ-MCP-18",
            BOTH,
            "PUT is accepted",
            "other methods",
            || status(200, |asked| asked.method == "PUT"),
        ),
    ]
}

fn identifiers() -> Vec<Mutation> {
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
            || pings_answered(),
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

fn ends() -> Vec<Mutation> {
    vec![
        row(
            "REQ-MCP-22",
            LEGACY,
            "DELETE is refused",
            "the session is terminated",
            || status(405, is_delete),
        ),
        row(
            "REQ-MCP-22",
            LEGACY,
            "DELETE does nothing",
            "its stream ends",
            || status(204, is_delete),
        ),
        row(
            "REQ-MCP-22",
            LEGACY,
            "DELETE leaves the stream open",
            "its stream ends",
            || Fault::default().endless(),
        ),
        row(
            "REQ-MCP-22",
            LEGACY,
            "GET opens a stream of a dead session",
            "GET receives an error",
            || {
                let opened = Mutex::new(false);
                instead(move |asked| {
                    let again =
                        is_get(asked) && std::mem::replace(&mut *opened.lock().unwrap(), true);
                    again.then(|| Answer::new(200, Value::Null))
                })
            },
        ),
        row(
            "REQ-MCP-22",
            LEGACY,
            "DELETE succeeds twice",
            "DELETE receives an error",
            || second(204, is_delete),
        ),
        row(
            "REQ-MCP-22",
            LEGACY,
            "POST works in a dead session",
            "POST receives an error",
            || {
                answer(|asked, answer| {
                    if asked.is_rpc("tools/list") {
                        answer.status = 200;
                    }
                })
            },
        ),
        row(
            "REQ-MCP-22",
            LEGACY,
            "a dead session's identifier is given again",
            "with another identifier",
            one_session_for_all,
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "GET with an unknown session opens a stream",
            "GET with an unknown",
            || stream(|asked| is_get(asked) && is_unknown(asked)),
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "the refusal of GET is no JSON-RPC",
            "GET with an unknown",
            || no_rpc(404, |asked| is_get(asked) && is_unknown(asked)),
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "GET with an unknown session fails",
            "GET with an unknown",
            || status(500, |asked| is_get(asked) && is_unknown(asked)),
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "DELETE of an unknown session succeeds",
            "DELETE with an unknown",
            || status(204, |asked| is_delete(asked) && is_unknown(asked)),
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "POST with an unknown session is answered 400",
            "POST with an unknown",
            || no_rpc(400, |asked| asked.is_rpc("tools/list") && is_unknown(asked)),
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "unknown sessions are opened by POST",
            "POST with an unknown",
            || in_first_session(|asked| asked.is_rpc("tools/list") && is_unknown(asked)),
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "GET needs no session",
            "GET without a session",
            || stream(|asked| is_get(asked) && asked.session().is_none()),
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "DELETE needs no session",
            "DELETE without a session",
            || status(204, |asked| is_delete(asked) && asked.session().is_none()),
        ),
        row(
            "REQ-MCP-23",
            LEGACY,
            "a bad DELETE ends all sessions",
            "is not touched",
            || status(404, |asked| asked.is_rpc("ping")),
        ),
    ]
}
