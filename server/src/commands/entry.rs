//! The content of an entry in a universe's log, and its text form.

use std::io;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use universe_core::{Command, Event, State};

use super::{Replacement, Result, ServiceError};

/// The size in bytes up to which a text may grow while it is written. A larger text is only measured at first.
const GROWING: usize = 64 << 10;

/// An entry of the log, borrowed from its JSON text: a command with its events, or a replacement.
#[derive(Debug, Deserialize)]
pub struct LogEntry<'a> {
    /// The command, as one line of JSON.
    #[serde(borrow)]
    pub command: Option<&'a RawValue>,
    /// What the command did, as an array of events.
    #[serde(borrow)]
    pub events: Option<&'a RawValue>,
    /// How many commands the request had. Set on the last of several.
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

/// The beginning of a text that is being written, and the length of the whole text.
#[derive(Default)]
struct Beginning {
    text: Vec<u8>,
    length: usize,
}

impl<'a> LogEntry<'a> {
    /// Whether the entry sets the state as a whole, or may do so.
    pub(super) fn replaces(&self) -> bool {
        let is_named = |command: &RawValue| command.get().contains("replaceSnapshot");
        self.state.is_some() || self.command.is_some_and(is_named)
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// When this server did not write the text.
    pub fn read(body: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }
}

pub(super) fn of_command(
    command: &Command,
    events: &[Event],
    together: Option<usize>,
) -> Result<Bytes> {
    write(&CommandEntry { command, events, together })
}

pub(super) fn of_replacement(replacement: &Replacement) -> Result<Bytes> {
    write(&ReplacementEntry {
        name: replacement.name.as_deref(),
        state: replacement.state.as_ref(),
    })
}

/// Writes an entry. A buffer of the exact size is allocated for a large one, because a buffer that grows is at times in
/// memory twice.
fn write(entry: &impl Serialize) -> Result<Bytes> {
    let written = || -> serde_json::Result<Vec<u8>> {
        let mut beginning = Beginning::default();
        serde_json::to_writer(&mut beginning, entry)?;
        let Beginning { mut text, length } = beginning;
        if length > text.len() {
            text = Vec::with_capacity(length);
            serde_json::to_writer(&mut text, entry)?;
        }
        Ok(text)
    };
    written().map(Bytes::from).map_err(|error| {
        tracing::error!(%error, "an entry could not be written as JSON");
        ServiceError::Internal
    })
}

impl io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.length == self.text.len() && bytes.len() <= GROWING.saturating_sub(self.length) {
            self.text.extend_from_slice(bytes);
        }
        self.length = self.length.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
