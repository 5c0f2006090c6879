//! Valid requests, from which broken ones are made.

use serde_json::{Map, Value, json};

use crate::json::put;
use crate::probe::Bench;
use crate::sample;

/// The most tools that are called.
const MAX_TOOLS: usize = 12;

/// A message that the server answers, or a notification.
#[derive(Debug, Clone)]
pub(super) struct Template {
    /// The message without an id.
    pub(super) message: Value,
    pub(super) is_notification: bool,
    /// The server's constant answer, without the id; `None` if its answers differ.
    pub(super) expected: Option<Value>,
}

impl Template {
    /// What a server of this revision can be asked without doing harm.
    pub(super) fn all(bench: &Bench) -> Vec<Self> {
        let mut all = Vec::new();
        let mut ask = |method: &str, params: Value| all.push(Self::new(bench, method, params));
        ask(bench.revision.ping(), json!({}));
        for (method, ..) in &bench.lists {
            ask(method, json!({}));
        }
        if let Some(uri) = first(bench, "resources/list", "uri") {
            ask("resources/read", json!({ "uri": uri }));
        }
        if let Some(prompt) = bench.items("prompts/list").first() {
            let arguments = prompt.get("arguments").and_then(Value::as_array);
            let names = arguments.into_iter().flatten();
            let names = names.filter_map(|it| it.get("name")?.as_str());
            let given: Map<_, _> = names.map(|it| (it.to_owned(), json!("a"))).collect();
            ask("prompts/get", json!({"name": prompt.get("name"), "arguments": given}));
            if bench.offers("completions") {
                let argument = given.keys().next().map_or("a", String::as_str);
                let reference = json!({"type": "ref/prompt", "name": prompt.get("name")});
                let argument = json!({"name": argument, "value": "a"});
                let params = json!({"ref": reference, "argument": argument});
                ask("completion/complete", params);
            }
        }
        if bench.offers("logging") && !bench.revision.is_modern() {
            ask("logging/setLevel", json!({"level": "emergency"}));
        }
        for tool in bench.items("tools/list") {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            if bench.callable.iter().any(|it| it == name) {
                let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
                let given = bench.named.iter().find(|it| it.name == name);
                let given = given.and_then(|it| it.arguments.clone());
                let made = || sample::arguments(schema, None).unwrap_or_else(|| json!({}));
                let arguments = given.unwrap_or_else(made);
                ask("tools/call", json!({"name": name, "arguments": arguments}));
            }
        }
        let is_call = |it: &Self| it.method() == "tools/call";
        let mut calls = 0;
        all.retain(|it| {
            calls += usize::from(is_call(it));
            !is_call(it) || calls <= MAX_TOOLS
        });
        let cancelled = json!({"requestId": "no such request"});
        let mut notification = Self::new(bench, "notifications/cancelled", cancelled);
        notification.is_notification = true;
        all.push(notification);
        all
    }

    fn new(bench: &Bench, method: &str, params: Value) -> Self {
        let params = bench.with_meta(params);
        Self {
            message: json!({"jsonrpc": "2.0", "method": method, "params": params}),
            is_notification: false,
            expected: None,
        }
    }

    pub(super) fn method(&self) -> &str {
        let method = self.message.get("method").and_then(Value::as_str);
        method.unwrap_or_default()
    }

    /// The method; of a call also the tool.
    pub(super) fn name(&self) -> String {
        match self.message.pointer("/params/name").and_then(Value::as_str) {
            Some(name) => format!("{} {name}", self.method()),
            None => self.method().to_owned(),
        }
    }

    /// The message with an id, unless it is a notification.
    pub(super) fn with_id(&self, id: Value) -> Value {
        let mut message = self.message.clone();
        if !self.is_notification {
            put(&mut message, "id", id);
        }
        message
    }
}

fn first(bench: &Bench, list: &str, member: &str) -> Option<Value> {
    bench.items(list).first()?.get(member).cloned()
}
