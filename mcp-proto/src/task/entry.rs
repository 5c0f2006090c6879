//! One task: what stays of it, and the stages it goes through (`working` ⇄ `input_required` → one of the ends).

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

/// A task. Held after its time, it is a name without contents.
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
    pub(super) home: Home,
    pub(crate) state: watch::Sender<State>,
    pub(super) abort: AbortHandle,
}

/// Where a task runs, and where it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// Here, and nothing else knows of it.
    Here,
    /// Here, and other servers know of it by a store.
    Shared,
    /// In another server, or in none any more: this is a copy of what the store has.
    Elsewhere,
}

/// What changes of a task. As JSON it is what several servers share of it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) stage: Stage,
    pub(super) message: Option<String>,
    pub(super) updated: SystemTime,
    /// How often its handler has asked.
    pub(crate) round: usize,
    /// The keys of all its questions: none is used twice (2026-07-28, tasks extension).
    keys: BTreeSet<String>,
    /// What has been answered of the questions that were asked last, by the handler's keys, or why an answer does not
    /// come.
    answers: Answered,
    /// Where its result is waited for (legacy era), the newest last, each by a number of its own.
    #[serde(skip)]
    pub(crate) streams: Vec<(u64, Outbox)>,
    #[serde(skip)]
    pub(crate) next_stream: u64,
    /// How it is to end, once the store has it that other servers share.
    #[serde(skip)]
    ending: Option<Stage>,
    /// The version of the record that it is from, if it is from one.
    #[serde(skip)]
    pub(super) record: u64,
}

/// The answers to what a task has asked at once, or why one does not come: a name for programs and a sentence.
pub(crate) type Answered = Result<BTreeMap<String, Value>, Box<Problem>>;

/// Why an answer does not come: a name for programs and a sentence.
pub(crate) type Problem = (Cow<'static, str>, String);

/// A question that is open.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Open {
    /// Its key for the client.
    pub(crate) key: String,
    /// Its key for the handler, which may ask it again.
    asked: String,
    pub(crate) question: Question,
}

/// How far a task has come. As JSON it is without the result, which is kept beside it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Stage {
    Working,
    InputRequired(Vec<Open>),
    Completed(#[serde(skip, default = "together::no_result")] Payload),
    /// The tool told a failure of its own, which the legacy era counts as one of the task.
    ToolFailed(#[serde(skip, default = "together::no_result")] Payload),
    Failed(ErrorObject),
    Cancelled,
    /// Its time is over, and it is kept no longer.
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

    /// A key that was never used in this task, as like the handler's as can be.
    fn new_key(&mut self, asked: &str) -> String {
        let numbered = (2..).map(|number: usize| format!("{asked}-{number}"));
        let mut keys = std::iter::once(asked.to_owned()).chain(numbered);
        let unused = keys.find(|key| !self.keys.contains(key));
        let key = unused.unwrap_or_else(|| asked.to_owned());
        self.keys.insert(key.clone());
        key
    }

    /// Whether it is over, or known how it is to end.
    pub(super) fn has_end(&self) -> bool {
        self.stage.is_over() || self.ending.is_some()
    }

    /// How far it has come, apart from what it says of itself: its round, how many questions are open, whether it has
    /// an end.
    pub(super) fn step(&self) -> (usize, usize, bool) {
        let open = match &self.stage {
            Stage::InputRequired(open) => open.len(),
            _ => 0,
        };
        (self.round, open, self.has_end())
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

    pub(crate) fn asks(&self) -> bool {
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

    /// The handler asks and is left.
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

    /// Waits until nothing is open; the answers of this round. Of a task that is over there are none: its handler is
    /// about to be dropped, and must not be called again meanwhile.
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
        keys.filter_map(|key| open.iter().find(|open| open.key == *key).cloned())
            .collect()
    }

    /// Takes the answers to open questions; after the last one it goes on. Others mean nothing.
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

    /// An answer does not come: it goes on to tell that, if it still asks what it asked in that round. Whether it did.
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
            state.answers = Ok(BTreeMap::new());
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
            state.answers = Ok(BTreeMap::new());
            state.message = None;
            state.stage = Stage::Expired;
        });
        self.abort.abort();
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
