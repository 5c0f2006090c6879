//! Servers that require authorization: how they refuse, and where they publish their authorization servers.

use futures_util::FutureExt as _;
use http::{Method, Uri};

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Scope, Transport, Verdict, applies, finding, good, holds_if, inapplicable,
    unclear,
};
use super::{EVERYWHERE, MUST};
use crate::probe::{Bench, Challenges, Endpoint, Exchange, Raw, Revision, origin, servers};

/// Authorization in the form of RFC 9728 began with 2025-06-18.
pub(super) const SCOPE: Scope =
    Scope { first: Revision::V2025_06_18, transport: Transport::Http, ..EVERYWHERE };

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "access.challenge",
        level: MUST,
        section: "Authorization, Token handling (RFC 6750 §3)",
        title: "A request with an invalid token is refused with 401 and a challenge in WWW-Authenticate",
        fix: "answer 401 with WWW-Authenticate: Bearer resource_metadata=\"…\"",
        scope: SCOPE,
        probe: Asks(|bench| challenge(bench).boxed()),
    },
    Rule {
        id: "access.metadata",
        level: MUST,
        section: "Authorization, Protected resource metadata (RFC 9728)",
        title: "A server that requires tokens publishes metadata that names at least one authorization server",
        fix: "serve /.well-known/oauth-protected-resource, and put its URL into the challenge",
        scope: SCOPE,
        probe: Asks(|bench| metadata(bench).boxed()),
    },
];

fn wants_no_bearer() -> Verdict {
    inapplicable("the server does not require a bearer token")
}

/// Whether an answer proves nothing about the server's rules: it did not come, or the server was busy or failed.
fn is_unclear(exchange: &Exchange) -> bool {
    matches!(exchange.status, None | Some(429 | 500..600))
}

/// What a good request with this token is answered; a verdict if that proves nothing.
pub(super) async fn with(bench: &mut Bench, token: &str) -> Result<Exchange, Verdict> {
    let raw = good(bench)?.with("authorization", &format!("Bearer {token}"));
    let exchange = bench.raw(raw).await;
    if is_unclear(&exchange) { Err(unclear(exchange.outcome())) } else { Ok(exchange) }
}

/// The refusal of a request with an invalid token; a verdict if the server accepts it.
async fn refusal(bench: &mut Bench) -> Result<Exchange, Verdict> {
    let exchange = with(bench, "no-such-token").await?;
    // A server without authorization passes over the header.
    let is_refused = !matches!(exchange.status, Some(200..300));
    applies(is_refused, "the server accepts any token, or requires none")?;
    Ok(exchange)
}

async fn challenge(bench: &mut Bench) -> Outcome {
    let exchange = refusal(bench).await?;
    holds_if(exchange.status == Some(401), exchange.outcome(), &exchange)?;
    let challenges = Challenges::of(&exchange);
    if challenges.want("bearer") {
        Ok(())
    } else if challenges.schemes.is_empty() {
        finding("WWW-Authenticate has no challenge", &exchange)
    } else {
        // The rule says nothing of other kinds of authorization.
        Err(wants_no_bearer())
    }
}

async fn metadata(bench: &mut Bench) -> Outcome {
    let exchange = refusal(bench).await?;
    let challenges = Challenges::of(&exchange);
    if exchange.status != Some(401) || !challenges.want("bearer") {
        return Err(wants_no_bearer());
    }
    let own = match &bench.endpoint {
        Endpoint::Http(target) => target.locate("/mcp", "/mcp"),
        Endpoint::Command(..) => String::new(),
    };
    let (mut last, mut unread) = (exchange, None);
    for place in challenges.places(&own) {
        if is_elsewhere(&place, &bench.endpoint) {
            return Err(unclear(format!("{place} is on another server")));
        }
        let Ok(uri) = place.parse::<Uri>() else {
            let seen = format!("resource_metadata is {place:?}, which is not a URL");
            return finding(seen, &last);
        };
        last = bench
            .raw(Raw::bare(Method::GET).at(uri.path_and_query().map_or("/", |it| it.as_str())))
            .await;
        if last.messages.iter().any(|it| servers(it).next().is_some()) {
            return Ok(());
        }
        if is_unclear(&last) {
            unread = Some(Err(unclear(format!("metadata: {}", last.outcome()))));
        }
    }
    unread.unwrap_or_else(|| finding("no metadata names an authorization server", &last))
}

/// Whether a URL is one of another host or port than the endpoint's.
fn is_elsewhere(named: &str, endpoint: &Endpoint) -> bool {
    // A path alone is on the same server, and a server in this process has no name.
    let own = origin(&endpoint.to_string());
    matches!((origin(named), own), (Some(named), Some(own)) if named != own)
}
