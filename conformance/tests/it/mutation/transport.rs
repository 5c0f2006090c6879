//! Broken transports: REQ-MCP-17 and 18.

use serde_json::json;

use super::sessions::{SESSION, header_from, is_delete, is_get, status, stream};
use super::{Asked, BOTH, Fault, LEGACY, MODERN, Mutation, answer, ask, row};

pub(crate) fn table() -> Vec<Mutation> {
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
