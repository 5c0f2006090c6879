//! Asking the client: a handler gets the answer if it has arrived, or else returns with an [`Interrupt`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Answers, Context};
use crate::input::{
    CreateMessage, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl,
    MAX_QUESTION_KEY_BYTES, MAX_QUESTIONS, Questions, Root, missing_capability,
};
use crate::interrupt::{Interrupt, Reason};
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::ClientCapabilities;
use crate::version::Era;

impl Context {
    /// Asks the user to fill in a form. `key` names the question among those of this call.
    ///
    /// # Errors
    /// The handler returns, and is called again once the client has answered. The request fails if the client does not
    /// support forms (−32021 in the modern era), or sends something that is not an answer or does not match the form
    /// (−32602).
    pub fn elicit(&self, key: &str, form: &ElicitForm) -> Result<ElicitResult, Interrupt> {
        self.ask(&Questions::new().elicit(key, form.clone()))?.elicited(key)
    }

    /// Asks the user for a yes or a no, by a form without fields: whether the user accepted it.
    ///
    /// # Errors
    /// As for [`Context::elicit`].
    pub fn confirm(&self, key: &str, message: impl Into<String>) -> Result<bool, Interrupt> {
        Ok(self.elicit(key, &ElicitForm::new(message))?.accepted().is_some())
    }

    /// Asks the user to open a URL: for secrets, payments and consent on another site. [`ElicitAction::Accept`] means
    /// that the user agreed to go there, not that anything has happened there yet. Nothing secret may be in the URL.
    ///
    /// # Errors
    /// As for [`Context::elicit`]; clients before 2025-11-25 do not support URLs.
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
        self.ask(&Questions::new().sample(key, message.clone()))?.sampled(key)
    }

    /// Asks for the roots: the folders that the server may work in. Deprecated since 2026-07-28, and still served.
    ///
    /// # Errors
    /// As for [`Context::elicit`].
    pub fn list_roots(&self, key: &str) -> Result<Vec<Root>, Interrupt> {
        self.ask(&Questions::new().roots(key))?.roots(key)
    }

    /// Asks several questions at once, at most [`MAX_QUESTIONS`]. Questions that are already answered are not asked
    /// again.
    ///
    /// # Errors
    /// As for [`Context::elicit`]; −32603 and a line in the log for a question that cannot be asked at all, such as a
    /// form whose default does not fit its own field.
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
                        _ => Some(format!("its key is longer than {MAX_QUESTION_KEY_BYTES} bytes")),
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

    /// −32602 for something that is not an answer to the question.
    pub(crate) fn bad_answer(&self, key: &str, problem: &str) -> ErrorObject {
        ErrorObject::invalid_params(match self.era() {
            Era::Modern => format!("params.inputResponses[{key:?}]: {problem}"),
            Era::Legacy => format!("the answer to {key:?}: {problem}"),
        })
    }

    /// Whether this client can be asked any question. If so, the data for its next round must be kept.
    pub(crate) fn can_be_asked(&self) -> bool {
        let capabilities: &ClientCapabilities = &self.client_capabilities;
        ["elicitation", "sampling", "roots"].iter().any(|name| capabilities.get(name).is_some())
    }

    /// Asks the user to fill in a `T`; `None` if the user declined. Every member of `T` is a field of the form, with
    /// its documentation as its description; see [`ElicitForm::of`] for the types that are allowed.
    ///
    /// # Errors
    /// As for [`Context::elicit`]; −32603 and a line in the log for a type that cannot be a form.
    pub fn elicit_typed<T: JsonSchema + DeserializeOwned>(
        &self,
        key: &str,
        message: impl Into<String>,
    ) -> Result<Option<T>, Interrupt> {
        let form = ElicitForm::of::<T>(message)
            .map_err(|problem| cannot_be_asked(key, &problem.to_string()))?;
        let answer = self.elicit(key, &form)?;
        let content = answer.accepted().cloned().map(Value::Object);
        let filled_in = content.map(serde_json::from_value).transpose();
        // The type may have rules that its schema does not express.
        filled_in.map_err(|problem| {
            let error: ErrorObject = self.bad_answer(key, &problem.to_string());
            error.into()
        })
    }
}

impl Interrupt {
    /// The request needs a capability that the client did not declare: −32021 and HTTP 400 in the modern era, −32602
    /// before. `required` is a `ClientCapabilities` object such as `{"sampling": {}}`.
    pub fn missing_capability(context: &Context, required: &Value) -> Self {
        missing_capability(context.era(), required).into()
    }
}

/// A mistake of the handler's author.
fn cannot_be_asked(key: &str, problem: &str) -> Interrupt {
    tracing::error!(key, problem, "a handler asks what cannot be asked");
    ErrorObject::internal().into()
}
