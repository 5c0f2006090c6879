//! Servers with a handshake and sessions (2025-11-25).

use http::Method;
use serde_json::Value;

use super::super::rule::Judge::{After, In};
use super::super::rule::{ClientRule, each, finding, missing, never};
use super::super::scene::Scene;
use super::super::script::{CURSOR, LEGACY};
use super::super::seen::{ReceivedRequest, SceneRun};
use super::{MUST, PRACTICE, SHOULD};
use crate::check::{Outcome, applies, inapplicable};

pub(super) const RULES: &[ClientRule] = &[
    ClientRule {
        id: "client.initialize-first",
        level: MUST,
        section: "Lifecycle, Initialization",
        title: "The first message of a session is initialize",
        fix: "send only initialize and ping until the answer to initialize has arrived",
        scenes: &[Scene::Legacy],
        judge: After("initialize", NO_HANDSHAKE, initialize_first),
    },
    ClientRule {
        id: "client.initialize-params",
        level: MUST,
        section: "Lifecycle, Initialization",
        title: "initialize has protocolVersion, capabilities and clientInfo with name and version",
        fix: "send all three, with the types of the schema",
        scenes: &[Scene::Legacy],
        judge: In(|seen| each(seen.calls("initialize"), NO_HANDSHAKE, initialize_params)),
    },
    ClientRule {
        id: "client.initialized",
        level: MUST,
        section: "Lifecycle, Initialization",
        title: "notifications/initialized follows the answer to initialize, before any other request",
        fix: "send notifications/initialized as soon as the answer to initialize has arrived",
        scenes: &[Scene::Legacy],
        judge: After("initialize", NO_HANDSHAKE, initialized),
    },
    ClientRule {
        id: "client.session-header",
        level: MUST,
        section: "Transports, Streamable HTTP, Session management",
        title: "Every request after the handshake has the session id of the server in Mcp-Session-Id, unchanged",
        fix: "keep the Mcp-Session-Id of the answer to initialize, and send it with every later request",
        scenes: &[Scene::Legacy],
        judge: In(|seen| {
            each(later(seen), NO_HANDSHAKE, |request| {
                let given = request.header("mcp-session-id");
                let is_given =
                    given.is_some_and(|it| it.starts_with("session-") && it.ends_with("-!~"));
                (!is_given).then(|| format!("Mcp-Session-Id is {given:?}"))
            })
        }),
    },
    ClientRule {
        id: "client.version-header",
        level: MUST,
        section: "Transports, Streamable HTTP, Protocol version header",
        title: "Every request after the handshake names the negotiated revision in MCP-Protocol-Version",
        fix: "send MCP-Protocol-Version with the revision in the server's answer",
        scenes: &[Scene::Legacy],
        judge: In(|seen| {
            each(later(seen), NO_HANDSHAKE, |request| {
                let given = request.header("mcp-protocol-version");
                (given != Some(LEGACY))
                    .then(|| format!("MCP-Protocol-Version is {given:?} instead of {LEGACY}"))
            })
        }),
    },
    ClientRule {
        id: "client.cursor",
        level: MUST,
        section: "Pagination",
        title: "The next page is requested with the unchanged cursor",
        fix: "treat nextCursor as opaque, and send it back unchanged, until a page has none",
        scenes: &[Scene::Legacy],
        judge: After("initialize", NO_HANDSHAKE, cursor),
    },
    ClientRule {
        id: "client.session-end",
        level: SHOULD,
        section: "Transports, Streamable HTTP, Session management",
        title: "A session that is no longer needed is ended with DELETE",
        fix: "send DELETE with Mcp-Session-Id when the client exits",
        scenes: &[Scene::Legacy],
        judge: After("initialize", NO_HANDSHAKE, |seen| {
            let ended = seen.requests.iter().any(|request| request.method == Method::DELETE);
            if ended { Ok(()) } else { missing("the client sent no DELETE") }
        }),
    },
    ClientRule {
        id: "client.unspoken-version",
        level: SHOULD,
        section: "Lifecycle, Version negotiation",
        title: "If the client does not support the revision in the server's answer, it sends no more requests",
        fix: "compare protocolVersion in the answer with the revisions that you support, and disconnect if it is not one of them",
        scenes: &[Scene::Unspoken],
        judge: After("initialize", NO_HANDSHAKE, |seen| {
            let more = seen.calls("tools/list").find(|request| !request.is_modern());
            never(
                more,
                "the client continued after the server answered with the revision 1999-01-01",
            )
        }),
    },
    ClientRule {
        id: "client.session-lost",
        level: MUST,
        section: "Transports, Streamable HTTP, Session management",
        title: "After 404 to a request with a session, the client opens a new one without Mcp-Session-Id",
        fix: "on 404, drop the session, send initialize without the header, and continue in the new session",
        scenes: &[Scene::Forgets],
        judge: After("initialize", NO_HANDSHAKE, session_lost),
    },
    ClientRule {
        id: "client.both-eras",
        level: PRACTICE,
        section: "Versioning, Backward compatibility",
        title: "The client supports servers with a handshake",
        fix: "begin with server/discover or initialize, and fall back to the other if the answer requires it",
        scenes: &[Scene::Legacy],
        judge: In(|seen| match seen.calls("initialize").next() {
            Some(_) => Ok(()),
            None => missing(NO_HANDSHAKE),
        }),
    },
];

pub(super) const NO_HANDSHAKE: &str = "the client never sent initialize";

/// The requests after the handshake.
fn later(seen: &SceneRun) -> impl Iterator<Item = &ReceivedRequest> {
    let shakes_hands = |request: &&ReceivedRequest| request.rpc() == Some("initialize");
    let after = seen.requests.iter().skip_while(move |request| !shakes_hands(request));
    after.filter(move |request| !shakes_hands(request))
}

fn initialize_first(seen: &SceneRun) -> Outcome {
    let first = seen.requests.iter().find(|request| {
        let probe = request.is_modern() || request.method != Method::POST;
        !probe && request.rpc() != Some("ping")
    });
    let other = first.filter(|request| request.rpc() != Some("initialize"));
    never(other, "the client sent this before initialize")
}

fn initialize_params(request: &ReceivedRequest) -> Option<String> {
    let version = request.param("protocolVersion").is_some_and(Value::is_string);
    let capabilities = request.param("capabilities").is_some_and(Value::is_object);
    let text = |name| {
        let member = request.param("clientInfo").and_then(|info| info.get(name));
        member.is_some_and(Value::is_string)
    };
    let wrong = [
        (version, "protocolVersion is not a string"),
        (capabilities, "capabilities is not an object"),
        (text("name") && text("version"), "clientInfo has no name or no version"),
    ];
    let wrong = wrong.into_iter().find(|(holds, _)| !holds);
    wrong.map(|(_, what)| what.to_owned())
}

fn initialized(seen: &SceneRun) -> Outcome {
    let after = seen.requests.iter().skip_while(|request| request.rpc() != Some("initialize"));
    let mut posts = after.skip(1).filter(|request| request.method == Method::POST);
    match posts.find(|request| request.rpc() != Some("ping")) {
        Some(request) if request.rpc() == Some("notifications/initialized") => Ok(()),
        Some(request) => finding("the client sent this before notifications/initialized", request),
        None => missing("the client sent nothing after initialize"),
    }
}

fn cursor(seen: &SceneRun) -> Outcome {
    let mut pages = seen.calls("tools/list").filter(|request| !request.is_modern());
    applies(pages.next().is_some(), "the client listed no tools")?;
    match pages.next() {
        None => missing("the client never requested the second page"),
        Some(request) if request.param("cursor") == Some(&Value::from(CURSOR)) => Ok(()),
        Some(request) => finding(format!("the cursor of the server was {CURSOR:?}"), request),
    }
}

fn session_lost(seen: &SceneRun) -> Outcome {
    let mut after = seen.requests.iter().skip_while(|request| request.status != 404);
    let lost = after.next().ok_or_else(|| inapplicable("the client called no tool"))?;
    match after.find(|request| request.rpc() == Some("initialize")) {
        Some(request) if request.header("mcp-session-id").is_none() => Ok(()),
        Some(request) => finding("initialize has a session id", request),
        None => finding("the client sent no initialize after this 404", lost),
    }
}
