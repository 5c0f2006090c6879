//! Servers without a handshake (2026-07-28).

use http::Method;
use serde_json::Value;

use super::super::rule::Judge::{All, In};
use super::super::rule::{ClientRule, each, finding, last, never};
use super::super::scene::Scene;
use super::super::script::modern::META_CAPABILITIES;
use super::super::script::{MODERN, QUESTION, STATE, UNUSABLE};
use super::super::seen::{META_VERSION, ReceivedRequest, Runs, SceneRun};
use super::{MUST, PRACTICE, modern};
use crate::check::{Outcome, applies, inapplicable};

pub(super) const RULES: &[ClientRule] = &[
    ClientRule {
        id: "client.meta",
        level: MUST,
        section: "Base protocol, _meta",
        title: "Every request names its revision and the client's capabilities in _meta",
        fix: "put io.modelcontextprotocol/protocolVersion and …/clientCapabilities into params._meta of every request",
        scenes: &[Scene::Modern],
        judge: All(|runs| {
            each(requests(runs), SPEAKS_NOT, |request| {
                let version = request.meta(META_VERSION).and_then(Value::as_str);
                let capabilities = request.meta(META_CAPABILITIES).is_some_and(Value::is_object);
                match (version, capabilities) {
                    (Some(MODERN), true) => None,
                    (Some(MODERN), false) => Some("_meta has no clientCapabilities".to_owned()),
                    (other, _) => Some(format!("the revision in _meta is {other:?}")),
                }
            })
        }),
    },
    ClientRule {
        id: "client.modern-version-header",
        level: MUST,
        section: "Transports, Streamable HTTP, Protocol version header",
        title: "Every POST has MCP-Protocol-Version, with the revision in _meta",
        fix: "send MCP-Protocol-Version: 2026-07-28 with every POST",
        scenes: &[Scene::Modern],
        judge: All(|runs| {
            each(modern(runs), SPEAKS_NOT, |request| {
                let given = request.header("mcp-protocol-version");
                let in_meta = request.meta(META_VERSION).and_then(Value::as_str);
                (given.is_none() || given != in_meta)
                    .then(|| format!("MCP-Protocol-Version is {given:?}, _meta has {in_meta:?}"))
            })
        }),
    },
    ClientRule {
        id: "client.method-header",
        level: MUST,
        section: "Transports, Streamable HTTP, Request headers",
        title: "Mcp-Method repeats the method of the body",
        fix: "send Mcp-Method with every request and notification",
        scenes: &[Scene::Modern],
        judge: All(|runs| {
            each(modern(runs), SPEAKS_NOT, |request| {
                let given = request.header("mcp-method");
                (given != request.rpc()).then(|| format!("Mcp-Method is {given:?}"))
            })
        }),
    },
    ClientRule {
        id: "client.name-header",
        level: MUST,
        section: "Transports, Streamable HTTP, Request headers",
        title: "Mcp-Name repeats the name of the tool that is called",
        fix: "send Mcp-Name with tools/call, prompts/get, resources/read and tasks/*",
        scenes: &[Scene::Modern],
        judge: All(|runs| {
            each(calls(runs), CALLS_NOT, |request| {
                let given = request.header("mcp-name");
                let in_body = request.param("name").and_then(Value::as_str);
                (given != in_body).then(|| format!("Mcp-Name is {given:?}"))
            })
        }),
    },
    ClientRule {
        id: "client.parameter-header",
        level: MUST,
        section: "Transports, Streamable HTTP, x-mcp-header",
        title: "A parameter with x-mcp-header is repeated in its header",
        fix: "send Mcp-Param-NAME with the value for each annotated parameter that the call has",
        scenes: &[Scene::Modern],
        judge: All(|runs| {
            let region = |request: &ReceivedRequest| {
                request.param("arguments")?.get("region")?.as_str().map(str::to_owned)
            };
            let with = calls(runs).filter(|request| region(request).is_some());
            each(with, "the client called the tool without the parameter region", |request| {
                let given = request.header("mcp-param-region");
                (given != region(request).as_deref())
                    .then(|| format!("Mcp-Param-Region is {given:?}"))
            })
        }),
    },
    ClientRule {
        id: "client.unusable-tool",
        level: MUST,
        section: "Transports, Streamable HTTP, x-mcp-header",
        title: "A tool whose x-mcp-header is not a valid header name is dropped, and the others are kept",
        fix: "remove tools with invalid annotations from the list, and log it",
        scenes: &[Scene::Modern],
        judge: All(|runs| {
            let called = |name: &str| {
                calls(runs)
                    .find(|request| request.param("name").and_then(Value::as_str) == Some(name))
            };
            let seen = "the client called the tool with the invalid header \"no token\"";
            never(called(UNUSABLE), seen)?;
            applies(calls(runs).next().is_some(), CALLS_NOT)
        }),
    },
    ClientRule {
        id: "client.rounds",
        level: MUST,
        section: "Multi round-trip requests",
        title: "A request that needs input is repeated with a new id, the unchanged requestState, and answers under the keys of the questions",
        fix: "repeat the request with inputResponses under the keys of inputRequests, and with the unchanged requestState",
        scenes: &[Scene::Asks],
        judge: In(rounds),
    },
    ClientRule {
        id: "client.state-leak",
        level: MUST,
        section: "Multi round-trip requests",
        title: "No other request has requestState or inputResponses",
        fix: "forget both when the request has its result",
        scenes: &[Scene::Asks],
        judge: In(|seen| {
            let is_other = |request: &&ReceivedRequest| {
                request.rpc().is_some_and(|method| method != "tools/call")
            };
            let others = seen.requests.iter().filter(is_other);
            each(others, SPEAKS_NOT, |request| {
                let has = ["requestState", "inputResponses"]
                    .into_iter()
                    .find(|name| request.param(name).is_some());
                has.map(|name| format!("the request has {name}"))
            })
        }),
    },
    ClientRule {
        id: "client.modern",
        level: PRACTICE,
        section: "Versioning, Backward compatibility",
        title: "The client supports servers without a handshake",
        fix: "begin with server/discover, or after error −32022 use a revision that the error lists",
        scenes: &[Scene::Modern],
        judge: All(|runs| {
            if modern(runs).next().is_some() {
                return Ok(());
            }
            let request = runs.of(Scene::Modern).and_then(|seen| seen.requests.last());
            let seen = "the client sent no request of 2026-07-28; this is its last request";
            last(request, seen, "the client sent nothing")
        }),
    },
];

const SPEAKS_NOT: &str = "the client does not support 2026-07-28";
const CALLS_NOT: &str = "the client called no tool of a server without a handshake";

/// The requests to the server without a handshake, but for one that begins in the older way.
fn requests(runs: &Runs) -> impl Iterator<Item = &ReceivedRequest> {
    let speaks = modern(runs).next().is_some();
    let seen = runs.of(Scene::Modern).filter(|_| speaks);
    let all = seen.into_iter().flat_map(|seen| &seen.requests);
    let posts = all.filter(|request| request.method == Method::POST && request.id().is_some());
    posts.filter(|request| request.rpc() != Some("initialize"))
}

/// The calls of tools of 2026-07-28.
fn calls(runs: &Runs) -> impl Iterator<Item = &ReceivedRequest> {
    let seen = runs.of(Scene::Modern).into_iter();
    seen.flat_map(|seen| seen.calls("tools/call")).filter(|request| request.is_modern())
}

fn rounds(seen: &SceneRun) -> Outcome {
    let mut calls = seen.calls("tools/call").filter(|request| request.is_modern());
    let first = calls.next().ok_or_else(|| inapplicable(CALLS_NOT))?;
    let tool = first.param("name");
    let again = calls
        .find(|request| request.param("name") == tool && request.param("requestState").is_some());
    let can = first.meta(META_CAPABILITIES).is_some_and(|can| can.get("elicitation").is_some());
    let Some(again) = again else {
        // Without a question it is the client's choice.
        applies(can, "the client does not declare elicitation")?;
        return finding("the client did not repeat this call", first);
    };
    let answered = again.param("inputResponses").and_then(|answers| answers.get(QUESTION));
    match () {
        () if again.id() == first.id() => {
            finding("the repeated call has the id of the first call", again)
        }
        () if again.param("requestState") != Some(&Value::from(STATE)) => {
            finding(format!("the requestState of the server was {STATE:?}"), again)
        }
        () if can && answered.is_none() => {
            finding(format!("inputResponses has no answer under {QUESTION:?}"), again)
        }
        () if again.param("arguments") != first.param("arguments") => {
            finding("the repeated call has other arguments", again)
        }
        () => Ok(()),
    }
}
