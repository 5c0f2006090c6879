//! Broken transports: REQ-MCP-17 and 18.

use serde_json::json;

use super::results::remove;
use super::sessions::{SESSION, header_from, is_delete, is_get, listed_always, stream};
use super::streams::ends_after;
use super::{
    Fault, Mutation, SentRequest, answer, answer_to, ask, both, legacy, modern, of, status,
};

pub(crate) fn table() -> Vec<Mutation> {
    [
        of(
            "REQ-MCP-17",
            [
                legacy("initialize has no session", "POST /mcp with initialize")
                    .by(|| header_from(1, None)),
                legacy("initialize is not served here", "POST /mcp with initialize")
                    .by(|| status(404, |asked| asked.is_rpc("initialize"))),
                legacy("initialize is answered with an error", "POST /mcp with initialize").by(
                    || {
                        answer(|asked, answer| {
                            if asked.is_rpc("initialize") {
                                let error = json!({"code": -32603, "message": "failed"});
                                answer.body = json!({"jsonrpc": "2.0", "id": 1, "error": error});
                            }
                        })
                    },
                ),
                legacy("the answer has another id", "POST /mcp with initialize").by(|| {
                    answer_to(
                        |asked| asked.is_rpc("initialize"),
                        |answer| answer.body["id"] = "1".into(),
                    )
                }),
                legacy("the session does not work", "used at the same path")
                    .by(|| status(404, |asked| asked.is_rpc("tools/list"))),
                both("MCP is served on every path", "no other path")
                    .by(|| ask(|asked| asked.path = "/mcp".to_owned())),
                modern("discovery is not served", "with server/discover")
                    .by(|| status(404, |asked| asked.is_rpc("server/discover"))),
                modern("discovery opens a session", "with server/discover").by(|| {
                    answer(|_, answer| drop(answer.headers.insert(SESSION, "s".parse().unwrap())))
                }),
                modern("the result has no type", "with server/discover")
                    .by(|| answer(|_, answer| remove(&mut answer.body["result"], "resultType"))),
            ],
        ),
        of(
            "REQ-MCP-18",
            [
                both("calls are accepted but not answered", "POST:")
                    .by(|| status(202, |asked| asked.is_rpc("tools/call"))),
                both("the listening stream is refused", "server-to-client notifications")
                    .by(|| status(405, SentRequest::is_listen)),
                legacy("the listening stream is JSON", "server-to-client notifications")
                    .by(|| status(200, SentRequest::is_listen)),
                both("the listening stream ends at once", "stays open").by(|| {
                    ends_after(SentRequest::is_listen, |other| other.is_call("get_universe_state"))
                }),
                modern("the subscription is not acknowledged", "acknowledged")
                    .by(|| super::lost(|_, _| true)),
                legacy("DELETE is refused", "DELETE:").by(|| status(405, is_delete)),
                legacy("DELETE is answered with an error", "DELETE:").by(|| status(500, is_delete)),
                legacy("DELETE leaves the stream open", "its stream ends")
                    .by(|| Fault::default().endless()),
                legacy("DELETE leaves the session alive", "the session is gone").by(listed_always),
                modern("GET is answered 200", "nothing to GET").by(|| stream(is_get)),
                modern("DELETE is answered 204", "nothing to DELETE").by(|| status(204, is_delete)),
                both("PUT is accepted", "other methods")
                    .by(|| status(200, |asked| asked.method == "PUT")),
            ],
        ),
    ]
    .concat()
}
