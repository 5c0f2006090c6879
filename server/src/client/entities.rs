//! A universe as it was read, and its entities.

use bytes::Bytes;
use http::Method;
use serde::Deserialize;
use serde_json::Value;
use universe_core::State;

use super::connection::path_of;
use super::{ClientError, Connection, Result};
use crate::store::UniverseId;

/// A universe at a revision.
pub(super) struct Universe {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) revision: u64,
    pub(super) state: State,
}

#[derive(Deserialize)]
struct UniverseReply {
    id: String,
    name: String,
    revision: u64,
    state: Value,
}

/// The record of a universe as REST returns it, at a revision or the current one.
pub(super) async fn record(
    connection: &mut Connection,
    id: &UniverseId,
    revision: Option<u64>,
) -> Result<Bytes> {
    let mut path = path_of(id);
    if let Some(revision) = revision {
        path = format!("{path}?revision={revision}");
    }
    let reply = connection.ask(Method::GET, &path, &[], Bytes::new()).await?;
    Ok(reply.body)
}

/// The same, parsed.
pub(super) async fn universe(
    connection: &mut Connection,
    id: &UniverseId,
    revision: Option<u64>,
) -> Result<Universe> {
    let body = record(connection, id, revision).await?;
    let reply: UniverseReply = connection.read(&body)?;
    let state = State::from_partial(reply.state);
    let state = state.map_err(|findings| ClientError::Given(findings.to_string()))?;
    Ok(Universe { id: reply.id, name: reply.name, revision: reply.revision, state })
}

impl Universe {
    /// One line that describes it.
    pub(super) fn headline(&self) -> String {
        format!(
            "{} {:?}, revision {}, time {} s",
            self.id,
            self.name,
            self.revision,
            self.state.time()
        )
    }
}
