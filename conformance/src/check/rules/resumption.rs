//! Event streams that are resumed: their ids, and what comes after one.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, Verdict, applies, finding, inapplicable};
use super::calls::{callable, needs_nothing};
use super::{LEGACY_HTTP, MUST};
use crate::probe::{Bench, Exchange};
use crate::sse::is_event_stream;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "http.event-ids",
        level: MUST,
        section: "Streamable HTTP, Resumability and redelivery",
        title: "No two events of a session have the same id",
        fix: "count events over the whole session, or put the stream into the id",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| event_ids(bench).boxed()),
    },
    Rule {
        id: "http.resume-own",
        level: MUST,
        section: "Streamable HTTP, Resumability and redelivery",
        title: "Resuming a stream after its last event returns no response of another stream",
        fix: "replay only events of the stream that the id belongs to",
        scope: LEGACY_HTTP,
        probe: Asks(|bench| resume_own(bench).boxed()),
    },
];

/// Two requests, one after the other, and the messages on the streams that answered them.
async fn two_streams(bench: &mut Bench) -> [(Exchange, Vec<String>); 2] {
    let tool = callable(bench).find(|tool| needs_nothing(tool));
    let tool = tool.and_then(|tool| tool.get("name")).cloned();
    [
        stream(bench, tool.as_ref(), "stream-one").await,
        stream(bench, tool.as_ref(), "stream-two").await,
    ]
}

/// What answers a request, and the ids of its events. What reports progress is most likely to be answered by a stream.
async fn stream(bench: &mut Bench, tool: Option<&Value>, id: &str) -> (Exchange, Vec<String>) {
    let (method, params) = match tool {
        Some(name) => {
            let meta = json!({ "progressToken": id });
            let params = json!({"name": name, "arguments": {}, "_meta": meta});
            ("tools/call", params)
        }
        None => (bench.plain(), json!({})),
    };
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let exchange = bench.send(&message).await;
    let ids = event_ids_of(&exchange);
    (exchange, ids)
}

/// The ids of the events on a stream, those without data too.
fn event_ids_of(exchange: &Exchange) -> Vec<String> {
    if !is_event_stream(&exchange.headers) {
        return Vec::new();
    }
    let lines = exchange.received.lines();
    let ids = lines.filter_map(|line| line.strip_prefix("id:"));
    ids.map(|id| id.trim_start_matches(' ').to_owned()).collect()
}

fn without_ids() -> Verdict {
    inapplicable("the server sends no event ids when it answers a request")
}

async fn event_ids(bench: &mut Bench) -> Outcome {
    let [(_, one), (exchange, two)] = two_streams(bench).await;
    if one.is_empty() || two.is_empty() {
        return Err(without_ids());
    }
    match two.iter().find(|id| one.contains(id)) {
        Some(id) => finding(format!("the event id {id:?} was used on two streams"), &exchange),
        None => Ok(()),
    }
}

async fn resume_own(bench: &mut Bench) -> Outcome {
    let [(_, one), (other, _)] = two_streams(bench).await;
    let last = one.last().ok_or_else(without_ids)?;
    let exchange = bench.head(bench.get().with("last-event-id", last)).await;
    applies(
        exchange.status == Some(200),
        format!("streams are not resumed: {}", exchange.outcome()),
    )?;
    let id = other.response().and_then(|it| it.get("id"));
    let is_of_other = |it: &&Value| it.get("id") == id && it.get("method").is_none();
    match exchange.messages.iter().find(is_of_other) {
        Some(_) if id.is_some() => finding("the response of another stream was sent", &exchange),
        _ => Ok(()),
    }
}
