//! The command service: many callers, failing stores, universes that come into memory and leave it.

mod concurrent;
mod failing;
mod faults;
mod memory;

use serde_json::json;
use universe_core::{Command, State};
use universe_server::commands::{CommandService, Processed, ServiceError};
use universe_server::store::UniverseId;

use crate::harness::{add_star, tick};

fn id(text: &str) -> UniverseId {
    UniverseId::new(text).unwrap()
}

async fn create(service: &CommandService, name: &str) -> UniverseId {
    let state = State::from_partial(json!({})).unwrap();
    let universe = service.create(id(name), name.to_owned(), state).await;
    universe.unwrap().id
}

async fn tick_once(service: &CommandService, id: &UniverseId) -> Result<Processed, ServiceError> {
    let command = Command::from_value(tick()).unwrap();
    service.process(id, command).await
}

async fn add(
    service: &CommandService,
    id: &UniverseId,
    star: &str,
) -> Result<Processed, ServiceError> {
    let command = Command::from_value(add_star(star)).unwrap();
    service.process(id, command).await
}

/// Time and revision of a universe.
async fn now(service: &CommandService, id: &UniverseId) -> (f64, u64) {
    let universe = service.get(id).await.unwrap();
    (universe.state.time(), universe.revision.0)
}
