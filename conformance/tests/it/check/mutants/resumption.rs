//! A server that answers by event streams which can be resumed, and what can be wrong with it.

use std::sync::Mutex;

use http::{HeaderValue, Method};
use serde_json::{Value, json};

use super::{Mutant, legacy};
use crate::mutation::{Answer, Fault, instead};

const IDS: &str = "http.event-ids";
const OWN: &str = "http.resume-own";

pub(super) fn resumption() -> Vec<Mutant> {
    [IDS, OWN].map(|flaw| legacy(flaw, streaming(flaw))).into()
}

/// Calls of the read-only tool are answered by event streams, which keep every rule but this one.
pub(crate) fn streaming(flaw: &'static str) -> Fault {
    let said = Mutex::new(Vec::<Value>::new());
    instead(move |asked| {
        let mut said = said.lock().unwrap();
        if let Some(last) = asked.headers.get("last-event-id") {
            let last = last.to_str().unwrap().strip_prefix("stream-")?;
            let (stream, _) = last.split_once('-')?;
            let after = said.iter().skip(stream.parse::<usize>().unwrap() + 1);
            let replayed = after.filter(|_| flaw == OWN);
            let replayed = replayed.map(|it| event("again", &json!({})) + &event("again", it));
            return Some(events(replayed.collect()));
        }
        let is_legacy = !asked.headers.contains_key("mcp-method");
        let is_asked = is_legacy && asked.method == Method::POST && asked.is_call("look");
        if !is_asked || !asked.body["params"]["_meta"]["progressToken"].is_string() {
            return None;
        }
        let number = match flaw {
            IDS => 0,
            _ => said.len(),
        };
        let result = json!({"content": [{"type": "text", "text": "a room"}]});
        let response = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result});
        let text = format!("id: stream-{number}-0\ndata:\n\n")
            + &event(&format!("stream-{number}-1"), &response);
        said.push(response);
        Some(events(text))
    })
}

fn event(id: &str, data: &Value) -> String {
    format!("id: {id}\ndata: {data}\n\n")
}

fn events(text: String) -> Answer {
    let mut answer = Answer::new(200, text.into());
    let kind = HeaderValue::from_static("text/event-stream");
    answer.headers.insert("content-type", kind);
    answer
}
