//! The end of stdin.

use std::time::Duration;

use futures_util::FutureExt as _;

use super::super::rule::Probe::Asks;
use super::super::rule::{Outcome, Rule, holds_if, unclear};
use super::{SHOULD, STDIO};
use crate::probe::Bench;

/// How long a program may take to end, if answers may take as long.
const END: Duration = Duration::from_secs(5);

pub(super) const RULES: &[Rule] = &[Rule {
    id: "stdio.end",
    level: SHOULD,
    section: "Lifecycle, Shutdown (stdio)",
    title: "The program exits when its stdin is closed",
    fix: "exit at the end of stdin",
    scope: STDIO,
    probe: Asks(|bench| ends(bench).boxed()),
}];

async fn ends(bench: &mut Bench) -> Outcome {
    let mut fresh = bench.fresh().await;
    let exchange = fresh.greeting.clone();
    match fresh.take_process() {
        Some(process) => {
            let end = END.min(bench.patience);
            let seen = format!("it was still running {} s later", end.as_secs_f64());
            holds_if(process.ends(end).await, seen, &exchange)
        }
        None => Err(unclear("the program could not be started")),
    }
}
