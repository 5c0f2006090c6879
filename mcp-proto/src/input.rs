//! Asking the client: elicitation, sampling and roots, written once for both eras.
//!
//! A handler asks through its [`Context`](crate::Context) and `?`. If the client has answered, the handler gets the
//! answer. If not, it returns with an [`Interrupt`](crate::Interrupt) and is called again once the answer has arrived.
//! Code before a question runs in every round, so what must happen once belongs after the last question. A handler
//! never waits for a client.
//!
//! The modern era gets an `input_required` result (2026-07-28, "Multi round-trip requests") whose sealed `requestState`
//! carries the answers of earlier rounds, so that nothing is kept in the server. A legacy client gets a request on the
//! stream of the call.

mod balance;
mod elicit;
mod field;
mod kept;
mod questions;
mod sample;
mod typed;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::jsonrpc::ErrorObject;
use crate::locked::Locked as _;
use crate::version::Era;

pub use elicit::{ElicitAction, ElicitForm, ElicitResult, ElicitUrl};
pub use field::{Choice, Field};
pub use questions::Questions;
pub(crate) use questions::{Answer, Question};
pub use sample::{
    CreateMessage, CreateMessageResult, ModelHint, ModelPreferences, SamplingContent,
    SamplingMessage, SamplingTool, ToolChoice,
};

/// The most questions that one call may have open at once ([`Context::ask`](crate::Context::ask)).
pub const MAX_QUESTIONS: usize = 32;

/// The longest key of a question, in bytes.
pub const MAX_QUESTION_KEY_BYTES: usize = 128;

/// The client's answers so far, by the key of the question.
#[derive(Debug, Default)]
pub(crate) struct Input {
    answers: BTreeMap<String, Value>,
    /// The keys that the handler has asked for in this round. Other answers are not kept for the next round.
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

impl Root {
    /// A folder without a name, by its `file://` URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None }
    }
}

/// The error for a request that needs a capability that its client lacks.
pub(crate) fn missing_capability(era: Era, required: &Value) -> ErrorObject {
    let message = format!("this needs a client that declares the capability {required}");
    match era {
        Era::Modern => ErrorObject::new(ErrorObject::MISSING_CLIENT_CAPABILITY, message)
            .with_data(serde_json::json!({ "requiredCapabilities": required })),
        // The code exists only in the modern era. A legacy client would not know it.
        Era::Legacy => ErrorObject::invalid_params(message),
    }
}

impl Input {
    pub(crate) fn new(answers: BTreeMap<String, Value>) -> Self {
        Self { answers, used: Mutex::default() }
    }

    pub(crate) fn answer(&self, key: &str) -> Option<&Value> {
        let answer = self.answers.get(key)?;
        self.used.locked().insert(key.to_owned());
        Some(answer)
    }

    /// All answers.
    pub(crate) fn all(&self) -> BTreeMap<String, Value> {
        self.answers.clone()
    }

    /// The answers that the handler has asked for in this round.
    pub(crate) fn used_answers(&self) -> BTreeMap<String, Value> {
        let used = self.used.locked();
        let answers = self.answers.iter();
        let answers = answers.filter(|(key, _)| used.contains(*key));
        answers.map(|(key, answer)| (key.clone(), answer.clone())).collect()
    }
}
