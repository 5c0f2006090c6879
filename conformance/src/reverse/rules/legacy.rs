//! Servers with a handshake and sessions (2025-11-25).

use http::Method;
use serde_json::Value;

use super::super::rule::{ClientRule, each, finding, missing};
use super::super::scene::Scene;
use super::super::script::{CURSOR, LEGACY};
use super::super::seen::{Heard, Runs, Seen};
use super::{MUST, PRACTICE, SHOULD};
use crate::check::Verdict;

pub(super) const RULES: &[ClientRule] = &[
    ClientRule {
        id: "client.initialize-first",
        level: MUST,
        section: "Lifecycle, Initialization",
        title: "The first message of a session is initialize",
        fix: "send nothing but initialize and ping before its answer has come",
        scenes: &[Scene::Legacy],
        judge: initialize_first,
    },
    ClientRule {
        id: "client.initialize-params",
        level: MUST,
        section: "Lifecycle, Initialization",
        title: "initialize has protocolVersion, capabilities and clientInfo with name and version",
        fix: "send all three, with the types of the schema",
        scenes: &[Scene::Legacy],
        judge: |runs| {
            each(
                of(runs, Scene::Legacy, "initialize"),
                NO_HANDSHAKE,
                initialize_params,
            )
        },
    },
    ClientRule {
        id: "client.initialized",
        level: MUST,
        section: "Lifecycle, Initialization",
        title: "notifications/initialized follows the answer to initialize, before any other request",
        fix: "send notifications/initialized as soon as the answer to initialize is there",
        scenes: &[Scene::Legacy],
        judge: initialized,
    },
    ClientRule {
        id: "client.session-header",
        level: MUST,
        section: "Transports, Streamable HTTP, Session management",
        title: "Every request after the handshake repeats Mcp-Session-Id as it came",
        fix: "keep the header of the answer to initialize, and send it with every later request",
        scenes: &[Scene::Legacy],
        judge: |runs| {
            each(later(runs), NO_HANDSHAKE, |heard| {
                let given = heard.header("mcp-session-id");
                let is_given =
                    given.is_some_and(|it| it.starts_with("session-") && it.ends_with("-!~"));
                (!is_given).then(|| format!("Mcp-Session-Id is {given:?}"))
            })
        },
    },
    ClientRule {
        id: "client.version-header",
        level: MUST,
        section: "Transports, Streamable HTTP, Protocol version header",
        title: "Every request after the handshake names the negotiated revision in MCP-Protocol-Version",
        fix: "send MCP-Protocol-Version with the revision that the server answered",
        scenes: &[Scene::Legacy],
        judge: |runs| {
            each(later(runs), NO_HANDSHAKE, |heard| {
                let given = heard.header("mcp-protocol-version");
                (given != Some(LEGACY))
                    .then(|| format!("MCP-Protocol-Version is {given:?} instead of {LEGACY}"))
            })
        },
    },
    ClientRule {
        id: "client.cursor",
        level: MUST,
        section: "Pagination",
        title: "The next page is asked for with the cursor as it came",
        fix: "treat nextCursor as opaque, and send it back unchanged until none comes",
        scenes: &[Scene::Legacy],
        judge: cursor,
    },
    ClientRule {
        id: "client.session-end",
        level: SHOULD,
        section: "Transports, Streamable HTTP, Session management",
        title: "A session that is no longer needed is ended by DELETE",
        fix: "send DELETE with Mcp-Session-Id when the client ends",
        scenes: &[Scene::Legacy],
        judge: |runs| {
            judged(runs, Scene::Legacy, |seen| {
                let ended = seen
                    .heard
                    .iter()
                    .any(|heard| heard.method == Method::DELETE);
                if ended {
                    Verdict::Holds
                } else {
                    missing("the client left without a DELETE")
                }
            })
        },
    },
    ClientRule {
        id: "client.unspoken-version",
        level: SHOULD,
        section: "Lifecycle, Version negotiation",
        title: "A client that does not speak the revision of the server's answer goes no further",
        fix: "compare protocolVersion of the answer with the revisions you speak, and disconnect",
        scenes: &[Scene::Unspoken],
        judge: |runs| {
            judged(runs, Scene::Unspoken, |seen| {
                match seen.calls("tools/list").find(|heard| !heard.is_modern()) {
                    Some(heard) => finding("it went on after 1999-01-01", heard),
                    None => Verdict::Holds,
                }
            })
        },
    },
    ClientRule {
        id: "client.session-lost",
        level: MUST,
        section: "Transports, Streamable HTTP, Session management",
        title: "After 404 to a request with a session, the client opens a new one without Mcp-Session-Id",
        fix: "on 404 forget the session, send initialize without the header, and go on in the new session",
        scenes: &[Scene::Forgets],
        judge: session_lost,
    },
    ClientRule {
        id: "client.both-eras",
        level: PRACTICE,
        section: "Versioning, Backward compatibility",
        title: "The client speaks with servers that have a handshake",
        fix: "begin with server/discover or with initialize, and fall back to the other where the answer says so",
        scenes: &[Scene::Legacy],
        judge: |runs| {
            judged_all(runs, Scene::Legacy, |seen| {
                match seen.calls("initialize").next() {
                    Some(_) => Verdict::Holds,
                    None => missing("it never sent initialize"),
                }
            })
        },
    },
];

const NO_HANDSHAKE: &str = "the client never sent initialize";

/// Judges a scene in which there was a handshake.
pub(super) fn judged(runs: &Runs, scene: Scene, judge: impl Fn(&Seen) -> Verdict) -> Verdict {
    judged_all(runs, scene, |seen| match seen.calls("initialize").next() {
        Some(_) => judge(seen),
        None => Verdict::Inapplicable(NO_HANDSHAKE.to_owned()),
    })
}

fn judged_all(runs: &Runs, scene: Scene, judge: impl Fn(&Seen) -> Verdict) -> Verdict {
    runs.of(scene).map_or_else(
        || Verdict::Unclear("its scene was not played".to_owned()),
        judge,
    )
}

fn of<'r>(runs: &'r Runs, scene: Scene, method: &'r str) -> impl Iterator<Item = &'r Heard> {
    runs.of(scene)
        .into_iter()
        .flat_map(move |seen| seen.calls(method))
}

/// The requests after the handshake.
fn later(runs: &Runs) -> impl Iterator<Item = &Heard> {
    let seen = runs.of(Scene::Legacy).into_iter();
    let all = seen.flat_map(|seen| &seen.heard);
    all.skip_while(|heard| heard.rpc() != Some("initialize"))
        .skip(1)
        .filter(|heard| heard.rpc() != Some("initialize"))
}

fn initialize_first(runs: &Runs) -> Verdict {
    judged(runs, Scene::Legacy, |seen| {
        let first = seen.heard.iter().find(|heard| {
            let probe = heard.is_modern() || heard.method != Method::POST;
            !probe && heard.rpc() != Some("ping")
        });
        match first {
            Some(heard) if heard.rpc() != Some("initialize") => {
                finding("this came before initialize", heard)
            }
            _ => Verdict::Holds,
        }
    })
}

fn initialize_params(heard: &Heard) -> Option<String> {
    let version = heard.param("protocolVersion").is_some_and(Value::is_string);
    let capabilities = heard.param("capabilities").is_some_and(Value::is_object);
    let text = |name| {
        let member = heard.param("clientInfo").and_then(|info| info.get(name));
        member.is_some_and(Value::is_string)
    };
    let wrong = [
        (version, "protocolVersion is not a string"),
        (capabilities, "capabilities are not an object"),
        (
            text("name") && text("version"),
            "clientInfo has no name or no version",
        ),
    ];
    let wrong = wrong.into_iter().find(|(holds, _)| !holds);
    wrong.map(|(_, what)| what.to_owned())
}

fn initialized(runs: &Runs) -> Verdict {
    judged(runs, Scene::Legacy, |seen| {
        let after = seen
            .heard
            .iter()
            .skip_while(|heard| heard.rpc() != Some("initialize"));
        let mut posts = after.skip(1).filter(|heard| heard.method == Method::POST);
        match posts.find(|heard| heard.rpc() != Some("ping")) {
            Some(heard) if heard.rpc() == Some("notifications/initialized") => Verdict::Holds,
            Some(heard) => finding("this came before notifications/initialized", heard),
            None => missing("nothing came after initialize"),
        }
    })
}

fn cursor(runs: &Runs) -> Verdict {
    judged(runs, Scene::Legacy, |seen| {
        let mut pages = seen.calls("tools/list").filter(|heard| !heard.is_modern());
        if pages.next().is_none() {
            return Verdict::Inapplicable("the client listed no tools".to_owned());
        }
        match pages.next() {
            None => missing("the second page was never asked for"),
            Some(heard) if heard.param("cursor") == Some(&Value::from(CURSOR)) => Verdict::Holds,
            Some(heard) => finding(format!("the cursor was {CURSOR:?}"), heard),
        }
    })
}

fn session_lost(runs: &Runs) -> Verdict {
    judged(runs, Scene::Forgets, |seen| {
        let after = seen.heard.iter().skip_while(|heard| heard.status != 404);
        let mut after = after.skip(1);
        let Some(lost) = seen.heard.iter().find(|heard| heard.status == 404) else {
            return Verdict::Inapplicable("the client called no tool".to_owned());
        };
        match after.find(|heard| heard.rpc() == Some("initialize")) {
            Some(heard) if heard.header("mcp-session-id").is_none() => Verdict::Holds,
            Some(heard) => finding("initialize has a session id", heard),
            None => finding("no initialize came after this", lost),
        }
    })
}
