//! The result of commands, in the form that was asked for.

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::value::RawValue;
use universe_core::{Command, Event, Findings};

use super::{Changes, FITTING_BYTES};
use crate::commands::Processed;
use crate::offload;

/// The parts of a result that an answer includes. The events are part of every form (REQ-MCP-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultForm {
    /// Revision, time, events, the changes up to [`FITTING_BYTES`], and the state if it is not larger.
    Fitting,
    /// Revision, time, events and all changes.
    Changes,
    /// Revision, time and events.
    Events,
    /// Revision, time, events and the state.
    State,
}

/// The result of accepted commands, as JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandAnswer<'a> {
    /// The revision after the last command. Absent where the entity tag has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The simulated time after the last command, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// The events, in order.
    pub events: &'a [Event],
    /// The changes of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// The whole state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_state: Option<Box<RawValue>>,
    /// Warnings about unusual input that was accepted.
    #[serde(skip_serializing_if = "Findings::is_empty")]
    pub warnings: &'a Findings,
}

impl ResultForm {
    /// The names of the forms that can be requested.
    pub const WORDS: [&str; 3] = ["changes", "events", "state"];

    /// Whether the answer is written quickly, because a large state is neither written nor compared as a whole.
    pub(crate) fn is_quick(self, processed: &Processed) -> bool {
        let replaces = |event: &Event| {
            use Event::{
                NebulaeSet, ProtoplanetaryDisksSet, SmallBodyFieldsSet, SnapshotReplaced,
                StarRemoved,
            };
            matches!(
                event,
                NebulaeSet
                    | ProtoplanetaryDisksSet
                    | SmallBodyFieldsSet
                    | SnapshotReplaced
                    | StarRemoved { .. }
            )
        };
        match self {
            Self::Events => true,
            Self::State => offload::is_small(&processed.state),
            Self::Fitting | Self::Changes => {
                !processed.events.iter().any(replaces) || offload::is_small(&processed.before)
            }
        }
    }

    /// Parses the name of a form.
    ///
    /// # Errors
    /// A sentence with the valid names.
    pub fn read(word: &str) -> Result<Self, String> {
        match word {
            "changes" => Ok(Self::Changes),
            "events" => Ok(Self::Events),
            "state" => Ok(Self::State),
            _ => Err(format!("result must be {}", Self::WORDS.join(", "))),
        }
    }
}

impl<'a> CommandAnswer<'a> {
    /// The result in the given form. The changes of [`ResultForm::Fitting`] leave out what the commands `sent`.
    ///
    /// # Errors
    /// When the state cannot be written as JSON, which is an internal error.
    pub fn of(
        processed: &'a Processed,
        warnings: &'a Findings,
        form: ResultForm,
        sent: &[Command],
    ) -> Result<Self, serde_json::Error> {
        let Processed { before, state, revision, .. } = processed;
        let changes = match form {
            ResultForm::Fitting => Some(Changes::between(before, state, FITTING_BYTES, sent)),
            ResultForm::Changes => Some(Changes::between(before, state, usize::MAX, &[])),
            ResultForm::Events | ResultForm::State => None,
        };
        let next_state = match form {
            ResultForm::Fitting => state.to_json_within(FITTING_BYTES)?,
            ResultForm::State => Some(state.to_json()?),
            ResultForm::Changes | ResultForm::Events => None,
        };
        let next_state = next_state.map(String::from_utf8).transpose();
        let next_state = next_state.map_err(serde_json::Error::custom)?;
        Ok(Self {
            revision: Some(revision.0),
            time: Some(state.time()),
            events: &processed.events,
            changes,
            next_state: next_state.map(RawValue::from_string).transpose()?,
            warnings,
        })
    }

    /// Removes what REST has in headers or does not return: its contract is `{"nextState", "events"}`.
    pub fn without_revision(self) -> Self {
        Self { revision: None, time: None, ..self }
    }
}
