//! A task as a record: writing and reading it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::AbortHandle;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::jsonrpc::{ErrorObject, Result};
use crate::task::entry::{Entry, Home, State};
use crate::task::owner::Owner;
use crate::task::port::TaskRecord;
use crate::version::{Era, ProtocolVersion};

/// A task as read from its record.
pub(in super::super) struct LoadedTask {
    pub(in super::super) entry: Entry,
    pub(in super::super) version: u64,
    /// Its kept size, in bytes.
    pub(in super::super) kept: usize,
}

/// The content of a record.
#[derive(Serialize)]
struct Body<'s> {
    version: ProtocolVersion,
    created: SystemTime,
    ttl: Duration,
    poll_interval: Duration,
    kept: usize,
    state: &'s State,
}

#[derive(Deserialize)]
struct ReadBody {
    version: ProtocolVersion,
    created: SystemTime,
    ttl: Duration,
    poll_interval: Duration,
    kept: usize,
    state: State,
}

impl LoadedTask {
    /// Its state at the version of its record.
    pub(in super::super) fn state(self) -> State {
        let mut state = self.entry.state.borrow().clone();
        // Tasks without a record have the number 0, which no version here may equal.
        state.record = self.version.saturating_add(1);
        state
    }
}

/// The body of the record of a task whose kept size is `kept`. The result is stored separately.
pub(in super::super) fn body(entry: &Entry, kept: usize) -> Result<Vec<u8>> {
    let body = Body {
        version: entry.version,
        created: entry.created,
        ttl: entry.ttl,
        poll_interval: entry.poll_interval,
        kept,
        state: &entry.state(),
    };
    serde_json::to_vec(&body).map_err(|error| ErrorObject::not_serialised(&error))
}

/// An owner as a text. It includes the era, since a task stays in the era in which it was created.
pub(super) fn owner_key(owner: &Owner, era: Era) -> Option<Arc<str>> {
    let era = match era {
        Era::Modern => "modern",
        Era::Legacy => "legacy",
    };
    match owner {
        Owner::Principal(name) => Some(format!("{era} principal {name}").into()),
        Owner::Peer(name) => Some(format!("{era} peer {name}").into()),
        Owner::Anyone => None,
    }
}

/// The task of a record. `None` if its format is not known here, such as that of a newer server.
pub(super) fn read(record: TaskRecord, owner: &Owner) -> Option<LoadedTask> {
    let body: ReadBody = match serde_json::from_slice(&record.body) {
        Ok(body) => body,
        Err(problem) => {
            tracing::warn!(%problem, "a task in the store cannot be read");
            return None;
        }
    };
    let mut state = body.state;
    state.record = record.version.saturating_add(1);
    let entry = Entry {
        id: record.id,
        number: record.number,
        owner: owner.clone(),
        version: body.version,
        created: body.created,
        ttl: body.ttl,
        poll_interval: body.poll_interval,
        expires: Instant::now().checked_add(record.ttl)?,
        home: Home::Elsewhere,
        state: watch::Sender::new(state),
        abort: AbortHandle::new_pair().0,
    };
    Some(LoadedTask { entry, version: record.version, kept: body.kept })
}
