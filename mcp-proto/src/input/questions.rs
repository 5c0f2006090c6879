//! What is asked at once, and what came back.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    CreateMessage, CreateMessageResult, ElicitForm, ElicitResult, ElicitUrl, Root, balance,
    has_urls,
};
use crate::interrupt::Interrupt;
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::ClientCapabilities;
use crate::version::{Era, ProtocolVersion};

/// Several questions to the client, each under a key of its own.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct Questions(Vec<(String, Question)>);

/// The answers to [`Questions`], by the same keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers(pub(super) BTreeMap<String, Value>);

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Question {
    Form(Box<ElicitForm>),
    Url(ElicitUrl),
    Sample(Box<CreateMessage>),
    Roots,
}

/// A question as the request that carries it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SentRequest {
    pub(crate) method: &'static str,
    pub(crate) params: Map<String, Value>,
}

impl Questions {
    /// No question yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// And a form.
    pub fn elicit(mut self, key: impl Into<String>, form: ElicitForm) -> Self {
        self.push(key, Question::Form(Box::new(form)));
        self
    }

    /// And a URL to open.
    pub fn elicit_url(mut self, key: impl Into<String>, url: ElicitUrl) -> Self {
        self.push(key, Question::Url(url));
        self
    }

    /// And something for the client's model.
    pub fn sample(mut self, key: impl Into<String>, message: CreateMessage) -> Self {
        self.push(key, Question::Sample(Box::new(message)));
        self
    }

    /// And the client's roots.
    pub fn roots(mut self, key: impl Into<String>) -> Self {
        self.push(key, Question::Roots);
        self
    }

    /// Whether there is no question.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Question)> {
        self.0
            .iter()
            .map(|(key, question)| (key.as_str(), question))
    }

    /// A key that is there already asks the new question instead.
    pub(crate) fn push(&mut self, key: impl Into<String>, question: Question) {
        let key = key.into();
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = question,
            None => self.0.push((key, question)),
        }
    }
}

impl Answers {
    /// What the user made of a form or a URL.
    ///
    /// # Errors
    /// −32603 for a key that was not asked.
    pub fn elicited(&self, key: &str) -> Result<ElicitResult, Interrupt> {
        self.get(key)
    }

    /// What the client's model said.
    ///
    /// # Errors
    /// −32603 for a key that was not asked.
    pub fn sampled(&self, key: &str) -> Result<CreateMessageResult, Interrupt> {
        self.get(key)
    }

    /// The client's roots.
    ///
    /// # Errors
    /// −32603 for a key that was not asked.
    pub fn roots(&self, key: &str) -> Result<Vec<Root>, Interrupt> {
        #[derive(serde::Deserialize)]
        struct Roots {
            roots: Vec<Root>,
        }
        self.get(key).map(|Roots { roots }| roots)
    }

    fn get<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<T, Interrupt> {
        let answer = self.0.get(key).cloned();
        answer
            .and_then(|answer| serde_json::from_value(answer).ok())
            .ok_or_else(|| {
                tracing::error!(
                    key,
                    "a handler reads the answer to a question of another kind, or to none"
                );
                ErrorObject::internal().into()
            })
    }
}

impl Question {
    /// The capability that the client lacks for it, as the object that declares it.
    pub(crate) fn missing(
        &self,
        client: &ClientCapabilities,
        version: ProtocolVersion,
    ) -> Option<Value> {
        let (can, needed) = match self {
            Self::Form(_) => (
                client.can_elicit_forms(),
                json!({ "elicitation": { "form": {} } }),
            ),
            Self::Url(_) => (
                client.can_elicit_urls() && has_urls(version),
                json!({ "elicitation": { "url": {} } }),
            ),
            Self::Sample(message) if message.needs_tools() => (
                client.can_sample_with_tools(),
                json!({ "sampling": { "tools": {} } }),
            ),
            Self::Sample(_) => (client.can_sample(), json!({ "sampling": {} })),
            Self::Roots => (client.has_roots(), json!({ "roots": {} })),
        };
        (!can).then_some(needed)
    }

    /// −32603 for what must not be asked of anybody: the server's own fault.
    pub(super) fn judge(&self) -> Result<(), ErrorObject> {
        let Self::Sample(message) = self else {
            return Ok(());
        };
        balance::check(message).map_err(|problem| {
            tracing::error!(
                problem,
                "a handler asks for sampling in a way that is not allowed"
            );
            ErrorObject::internal()
        })
    }

    /// The request in the words of a revision.
    pub(crate) fn to_request(&self, version: ProtocolVersion) -> SentRequest {
        let (method, params) = match self {
            Self::Form(form) => ("elicitation/create", form.to_params(version)),
            Self::Url(url) => ("elicitation/create", url.to_params(version)),
            Self::Sample(message) => ("sampling/createMessage", message.to_params()),
            Self::Roots => ("roots/list", Map::new()),
        };
        SentRequest { method, params }
    }

    /// −32602 for what is no answer to it.
    pub(crate) fn check(&self, key: &str, answer: &Value, era: Era) -> Result<(), ErrorObject> {
        let problem = match self {
            Self::Form(form) => form.check(answer),
            Self::Url(_) => ElicitResult::read(answer).map(drop),
            Self::Sample(message) => message.check(answer),
            Self::Roots => check_roots(answer),
        };
        problem.map_err(|problem| {
            let place = match era {
                Era::Modern => format!("params.inputResponses[{key:?}]"),
                Era::Legacy => format!(
                    "the answer to {}",
                    self.to_request(ProtocolVersion::LATEST_LEGACY).method
                ),
            };
            ErrorObject::invalid_params(format!("{place}: {problem}"))
        })
    }
}

fn check_roots(answer: &Value) -> Result<(), String> {
    let roots = answer.get("roots").and_then(Value::as_array);
    let roots = roots.ok_or("an object with the array roots is wanted")?;
    for root in roots {
        let uri = root.get("uri").and_then(Value::as_str);
        if !uri.is_some_and(|uri| uri.starts_with("file://")) {
            return Err("the uri of a root must begin with file://".to_owned());
        }
        if root
            .get("name")
            .is_some_and(|name| !name.is_string() && !name.is_null())
        {
            return Err("the name of a root must be a string".to_owned());
        }
    }
    Ok(())
}
