//! Tasks: those of 2025-11-25, and the extension of 2026-07-28 where it is the same.

mod notified;

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Scope, Verdict, another_caller, applies, are_counted, holds_if, inapplicable,
    invalid_params,
};
use super::calls::{callable, needs_nothing, nothing_to_call};
use super::{EVERYWHERE, MODERN, MUST, SHOULD};
use crate::json::put;
use crate::probe::{Bench, Exchange, Revision};

/// The name of the extension.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// So many tools are called at most to find one that becomes a task.
const MAX_TRIED: usize = 20;

const TASKS: Scope = Scope { first: Revision::V2025_11_25, ..EVERYWHERE };

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tasks.unknown",
        level: MUST,
        section: "2025-11-25, Tasks, Error handling; 2026-07-28, extension Tasks",
        title: "An unknown task is refused with −32602",
        fix: "answer tasks/get with code −32602 if the taskId is not a task of the caller",
        scope: TASKS,
        probe: Asks(|bench| unknown(bench).boxed()),
    },
    Rule {
        id: "tasks.guessable",
        level: MUST,
        section: "2025-11-25, Tasks, Security considerations; 2026-07-28, extension Tasks",
        title: "If a task has no known owner, its id cannot be guessed",
        fix: "make ids from secure random numbers, such as random UUIDs",
        scope: TASKS,
        probe: Asks(|bench| guessable(bench).boxed()),
    },
    Rule {
        id: "tasks.of-another-caller",
        level: MUST,
        section: "2025-11-25, Tasks, Security considerations; 2026-07-28, extension Tasks",
        title: "A task of one caller is not returned to another caller",
        fix: "bind tasks to the caller that created them, and refuse other callers with −32602",
        scope: TASKS,
        probe: Asks(|bench| of_another_caller(bench).boxed()),
    },
    Rule {
        id: "tasks.listed",
        level: SHOULD,
        section: "2025-11-25, Tasks, Security considerations",
        title: "If a task has no known owner, it is not in the list of another client",
        fix: "bind tasks to the caller that created them, or do not declare tasks.list",
        scope: Scope { last: Revision::V2025_11_25, ..TASKS },
        probe: Asks(|bench| listed(bench).boxed()),
    },
    Rule {
        id: "tasks.listen-undeclared",
        level: MUST,
        section: "2026-07-28, extension Tasks, Notifications",
        title: "A client that does not declare the extension cannot subscribe to a task",
        fix: "refuse subscriptions/listen with taskIds with −32021 unless the client declares the extension in _meta",
        scope: MODERN,
        probe: Asks(|bench| notified::undeclared(bench).boxed()),
    },
    Rule {
        id: "tasks.notified",
        level: MUST,
        section: "2026-07-28, extension Tasks, Notifications",
        title: "A subscription to a task accepts no other task, and its notifications have all members that tasks/get returns",
        fix: "list the accepted taskIds in the acknowledgement, and send the whole task in notifications/tasks",
        scope: MODERN,
        probe: Asks(|bench| notified::notified(bench).boxed()),
    },
];

fn declares_tasks(bench: &Bench) -> Outcome {
    let capabilities = bench.greeting.result().and_then(|it| it.get("capabilities"));
    let declared = if bench.revision.is_modern() {
        capabilities.and_then(|it| it.get("extensions")?.get(EXTENSION))
    } else {
        capabilities.and_then(|it| it.get("tasks"))
    };
    applies(declared.is_some_and(Value::is_object), "the server does not declare tasks")
}

/// The params of a client that supports tasks.
fn knowing(bench: &Bench, mut params: Value) -> Value {
    if bench.revision.is_modern() {
        let key = "io.modelcontextprotocol/clientCapabilities";
        let capabilities = json!({"extensions": {EXTENSION: {}}});
        put(&mut params, "_meta", json!({key: capabilities}));
    }
    params
}

/// Asks as a client that supports tasks.
async fn ask(bench: &mut Bench, method: &str, params: Value) -> Exchange {
    let params = knowing(bench, params);
    bench.ask(method, params).await
}

async fn unknown(bench: &mut Bench) -> Outcome {
    declares_tasks(bench)?;
    let params = json!({"taskId": "00000000-0000-4000-8000-000000000000"});
    let exchange = ask(bench, "tasks/get", params).await;
    invalid_params(&exchange)
}

/// Calls a tool as a task; the id of it.
async fn make(bench: &mut Bench) -> Result<(String, Exchange), Verdict> {
    declares_tasks(bench)?;
    let modern = bench.revision.is_modern();
    let may_be = |tool: &&Value| {
        let support = tool.pointer("/execution/taskSupport").and_then(Value::as_str);
        needs_nothing(tool) && (modern || matches!(support, Some("optional" | "required")))
    };
    let names = callable(bench).filter(may_be);
    let names = names.filter_map(|tool| tool.get("name").cloned());
    let names: Vec<Value> = names.take(MAX_TRIED).collect();
    if names.is_empty() {
        return Err(nothing_to_call("can run as a task and needs no arguments"));
    }
    for name in names {
        let mut params = json!({"name": name, "arguments": {}});
        if !modern {
            put(&mut params, "task", json!({"ttl": 60_000}));
        }
        let exchange = ask(bench, "tools/call", params).await;
        let result = exchange.result();
        let id = result.and_then(|it| it.pointer("/task/taskId").or(it.get("taskId"))?.as_str());
        if let Some(id) = id.map(str::to_owned) {
            return Ok((id, exchange));
        }
    }
    Err(inapplicable("no tool that may be called was run as a task"))
}

/// Leaves nothing behind. A task that is over refuses it.
async fn cancel(bench: &mut Bench, ids: &[&str]) {
    for id in ids {
        ask(bench, "tasks/cancel", json!({ "taskId": id })).await;
    }
}

async fn guessable(bench: &mut Bench) -> Outcome {
    applies(!bench.endpoint.shows_a_token(), "tasks can be bound to the caller's token")?;
    let (one, _) = make(bench).await?;
    let (two, exchange) = make(bench).await?;
    cancel(bench, &[&one, &two]).await;
    let seen =
        format!("two tasks that were created one after the other have the ids {one:?} and {two:?}");
    holds_if(!are_counted(&one, &two), seen, &exchange)
}

async fn of_another_caller(bench: &mut Bench) -> Outcome {
    let mut other = another_caller(bench).await?;
    let (id, _) = make(bench).await?;
    let exchange = ask(&mut other, "tasks/get", json!({ "taskId": id })).await;
    other.end().await;
    cancel(bench, &[&id]).await;
    let seen = "a task of one caller was returned to another";
    holds_if(exchange.result().is_none(), seen, &exchange)
}

async fn listed(bench: &mut Bench) -> Outcome {
    let greeting = bench.greeting.result();
    let is_declared = greeting.and_then(|it| it.pointer("/capabilities/tasks/list")).is_some();
    applies(is_declared, "the server does not declare tasks.list")?;
    let has_others = bench.endpoint.is_http() && !bench.endpoint.shows_a_token();
    applies(has_others, "there is only one caller")?;
    let (id, _) = make(bench).await?;
    let mut other = bench.fresh().await;
    let exchange = other.ask("tasks/list", json!({})).await;
    other.end().await;
    cancel(bench, &[&id]).await;
    let tasks = exchange.result().and_then(|it| it.get("tasks")?.as_array());
    let mut tasks = tasks.into_iter().flatten();
    let is_listed = tasks.any(|it| it.get("taskId") == Some(&json!(id)));
    let seen = "a task of one session is listed in another";
    holds_if(!is_listed, seen, &exchange)
}
