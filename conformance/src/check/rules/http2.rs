//! HTTP/2, where a server supports it.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;

use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, applies, holds_for, inapplicable, plain};
use super::{HTTP, MUST, limits};
use crate::probe::{Bench, Endpoint};

/// How long a server without HTTP/2 may take to answer, if the time limit allows it.
const SPEAKS: Duration = Duration::from_secs(3);

pub(super) const RULES: &[Rule] = &[Rule {
    id: "http2.concurrent",
    level: MUST,
    section: "Base protocol, Responses (RFC 9113)",
    title: "If the server supports HTTP/2, each of eight simultaneous requests on one connection gets its own response",
    fix: "answer over HTTP/2 as over HTTP/1.1: each stream is a separate request, and :authority is its host",
    scope: HTTP,
    probe: Asks(|bench| concurrent(bench).boxed()),
}];

async fn concurrent(bench: &mut Bench) -> Outcome {
    let method = plain(bench)?;
    let Endpoint::Http(target) = &bench.endpoint else {
        return Err(inapplicable("the server uses stdio"));
    };
    let target =
        target.over_http2().ok_or_else(|| inapplicable("the server runs in this process"))?;
    let mut other = Bench::new(Endpoint::Http(target), bench.revision, SPEAKS.min(bench.patience));
    other.plain = bench.plain;
    other.join(bench.session().map(str::to_owned));
    // An answer of any kind shows that it is supported.
    let first = other.ask(method, json!({})).await;
    applies(first.status.is_some(), "the server does not support HTTP/2")?;
    other.patience = bench.patience;
    holds_for(first.result().is_some(), "over HTTP/2", &first)?;
    let verdict = limits::concurrent(&mut other, "over-http2").await;
    // The session is the other's, who ends it.
    other.join(None);
    verdict
}
