//! Subscriptions over time: clients that leave, quiet streams, servers that end.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout_at};

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Scope, Transport, finding, holds_if, inapplicable, proven, unclear,
};
use super::listens::{none, wanted};
use super::{KEEP_ALIVE, MODERN, MODERN_HTTP, PRACTICE, SHOULD};
use crate::probe::{Bench, QUIET, Watched};

/// The number of subscriptions that are abandoned before another is opened.
const LEFT: usize = 100;
/// How long a program may take to end its subscriptions, if answers may take as long.
const END: Duration = Duration::from_secs(5);

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "listen.left",
        level: SHOULD,
        section: "2026-07-28, Cancellation, Behavior requirements",
        title: "Subscriptions end when their clients disconnect or cancel: after a hundred of them another one is accepted, and none gets a response",
        fix: "end a request when its stream is closed, or on stdio when it is cancelled, and free its resources",
        scope: MODERN,
        probe: Asks(|bench| left(bench).boxed()),
    },
    Rule {
        id: "listen.graceful-end",
        level: SHOULD,
        section: "2026-07-28, Subscriptions, Graceful closure",
        title: "On SIGTERM, a server on stdio answers its open subscriptions before it exits",
        fix: "on shutdown, send the result of each subscription, with resultType and the subscriptionId in _meta, before you close stdout",
        scope: Scope { transport: Transport::Stdio, ..MODERN },
        probe: Asks(|bench| graceful_end(bench).boxed()),
    },
];

/// Checked after all other rules, so that the stream is watched in the meantime.
pub(super) const KEPT_ALIVE: &[Rule] = &[Rule {
    id: KEEP_ALIVE,
    level: PRACTICE,
    section: "2026-07-28, Streamable HTTP, Receiving messages",
    title: "A stream without events gets a comment from time to time",
    fix: "send a line such as \":\" every 15 seconds, so that proxies do not close the connection as idle",
    scope: MODERN_HTTP,
    probe: Asks(|bench| kept_alive(bench).boxed()),
}];

async fn left(bench: &mut Bench) -> Outcome {
    let wanted = wanted(bench);
    let mut fresh = bench.fresh().await;
    for index in 0..LEFT {
        let id = json!(format!("left-{index}"));
        let (exchange, open) = fresh.listen(id.clone(), wanted.clone()).await;
        drop(open);
        if !exchange.is_acknowledged() {
            fresh.end().await;
            return match index {
                0 => Err(none()),
                _ => proven(
                    format!("after {index} abandoned subscriptions: {}", exchange.outcome()),
                    &exchange,
                ),
            };
        }
        if !fresh.endpoint.is_http() {
            let answer = fresh.cancel(id, listening(index)).await;
            if answer.response().is_some() {
                fresh.end().await;
                return finding("a cancelled subscription got a response", &answer);
            }
        } else if index + 1 == LEFT {
            // That a connection is gone takes a moment to be seen.
            sleep(QUIET).await;
        }
    }
    let (last, _open) = fresh.listen(json!("left-last"), wanted).await;
    fresh.end().await;
    let seen = format!("after {LEFT} abandoned subscriptions: {}", last.outcome());
    if last.is_acknowledged() { Ok(()) } else { proven(seen, &last) }
}

/// How long an answer to a cancelled subscription is waited for: for the last of them only.
fn listening(index: usize) -> Duration {
    if index + 1 == LEFT { QUIET } else { Duration::ZERO }
}

async fn graceful_end(bench: &mut Bench) -> Outcome {
    let wanted = wanted(bench);
    let id = json!("until the end");
    let mut fresh = bench.fresh().await;
    let (mut exchange, _) = fresh.listen(id.clone(), wanted).await;
    if !exchange.is_acknowledged() {
        fresh.end().await;
        return Err(none());
    }
    let mut process =
        fresh.take_process().ok_or_else(|| unclear("the program could not be started"))?;
    if !process.terminate() {
        return Err(unclear("the program could not be sent SIGTERM"));
    }
    let end = Instant::now() + END.min(bench.patience);
    while let Ok(Some(line)) = timeout_at(end, process.next()).await {
        exchange.received.push_str(&String::from_utf8_lossy(&line));
        let message = serde_json::from_slice::<Value>(&line).unwrap_or_default();
        if message.get("id") == Some(&id) && message.get("method").is_none() {
            let own = "/result/_meta/io.modelcontextprotocol~1subscriptionId";
            let names = message.pointer(own) == Some(&id);
            let seen = "its result does not name the subscription in _meta";
            return holds_if(names, seen, &exchange);
        }
    }
    proven("the subscription got no result", &exchange)
}

/// What was seen on a stream that was opened when the check of its revision began.
async fn kept_alive(bench: &mut Bench) -> Outcome {
    let mut quiet = bench.quiet.take().ok_or_else(none)?;
    match quiet.join_next().await {
        Some(Ok(Watched::Comment)) => Ok(()),
        Some(Ok(Watched::Events)) => Err(inapplicable("the stream was not quiet")),
        Some(Ok(Watched::Silent(exchange))) => {
            finding("nothing came after the acknowledgement", &exchange)
        }
        // A server may end a stream; then it does not have to keep it alive.
        _ => Err(inapplicable("the server ended the stream")),
    }
}
