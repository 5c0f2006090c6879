//! What breaks tasks.

use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value, json};

use super::{Mutant, legacy, modern, named, without};
use crate::mutation::{Answer, Fault, SentRequest, answer, instead};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const UNDECLARED: &str = "tasks.listen-undeclared";
const NOTIFIED: &str = "tasks.notified";

fn answered(asked: &SentRequest, result: &Value) -> Answer {
    let mut result = result.clone();
    result["_meta"] = named();
    asked.answered(result)
}

pub(super) fn tasks() -> Vec<Mutant> {
    vec![
        legacy(
            "tasks.unknown",
            declaring().and(instead(|asked| {
                let id = &asked.body["params"]["taskId"];
                asked.is_rpc("tasks/get").then(|| answered(asked, &task(id)))
            })),
        ),
        legacy(
            "tasks.guessable",
            taking(|number| format!("task-of-the-server-{number}"), Shown::Nobody),
        ),
        legacy("tasks.of-another-caller", taking(random, Shown::IfNamed)),
        legacy("tasks.listed", taking(random, Shown::Listed)),
        modern(UNDECLARED, notifying(UNDECLARED)),
        modern(NOTIFIED, notifying(NOTIFIED)),
    ]
}

/// The tool becomes a task of the extension, and all but one rule about subscriptions to it are kept.
fn notifying(flaw: &'static str) -> Fault {
    let extended = answer(|asked, answer| {
        if asked.is_rpc("server/discover") && answer.body["result"].is_object() {
            let capabilities = &mut answer.body["result"]["capabilities"];
            capabilities["extensions"] = json!({ EXTENSION: {} });
        }
    });
    let made = AtomicU64::new(1);
    extended.and(instead(move |asked| {
        let meta = &asked.body["params"]["_meta"];
        let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
        let declares = capabilities["extensions"][EXTENSION].is_object();
        let watched = &asked.body["params"]["notifications"]["taskIds"];
        let named = &asked.body["params"]["taskId"];
        // The other caller shows a token.
        let is_own = !asked.headers.contains_key(AUTHORIZATION);
        let is_made = (1..made.load(Ordering::SeqCst)).any(|number| named == &random(number));
        let is_made = is_made && is_own;
        match asked.body["method"].as_str()? {
            "tools/call" if asked.is_call("look") && declares => {
                let id = random(made.fetch_add(1, Ordering::SeqCst));
                let mut task = modern_task(&json!(id));
                task["resultType"] = "task".into();
                Some(answered(asked, &task))
            }
            "tasks/get" if is_made => {
                let mut task = modern_task(named);
                task["resultType"] = "complete".into();
                Some(answered(asked, &task))
            }
            "tasks/cancel" if is_made => Some(answered(asked, &json!({"resultType": "complete"}))),
            "tasks/get" | "tasks/cancel" => Some(asked.refused(200, -32602)),
            "subscriptions/listen" if watched.is_array() => {
                if declares || flaw == UNDECLARED {
                    Some(started(asked, flaw))
                } else {
                    Some(requiring(asked))
                }
            }
            _ => None,
        }
    }))
}

/// What a client without the extension receives.
fn requiring(asked: &SentRequest) -> Answer {
    let required = json!({"requiredCapabilities": {"extensions": {EXTENSION: {}}}});
    let error = json!({"code": -32021, "message": "no", "data": required});
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
    Answer::new(400, body)
}

/// A subscription that agrees to the task, and says what it is.
fn started(asked: &SentRequest, flaw: &str) -> Answer {
    let own = json!({"io.modelcontextprotocol/subscriptionId": asked.body["id"]});
    let watched = &asked.body["params"]["notifications"]["taskIds"];
    let agreed = json!({"notifications": {"taskIds": watched}, "_meta": own});
    let mut task = modern_task(&watched[0]);
    task["_meta"] = own;
    if flaw == NOTIFIED {
        without(&mut task, "ttlMs");
    }
    let said =
        [("notifications/subscriptions/acknowledged", agreed), ("notifications/tasks", task)];
    let said = said.map(|(method, params)| {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        format!("data: {message}\n\n")
    });
    let mut answer = Answer::new(200, said.concat().into());
    let kind = HeaderValue::from_static("text/event-stream");
    answer.headers.insert(CONTENT_TYPE, kind);
    answer.headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    answer
}

/// A task as the extension has it.
fn modern_task(id: &Value) -> Value {
    let time = "2026-01-01T00:00:00Z";
    json!({"taskId": id, "status": "working", "createdAt": time, "lastUpdatedAt": time, "ttlMs": 60_000})
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
                Some(if is_made {
                    answered(asked, &task(named))
                } else {
                    asked.refused(200, -32602)
                })
            }
            Some("tasks/get" | "tasks/cancel") => Some(asked.refused(200, -32602)),
            _ => None,
        }
    }))
}
