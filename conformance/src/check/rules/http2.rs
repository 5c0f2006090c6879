//! HTTP/2, where a server supports it.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;

use super::super::rule::{Rule, Verdict, finding, plain, settled};
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
    probe: |bench| settled(concurrent(bench)).boxed(),
}];

async fn concurrent(bench: &mut Bench) -> Result<Verdict, Verdict> {
    let method = plain(bench)?;
    let Endpoint::Http(target) = &bench.endpoint else {
        return Ok(Verdict::Inapplicable("the server uses stdio".to_owned()));
    };
    let Some(target) = target.over_http2() else {
        return Ok(Verdict::Inapplicable("the server runs in this process".to_owned()));
    };
    let mut other = Bench::new(Endpoint::Http(target), bench.revision, SPEAKS.min(bench.patience));
    other.plain = bench.plain;
    other.join(bench.session().map(str::to_owned));
    // An answer of any kind shows that it is supported.
    let first = other.ask(method, json!({})).await;
    if first.status.is_none() {
        return Ok(Verdict::Inapplicable("the server does not support HTTP/2".to_owned()));
    }
    other.patience = bench.patience;
    if first.result().is_none() {
        return Ok(finding(format!("over HTTP/2: {}", first.outcome()), &first));
    }
    let verdict = limits::concurrent(&mut other, "over-http2").await;
    // The session is the other's, who ends it.
    other.join(None);
    Ok(verdict)
}
