//! What 2026-07-28 asks of each request and answer: its own version, its headers, the kind of its result.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, finding, holds_for, holds_if};
use super::{MODERN, MODERN_HTTP, MUST, SHOULD};
use crate::probe::{Bench, Exchange, Revision};

/// What is not the method of the request.
const OTHER_METHODS: [Option<&str>; 2] = [Some("tools/list"), None];
/// The rule about the revisions that a server lists.
pub(super) const DISCOVER: &str = "modern.discover";

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: DISCOVER,
        level: MUST,
        section: "2026-07-28, Discovery",
        title: "server/discover lists the version of its request in supportedVersions, or refuses it with −32022; and the older versions that it lists are served",
        fix: "list every version that you support and no other, and refuse the others with code −32022",
        scope: MODERN,
        probe: Asks(|bench| served(bench).boxed()),
    },
    Rule {
        id: "modern.meta-missing",
        level: MUST,
        section: "2026-07-28, Base protocol, _meta",
        title: "A request without protocolVersion or clientCapabilities in _meta is refused with −32602",
        fix: "require both keys in params._meta; over HTTP answer with status 400",
        scope: MODERN,
        probe: Asks(|bench| meta_missing(bench).boxed()),
    },
    Rule {
        id: "modern.client-info-optional",
        level: MUST,
        section: "2026-07-28, Base protocol, _meta",
        title: "A request without clientInfo is answered",
        fix: "do not require io.modelcontextprotocol/clientInfo",
        scope: MODERN,
        probe: Asks(|bench| client_info_optional(bench).boxed()),
    },
    Rule {
        id: "modern.unsupported-version",
        level: MUST,
        section: "2026-07-28, Versioning",
        title: "An unsupported version is refused with −32022, and the data of the error lists the supported versions",
        fix: "answer with code −32022, data.supported and data.requested; over HTTP with status 400",
        scope: MODERN,
        probe: Asks(|bench| unsupported_version(bench).boxed()),
    },
    Rule {
        id: "modern.method-header",
        level: MUST,
        section: "2026-07-28, Streamable HTTP, Headers",
        title: "A request whose Mcp-Method header differs from the body, or is missing, is refused with 400 and −32020",
        fix: "compare the header with the body's method",
        scope: MODERN_HTTP,
        probe: Asks(|bench| discover_mismatch(bench, "mcp-method", &OTHER_METHODS).boxed()),
    },
    Rule {
        id: "modern.version-header",
        level: MUST,
        section: "2026-07-28, Streamable HTTP, Headers",
        title: "A request whose MCP-Protocol-Version header differs from the body, or is missing (if the server does not support 2025-03-26 or older), is refused with 400 and −32020",
        fix: "compare the header with the version in _meta",
        scope: MODERN_HTTP,
        probe: Asks(|bench| version_header(bench).boxed()),
    },
    Rule {
        id: "modern.unknown-method-status",
        level: MUST,
        section: "2026-07-28, Streamable HTTP, Sending messages",
        title: "An unknown method is answered with 404",
        fix: "answer with status 404 and error −32601",
        scope: MODERN_HTTP,
        probe: Asks(|bench| unknown_method_status(bench).boxed()),
    },
    Rule {
        id: "modern.no-session",
        level: SHOULD,
        section: "2026-07-28, Streamable HTTP",
        title: "The server sends no session id",
        fix: "leave Mcp-Session-Id out of responses to requests of this revision",
        scope: MODERN_HTTP,
        probe: Asks(|bench| no_session(bench).boxed()),
    },
];

pub(super) fn discover(revision: Revision, exchange: &Exchange) -> Outcome {
    let result = exchange.result();
    let versions = result.and_then(|it| it.get("supportedVersions"));
    let versions = versions.and_then(Value::as_array);
    let listed = versions.is_some_and(|it| it.contains(&json!(revision.as_str())));
    let seen = "supportedVersions does not list the version of the request";
    holds_if(listed, seen, exchange)
}

/// The same, and whether a handshake is answered in each older revision that is listed.
async fn served(bench: &mut Bench) -> Outcome {
    let result = bench.greeting.result();
    let versions = result.and_then(|it| it.get("supportedVersions")?.as_array());
    let versions = versions.into_iter().flatten().filter_map(|it| it.as_str()?.parse().ok());
    for revision in versions.filter(|it| !bench.spoken.contains(it)) {
        let mut older = Bench::new(bench.endpoint.clone(), revision, bench.patience);
        let agrees = older.agrees().await;
        let exchange = std::mem::take(&mut older.greeting);
        older.end().await;
        let is_good = agrees || revision == bench.revision;
        holds_for(is_good, format_args!("{revision} is listed"), &exchange)?;
    }
    discover(bench.revision, &bench.greeting)
}

/// The request for what the server is, without one key of `_meta`.
async fn without(bench: &mut Bench, key: &str) -> Exchange {
    let mut message = bench.message("server/discover", json!({}));
    if let Some(meta) = message.pointer_mut("/params/_meta").and_then(Value::as_object_mut) {
        meta.remove(&format!("io.modelcontextprotocol/{key}"));
    }
    bench.send(&message).await
}

async fn meta_missing(bench: &mut Bench) -> Outcome {
    // On stdio a request without a version may be one of an older revision.
    let version = bench.endpoint.is_http().then_some("protocolVersion");
    for key in version.into_iter().chain(["clientCapabilities"]) {
        let exchange = without(bench, key).await;
        let status = exchange.status.is_none_or(|status| status == 400);
        let is_good = exchange.code() == Some(-32602) && status;
        holds_for(is_good, format_args!("without {key}"), &exchange)?;
    }
    Ok(())
}

async fn client_info_optional(bench: &mut Bench) -> Outcome {
    let exchange = without(bench, "clientInfo").await;
    holds_if(exchange.result().is_some(), exchange.outcome(), &exchange)
}

async fn unsupported_version(bench: &mut Bench) -> Outcome {
    let mut message = bench.message("server/discover", json!({}));
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    if let Some(version) = message.pointer_mut(version) {
        *version = json!("2099-01-01");
    }
    let raw = bench.framed(&message);
    let raw =
        if bench.endpoint.is_http() { raw.with("mcp-protocol-version", "2099-01-01") } else { raw };
    let exchange = bench.raw(raw).await;
    let data = exchange.response().and_then(|it| it.pointer("/error/data"));
    let supported = data.and_then(|it| it.get("supported")).and_then(Value::as_array);
    let requested = data.and_then(|it| it.get("requested"));
    let status = exchange.status.is_none_or(|status| status == 400);
    match exchange.code() {
        Some(-32022) if status && supported.is_none_or(Vec::is_empty) => {
            finding("data.supported lists no version", &exchange)
        }
        Some(-32022) if status && requested != Some(&json!("2099-01-01")) => {
            finding("data.requested is not the requested version", &exchange)
        }
        Some(-32022) if status => Ok(()),
        _ => finding(exchange.outcome(), &exchange),
    }
}

async fn discover_mismatch(bench: &mut Bench, name: &str, values: &[Option<&str>]) -> Outcome {
    header_mismatch(bench, ("server/discover", json!({})), name, values).await
}

/// Whether a request, by its method and parameters, is refused with each of these values in its header `name`, none of
/// which is what its body has.
pub(super) async fn header_mismatch(
    bench: &mut Bench,
    (method, params): (&str, Value),
    name: &str,
    values: &[Option<&str>],
) -> Outcome {
    for value in values.iter().copied() {
        let message = bench.message(method, params.clone());
        let raw = bench.framed(&message);
        let raw = match value {
            Some(value) => raw.with(name, value),
            None => raw.without(name),
        };
        let exchange = bench.raw(raw).await;
        let how = value.map_or("without the header".to_owned(), |it| format!("with {it:?}"));
        let is_good = exchange.status == Some(400) && exchange.code() == Some(-32020);
        holds_for(is_good, how, &exchange)?;
    }
    Ok(())
}

async fn version_header(bench: &mut Bench) -> Outcome {
    // Clients before 2025-06-18 send no such header: a server that has them may take the request for one of theirs.
    let has_older = bench.spoken.iter().any(|it| *it < Revision::V2025_06_18);
    let values: &[_] = if has_older { &[Some("2025-11-25")] } else { &[Some("2025-11-25"), None] };
    discover_mismatch(bench, "mcp-protocol-version", values).await
}

async fn unknown_method_status(bench: &mut Bench) -> Outcome {
    let exchange = bench.ask("no/such/method", json!({})).await;
    let good = exchange.status == Some(404) && exchange.code() == Some(-32601);
    holds_if(good, exchange.outcome(), &exchange)
}

async fn no_session(bench: &mut Bench) -> Outcome {
    let exchange = bench.greeting.clone();
    let given = exchange.header("mcp-session-id").is_some();
    holds_if(!given, "the response has an Mcp-Session-Id header", &exchange)
}
