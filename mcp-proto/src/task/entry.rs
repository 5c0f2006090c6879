//! One task: what stays of it, and the stages it goes through (`working` ⇄ `input_required` → one of the ends).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::AbortHandle;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::MAX_TASK_STATUS;
use super::store::Owner;
use crate::context::{Outbox, Outgoing};
use crate::input::{Question, Questions};
use crate::jsonrpc::{ErrorObject, Payload};
use crate::lifecycle::META_RELATED_TASK;
use crate::version::ProtocolVersion;

/// A task. Whoever holds it after its time holds a name without contents.
pub(crate) struct Entry {
    pub(crate) id: Arc<str>,
    /// Later tasks have greater numbers.
    pub(crate) number: u64,
    pub(super) owner: Owner,
    /// The revision that it was created in, and that its result is written for.
    pub(crate) version: ProtocolVersion,
    pub(super) created: SystemTime,
    pub(super) ttl: Duration,
    pub(super) poll_interval: Duration,
    /// When its time is over.
    pub(crate) expires: Instant,
    pub(super) state: watch::Sender<State>,
    pub(super) abort: AbortHandle,
}

/// What changes of a task.
pub(crate) struct State {
    pub(crate) stage: Stage,
    pub(super) message: Option<String>,
    pub(super) updated: SystemTime,
    /// How often its handler has asked.
    round: usize,
    /// What has been answered of the questions that were asked last.
    answers: BTreeMap<String, Value>,
    /// The newest stream of its result (legacy era), by a number of its own.
    stream: Option<(u64, Outbox)>,
    streams: u64,
}

/// How far a task has come.
#[derive(Debug)]
pub(crate) enum Stage {
    Working,
    /// The questions that are still open.
    InputRequired(Vec<(String, Question)>),
    Completed(Payload),
    /// The tool told a failure of its own, which the legacy era counts as one of the task.
    ToolFailed(Payload),
    Failed(ErrorObject),
    Cancelled,
    /// Its time is over, and it is kept no longer.
    Expired,
}

/// A `tasks/result` at work: the newest of a task puts its questions to the client.
pub(crate) struct Attached<'e> {
    entry: &'e Entry,
    key: u64,
}

/// What a `tasks/result` has to do next.
pub(crate) enum Step {
    /// The task is over.
    Over,
    /// Put these questions, as long as they are open in this round.
    Ask(usize, Vec<(String, Question)>),
    Wait,
}

impl State {
    pub(super) fn new(now: SystemTime) -> Self {
        Self {
            stage: Stage::Working,
            message: None,
            updated: now,
            round: 0,
            answers: BTreeMap::new(),
            stream: None,
            streams: 0,
        }
    }

    fn move_to(&mut self, stage: Stage) {
        self.stage = stage;
        self.touch();
    }

    fn touch(&mut self) {
        // The clock may be set back; what is told may not.
        self.updated = self.updated.max(SystemTime::now());
    }
}

impl Stage {
    pub(crate) fn is_over(&self) -> bool {
        !matches!(self, Self::Working | Self::InputRequired(_))
    }

    fn asks(&self) -> bool {
        matches!(self, Self::InputRequired(_))
    }
}

impl Entry {
    /// What it is now. Not to be held over an await.
    pub(crate) fn state(&self) -> watch::Ref<'_, State> {
        self.state.borrow()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(super) fn say(&self, mut message: String) {
        if let Some((end, _)) = message.char_indices().nth(MAX_TASK_STATUS) {
            message.truncate(end);
        }
        self.state.send_if_modified(|state| {
            if state.stage.is_over() {
                return false;
            }
            state.message = Some(message);
            state.touch();
            true
        });
    }

    /// The handler asks and is left.
    pub(crate) fn ask(&self, questions: &Questions) {
        self.state.send_if_modified(|state| {
            if state.stage.is_over() {
                return false;
            }
            state.round += 1;
            let open = questions.iter();
            let open = open.map(|(key, question)| (key.to_owned(), question.clone()));
            state.move_to(Stage::InputRequired(open.collect()));
            true
        });
    }

    /// Waits until nothing is open; the answers of this round.
    pub(crate) async fn answered(&self) -> BTreeMap<String, Value> {
        let mut state = self.subscribe();
        // Fails only when the sender is gone, which is in `self`.
        drop(state.wait_for(|state| !state.stage.asks()).await);
        let mut answers = BTreeMap::new();
        self.state.send_if_modified(|state| {
            answers = std::mem::take(&mut state.answers);
            false
        });
        answers
    }

    /// The open questions under these keys.
    pub(crate) fn open<'k>(
        &self,
        keys: impl Iterator<Item = &'k String>,
    ) -> Vec<(String, Question)> {
        let state = self.state();
        let Stage::InputRequired(open) = &state.stage else {
            return Vec::new();
        };
        keys.filter_map(|key| open.iter().find(|(known, _)| known == key).cloned())
            .collect()
    }

    /// Takes the answers to open questions; after the last one it goes on. Others mean nothing.
    pub(crate) fn answer(&self, answers: impl Iterator<Item = (String, Value)>) {
        self.state.send_if_modified(|state| {
            let Stage::InputRequired(open) = &mut state.stage else {
                return false;
            };
            let before = open.len();
            for (key, answer) in answers {
                if let Some(at) = open.iter().position(|(known, _)| *known == key) {
                    open.remove(at);
                    state.answers.insert(key, answer);
                }
            }
            let (changed, all) = (open.len() < before, open.is_empty());
            if all {
                state.stage = Stage::Working;
            }
            if changed {
                state.touch();
            }
            changed
        });
    }

    /// Ends it, once: whether this was the end. The handler is dropped, if it still runs.
    pub(super) fn end(&self, stage: Stage) -> bool {
        let message = match &stage {
            Stage::Failed(error) => Some(error.message.clone()),
            Stage::ToolFailed(_) => Some("the tool failed; tasks/result has its words".to_owned()),
            Stage::Cancelled => Some("cancelled by request".to_owned()),
            _ => None,
        };
        let ended = self.state.send_if_modified(|state| {
            if state.stage.is_over() {
                return false;
            }
            state.answers = BTreeMap::new();
            state.message = message.or(state.message.take());
            state.move_to(stage);
            true
        });
        self.abort.abort();
        ended
    }

    /// Its time is over: nothing is left of it, whoever still holds it.
    pub(super) fn expire(&self) {
        self.state.send_modify(|state| {
            state.answers = BTreeMap::new();
            state.message = None;
            state.stage = Stage::Expired;
        });
        self.abort.abort();
    }

    /// What the handler said goes to the newest stream of its result, if there is one and it has room.
    pub(crate) fn pass_on(&self, said: Outgoing) {
        let Outgoing::Notification(mut said) = said else {
            return;
        };
        let Some((_, stream)) = self.state().stream.clone() else {
            return;
        };
        relate_params(&mut said.params, &self.id);
        let _lost = stream.send(said).now_or_never();
    }

    /// Joins a `tasks/result`; it is the newest from now on.
    pub(crate) fn attach(&self, stream: Outbox) -> Attached<'_> {
        let mut key = 0;
        self.state.send_modify(|state| {
            state.streams += 1;
            key = state.streams;
            state.stream = Some((key, stream));
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

    /// Whether the questions of that round are still its own to put.
    pub(crate) fn may_ask(&self, round: usize, state: &State) -> bool {
        state.stage.asks() && state.round == round && self.is_newest(state)
    }

    fn is_newest(&self, state: &State) -> bool {
        let newest = state.stream.as_ref();
        newest.is_some_and(|(key, _)| *key == self.key)
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        self.entry.state.send_if_modified(|state| {
            if self.is_newest(state) {
                state.stream = None;
            }
            false
        });
    }
}

/// Says in the `_meta` of a message which task it belongs to (2025-11-25, "Associating Task-Related Messages").
pub(crate) fn relate(meta: &mut Map<String, Value>, task: &str) {
    meta.insert(META_RELATED_TASK.to_owned(), json!({ "taskId": task }));
}

/// The same in the params of a message.
pub(crate) fn relate_params(params: &mut Map<String, Value>, task: &str) {
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        relate(meta, task);
    }
}

impl fmt::Debug for Entry {
    /// Shows no whole id: whoever knows it may be who it belongs to.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id: String = self.id.chars().take(8).collect();
        formatter
            .debug_struct("Task")
            .field("id", &id)
            .finish_non_exhaustive()
    }
}
