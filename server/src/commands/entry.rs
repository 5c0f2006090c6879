//! What an entry of a universe's log says, and how it is written down.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use universe_core::{Command, Event, State};

use super::{Replacement, ServiceError};

/// An entry of the log, borrowed from its JSON text: a command with its events, or a replacement.
#[derive(Debug, Deserialize)]
pub struct LogEntry<'a> {
    /// The command, as one line of JSON.
    #[serde(borrow)]
    pub command: Option<&'a RawValue>,
    /// What the command did, as an array of events.
    #[serde(borrow)]
    pub events: Option<&'a RawValue>,
    /// How many commands were asked for together, on the last of several.
    pub together: Option<usize>,
    /// The name that was set.
    pub name: Option<String>,
    /// The state that was set.
    #[serde(borrow)]
    pub state: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct CommandEntry<'a> {
    command: &'a Command,
    events: &'a [Event],
    #[serde(skip_serializing_if = "Option::is_none")]
    together: Option<usize>,
}

#[derive(Serialize)]
struct ReplacementEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a State>,
}

impl<'a> LogEntry<'a> {
    /// Reads an entry.
    ///
    /// # Errors
    /// When the text is none that this server wrote.
    pub fn read(body: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }
}

pub(super) fn of_command(
    command: &Command,
    events: &[Event],
    together: Option<usize>,
) -> Result<Bytes, ServiceError> {
    write(&CommandEntry {
        command,
        events,
        together,
    })
}

pub(super) fn of_replacement(replacement: &Replacement) -> Result<Bytes, ServiceError> {
    write(&ReplacementEntry {
        name: replacement.name.as_deref(),
        state: replacement.state.as_ref(),
    })
}

fn write(entry: &impl Serialize) -> Result<Bytes, ServiceError> {
    serde_json::to_vec(entry).map(Bytes::from).map_err(|error| {
        tracing::error!(%error, "an entry could not be written as JSON");
        ServiceError::Internal
    })
}
