//! The answers to questions that a handler asked together.

use std::collections::BTreeMap;

use crate::input::{Answer, CreateMessageResult, ElicitResult, Root};
use crate::interrupt::Interrupt;
use crate::jsonrpc::ErrorObject;

/// The answers to [`Questions`](crate::Questions), by the same keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers(pub(super) BTreeMap<String, Answer>);

impl Answers {
    /// The user's answer to a form or a URL.
    ///
    /// # Errors
    /// −32603 for a key without such a question.
    pub fn elicited(&self, key: &str) -> Result<ElicitResult, Interrupt> {
        match self.0.get(key) {
            Some(Answer::Elicited(answer)) => Ok(answer.clone()),
            other => Err(not_asked(key, other)),
        }
    }

    /// The message that the client's model wrote.
    ///
    /// # Errors
    /// −32603 for a key without such a question.
    pub fn sampled(&self, key: &str) -> Result<CreateMessageResult, Interrupt> {
        match self.0.get(key) {
            Some(Answer::Sampled(answer)) => Ok(CreateMessageResult::clone(answer)),
            other => Err(not_asked(key, other)),
        }
    }

    /// The client's roots.
    ///
    /// # Errors
    /// −32603 for a key without such a question.
    pub fn roots(&self, key: &str) -> Result<Vec<Root>, Interrupt> {
        match self.0.get(key) {
            Some(Answer::Roots(roots)) => Ok(roots.clone()),
            other => Err(not_asked(key, other)),
        }
    }
}

/// The handler's mistake: it reads the answer to a question that it has not asked.
fn not_asked(key: &str, answer: Option<&Answer>) -> Interrupt {
    tracing::error!(
        key,
        ?answer,
        "a handler reads the answer to a question that it did not ask under this key"
    );
    ErrorObject::internal().into()
}
