//! Calls whose clients do not wait for the answer.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::calling::make;
use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, holds_if, inapplicable, proven, unclear};
use super::calls::{callable, needs_nothing, nothing_to_call};
use super::{EVERYWHERE, PRACTICE, SHOULD, STDIO};
use crate::probe::{Bench, Exchange, NOT_JSON, QUIET};

/// The maximum number of calls that are abandoned.
const LEFT: u32 = 20;
/// How long a client waits before it leaves.
const STAY: Duration = Duration::from_millis(20);

/// How many tools are tried until a call is answered with a result.
const TRIED: usize = 3;
/// A call that takes as long can be cancelled in time.
const SLOW: Duration = Duration::from_secs(1);

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "calls.left",
        level: PRACTICE,
        section: "Cancellation, Timing considerations",
        title: "After twenty abandoned calls, the next call is answered as before",
        fix: "free the resources of a call when its client disconnects or cancels it, and limit how long a call may run",
        scope: EVERYWHERE,
        probe: Asks(|bench| left(bench).boxed()),
    },
    Rule {
        id: "calls.cancelled",
        level: SHOULD,
        section: "Cancellation, Behaviour; 2026-07-28, stdio, Cancellation (a MUST there)",
        title: "A call that is cancelled long before it would end gets no response",
        fix: "read stdin while tools run; on notifications/cancelled stop the call, and send nothing more for it",
        scope: STDIO,
        probe: Asks(|bench| cancelled(bench).boxed()),
    },
];

async fn cancelled(bench: &mut Bench) -> Outcome {
    make(bench).await;
    let made = bench.calls.iter().flat_map(|(made, _)| made);
    let slow = made.filter(|it| it.took >= SLOW && it.exchange.result().is_some());
    let slow = slow.min_by_key(|it| it.took).map(|it| (it.exchange.sent.clone(), it.took));
    let none = || inapplicable(format!("no call took {} s", SLOW.as_secs_f64()));
    let (sent, took) = slow.ok_or_else(none)?;
    let mut message: Value = serde_json::from_str(&sent).unwrap_or_default();
    let id = json!("cancelled");
    if let Some(own) = message.get_mut("id") {
        own.clone_from(&id);
    }
    let mut fresh = bench.another().await;
    let raw = fresh.framed(&message);
    let early = fresh.raw_within(raw, SLOW / 4).await;
    let exchange = fresh.cancel(id, took + QUIET).await;
    fresh.end().await;
    if early.response().is_some() {
        return Err(unclear("the call was answered at once"));
    }
    let seen = format!("a call that takes {} ms was cancelled, and answered", took.as_millis());
    holds_if(exchange.response().is_none(), seen, &exchange)
}

async fn left(bench: &mut Bench) -> Outcome {
    let free = callable(bench).filter(|tool| needs_nothing(tool));
    let names: Vec<_> = free.filter_map(|tool| tool.get("name").cloned()).take(TRIED).collect();
    if names.is_empty() {
        return Err(nothing_to_call("needs no arguments"));
    }
    let mut fresh = bench.another().await;
    let (mut name, mut params) = (Value::Null, Value::Null);
    let (mut before, mut took) = (Exchange::default(), Duration::ZERO);
    // The first may need more than this client has.
    for each in names {
        params = json!({"name": each, "arguments": {}});
        name = each;
        let began = Instant::now();
        before = fresh.ask("tools/call", params.clone()).await;
        took = began.elapsed();
        if before.result().is_some() {
            break;
        }
    }
    if before.result().is_none() {
        fresh.end().await;
        return Err(unclear(format!("{name}: {}", before.outcome())));
    }
    // A server may do one thing after the other, and what was left too: then the last call waits for all before it.
    let count = bench.patience.as_millis() / took.as_millis().max(1);
    let count = u32::try_from(count).unwrap_or(LEFT).clamp(1, LEFT);
    for index in 0..count {
        let id = format!("gone-{index}");
        let message = fresh.message_with(id.clone(), "tools/call", params.clone());
        let stay = if fresh.endpoint.is_http() { STAY } else { Duration::ZERO };
        let raw = fresh.framed(&message);
        fresh.raw_within(raw, stay).await;
        if !fresh.endpoint.is_http() || !fresh.revision.is_modern() {
            // Over HTTP a client of 2026-07-28 cancels by closing the stream.
            fresh.cancel(id, Duration::ZERO).await;
        }
    }
    let message = fresh.message("tools/call", params);
    let raw = fresh.framed(&message);
    let patience = fresh.patience + took * count;
    let after = fresh.raw_within(raw, patience).await;
    fresh.end().await;
    let seen = format!("after {count} abandoned calls: {}", after.outcome());
    // A lost session is not such a bound.
    let is_refused = after.status != Some(404)
        && (after.code().is_some() || after.status.is_some_and(|it| it >= 400));
    match after.result() {
        Some(_) => Ok(()),
        // A server may bound how often it is called. That an answer is not JSON is found by another rule.
        None if is_refused || after.broken.as_deref() == Some(NOT_JSON) => Err(unclear(seen)),
        None => proven(seen, &after),
    }
}
