//! A broken server for each rule over HTTP: what is wrong with it, and what a check must say of it.

mod called;
mod items;
mod lasting;
mod more;
pub(crate) mod resumption;
pub(crate) mod rounds;
mod tasks;
mod wire;

use std::sync::{Arc, Mutex};

use http::Method;
use mcp_conformance::Revision;
use serde_json::{Value, json};

use crate::mutation::{
    Answer, Fault, SentRequest, answer, answer_to, ask, instead, result, status,
};

const BATCHES: Revision = Revision::V2025_03_26;
const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

/// How a server is broken, and the one rule that must find it, in this revision.
pub(crate) struct Mutant {
    pub(crate) rule: &'static str,
    pub(crate) revision: Revision,
    pub(crate) fault: Fault,
}

fn legacy(rule: &'static str, fault: Fault) -> Mutant {
    Mutant { rule, revision: LEGACY, fault }
}

fn modern(rule: &'static str, fault: Fault) -> Mutant {
    Mutant { rule, revision: MODERN, fault }
}

pub(crate) fn table() -> Vec<Mutant> {
    let tables = [
        base(),
        sessions(),
        transport(),
        statements(),
        items::lists(),
        called::called(),
        called::tools(),
        called::habits(),
        items::offers(),
        more::heads(),
        more::messages(),
        more::calls(),
        lasting::streams(),
        rounds::rounds(),
        resumption::resumption(),
        tasks::tasks(),
        wire::wire(),
    ];
    tables.into_iter().flatten().collect()
}

/// What names the server in a result of the modern revision.
fn named() -> Value {
    json!({"io.modelcontextprotocol/serverInfo": {"name": "broken", "version": "1"}})
}

/// A result in place of what the server says to some requests.
fn instead_result(fits: fn(&SentRequest) -> bool, result: Value) -> Fault {
    instead(move |asked| fits(asked).then(|| asked.answered(result.clone())))
}

/// An error in place of what the server says to some requests.
fn instead_error(fits: fn(&SentRequest) -> bool, status: u16, code: i64) -> Fault {
    instead(move |asked| fits(asked).then(|| asked.refused(status, code)))
}

/// Errors of one code get another.
fn recode(method: &'static str, code: i64) -> Fault {
    answer(move |asked, answer| {
        if asked.is_rpc(method) && answer.body["error"].is_object() {
            answer.body["error"]["code"] = code.into();
        }
    })
}

fn without(value: &mut Value, member: &str) {
    value.as_object_mut().unwrap().remove(member);
}

/// How long a body is that was no JSON.
fn unreadable(asked: &SentRequest) -> Option<usize> {
    let length = asked.headers.get("content-length")?.to_str().ok()?;
    (asked.method == Method::POST && asked.body.is_null()).then(|| length.parse().unwrap())
}

fn set(asked: &mut SentRequest, header: &'static str, value: &str) {
    asked.headers.insert(header, value.parse().unwrap());
}

fn base() -> Vec<Mutant> {
    vec![
        legacy(
            "base.id-echo",
            answer(|_, answer| {
                if answer.body["id"] == "a string" {
                    answer.body["id"] = 0.into();
                }
            }),
        ),
        legacy(
            "base.frame",
            answer(|asked, answer| {
                if asked.is_rpc("no/such/method") {
                    answer.body["result"] = json!({});
                }
            }),
        ),
        legacy(
            "messages.schema",
            answer(|_, answer| {
                if answer.body["error"].is_object() {
                    without(&mut answer.body["error"], "message");
                }
            }),
        ),
        modern(
            "messages.schema",
            answer(|_, answer| {
                if !answer.body["id"].is_null() {
                    without(&mut answer.body, "jsonrpc");
                }
            }),
        ),
        legacy(
            "base.no-request",
            instead(|asked| {
                let is_null = asked.body.get("id").is_some_and(Value::is_null);
                is_null.then(|| asked.answered(json!({})))
            }),
        ),
        modern(
            "base.no-request",
            instead(|asked| {
                let is_response = asked.body["result"].is_object();
                is_response.then(|| Answer::new(202, Value::Null))
            }),
        ),
        legacy("base.unknown-method", recode("no/such/method", -32600)),
        legacy(
            "base.parse-error",
            answer(|asked, answer| {
                if asked.body.is_null() && answer.body["error"]["code"] == -32700 {
                    answer.body["error"]["code"] = (-32603).into();
                }
            }),
        ),
        legacy(
            "base.notification",
            instead_result(|asked| asked.is_rpc("notifications/no-such-notification"), json!({})),
        ),
        modern(
            "base.unknown-members",
            instead_error(|asked| asked.body.get("alsoUnknown").is_some(), 400, -32600),
        ),
        legacy("base.ping", result("ping", |result| result["pong"] = true.into())),
        legacy(
            "robust.deep-nesting",
            status(500, |asked| unreadable(asked).is_some_and(|length| length > 20_000)),
        ),
        legacy(
            "robust.invalid-utf8",
            status(500, |asked| {
                unreadable(asked).is_some_and(|length| (30..100).contains(&length))
            }),
        ),
        legacy(
            "robust.huge-id",
            status(500, |asked| asked.body["id"].as_str().is_some_and(|id| id.len() > 50_000)),
        ),
    ]
}

fn sessions() -> Vec<Mutant> {
    vec![
        legacy("handshake.speaks", instead(|_| Some(Answer::new(404, Value::Null)))),
        modern("handshake.speaks", instead(|_| Some(Answer::new(404, Value::Null)))),
        legacy("handshake.speaks", instead(|_| Some(Answer::new(500, Value::Null)))),
        legacy(
            "handshake.unknown-version",
            answer(|asked, answer| {
                let version = &asked.body["params"]["protocolVersion"];
                if version == "1999-01-01" {
                    answer.body["result"]["protocolVersion"] = version.clone();
                }
            }),
        ),
        legacy(
            "handshake.unknown-version",
            instead_error(
                |asked| asked.body["params"]["protocolVersion"] == "1999-01-01",
                200,
                -32603,
            ),
        ),
        legacy(
            "messages.schema",
            result("initialize", |result| {
                without(&mut result["serverInfo"], "version");
            }),
        ),
        legacy(
            "session.characters",
            ask(|asked| {
                if let Some(session) = asked.session().map(str::to_owned) {
                    set(asked, "mcp-session-id", session.trim_end_matches(" x"));
                }
            })
            .and(answer(|_, answer| {
                if let Some(session) = answer.headers.get_mut("mcp-session-id") {
                    *session = format!("{} x", session.to_str().unwrap()).parse().unwrap();
                }
            })),
        ),
        legacy("session.own", one_session()),
        legacy(
            "session.missing",
            answer_to(
                |asked| asked.is_rpc("ping") && asked.session().is_none(),
                |answer| answer.status = 404,
            ),
        ),
        legacy("session.ended", status(200, |asked| asked.method == Method::DELETE)),
        legacy(
            "http.version-header",
            ask(|asked| {
                if asked.headers.get("mcp-protocol-version").is_some_and(|it| it == "1999-01-01") {
                    set(asked, "mcp-protocol-version", LEGACY.as_str());
                }
            }),
        ),
    ]
}

/// All clients get the id `same`, which stands for the session that was opened last.
fn one_session() -> Fault {
    let last = Arc::new(Mutex::new(String::new()));
    let known = last.clone();
    ask(move |asked| {
        if asked.session() == Some("same") {
            set(asked, "mcp-session-id", &known.lock().unwrap());
        }
    })
    .and(answer(move |_, answer| {
        if let Some(session) = answer.headers.get_mut("mcp-session-id") {
            session.to_str().unwrap().clone_into(&mut last.lock().unwrap());
            *session = "same".parse().unwrap();
        }
    }))
    .and(status(405, |asked| asked.method == Method::DELETE))
}

fn transport() -> Vec<Mutant> {
    vec![
        legacy(
            "http.content-type",
            answer_to(
                |asked| asked.is_rpc("ping"),
                |answer| {
                    answer.headers.insert("content-type", "text/plain".parse().unwrap());
                },
            ),
        ),
        modern(
            "http.content-type",
            answer_to(
                |asked| asked.is_call("look"),
                |answer| {
                    answer.headers.remove("content-type");
                },
            ),
        ),
        legacy(
            "http.accepted",
            answer_to(
                |asked| asked.is_rpc("notifications/cancelled"),
                |answer| answer.status = 200,
            ),
        ),
        modern("http.accepted", status(500, |asked| asked.is_rpc("notifications/cancelled"))),
        legacy(
            "http.get",
            instead(|asked| (asked.method == Method::GET).then(|| Answer::new(200, json!({})))),
        ),
        legacy("http.batch", instead_result(|asked| asked.body.is_array(), json!({}))),
        Mutant {
            rule: "http.batch-2025-03-26",
            revision: BATCHES,
            fault: instead_error(|asked| asked.body.is_array(), 400, -32600),
        },
        modern(
            "http.origin",
            ask(|asked| {
                asked.headers.remove("origin");
            }),
        ),
        legacy("http.host", ask(|asked| set(asked, "host", "127.0.0.1"))),
        legacy(
            "http.media-type",
            ask(|asked| {
                if asked.headers.contains_key("content-type") {
                    set(asked, "content-type", "application/json");
                }
            }),
        ),
        legacy(
            "http.parse-status",
            answer_to(
                |asked| unreadable(asked).is_some_and(|length| length < 15),
                |answer| answer.status = 200,
            ),
        ),
    ]
}

/// What the modern revision says of every request and result.
fn statements() -> Vec<Mutant> {
    const META: &str = "io.modelcontextprotocol/";
    let meta = |asked: &SentRequest, key: &str| {
        asked.body["params"]["_meta"].get(format!("{META}{key}")).cloned()
    };
    vec![
        modern("messages.schema", result("tools/list", |result| without(result, "resultType"))),
        modern("modern.server-info", result("tools/list", |result| without(result, "_meta"))),
        modern("modern.server-info", result("tools/call", |result| without(result, "_meta"))),
        modern(
            "modern.discover",
            result("server/discover", |result| {
                result["supportedVersions"] = json!([LEGACY.as_str()]);
            }),
        ),
        // Of two versions that are listed one is answered with another.
        modern(
            "modern.discover",
            answer(|asked, answer| {
                if asked.is_rpc("server/discover") && answer.body["result"].is_object() {
                    answer.body["result"]["supportedVersions"] =
                        json!([MODERN.as_str(), "2024-11-05"]);
                }
                if asked.body["params"]["protocolVersion"] == "2024-11-05" {
                    answer.body["result"]["protocolVersion"] = LEGACY.as_str().into();
                }
            }),
        ),
        modern("messages.schema", result("tools/list", |result| without(result, "ttlMs"))),
        modern(
            "messages.schema",
            result("prompts/list", |result| {
                result["cacheScope"] = "everybody".into();
            }),
        ),
        modern(
            "modern.meta-missing",
            ask(move |asked| {
                if asked.is_rpc("server/discover") && meta(asked, "clientCapabilities").is_none() {
                    asked.body["params"]["_meta"][format!("{META}clientCapabilities")] = json!({});
                }
            }),
        ),
        modern(
            "modern.client-info-optional",
            instead(move |asked| {
                let lacks = asked.is_rpc("server/discover") && meta(asked, "clientInfo").is_none();
                lacks.then(|| asked.refused(400, -32602))
            }),
        ),
        modern(
            "modern.unsupported-version",
            answer(|_, answer| {
                if answer.body["error"]["code"] == -32022 {
                    without(&mut answer.body["error"]["data"], "requested");
                }
            }),
        ),
        modern(
            "modern.method-header",
            ask(|asked| {
                if let Some(method) = asked.body["method"].as_str().map(str::to_owned) {
                    set(asked, "mcp-method", &method);
                }
            }),
        ),
        modern(
            "modern.version-header",
            ask(move |asked| {
                let version = meta(asked, "protocolVersion");
                if let Some(version) = version.as_ref().and_then(Value::as_str) {
                    set(asked, "mcp-protocol-version", version);
                }
            }),
        ),
        modern(
            "modern.unknown-method-status",
            answer_to(|asked| asked.is_rpc("no/such/method"), |answer| answer.status = 200),
        ),
        modern(
            "modern.no-session",
            answer_to(
                |asked| asked.is_rpc("server/discover"),
                |answer| {
                    answer.headers.insert("mcp-session-id", "s-1".parse().unwrap());
                },
            ),
        ),
    ]
}
