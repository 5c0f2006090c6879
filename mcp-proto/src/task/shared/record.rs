//! A task as a record: what is written, and what is read.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::AbortHandle;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::jsonrpc::ErrorObject;
use crate::task::entry::{Entry, Home, State};
use crate::task::owner::Owner;
use crate::task::port::TaskRecord;
use crate::version::{Era, ProtocolVersion};

/// A task as its record has it.
pub(in super::super) struct LoadedTask {
    pub(in super::super) entry: Entry,
    pub(in super::super) version: u64,
    /// What is kept of it, in bytes.
    pub(in super::super) kept: usize,
}

/// What is in a record.
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
    /// Its state, as of its record.
    pub(in super::super) fn state(self) -> State {
        let mut state = self.entry.state.borrow().clone();
        // Those that have no record yet have none of this version either.
        state.record = self.version.saturating_add(1);
        state
    }
}

/// What is in the record of a task, of which so many bytes are kept; its result is beside that.
pub(in super::super) fn body(entry: &Entry, kept: usize) -> Result<Vec<u8>, ErrorObject> {
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

/// An owner as a text. An era is part of it: a task stays in the one that it was created in.
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

/// The task of a record, unless that is written in a way that is not known here, as by a newer server.
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
    Some(LoadedTask {
        entry,
        version: record.version,
        kept: body.kept,
    })
}
