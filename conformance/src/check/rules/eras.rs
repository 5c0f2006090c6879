//! Servers of one era that meet a client of the other.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Scope, Transport, another, applies, holds_if, inapplicable, proven, unclear,
};
use super::{LEGACY, MODERN, PRACTICE, SHOULD};
use crate::probe::{Bench, Raw, Revision};

/// How long a client that probes waits for an answer, if answers may take as long.
const PROBE: Duration = Duration::from_secs(3);

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "stdio.fallback",
        level: PRACTICE,
        section: "2026-07-28, stdio, Backward compatibility",
        title: "After server/discover, which a newer client sends first, initialize works as if nothing had been sent before",
        fix: "answer unknown methods with an error, also before initialize, and keep running: a newer client sends server/discover and then initialize to the same process",
        scope: Scope { transport: Transport::Stdio, ..LEGACY },
        probe: Asks(|bench| fallback(bench).boxed()),
    },
    Rule {
        id: "modern.initialize-versions",
        level: SHOULD,
        section: "2026-07-28, Versioning, Backward compatibility",
        title: "A server without a handshake lists its versions when it refuses initialize",
        fix: "put the supported versions into the message or the data of the error: an older client can show nothing else",
        scope: MODERN,
        probe: Asks(|bench| names_versions(bench).boxed()),
    },
];

async fn fallback(bench: &mut Bench) -> Outcome {
    let newer = Bench::new(bench.endpoint.clone(), Revision::V2026_07_28, bench.patience);
    // Its id is unique, so that a late answer to it is not mistaken for one to the handshake.
    let probe = newer.message_with("a probe", "server/discover", json!({}));
    let mut fresh = bench.unopened();
    // It may stay silent.
    let patience = PROBE.min(bench.patience);
    let answer = fresh.raw_within(Raw::post(probe.to_string()), patience).await;
    if answer.result().is_some() {
        fresh.end().await;
        return Err(inapplicable("the server answers server/discover"));
    }
    // That the handshake has no answer is found by this rule alone.
    fresh.log = None;
    let agrees = fresh.agrees().await;
    let greeting = fresh.greeting.clone();
    fresh.end().await;
    let seen = format!("initialize after server/discover: {}", greeting.outcome());
    if agrees {
        return Ok(());
    }
    another(bench).await?.end().await;
    proven(seen, &greeting)
}

async fn names_versions(bench: &mut Bench) -> Outcome {
    applies(bench.spoken.iter().all(|it| it.is_modern()), "the server has a handshake")?;
    let mut older = Bench::new(bench.endpoint.clone(), Revision::V2025_11_25, bench.patience);
    older.open().await;
    let refusal = older.greeting.clone();
    older.end().await;
    if refusal.code().is_none() {
        return Err(unclear(format!("initialize: {}", refusal.outcome())));
    }
    let is_named = refusal.received.contains(bench.revision.as_str());
    holds_if(is_named, "the error does not name a supported version", &refusal)
}
