//! Asking the client: elicitation, sampling and roots, written once for both eras.
//!
//! A handler asks through its [`Context`] and `?`: the answer, if the client has given it, or the handler is left with
//! an [`Interrupt`] and called again once the answer is there. What it does before a question, it does in every round;
//! what must happen once belongs behind the last question. A handler never waits for a client.
//!
//! The modern era gets an `input_required` result (2026-07-28, "Multi round-trip requests") whose sealed `requestState`
//! carries the answers of earlier rounds, so that nothing is kept in the server. A legacy client gets a request on the
//! stream of the call it is about.

mod balance;
mod elicit;
mod field;
mod questions;
mod sample;
mod typed;
mod urls;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::Context;
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::ClientCapabilities;
use crate::version::Era;

pub use elicit::{ElicitAction, ElicitForm, ElicitResult, ElicitUrl};
pub use field::{Choice, Field};
pub(crate) use questions::Question;
pub use questions::{Answers, Questions};
pub use sample::{
    CreateMessage, CreateMessageResult, ModelHint, ModelPreferences, SamplingContent,
    SamplingMessage, SamplingTool, ToolChoice,
};

/// The most questions that one call may have open at once ([`Context::ask`]).
pub const MAX_QUESTIONS: usize = 32;

/// The longest key of a question, in bytes.
pub const MAX_QUESTION_KEY_BYTES: usize = 128;

/// What the client has answered so far, by the key of the question.
#[derive(Debug, Default)]
pub(crate) struct Input {
    answers: BTreeMap<String, Value>,
    /// The keys that the handler has asked for in this round. What it did not ask is not kept for the next.
    used: Mutex<BTreeSet<String>>,
}

/// A folder that the client lets the server work in (schema: `Root`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// A `file://` URI.
    pub uri: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Context {
    /// Asks the user to fill in a form. `key` names the question among those of this call.
    ///
    /// # Errors
    /// Leaves the handler until the client has answered; for good if the client shows no forms (−32021 in the modern
    /// era) or answers with something that is no answer or not what the form asks for (−32602).
    pub fn elicit(&self, key: &str, form: &ElicitForm) -> Result<ElicitResult, Interrupt> {
        self.ask(&Questions::new().elicit(key, form.clone()))?
            .elicited(key)
    }

    /// Asks the user to open a URL: for secrets, payments and consent elsewhere. [`ElicitAction::Accept`] means that
    /// the user agreed to go there, not that anything has happened there yet. Nothing secret may be in the URL.
    ///
    /// # Errors
    /// As for [`Context::elicit`]; clients before 2025-11-25 open no URLs.
    pub fn elicit_url(&self, key: &str, url: &ElicitUrl) -> Result<ElicitAction, Interrupt> {
        self.ask(&Questions::new().elicit_url(key, url.clone()))?
            .elicited(key)
            .map(|answer| answer.action)
    }

    /// Asks the client's model. Deprecated since 2026-07-28, and still served.
    ///
    /// # Errors
    /// As for [`Context::elicit`].
    pub fn sample(
        &self,
        key: &str,
        message: &CreateMessage,
    ) -> Result<CreateMessageResult, Interrupt> {
        self.ask(&Questions::new().sample(key, message.clone()))?
            .sampled(key)
    }

    /// Asks for the folders the server may work in. Deprecated since 2026-07-28, and still served.
    ///
    /// # Errors
    /// As for [`Context::elicit`].
    pub fn list_roots(&self, key: &str) -> Result<Vec<Root>, Interrupt> {
        self.ask(&Questions::new().roots(key))?.roots(key)
    }

    /// Asks several things at once, at most [`MAX_QUESTIONS`] of them. Those that are answered already are not asked
    /// again.
    ///
    /// # Errors
    /// As for [`Context::elicit`]; −32603 and a line in the log for a question that cannot be asked at all, such as a
    /// form whose default is no answer to it.
    pub fn ask(&self, questions: &Questions) -> Result<Answers, Interrupt> {
        let mut open = Questions::new();
        let mut answers = BTreeMap::new();
        for (key, question) in questions.iter() {
            match self.input.as_ref().and_then(|input| input.answer(key)) {
                Some(answer) => {
                    let answer = question.read(answer);
                    let answer = answer.map_err(|problem| self.bad_answer(key, &problem))?;
                    answers.insert(key.to_owned(), answer);
                }
                None => {
                    if let Some(refusal) =
                        question.refusal(&self.client_capabilities, self.protocol_version)
                    {
                        return Err(refusal.into());
                    }
                    let problem = match key.len() {
                        0..=MAX_QUESTION_KEY_BYTES => question.problem(),
                        _ => Some(format!(
                            "its key is longer than {MAX_QUESTION_KEY_BYTES} bytes"
                        )),
                    };
                    if let Some(problem) = problem {
                        return Err(cannot_be_asked(key, &problem));
                    }
                    open.push(key, question.clone());
                }
            }
        }
        match open.len() {
            0 => Ok(Answers(answers)),
            1..=MAX_QUESTIONS => Err(Interrupt(Reason::Ask(Box::new(open)))),
            count => Err(cannot_be_asked(
                "",
                &format!("{count} questions at once are more than {MAX_QUESTIONS}"),
            )),
        }
    }

    /// −32602 for what is no answer to a question.
    pub(crate) fn bad_answer(&self, key: &str, problem: &str) -> ErrorObject {
        ErrorObject::invalid_params(match self.era() {
            Era::Modern => format!("params.inputResponses[{key:?}]: {problem}"),
            Era::Legacy => format!("the answer to {key:?}: {problem}"),
        })
    }

    /// Whether any question could be put to this client, so that what it takes to come back must be kept.
    pub(crate) fn can_be_asked(&self) -> bool {
        let capabilities: &ClientCapabilities = &self.client_capabilities;
        ["elicitation", "sampling", "roots"]
            .iter()
            .any(|name| capabilities.get(name).is_some())
    }
}

impl Interrupt {
    /// The request needs a capability that the client did not declare: −32021 and HTTP 400 in the modern era, −32602
    /// before. `required` is a `ClientCapabilities` object such as `{"sampling": {}}`.
    pub fn missing_capability(context: &Context, required: &Value) -> Self {
        missing_capability(context.era(), required).into()
    }
}

/// The refusal of a request that needs more than its client can do.
pub(crate) fn missing_capability(era: Era, required: &Value) -> ErrorObject {
    let message = format!("this needs a client that declares the capability {required}");
    match era {
        Era::Modern => ErrorObject::new(ErrorObject::MISSING_CLIENT_CAPABILITY, message)
            .with_data(serde_json::json!({ "requiredCapabilities": required })),
        // The code is the modern era's; a legacy client would not know it.
        Era::Legacy => ErrorObject::invalid_params(message),
    }
}

/// A mistake of the handler's author.
fn cannot_be_asked(key: &str, problem: &str) -> Interrupt {
    tracing::error!(key, problem, "a handler asks what cannot be asked");
    ErrorObject::internal().into()
}

impl Input {
    pub(crate) fn new(answers: BTreeMap<String, Value>) -> Self {
        Self {
            answers,
            used: Mutex::default(),
        }
    }

    fn answer(&self, key: &str) -> Option<&Value> {
        let answer = self.answers.get(key)?;
        self.used().insert(key.to_owned());
        Some(answer)
    }

    /// All answers.
    pub(crate) fn all(&self) -> BTreeMap<String, Value> {
        self.answers.clone()
    }

    /// The answers that the handler has asked for in this round.
    pub(crate) fn used_answers(&self) -> BTreeMap<String, Value> {
        let used = self.used();
        let answers = self.answers.iter();
        let answers = answers.filter(|(key, _)| used.contains(*key));
        answers
            .map(|(key, answer)| (key.clone(), answer.clone()))
            .collect()
    }

    fn used(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        // Nothing panics while it holds the keys.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
