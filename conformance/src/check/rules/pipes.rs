//! Stdin and stdout.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::Value;

use super::super::rule::{Rule, Verdict, finding, holds_if};
use super::{MUST, SHOULD, STDIO};
use crate::probe::Bench;

/// How long a program may take to end, if answers may take as long.
const END: Duration = Duration::from_secs(5);

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "stdio.messages-only",
        level: MUST,
        section: "stdio",
        title: "Every line on stdout is one JSON-RPC message",
        fix: "write logs to stderr, and each message on one line",
        scope: STDIO,
        probe: |bench| messages_only(bench).boxed(),
    },
    Rule {
        id: "stdio.end",
        level: SHOULD,
        section: "Lifecycle, Shutdown (stdio)",
        title: "The program exits when its stdin is closed",
        fix: "exit at the end of stdin",
        scope: STDIO,
        probe: |bench| ends(bench).boxed(),
    },
];

async fn messages_only(bench: &mut Bench) -> Verdict {
    let lists = bench.lists.iter().flat_map(|(_, _, pages)| pages);
    for exchange in [&bench.greeting].into_iter().chain(lists) {
        for line in exchange.received.lines() {
            let message = serde_json::from_str::<Value>(line);
            let good = message.is_ok_and(|it| it.get("jsonrpc").is_some_and(Value::is_string));
            if !good {
                return finding(
                    format!(
                        "a line is not a message: {}",
                        line.chars().take(80).collect::<String>()
                    ),
                    exchange,
                );
            }
        }
    }
    Verdict::Holds
}

async fn ends(bench: &mut Bench) -> Verdict {
    let mut fresh = bench.fresh().await;
    let exchange = fresh.greeting.clone();
    match fresh.take_process() {
        Some(process) => {
            let end = END.min(bench.patience);
            let seen = format!("it was still running {} s later", end.as_secs_f64());
            holds_if(process.ends(end).await, seen, &exchange)
        }
        None => Verdict::Unclear("the program could not be started".to_owned()),
    }
}
