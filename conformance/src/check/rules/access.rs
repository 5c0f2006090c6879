//! Servers that ask who calls: how they refuse, and where they say by whom tokens are given.

use futures_util::FutureExt as _;
use http::Method;
use serde_json::{Value, json};

use super::super::rule::{Rule, Scope, Transport, Verdict, finding, holds_if};
use super::base::known;
use super::{EVERYWHERE, MUST};
use crate::probe::{Bench, Exchange, Raw, Revision};

/// Authorization in the form of RFC 9728 began with 2025-06-18.
const SCOPE: Scope = Scope {
    first: Revision::V2025_06_18,
    transport: Transport::Http,
    ..EVERYWHERE
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "access.challenge",
        level: MUST,
        section: "Authorization, Token handling (RFC 6750 §3)",
        title: "A token that is not valid is refused with 401 and a challenge in WWW-Authenticate",
        fix: "answer 401 with WWW-Authenticate: Bearer resource_metadata=\"…\"",
        scope: SCOPE,
        probe: |bench| challenge(bench).boxed(),
    },
    Rule {
        id: "access.metadata",
        level: MUST,
        section: "Authorization, Protected resource metadata (RFC 9728)",
        title: "A server that wants tokens publishes its metadata, with at least one authorization server",
        fix: "serve /.well-known/oauth-protected-resource, and name it in the challenge",
        scope: SCOPE,
        probe: |bench| metadata(bench).boxed(),
    },
];

/// What a token that nobody gave is answered.
async fn refused(bench: &mut Bench) -> Exchange {
    let message = bench.message(known(bench), json!({}));
    let raw = bench.framed(&message);
    bench
        .raw(raw.with("authorization", "Bearer no-such-token"))
        .await
}

fn is_open() -> Verdict {
    Verdict::Inapplicable("the server takes any token, or wants none".to_owned())
}

async fn challenge(bench: &mut Bench) -> Verdict {
    let exchange = refused(bench).await;
    match exchange.status {
        Some(401) => {}
        // A server without authorization passes over the header.
        Some(200..300) => return is_open(),
        _ => return finding(exchange.outcome(), &exchange),
    }
    let challenge = exchange.header("www-authenticate").unwrap_or_default();
    let bearer = challenge.to_ascii_lowercase().contains("bearer");
    holds_if(
        bearer,
        format!("WWW-Authenticate is {challenge:?}"),
        &exchange,
    )
}

async fn metadata(bench: &mut Bench) -> Verdict {
    let exchange = refused(bench).await;
    if exchange.status != Some(401) {
        return is_open();
    }
    let challenge = exchange.header("www-authenticate").unwrap_or_default();
    if !challenge.to_ascii_lowercase().contains("bearer") {
        let reason = "the server does not ask for a bearer token";
        return Verdict::Inapplicable(reason.to_owned());
    }
    let named = challenge.split_once("resource_metadata=\"");
    let named = named.and_then(|(_, rest)| rest.split_once('"'));
    let paths: Vec<String> = match named {
        Some((url, _)) => path_of(url).into_iter().collect(),
        None => [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-protected-resource",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    let mut last = exchange;
    for path in paths {
        let mut raw = Raw::bare(Method::GET);
        raw.path = Some(path);
        last = bench.raw(raw).await;
        let document: Option<Value> = serde_json::from_str(&last.received).ok();
        let servers = document
            .as_ref()
            .and_then(|it| it.get("authorization_servers"));
        if servers
            .and_then(Value::as_array)
            .is_some_and(|it| !it.is_empty())
        {
            return Verdict::Holds;
        }
    }
    finding(
        "there is no metadata that names an authorization server",
        &last,
    )
}

/// The path of a URL.
fn path_of(url: &str) -> Option<String> {
    let uri: http::Uri = url.parse().ok()?;
    Some(uri.path_and_query()?.as_str().to_owned())
}
