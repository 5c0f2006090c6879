//! A call that needs input, answered as a willing user answers.

use serde_json::{Map, Value, json};

use super::super::super::rule::{Verdict, inapplicable};
use super::super::calls::{callable, needs_nothing, nothing_to_call};
use crate::json::put;
use crate::probe::{Bench, Exchange};

/// How many tools are tried until one needs input.
const MAX_TRIED: usize = 20;

/// What a first call brought: questions, a state or both.
#[derive(Debug, Clone)]
pub(super) struct Round {
    pub(super) tool: String,
    pub(super) requests: Vec<(String, Value)>,
    pub(super) state: Option<String>,
}

impl Round {
    /// That of an exchange, if it needs input.
    pub(super) fn of(tool: &str, exchange: &Exchange) -> Option<Self> {
        let result = exchange.result()?;
        if result.get("resultType")? != "input_required" {
            return None;
        }
        let requests = result.get("inputRequests").and_then(Value::as_object);
        let requests = requests.into_iter().flatten();
        Some(Self {
            tool: tool.to_owned(),
            requests: requests.map(|(key, it)| (key.clone(), it.clone())).collect(),
            state: result.get("requestState").and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// The same with another state.
    pub(super) fn with(&self, state: String) -> Self {
        Self { state: Some(state), ..self.clone() }
    }

    /// What a willing user answers.
    pub(super) fn answers(&self) -> Value {
        self.answers_by(answer)
    }

    pub(super) fn answers_by(&self, answer: fn(&Value) -> Value) -> Value {
        let requests = self.requests.iter();
        let answers = requests.map(|(key, request)| (key.clone(), answer(request)));
        Value::Object(answers.collect())
    }

    /// The call once more, with these answers and the state.
    pub(super) async fn again(&self, bench: &mut Bench, answers: Value) -> Exchange {
        let mut more = json!({ "inputResponses": answers });
        if let Some(state) = &self.state {
            put(&mut more, "requestState", state.as_str());
        }
        ask(bench, &self.tool, &capable(), more).await
    }
}

/// What a client has that can answer everything.
pub(super) fn capable() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
}

/// Calls a tool as a client of these capabilities.
pub(super) async fn ask(
    bench: &mut Bench,
    tool: &str,
    capabilities: &Value,
    more: Value,
) -> Exchange {
    let key = "io.modelcontextprotocol/clientCapabilities";
    let mut params = json!({"name": tool, "arguments": {}, "_meta": {key: capabilities}});
    if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more) {
        params.extend(more);
    }
    bench.ask("tools/call", params).await
}

/// The first call of a tool, if it needs input.
pub(super) async fn round(bench: &mut Bench, tool: &str) -> Option<Round> {
    let exchange = ask(bench, tool, &capable(), json!({})).await;
    Round::of(tool, &exchange)
}

/// The tools that need input; they are sought once.
pub(super) async fn asking(bench: &mut Bench) -> Result<Vec<String>, Verdict> {
    if bench.asking.is_none() {
        let tools = callable(bench).filter(|tool| needs_nothing(tool));
        let names = tools.filter_map(|tool| tool.get("name")?.as_str());
        let names: Vec<_> = names.take(MAX_TRIED).map(str::to_owned).collect();
        if names.is_empty() {
            return Err(nothing_to_call("needs no arguments"));
        }
        let mut asking = Vec::new();
        for name in names {
            if round(bench, &name).await.is_some() {
                asking.push(name);
            }
        }
        bench.asking = Some(asking);
    }
    match &bench.asking {
        Some(asking) if !asking.is_empty() => Ok(asking.clone()),
        _ => Err(inapplicable("no tool that may be called needs input")),
    }
}

/// Whether a call was completed, and not refused (in either form) or answered with another question.
pub(super) fn is_complete(exchange: &Exchange) -> bool {
    let kind = exchange.result().and_then(|it| it.get("resultType"));
    kind == Some(&json!("complete")) && !exchange.is_failure()
}

/// Whether it was refused by a JSON-RPC error.
pub(super) fn is_refused(exchange: &Exchange) -> bool {
    exchange.code().is_some()
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
            let content: Map<_, _> =
                properties.map(|(name, schema)| (name.clone(), value(schema))).collect();
            json!({"action": "accept", "content": content})
        }
    }
}

/// A value that fits a field of a form.
fn value(schema: &Value) -> Value {
    let first = schema.pointer("/enum/0").or(schema.pointer("/oneOf/0/const"));
    let given = schema.get("default").or(first).cloned();
    given.unwrap_or_else(|| match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(true),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("array") => json!([]),
        _ => json!("yes"),
    })
}
