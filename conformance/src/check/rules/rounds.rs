//! Results that need input, and the state that clients keep for the server between two rounds.

use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};

use super::super::rule::{Rule, Verdict, holds_if};
use super::calls::{callable, needs_nothing, nothing_to_call};
use super::{MODERN, SHOULD};
use crate::probe::{Bench, Exchange};

/// How many tools are tried until one needs input.
const MAX_TRIED: usize = 20;

pub(super) const RULES: &[Rule] = &[Rule {
    id: "rounds.altered-state",
    level: SHOULD,
    section: "2026-07-28, Multi round-trip requests, Server requirements (a MUST where the state decides anything)",
    title: "A call that is repeated with an altered requestState is not completed",
    fix: "seal the state, by an HMAC for instance, and refuse with −32602 what you did not give",
    scope: MODERN,
    probe: |bench| altered_state(bench).boxed(),
}];

/// What a client has that can answer everything.
fn capable() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
}

async fn call(bench: &mut Bench, name: &str, more: Value) -> Exchange {
    let key = "io.modelcontextprotocol/clientCapabilities";
    let mut params = json!({"name": name, "arguments": {}, "_meta": {key: capable()}});
    if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
        params.extend(more);
    }
    bench.ask("tools/call", params).await
}

async fn altered_state(bench: &mut Bench) -> Verdict {
    let tools = callable(bench).filter(|tool| needs_nothing(tool));
    let names = tools.filter_map(|tool| tool.get("name")?.as_str());
    let names: Vec<_> = names.take(MAX_TRIED).map(str::to_owned).collect();
    if names.is_empty() {
        return nothing_to_call("needs no arguments");
    }
    for name in names {
        let asked = call(bench, &name, json!({})).await;
        let result = asked
            .result()
            .filter(|it| it.get("resultType") == Some(&json!("input_required")));
        let state = result.and_then(|it| it.get("requestState")?.as_str());
        let Some(altered) = state.and_then(altered) else {
            continue;
        };
        let requests = result.and_then(|it| it.get("inputRequests")?.as_object());
        let answers: Map<_, _> = requests
            .into_iter()
            .flatten()
            .map(|(key, request)| (key.clone(), answer(request)))
            .collect();
        let more = json!({"inputResponses": answers, "requestState": altered});
        let exchange = call(bench, &name, more).await;
        let kind = exchange.result().map(|it| it.get("resultType"));
        let is_complete = kind.is_some_and(|it| it == Some(&json!("complete")));
        let seen = format!("{name}: the call was completed");
        return holds_if(!is_complete, seen, &exchange);
    }
    Verdict::Inapplicable("no tool that may be called needs input and gives a state".to_owned())
}

/// The state with another letter or digit in its middle: not at its end, where base64 has bits that say nothing.
fn altered(state: &str) -> Option<String> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric();
    let mut bytes = state.as_bytes().to_vec();
    let middle = bytes.len() / 2;
    let index = (middle..bytes.len())
        .chain((0..middle).rev())
        .find(|index| bytes.get(*index).is_some_and(plain))?;
    let byte = bytes.get_mut(index)?;
    *byte = if *byte == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).ok()
}

/// What a willing user answers.
fn answer(request: &Value) -> Value {
    match request.get("method").and_then(Value::as_str) {
        Some("roots/list") => json!({"roots": []}),
        Some("sampling/createMessage") => json!({
            "role": "assistant", "model": "none", "content": {"type": "text", "text": "yes"},
        }),
        _ => {
            let properties = request.pointer("/params/requestedSchema/properties");
            let properties = properties.and_then(Value::as_object).into_iter().flatten();
            let content: Map<_, _> = properties
                .map(|(name, schema)| (name.clone(), value(schema)))
                .collect();
            json!({"action": "accept", "content": content})
        }
    }
}

/// A value that fits a field of a form.
fn value(schema: &Value) -> Value {
    let first = schema
        .pointer("/enum/0")
        .or(schema.pointer("/oneOf/0/const"));
    let given = schema.get("default").or(first).cloned();
    given.unwrap_or_else(|| match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(true),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("array") => json!([]),
        _ => json!("yes"),
    })
}
