//! The calls of tools, once in a revision: which are safe, with which arguments, and what came back.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::calls::{Calls, tokens};
use crate::probe::{Bench, MadeCall};
use crate::sample;

/// How much longer than one answer all calls together may take.
const PATIENCE: u32 = 6;
/// The shortest time for all of them.
const LEAST: Duration = Duration::from_secs(20);
/// The most calls in one revision.
const MAX_CALLS: usize = 500;

/// Calls the tools that may be called, unless that was done before, and keeps what came.
pub(super) async fn make(bench: &mut Bench) {
    if bench.calls.is_some() {
        return;
    }
    revive(bench).await;
    let mut counts = Calls::default();
    let mut made = Vec::new();
    let uri = bench.items("resources/list").first().and_then(|it| it.get("uri")).cloned();
    let tools = bench.items("tools/list").to_vec();
    let end = Instant::now() + (bench.patience * PATIENCE).max(LEAST);
    for tool in &tools {
        let Some(name) = name(tool) else { continue };
        counts.tools += 1;
        counts.tokens += tokens(tool);
        if !bench.callable.iter().any(|it| it == name) {
            counts.not_read_only.push(name.to_owned());
            continue;
        }
        if tool.pointer("/execution/taskSupport") == Some(&json!("required")) {
            counts.tasks.push(name.to_owned());
            continue;
        }
        let given = bench.named.iter().filter(|it| it.name == name);
        let mut arguments: Vec<_> = given.filter_map(|it| it.arguments.clone()).collect();
        if arguments.is_empty() {
            let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
            arguments.extend(sample::arguments(schema, uri.as_ref()));
        }
        if arguments.is_empty() {
            counts.need_arguments.push(name.to_owned());
            continue;
        }
        if Instant::now() > end || made.len() >= MAX_CALLS {
            counts.no_time.push(name.to_owned());
            continue;
        }
        counts.called += 1;
        let mut is_error = false;
        for arguments in arguments {
            let token = json!(format!("call {}", made.len() + 1));
            let params = json!({
                "name": name, "arguments": arguments, "_meta": {"progressToken": token},
            });
            let began = Instant::now();
            let exchange = bench.ask("tools/call", params).await;
            let took = began.elapsed();
            is_error |= !exchange.is_done();
            made.push(MadeCall { tool: tool.clone(), arguments, token, exchange, took });
        }
        if is_error {
            counts.errors.push(name.to_owned());
        }
        if made.last().is_some_and(|it| it.exchange.broken.is_some()) {
            revive(bench).await;
        }
    }
    bench.calls = Some((made, counts));
}

/// Starts a program again that ended, or hangs. A rule that holds may have left it so.
async fn revive(bench: &mut Bench) {
    if !bench.is_alive().await {
        bench.reopen().await;
    }
}

fn name(tool: &Value) -> Option<&str> {
    tool.get("name")?.as_str()
}
