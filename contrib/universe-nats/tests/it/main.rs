//! The adapter for NATS: the rules of the store, which every adapter keeps, and what it has to itself.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

#[path = "../../../../universe-store/tests/it/begins.rs"]
mod begins;
mod engine;
#[path = "../../../../universe-store/tests/it/engines.rs"]
mod engines;
mod fleet;
#[path = "../../../../universe-store/tests/it/leases.rs"]
mod leases;
#[path = "../../../../universe-store/tests/it/load.rs"]
mod load;
#[path = "../../../../universe-store/tests/it/logs.rs"]
mod logs;
#[path = "../../../../universe-store/tests/it/machine.rs"]
mod machine;
mod nats;
#[path = "../../../../universe-store/tests/it/nodes.rs"]
mod nodes;
mod raw;
#[path = "../../../../universe-store/tests/it/rules.rs"]
mod rules;
#[path = "../../../../universe-store/tests/it/sessions.rs"]
mod sessions;
#[path = "../../../../universe-store/tests/it/support.rs"]
mod support;
#[path = "../../../../universe-store/tests/it/tasks.rs"]
mod tasks;

use engines::{Engine, aside};
use support::{HANG, Subject, Tail, after, before, entry, id, meta, next, next_entry, stored};

/// The engines of stores that nodes share.
const ENGINES: &[&dyn Engine] = &[&engine::Nats];

/// The adapter, empty.
async fn subjects() -> Vec<Box<dyn Subject>> {
    nodes::Nodes::all().await
}
