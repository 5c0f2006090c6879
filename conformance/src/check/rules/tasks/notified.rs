//! What a subscription says of a task: `notifications/tasks` of 2026-07-28.

use serde_json::{Value, json};

use super::super::super::rule::{Outcome, finding, holds_if, inapplicable};
use super::{cancel, knowing, make};
use crate::probe::{Bench, QUIET};

/// The id of the subscription.
const ID: &str = "of a task";

pub(super) async fn undeclared(bench: &mut Bench) -> Outcome {
    let (id, _) = make(bench).await?;
    let (exchange, open) = bench.listen(json!(ID), json!({"taskIds": [id]})).await;
    drop(open);
    leave(bench).await;
    cancel(bench, &[&id]).await;
    let good = exchange.code() == Some(-32021);
    holds_if(good, exchange.outcome(), &exchange)
}

pub(super) async fn notified(bench: &mut Bench) -> Outcome {
    let (id, _) = make(bench).await?;
    let params = knowing(bench, json!({"notifications": {"taskIds": [id]}}));
    let (mut exchange, open) = bench.listen_with(json!(ID), params).await;
    let agreed = exchange
        .acknowledgement()
        .and_then(|it| it.pointer("/params/notifications/taskIds")?.as_array())
        .cloned();
    let Some(agreed) = agreed else {
        drop(open);
        leave(bench).await;
        cancel(bench, &[&id]).await;
        let outcome = exchange.outcome();
        return Err(inapplicable(format!(
            "the server does not send notifications about tasks: {outcome}"
        )));
    };
    // It changes the task, so that there is a change to notify of.
    let cancelled = super::ask(bench, "tasks/cancel", json!({ "taskId": id })).await;
    exchange.messages.extend(cancelled.messages);
    bench.collect(&mut exchange, open, QUIET).await;
    leave(bench).await;
    if let Some(other) = agreed.iter().find(|it| **it != json!(id)) {
        let seen = format!("the server accepted the task {other}, which was not requested");
        return finding(seen, &exchange);
    }
    let received: Vec<_> = exchange.messages.iter().filter(|it| is_of_tasks(it)).collect();
    if received.is_empty() && !agreed.is_empty() {
        // A notification is allowed to be lost.
        return Err(inapplicable("no notification about the task came in time"));
    }
    let misfit = received.into_iter().find_map(|it| misfit(it, &id));
    misfit.map_or(Ok(()), |seen| finding(seen, &exchange))
}

fn is_of_tasks(message: &Value) -> bool {
    message.get("method") == Some(&json!("notifications/tasks"))
}

/// What is wrong with a notification about a task.
fn misfit(message: &Value, id: &str) -> Option<String> {
    let params = message.get("params").unwrap_or(&Value::Null);
    let own = "/_meta/io.modelcontextprotocol~1subscriptionId";
    if params.pointer(own) != Some(&json!(ID)) {
        return Some("notifications/tasks does not name its subscription in _meta".to_owned());
    }
    let named = params.get("taskId").unwrap_or(&Value::Null);
    if named != id {
        return Some(format!("notifications/tasks is about {named}, which was not requested"));
    }
    let needed = ["status", "createdAt", "lastUpdatedAt", "ttlMs"];
    let outcome = match params.get("status").and_then(Value::as_str) {
        Some("completed") => Some("result"),
        Some("failed") => Some("error"),
        Some("input_required") => Some("inputRequests"),
        _ => None,
    };
    let mut needed = needed.into_iter().chain(outcome);
    let missing = needed.find(|member| params.get(member).is_none())?;
    Some(format!("notifications/tasks has no {missing}"))
}

/// Ends the subscription; over HTTP it ended with its stream.
async fn leave(bench: &mut Bench) {
    if !bench.endpoint.is_http() {
        bench.cancel(ID, QUIET).await;
    }
}
