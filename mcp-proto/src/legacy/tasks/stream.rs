//! The stream of a task's result in the legacy era: it carries the questions of the task and the messages of its
//! handler.

use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};

use crate::lifecycle::META_RELATED_TASK;
use crate::outbox::{Outbox, Outgoing};
use crate::task::{Entry, Open, Stage, State};

/// A running `tasks/result` request. The newest one of a task sends its questions to the client.
pub(crate) struct Attached<'e> {
    entry: &'e Entry,
    key: u64,
}

/// What a `tasks/result` has to do next.
pub(crate) enum Step {
    /// The task has ended.
    Over,
    /// Send these questions, as long as they are open in this round.
    Ask(usize, Vec<Open>),
    Wait,
}

impl Entry {
    /// Sends a message of the handler to the newest stream of its result, if there is one and it has room.
    pub(crate) fn pass_on(&self, message: Outgoing) {
        let Outgoing::Notification(mut message) = message else {
            return;
        };
        let newest = self.state().streams.last().cloned();
        let Some((_, stream)) = newest else {
            return;
        };
        relate_params(&mut message.params, &self.id);
        // A stream that takes nothing more has ended.
        let _ = stream.send(message).now_or_never();
    }

    /// Attaches a `tasks/result` request, which is the newest from now on.
    pub(crate) fn attach(&self, stream: Outbox) -> Attached<'_> {
        let mut key = 0;
        self.state.send_modify(|state| {
            state.next_stream += 1;
            key = state.next_stream;
            state.streams.push((key, stream));
        });
        Attached { entry: self, key }
    }
}

impl Attached<'_> {
    pub(crate) fn step(&self) -> Step {
        let state = self.entry.state();
        match &state.stage {
            Stage::InputRequired(open) if self.is_newest(&state) => {
                Step::Ask(state.round, open.clone())
            }
            Stage::Working | Stage::InputRequired(_) => Step::Wait,
            _ => Step::Over,
        }
    }

    /// Whether this request may still send the questions of that round.
    pub(crate) fn may_ask(&self, round: usize, state: &State) -> bool {
        state.stage.asks() && state.round == round && self.is_newest(state)
    }

    fn is_newest(&self, state: &State) -> bool {
        let newest = state.streams.last();
        newest.is_some_and(|(key, _)| *key == self.key)
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        self.entry.state.send_if_modified(|state| {
            let was_newest = self.is_newest(state);
            state.streams.retain(|(key, _)| *key != self.key);
            // The request before it sends the questions from now on.
            was_newest && !state.streams.is_empty()
        });
    }
}

/// Names the task of a message in its `_meta` (2025-11-25, "Associating Task-Related Messages").
pub(crate) fn relate(meta: &mut Map<String, Value>, task: &str) {
    meta.insert(META_RELATED_TASK.to_owned(), json!({ "taskId": task }));
}

/// The same for the `_meta` in the params of a message.
pub(crate) fn relate_params(params: &mut Map<String, Value>, task: &str) {
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        relate(meta, task);
    }
}
