//! One task: its data, and the stages it goes through (`working` ⇄ `input_required` → one of the final stages).
//!
//! It is reported by a value that is watched, not by messages: a slow listener misses steps, and never the end.

mod together;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::AbortHandle;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{MAX_TASK_STATUS, Owner};
use crate::input::{Question, Questions};
use crate::jsonrpc::{ErrorObject, Payload};
use crate::outbox::Outbox;
use crate::version::ProtocolVersion;

/// A task. Once it has expired, it is only a name without contents.
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
    /// When it expires.
    pub(crate) expires: Instant,
    pub(super) home: Home,
    pub(crate) state: watch::Sender<State>,
    pub(super) abort: AbortHandle,
}

/// The place where a task runs and is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// In this server only.
    Here,
    /// In this server, and shared with other servers in a store.
    Shared,
    /// In another server, or in none any more. This is a copy of its record in the store.
    Elsewhere,
}

/// The parts of a task that change. As JSON they are what several servers share.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) stage: Stage,
    pub(super) message: Option<String>,
    pub(super) updated: SystemTime,
    /// The number of times that its handler has asked.
    pub(crate) round: usize,
    /// The keys of all its questions: none is used twice (2026-07-28, tasks extension).
    keys: BTreeSet<String>,
    /// The answers so far to the last questions, by the handler's keys, or why an answer will not come.
    answers: Answered,
    /// The streams that wait for its result (legacy era), the newest last, each with a unique number.
    #[serde(skip)]
    pub(crate) streams: Vec<(u64, Outbox)>,
    #[serde(skip)]
    pub(crate) next_stream: u64,
    /// The proposed end. It takes effect once it is written to the shared store.
    #[serde(skip)]
    ending: Option<Stage>,
    /// The version of the record that it was read from, if any.
    #[serde(skip)]
    pub(super) record: u64,
}

/// The answers to the questions that a task has asked together, or why one will not come: a name for programs and a
/// sentence.
pub(crate) type Answered = Result<BTreeMap<String, Value>, Box<Problem>>;

/// Why an answer will not come: a name for programs and a sentence.
pub(crate) type Problem = (Cow<'static, str>, String);

/// An open question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Open {
    /// The key that the client sees.
    pub(crate) key: String,
    /// The handler's key, which it may use again.
    asked: String,
    pub(crate) question: Question,
}

/// The stage of a task. Its JSON omits the result, which is stored separately.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Stage {
    Working,
    InputRequired(Vec<Open>),
    Completed(#[serde(skip, default = "together::no_result")] Payload),
    /// The tool reported a failure, which the legacy era counts as a failure of the task.
    ToolFailed(#[serde(skip, default = "together::no_result")] Payload),
    Failed(ErrorObject),
    Cancelled,
    /// It has expired and is not kept any more.
    Expired,
}

impl State {
    pub(super) fn new(now: SystemTime) -> Self {
        Self {
            stage: Stage::Working,
            message: None,
            updated: now,
            round: 0,
            keys: BTreeSet::new(),
            answers: Ok(BTreeMap::new()),
            streams: Vec::new(),
            next_stream: 0,
            ending: None,
            record: 0,
        }
    }

    fn move_to(&mut self, stage: Stage) {
        self.stage = stage;
        self.touch();
    }

    /// A key that was never used in this task, as similar to the handler's as possible.
    fn new_key(&mut self, asked: &str) -> String {
        let numbered = (2..).map(|number: usize| format!("{asked}-{number}"));
        let mut keys = std::iter::once(asked.to_owned()).chain(numbered);
        let unused = keys.find(|key| !self.keys.contains(key));
        let key = unused.unwrap_or_else(|| asked.to_owned());
        self.keys.insert(key.clone());
        key
    }

    /// Whether it has ended, or its end is proposed.
    pub(super) fn has_end(&self) -> bool {
        self.stage.is_over() || self.ending.is_some()
    }

    /// Whether its end is proposed and did not take effect yet.
    pub(super) fn is_ending(&self) -> bool {
        !self.stage.is_over() && self.ending.is_some()
    }

    /// Its progress, apart from its status message: its round, how many questions are open, whether it has an end.
    pub(super) fn step(&self) -> (usize, usize, bool) {
        let open = match &self.stage {
            Stage::InputRequired(open) => open.len(),
            _ => 0,
        };
        (self.round, open, self.has_end())
    }

    fn touch(&mut self) {
        // The clock may be set back, but the reported time must not go back.
        self.updated = self.updated.max(SystemTime::now());
    }
}

impl Stage {
    pub(crate) fn is_over(&self) -> bool {
        !matches!(self, Self::Working | Self::InputRequired(_))
    }

    pub(crate) fn asks(&self) -> bool {
        matches!(self, Self::InputRequired(_))
    }
}

impl Entry {
    /// The current state. Must not be held across an await.
    pub(crate) fn state(&self) -> watch::Ref<'_, State> {
        self.state.borrow()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(crate) fn say(&self, mut message: String) {
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

    /// The handler has asked and returned.
    pub(crate) fn ask(&self, questions: &Questions) {
        self.state.send_if_modified(|state| {
            if state.stage.is_over() {
                return false;
            }
            state.round += 1;
            let open = questions.iter().map(|(asked, question)| Open {
                key: state.new_key(asked),
                asked: asked.to_owned(),
                question: question.clone(),
            });
            let open = open.collect();
            state.move_to(Stage::InputRequired(open));
            true
        });
    }

    /// Waits until no question is open, and returns the answers of this round. Never resolves for a task that has
    /// ended: its handler is about to be dropped, and must not be called again meanwhile.
    pub(crate) async fn answered(&self) -> Answered {
        let mut state = self.subscribe();
        // Fails only when the sender is gone, which is in `self`.
        drop(state.wait_for(|state| !state.stage.asks()).await);
        let mut answers = None;
        self.state.send_if_modified(|state| {
            if !state.stage.is_over() {
                answers = Some(std::mem::replace(&mut state.answers, Ok(BTreeMap::new())));
            }
            false
        });
        match answers {
            Some(answers) => answers,
            None => std::future::pending().await,
        }
    }

    /// The open questions under these keys.
    pub(crate) fn open<'k>(&self, keys: impl Iterator<Item = &'k String>) -> Vec<Open> {
        let state = self.state();
        let Stage::InputRequired(open) = &state.stage else {
            return Vec::new();
        };
        keys.filter_map(|key| open.iter().find(|open| open.key == *key).cloned()).collect()
    }

    /// Takes the answers to open questions, and continues after the last one. Other answers are ignored.
    pub(super) fn answer(&self, answers: impl Iterator<Item = (String, Value)>) {
        self.state.send_if_modified(|state| {
            let Stage::InputRequired(open) = &mut state.stage else {
                return false;
            };
            let before = open.len();
            for (key, answer) in answers {
                if let Some(at) = open.iter().position(|open| open.key == key) {
                    let Open { asked, .. } = open.remove(at);
                    if let Ok(answers) = &mut state.answers {
                        answers.insert(asked, answer);
                    }
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

    /// An answer will not come: the task continues with that problem, if it still asks the questions of that round.
    /// Returns whether it did.
    pub(super) fn give_up(&self, round: usize, problem: Problem) -> bool {
        self.state.send_if_modified(|state| {
            let asks = state.stage.asks() && state.round == round;
            if asks {
                state.answers = Err(Box::new(problem));
                state.move_to(Stage::Working);
            }
            asks
        })
    }

    /// Ends it, once. Returns whether this call ended it. The handler is dropped if it still runs.
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
            state.answers = Ok(BTreeMap::new());
            state.message = message.or(state.message.take());
            state.move_to(stage);
            true
        });
        self.abort.abort();
        ended
    }

    /// It has expired: its contents are dropped, even if it is still held somewhere.
    pub(super) fn expire(&self) {
        self.state.send_modify(|state| {
            state.answers = Ok(BTreeMap::new());
            state.message = None;
            state.stage = Stage::Expired;
        });
        self.abort.abort();
    }
}

impl fmt::Debug for Entry {
    /// Does not show the whole id: a caller that knows it may have access to the task.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id: String = self.id.chars().take(8).collect();
        formatter.debug_struct("Task").field("id", &id).finish_non_exhaustive()
    }
}
