//! Servers that require authorization: how they refuse, and where they publish their authorization servers.

use futures_util::FutureExt as _;
use http::{Method, Uri};
use serde_json::Value;

use super::super::rule::{Rule, Scope, Transport, Verdict, finding, good, settled};
use super::{EVERYWHERE, MUST};
use crate::probe::{Bench, Challenges, Endpoint, Exchange, Raw, Revision, origin, well_known};

/// The name of a server's metadata (RFC 9728 §3).
const WELL_KNOWN: &str = "oauth-protected-resource";

/// Authorization in the form of RFC 9728 began with 2025-06-18.
const SCOPE: Scope =
    Scope { first: Revision::V2025_06_18, transport: Transport::Http, ..EVERYWHERE };

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "access.challenge",
        level: MUST,
        section: "Authorization, Token handling (RFC 6750 §3)",
        title: "A request with an invalid token is refused with 401 and a challenge in WWW-Authenticate",
        fix: "answer 401 with WWW-Authenticate: Bearer resource_metadata=\"…\"",
        scope: SCOPE,
        probe: |bench| settled(challenge(bench)).boxed(),
    },
    Rule {
        id: "access.metadata",
        level: MUST,
        section: "Authorization, Protected resource metadata (RFC 9728)",
        title: "A server that requires tokens publishes metadata that names at least one authorization server",
        fix: "serve /.well-known/oauth-protected-resource, and put its URL into the challenge",
        scope: SCOPE,
        probe: |bench| settled(metadata(bench)).boxed(),
    },
];

fn is_open() -> Verdict {
    Verdict::Inapplicable("the server accepts any token, or requires none".to_owned())
}

fn wants_no_bearer() -> Verdict {
    Verdict::Inapplicable("the server does not require a bearer token".to_owned())
}

/// Whether an answer proves nothing about the server's rules: it did not come, or the server was busy or failed.
fn is_unclear(exchange: &Exchange) -> bool {
    matches!(exchange.status, None | Some(429 | 500..600))
}

/// The refusal of a request with an invalid token; a verdict if the server accepts it, or its answer proves nothing.
async fn refusal(bench: &mut Bench) -> Result<Exchange, Verdict> {
    let raw = good(bench)?.with("authorization", "Bearer no-such-token");
    let exchange = bench.raw(raw).await;
    match exchange.status {
        // A server without authorization passes over the header.
        Some(200..300) => Err(is_open()),
        _ if is_unclear(&exchange) => Err(Verdict::Unclear(exchange.outcome())),
        _ => Ok(exchange),
    }
}

async fn challenge(bench: &mut Bench) -> Result<Verdict, Verdict> {
    let exchange = refusal(bench).await?;
    if exchange.status != Some(401) {
        return Ok(finding(exchange.outcome(), &exchange));
    }
    let challenges = Challenges::of(&exchange);
    Ok(if challenges.want("bearer") {
        Verdict::Holds
    } else if challenges.schemes.is_empty() {
        finding("WWW-Authenticate has no challenge", &exchange)
    } else {
        // The rule says nothing of other kinds of authorization.
        wants_no_bearer()
    })
}

async fn metadata(bench: &mut Bench) -> Result<Verdict, Verdict> {
    let exchange = refusal(bench).await?;
    let challenges = Challenges::of(&exchange);
    if exchange.status != Some(401) || !challenges.want("bearer") {
        return Ok(wants_no_bearer());
    }
    let paths = match challenges.parameter("resource_metadata") {
        None => match &bench.endpoint {
            Endpoint::Http(target) => well_known(&target.locate("/mcp", "/mcp"), WELL_KNOWN),
            Endpoint::Command(..) => Vec::new(),
        },
        Some(url) => match url.parse::<Uri>() {
            Ok(_) if is_elsewhere(url, &bench.endpoint) => {
                return Ok(Verdict::Unclear(format!("{url} is on another server")));
            }
            Ok(uri) => uri.path_and_query().map(|it| it.as_str().to_owned()).into_iter().collect(),
            Err(_) => {
                let seen = format!("resource_metadata is {url:?}, which is not a URL");
                return Ok(finding(seen, &exchange));
            }
        },
    };
    let (mut last, mut unclear) = (exchange, None);
    for path in paths {
        let mut raw = Raw::bare(Method::GET);
        raw.path = Some(path);
        last = bench.raw(raw).await;
        let document: Option<Value> = serde_json::from_str(&last.received).ok();
        let servers = document.as_ref().and_then(|it| it.get("authorization_servers"));
        if servers.and_then(Value::as_array).is_some_and(|it| !it.is_empty()) {
            return Ok(Verdict::Holds);
        }
        if is_unclear(&last) {
            unclear = Some(Verdict::Unclear(format!("metadata: {}", last.outcome())));
        }
    }
    Ok(unclear.unwrap_or_else(|| finding("no metadata names an authorization server", &last)))
}

/// Whether a URL is one of another host or port than the endpoint's.
fn is_elsewhere(named: &str, endpoint: &Endpoint) -> bool {
    // A path alone is on the same server, and a server in this process has no name.
    let own = origin(&endpoint.to_string());
    matches!((origin(named), own), (Some(named), Some(own)) if named != own)
}
