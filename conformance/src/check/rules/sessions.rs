//! The handshake and sessions of the revisions up to 2025-11-25.

use futures_util::FutureExt as _;
use http::Method;
use serde_json::{Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Scope, Verdict, another, are_counted, finding, good, holds_for, holds_if,
    inapplicable, plain, proven, unclear,
};
use super::{EVERYWHERE, LEGACY, LEGACY_HTTP, MUST, SHOULD, SPEAKS};
use crate::probe::{Bench, Exchange, Raw, Revision, handshake};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: SPEAKS,
        level: MUST,
        section: "Versioning",
        title: "The server answers initialize or server/discover in a requested revision",
        fix: "answer initialize with protocolVersion, or server/discover with supportedVersions; check that the URL is the MCP endpoint and that credentials are sent",
        scope: EVERYWHERE,
        probe: Asks(|bench| speaks(bench).boxed()),
    },
    Rule {
        id: "handshake.unknown-version",
        level: MUST,
        section: "Lifecycle, Version negotiation",
        title: "initialize with an unknown version is answered with a supported version, or with error −32602 that lists the supported versions",
        fix: "answer initialize with a version that you support, preferably the latest",
        scope: LEGACY,
        probe: Asks(|bench| unknown_version(bench).boxed()),
    },
    Rule {
        id: "session.characters",
        level: MUST,
        section: "Streamable HTTP, Session management",
        title: "A session id is sent once and has only visible ASCII characters (0x21 to 0x7E)",
        fix: "send one mcp-session-id of letters, digits and hyphens, such as a UUID: clients join two",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| characters(bench).boxed()),
    },
    Rule {
        id: "session.own",
        level: SHOULD,
        section: "Streamable HTTP, Session management",
        title: "No two sessions have the same id",
        fix: "make each session id from secure random numbers",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| own(bench).boxed()),
    },
    Rule {
        id: "session.guessable",
        level: SHOULD,
        section: "Streamable HTTP, Session management",
        title: "A session id cannot be guessed from another one",
        fix: "make session ids from secure random numbers, such as random UUIDs: anyone who guesses an id can use the session",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| guessable(bench).boxed()),
    },
    Rule {
        id: "session.missing",
        level: SHOULD,
        section: "Streamable HTTP, Session management",
        title: "A request without a required session id is answered with 400",
        fix: "answer 400 if the header Mcp-Session-Id is missing",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| missing(bench).boxed()),
    },
    Rule {
        id: "session.ended",
        level: MUST,
        section: "Streamable HTTP, Session management",
        title: "A request in an ended session is answered with 404",
        fix: "answer 404 for ended sessions, so that clients open a new one",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| ended(bench).boxed()),
    },
    Rule {
        id: "session.unknown",
        level: SHOULD,
        section: "2025-03-26, Streamable HTTP, Session management",
        title: "A request with an unknown session id is answered with 404",
        fix: "answer 404, so that the client opens a new session",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| unknown_session(bench).boxed()),
    },
    Rule {
        id: "http.version-header",
        level: MUST,
        section: "Streamable HTTP, Protocol version header",
        title: "An unsupported version in MCP-Protocol-Version is answered with 400",
        fix: "answer 400 if the header names a version that you do not support",
        scope: Scope { first: Revision::V2025_06_18, ..LEGACY_HTTP },
        probe: Asks(|bench| version_header(bench).boxed()),
    },
];

async fn speaks(bench: &mut Bench) -> Outcome {
    let exchange = bench.greeting.clone();
    let result = exchange.result();
    let version = result.and_then(|it| it.get("protocolVersion"));
    let other = version.filter(|it| **it != bench.revision.as_str());
    match other {
        Some(other) => finding(format!("the server answered {other}"), &exchange),
        None if result.is_some() => Ok(()),
        // A slow machine says nothing of what the server can do.
        None if exchange.is_late => Err(unclear(exchange.outcome())),
        None => proven(exchange.outcome(), &exchange),
    }
}

async fn unknown_version(bench: &mut Bench) -> Outcome {
    let mut fresh = bench.unopened();
    let exchange = fresh.ask("initialize", handshake("1999-01-01")).await;
    fresh.end().await;
    let version = exchange.result().and_then(|it| it.get("protocolVersion"));
    match version.and_then(Value::as_str) {
        Some("1999-01-01") => finding("the server accepted the version 1999-01-01", &exchange),
        Some(version) if version.parse::<Revision>().is_ok() => Ok(()),
        Some(version) => finding(
            format!("the server answered {version:?}, which is not a revision of MCP"),
            &exchange,
        ),
        // The error in the specification's example.
        None if exchange.code() == Some(-32602) && lists_versions(&exchange) => Ok(()),
        None => {
            // A server may not open another session at all.
            another(bench).await?.end().await;
            finding(exchange.outcome(), &exchange)
        }
    }
}

fn lists_versions(exchange: &Exchange) -> bool {
    let response = exchange.response();
    let supported = response.and_then(|it| it.pointer("/error/data/supported"));
    let supported = supported.and_then(Value::as_array);
    supported.is_some_and(|versions| !versions.is_empty())
}

fn no_sessions() -> Verdict {
    inapplicable("the server sends no session id")
}

async fn characters(bench: &mut Bench) -> Outcome {
    let exchange = bench.greeting.clone();
    let session = exchange.headers.get("mcp-session-id").ok_or_else(no_sessions)?;
    let count = exchange.headers.get_all("mcp-session-id").iter().count();
    holds_if(count == 1, format!("mcp-session-id was sent {count} times"), &exchange)?;
    let good = session.as_bytes().iter().all(|byte| (0x21..=0x7e).contains(byte));
    holds_if(good && !session.is_empty(), format!("the id is {session:?}"), &exchange)
}

/// The ids of two sessions, and the exchange that brought the second.
async fn two(bench: &Bench) -> Result<(String, String, Exchange), Verdict> {
    let mut other = bench.fresh().await;
    let exchange = other.greeting.clone();
    let ids = bench.session().zip(other.session());
    let ids = ids.map(|(one, two)| (one.to_owned(), two.to_owned()));
    other.end().await;
    let (one, two) = ids.ok_or_else(no_sessions)?;
    Ok((one, two, exchange))
}

async fn own(bench: &mut Bench) -> Outcome {
    let (one, two, exchange) = two(bench).await?;
    holds_if(one != two, "two sessions have the same id", &exchange)
}

async fn guessable(bench: &mut Bench) -> Outcome {
    let (one, two, exchange) = two(bench).await?;
    // That they are the same is another rule.
    let is_good = one == two || !are_counted(&one, &two);
    holds_if(is_good, format!("two sessions have the ids {one:?} and {two:?}"), &exchange)
}

async fn missing(bench: &mut Bench) -> Outcome {
    let raw = good(bench)?.without("mcp-session-id");
    bench.session().ok_or_else(no_sessions)?;
    let exchange = bench.raw(raw).await;
    match exchange.status {
        Some(400) => Ok(()),
        Some(200) => Err(inapplicable("the server does not require the session id")),
        _ => finding(exchange.outcome(), &exchange),
    }
}

async fn unknown_session(bench: &mut Bench) -> Outcome {
    let raw = good(bench)?.with("mcp-session-id", "00000000-0000-4000-8000-000000000000");
    bench.session().ok_or_else(no_sessions)?;
    let exchange = bench.raw(raw).await;
    is_gone(bench, &exchange).await
}

/// Whether this refuses a session that is not there with 404.
async fn is_gone(bench: &mut Bench, exchange: &Exchange) -> Outcome {
    // A server that is too busy for this session alone is not too busy.
    if exchange.status == Some(503) && bench.is_alive().await {
        return proven(exchange.outcome(), exchange);
    }
    holds_if(exchange.status == Some(404), exchange.outcome(), exchange)
}

async fn ended(bench: &mut Bench) -> Outcome {
    let method = plain(bench)?;
    let mut fresh = bench.fresh().await;
    let session = fresh.session().map(str::to_owned).ok_or_else(no_sessions)?;
    let delete = Raw::bare(Method::DELETE)
        .with("mcp-session-id", &session)
        .with("mcp-protocol-version", bench.revision.as_str());
    let deleted = fresh.raw(delete).await;
    match deleted.status {
        Some(405) => return Err(inapplicable("the server does not let clients end sessions")),
        Some(200..300) => {}
        // How a server refuses it is not specified.
        _ => return Err(unclear(format!("DELETE got {}", deleted.outcome()))),
    }
    let exchange = fresh.ask(method, json!({})).await;
    is_gone(bench, &exchange).await
}

async fn version_header(bench: &mut Bench) -> Outcome {
    // A server that compares dates takes those on one side.
    for version in ["1999-01-01", "2099-01-01", "no date"] {
        let raw = good(bench)?.with("mcp-protocol-version", version);
        let exchange = bench.raw(raw).await;
        holds_for(exchange.status == Some(400), format_args!("{version:?}"), &exchange)?;
    }
    Ok(())
}
