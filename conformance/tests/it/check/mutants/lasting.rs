//! What breaks what lasts: subscriptions and calls; and servers of one era.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_conformance::Frame;
use serde_json::{Value, json};

use super::{Mutant, instead_error, legacy, modern};
use crate::mutation::{Answer, Fault, answer, frame, instead, result, status};

pub(super) fn streams() -> Vec<Mutant> {
    vec![
        modern("listen.left", hoarding()),
        legacy("calls.left", stuck()),
        modern("calls.left", stuck()),
        modern(
            "http.keep-alive",
            frame(|_, frame| match frame {
                Frame::Comment(_) => Vec::new(),
                frame @ Frame::Event(_) => vec![frame],
            }),
        ),
        modern(
            "http2.concurrent",
            answer(|_, answer| {
                if answer.body["id"] == "over-http2-3" {
                    answer.body["id"] = "over-http2-4".into();
                }
            }),
        ),
        legacy("http2.concurrent", status(200, |asked| asked.body["id"] == "over-http2-5")),
        modern(
            "modern.initialize-versions",
            result("server/discover", |result| {
                result["supportedVersions"] = json!(["2026-07-28"]);
            })
            .and(instead_error(|asked| asked.is_rpc("initialize"), 400, -32601)),
        ),
    ]
}

/// What clients have left is kept, and soon there is no room.
fn hoarding() -> Fault {
    let kept = AtomicUsize::new(0);
    instead(move |asked| {
        let is_left = asked.body["id"].as_str().is_some_and(|id| id.starts_with("left-"));
        let is_full = is_left && kept.fetch_add(1, Ordering::SeqCst) > 50;
        is_full.then(|| asked.refused(200, -32603))
    })
}

/// After ten calls whose clients left the next one is never answered.
fn stuck() -> Fault {
    let gone = AtomicUsize::new(0);
    instead(move |asked| {
        let id = asked.body["id"].as_str().unwrap_or_default();
        if !asked.is_call("look")
            || id.starts_with("gone-") && gone.fetch_add(1, Ordering::SeqCst) < 30
        {
            return None;
        }
        (gone.swap(0, Ordering::SeqCst) > 10).then(|| Answer::new(200, Value::Null))
    })
}
