//! Base rules in a replay: a server that breaks one fails, though no step of the transcript names what is wrong.

use http::Response;
use mcp_conformance::{Body, Era, Target};
use serde_json::{Value, json};

use crate::check::correct::correct;
use crate::mutation::{Fault, answer, broken, result};
use crate::small_server::{echo, events, fails, replay, server};

/// A transcript that accepts every result and every error.
const ACCEPTS_ALL: &str = r#"{"open":"main"}
{"mcp":{"method":"tools/list"},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"tools/call","params":{"name":"look","arguments":{}}},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"resources/list"},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"resources/read","params":{"uri":"test://one"}},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"prompts/list"},"expect":{"result":{"$any":true}}}
{"era":"legacy","mcp":{"method":"ping"},"expect":{"result":{"$any":true}}}
{"era":"legacy","mcp":{"method":"no/such"},"expect":{"error":{"$any":true}}}
{"mcp":{"method":"prompts/get","params":{"name":"greet"}},"expect":{"result":{"$any":true}}}
{"mcp":{"method":"resources/templates/list"},"expect":{"result":{"$any":true}}}
"#;

fn without(value: &mut Value, member: &str) {
    value.as_object_mut().unwrap().remove(member);
}

fn error(change: fn(&mut Value)) -> Fault {
    answer(move |_, answer| {
        if answer.body["error"].is_object() {
            change(&mut answer.body["error"]);
        }
    })
}

/// How a server is broken, the line at which that is seen, and what is said of it.
fn table() -> Vec<(Fault, usize, &'static str)> {
    vec![
        (
            answer(|asked, answer| {
                if asked.is_rpc("ping") {
                    let kind = "text/plain".parse().unwrap();
                    answer.headers.insert("content-type", kind);
                }
            }),
            8,
            "has the content-type",
        ),
        (
            answer(|asked, answer| {
                if asked.is_rpc("notifications/initialized") {
                    answer.body = json!({"jsonrpc": "2.0", "id": null, "result": {}});
                }
            }),
            2,
            "a notification or response was answered with a body",
        ),
        (
            result("tools/list", |it| it["nextCursor"] = Value::Null),
            3,
            "nextCursor is not a string",
        ),
        (result("ping", |it| it["_meta"] = 5.into()), 8, "_meta is not an object"),
        (error(|it| it["code"] = "-32601".into()), 9, "the code of its error is not an integer"),
        (error(|it| without(it, "message")), 9, "its error has no message"),
    ]
}

fn first(method: &'static str, list: &'static str, change: fn(&mut Value)) -> Fault {
    result(method, move |it| change(&mut it[list][0]))
}

/// The same for results that lack what their method must answer; in both eras, but for the handshake.
fn incomplete() -> Vec<(Fault, usize, &'static str)> {
    vec![
        (result("initialize", |it| without(it, "serverInfo")), 2, "/serverInfo is missing"),
        (result("tools/list", |it| without(it, "tools")), 3, "/tools is missing"),
        (
            first("tools/list", "tools", |it| without(it, "inputSchema")),
            3,
            "/tools/0/inputSchema is missing",
        ),
        (
            first("tools/list", "tools", |it| {
                it["inputSchema"] = json!({"type": "array"});
            }),
            3,
            "/tools/0/inputSchema is not a schema of type",
        ),
        (
            first("tools/list", "tools", |it| it["name"] = 5.into()),
            3,
            "/tools/0/name is not a string",
        ),
        (result("tools/call", |it| without(it, "content")), 4, "/content is missing"),
        (first("tools/call", "content", |it| without(it, "type")), 4, "/content/0/type is missing"),
        (
            first("resources/list", "resources", |it| without(it, "uri")),
            5,
            "/resources/0/uri is missing",
        ),
        (
            first("resources/read", "contents", |it| without(it, "uri")),
            6,
            "/contents/0/uri is missing",
        ),
        (result("prompts/list", |it| it["prompts"] = json!({})), 7, "/prompts is not an array"),
        (
            first("prompts/get", "messages", |it| without(it, "role")),
            10,
            "/messages/0/role is missing",
        ),
        (
            first("resources/templates/list", "resourceTemplates", |it| {
                without(it, "uriTemplate");
            }),
            11,
            "/resourceTemplates/0/uriTemplate is missing",
        ),
    ]
}

#[tokio::test]
async fn a_result_has_what_its_method_must_answer_though_nothing_names_it() {
    for era in Era::ALL {
        for (fault, line, says) in incomplete() {
            let target = broken(correct(), fault);
            let outcome = replay(&target, era, ACCEPTS_ALL).await;
            match (era, line) {
                // There is no handshake that could be wrong.
                (Era::Modern, 2) => assert!(outcome.is_ok(), "{outcome:?}"),
                _ => fails(outcome, line, says),
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_keeps_them_passes() {
    for era in Era::ALL {
        let passed = replay(&correct(), era, ACCEPTS_ALL).await;
        assert!(passed.is_ok(), "{era:?}: {passed:?}");
    }
}

#[tokio::test]
async fn each_broken_server_fails_where_nothing_names_it() {
    for (fault, line, says) in table() {
        let target = broken(correct(), fault);
        fails(replay(&target, Era::Legacy, ACCEPTS_ALL).await, line, says);
    }
}

#[tokio::test]
async fn a_modern_result_has_its_kind_though_a_step_looks_at_the_status_alone() {
    let target = broken(correct(), result("prompts/list", |it| without(it, "resultType")));
    let raw = r#"{"http":{"method":"POST","path":"/mcp","headers":{"content-type":"application/json","accept":"application/json, text/event-stream","mcp-protocol-version":"2026-07-28","mcp-method":"prompts/list"},"json":{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}},"expect":{"status":200}}"#;
    assert!(replay(&correct(), Era::Modern, raw).await.is_ok());
    fails(replay(&target, Era::Modern, raw).await, 2, "no resultType");
}

#[tokio::test]
async fn what_comes_before_an_answer_is_judged_too() {
    fn early(path: &str, body: &Value) -> Response<Body> {
        if body["method"] != "x/y" {
            return echo(path, body);
        }
        let notification = json!({"jsonrpc": "1.0", "method": "notifications/message"});
        let answer = json!({"jsonrpc": "2.0", "id": body["id"], "result": {}});
        let pieces = [notification, answer].map(|message| format!("data: {message}\n\n"));
        events(&[&pieces[0], &pieces[1]], false)
    }
    let (target, _): (Target, _) = server(early);
    let steps = "{\"open\":\"main\"}\n{\"mcp\":{\"method\":\"x/y\"},\"expect\":{\"result\":{\"$any\":true}}}";
    fails(replay(&target, Era::Legacy, steps).await, 3, "jsonrpc is not");
}
