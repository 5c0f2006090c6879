//! Calls whose clients do not wait for the answer.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;
use tokio::time::Instant;

use super::super::rule::{Rule, Verdict, proven};
use super::calls::{callable, needs_nothing, nothing_to_call};
use super::{EVERYWHERE, PRACTICE};
use crate::probe::Bench;

/// The maximum number of calls that are abandoned.
const LEFT: u32 = 20;
/// How long a client waits before it leaves.
const STAY: Duration = Duration::from_millis(20);

pub(super) const RULES: &[Rule] = &[Rule {
    id: "calls.left",
    level: PRACTICE,
    section: "Cancellation, Timing considerations",
    title: "After twenty abandoned calls, the next call is answered as before",
    fix: "free the resources of a call when its client disconnects or cancels it, and limit how long a call may run",
    scope: EVERYWHERE,
    probe: |bench| left(bench).boxed(),
}];

async fn left(bench: &mut Bench) -> Verdict {
    let chosen = callable(bench).find(|tool| needs_nothing(tool));
    let Some(name) = chosen.and_then(|tool| tool.get("name")).cloned() else {
        return nothing_to_call("needs no arguments");
    };
    let params = json!({"name": name, "arguments": {}});
    let mut fresh = bench.another().await;
    let began = Instant::now();
    let before = fresh.ask("tools/call", params.clone()).await;
    let took = began.elapsed();
    if before.result().is_none() {
        fresh.end().await;
        return Verdict::Unclear(format!("{name}: {}", before.outcome()));
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
        Some(_) => Verdict::Holds,
        // A server may bound how often it is called.
        None if is_refused => Verdict::Unclear(seen),
        None => proven(seen, &after),
    }
}
