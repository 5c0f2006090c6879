//! The operations on a task that several servers share: an end is proposed before it takes effect, and the changes that
//! others have written are adopted.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use futures_util::future::AbortHandle;
use serde_json::Value;
use tokio::sync::watch;

use super::{Entry, Open, Problem, Stage, State};
use crate::jsonrpc::Payload;

impl Entry {
    /// Proposes its end, which takes effect once the store has it. Returns whether this was the first proposal.
    pub(in super::super) fn propose(&self, stage: Stage) -> bool {
        self.state.send_if_modified(|state| {
            let is_first = !state.has_end();
            if is_first {
                state.ending = Some(stage);
            }
            is_first
        })
    }

    /// Proposes another end instead of one that the store does not accept.
    pub(in super::super) fn propose_instead(&self, stage: Stage) {
        self.state.send_modify(|state| state.ending = Some(stage));
    }

    /// A copy for the store, which has ended if an end is proposed. Changes to the copy do not affect the task.
    pub(in super::super) fn to_keep(&self) -> Self {
        let mut state = self.state().clone();
        state.streams.clear();
        let ending = state.ending.take();
        let copy = Self {
            id: Arc::clone(&self.id),
            owner: self.owner.clone(),
            state: watch::Sender::new(state),
            abort: AbortHandle::new_pair().0,
            ..*self
        };
        if let Some(stage) = ending {
            copy.end(stage);
        }
        copy
    }

    /// Adopts the state of a record, unless it has that version or a newer one, or has ended. Requests that wait here
    /// stay.
    pub(in super::super) fn adopt(&self, kept: State) {
        let is_over = kept.stage.is_over();
        self.state.send_if_modified(|state| {
            if state.stage.is_over() || kept.record <= state.record {
                return false;
            }
            let streams = mem::take(&mut state.streams);
            *state = State { streams, next_stream: state.next_stream, ending: None, ..kept };
            true
        });
        if is_over {
            self.abort.abort();
        }
    }

    /// The answers in a record from clients of other servers to questions that are open here, or why one will not come.
    pub(in super::super) fn answered_elsewhere(
        &self,
        kept: &State,
    ) -> Result<Vec<(String, Value)>, (usize, Problem)> {
        let state = self.state();
        let Stage::InputRequired(open) = &state.stage else {
            return Ok(Vec::new());
        };
        if state.round != kept.round {
            return Ok(Vec::new());
        }
        let answers = match &kept.answers {
            Ok(answers) => answers,
            Err(problem) => return Err((kept.round, (**problem).clone())),
        };
        let still_open: &[Open] = match &kept.stage {
            Stage::InputRequired(open) => open,
            _ => &[],
        };
        let closed =
            open.iter().filter(|open| still_open.iter().all(|still| still.key != open.key));
        let answered =
            closed.filter_map(|open| Some((open.key.clone(), answers.get(&open.asked)?.clone())));
        Ok(answered.collect())
    }
}

impl State {
    /// Drops the parts that a list does not show.
    pub(in super::super) fn shorten(&mut self) {
        self.answers = Ok(BTreeMap::new());
        self.keys = BTreeSet::new();
        if let Stage::InputRequired(open) = &mut self.stage {
            *open = Vec::new();
        }
    }
}

impl Stage {
    /// The answer to a call that has ended.
    pub(in super::super) fn result(&self) -> Option<&Payload> {
        match self {
            Self::Completed(result) | Self::ToolFailed(result) => Some(result),
            _ => None,
        }
    }

    pub(in super::super) fn set_result(&mut self, read: Payload) {
        if let Self::Completed(result) | Self::ToolFailed(result) = self {
            *result = read;
        }
    }
}

/// The placeholder for a result that was not read.
pub(super) fn no_result() -> Payload {
    let mut text = Payload::start(2);
    text.extend_from_slice(b"{}");
    Payload::started(text)
}
