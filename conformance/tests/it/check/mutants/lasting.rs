//! What breaks what lasts: subscriptions, calls, tasks; and servers of one era.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use mcp_conformance::Frame;
use serde_json::{Value, json};

use super::{Mutant, instead_error, legacy, modern};
use crate::mutation::{Answer, Asked, Fault, answer, frame, instead};

fn answered(asked: &Asked, result: &Value) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result});
    Answer::new(200, body)
}

fn refused(asked: &Asked, code: i64) -> Answer {
    let error = json!({"code": code, "message": "no"});
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
    Answer::new(200, body)
}

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
        legacy(
            "http2.concurrent",
            instead(|asked| {
                let is_lost = asked.body["id"] == "over-http2-5";
                is_lost.then(|| Answer::new(200, Value::Null))
            }),
        ),
        modern(
            "modern.initialize-versions",
            instead_error(|asked| asked.is_rpc("initialize"), 400, -32601),
        ),
    ]
}

/// What clients have left is kept, and soon there is no room.
fn hoarding() -> Fault {
    let kept = AtomicUsize::new(0);
    instead(move |asked| {
        let is_left = asked.body["id"]
            .as_str()
            .is_some_and(|id| id.starts_with("left-"));
        let is_full = is_left && kept.fetch_add(1, Ordering::SeqCst) > 50;
        is_full.then(|| refused(asked, -32603))
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

pub(super) fn tasks() -> Vec<Mutant> {
    vec![
        legacy(
            "tasks.unknown",
            declaring().and(instead(|asked| {
                let id = &asked.body["params"]["taskId"];
                asked
                    .is_rpc("tasks/get")
                    .then(|| answered(asked, &task(id)))
            })),
        ),
        legacy(
            "tasks.guessable",
            taking(
                |number| format!("task-of-the-server-{number}"),
                Shown::Nobody,
            ),
        ),
        legacy("tasks.of-another-caller", taking(random, Shown::IfNamed)),
        legacy("tasks.listed", taking(random, Shown::Listed)),
    ]
}

/// An id that cannot be guessed.
fn random(number: u64) -> String {
    format!("{:x}-secret", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn task(id: &Value) -> Value {
    let time = "2026-01-01T00:00:00Z";
    json!({"taskId": id, "status": "working", "createdAt": time, "lastUpdatedAt": time, "ttl": 1000})
}

/// Tasks are declared, and the read-only tool can be one.
fn declaring() -> Fault {
    answer(|asked, answer| {
        let Some(result) = answer.body.get_mut("result") else {
            return;
        };
        if asked.is_rpc("initialize") {
            let calls = json!({"tools": {"call": {}}});
            result["capabilities"]["tasks"] = json!({"list": {}, "cancel": {}, "requests": calls});
        }
        if asked.is_rpc("tools/list") {
            for tool in result["tools"].as_array_mut().unwrap() {
                if tool["name"] == "look" {
                    tool["execution"] = json!({"taskSupport": "optional"});
                }
            }
        }
    })
}

/// What others are shown of a task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nobody,
    IfNamed,
    Listed,
}

/// Tasks are made with these ids.
fn taking(id: fn(u64) -> String, shown: Shown) -> Fault {
    let made = AtomicU64::new(1);
    declaring().and(instead(move |asked| {
        if asked.is_call("look") && asked.body["params"]["task"].is_object() {
            let number = made.fetch_add(1, Ordering::SeqCst);
            let task = json!({"task": task(&json!(id(number)))});
            return Some(answered(asked, &task));
        }
        let all = (1..made.load(Ordering::SeqCst)).map(|number| task(&json!(id(number))));
        let all: Vec<_> = all.filter(|_| shown == Shown::Listed).collect();
        match asked.body["method"].as_str() {
            Some("tasks/list") => Some(answered(asked, &json!({"tasks": all}))),
            Some("tasks/get") if shown == Shown::IfNamed => {
                let named = &asked.body["params"]["taskId"];
                let is_made = (1..made.load(Ordering::SeqCst)).any(|number| named == &id(number));
                Some(match is_made {
                    true => answered(asked, &task(named)),
                    false => refused(asked, -32602),
                })
            }
            Some("tasks/get" | "tasks/cancel") => Some(refused(asked, -32602)),
            _ => None,
        }
    }))
}
