//! A task as it is reported, in the format of its era.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value, json};

use super::entry::{Entry, Open, Stage, State};
use super::timestamp::Timestamp;
use crate::version::{Era, ProtocolVersion};

/// A task as it is now (2026-07-28: `Task` or `DetailedTask`; 2025-11-25: `Task`).
pub(crate) struct TaskView<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) state: &'a State,
    /// With its result, its error, or its questions (modern era).
    pub(crate) detailed: bool,
}

impl Stage {
    /// Its name on the wire.
    pub(crate) fn status(&self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired(_) => "input_required",
            Self::Completed(_) => "completed",
            Self::ToolFailed(_) | Self::Failed(_) | Self::Expired => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Serialize for TaskView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { entry, state, .. } = self;
        let (ttl, poll_interval) = match entry.version.era() {
            Era::Modern => ("ttlMs", "pollIntervalMs"),
            Era::Legacy => ("ttl", "pollInterval"),
        };
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("taskId", &*entry.id)?;
        members.serialize_entry("status", state.stage.status())?;
        if let Some(message) = &state.message {
            members.serialize_entry("statusMessage", message)?;
        }
        members.serialize_entry("createdAt", &Timestamp(entry.created).to_string())?;
        members.serialize_entry("lastUpdatedAt", &Timestamp(state.updated).to_string())?;
        members.serialize_entry(ttl, &millis(entry.ttl))?;
        members.serialize_entry(poll_interval, &millis(entry.poll_interval))?;
        if self.detailed {
            match &state.stage {
                Stage::InputRequired(open) => {
                    members.serialize_entry("inputRequests", &requests(open, entry.version))?;
                }
                Stage::Completed(result) | Stage::ToolFailed(result) => {
                    members.serialize_entry("result", result)?;
                }
                Stage::Failed(error) => members.serialize_entry("error", error)?,
                Stage::Working | Stage::Cancelled | Stage::Expired => {}
            }
        }
        members.end()
    }
}

fn requests(open: &[Open], version: ProtocolVersion) -> Map<String, Value> {
    let requests = open.iter().map(|open| {
        let request = open.question.to_request(version);
        let request = json!({ "method": request.method, "params": request.params });
        (open.key.clone(), request)
    });
    requests.collect()
}
