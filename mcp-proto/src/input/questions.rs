//! Questions that are asked together, and the reading of an answer.

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::{
    CreateMessage, CreateMessageResult, ElicitForm, ElicitResult, ElicitUrl, Root, balance,
    missing_capability,
};
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::ClientCapabilities;
use crate::version::ProtocolVersion;

/// Several questions to the client, each under its own key.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct Questions(Vec<(String, Question)>);

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Question {
    Form(Box<ElicitForm>),
    Url(ElicitUrl),
    Sample(Box<CreateMessage>),
    Roots,
}

/// The answer to a question, in the form that the question requires.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Elicited(ElicitResult),
    Sampled(Box<CreateMessageResult>),
    Roots(Vec<Root>),
}

/// The request that carries a question.
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

    /// Adds a form.
    pub fn elicit(mut self, key: impl Into<String>, form: ElicitForm) -> Self {
        self.push(key, Question::Form(Box::new(form)));
        self
    }

    /// Adds a URL to open.
    pub fn elicit_url(mut self, key: impl Into<String>, url: ElicitUrl) -> Self {
        self.push(key, Question::Url(url));
        self
    }

    /// Adds a request to the client's model.
    pub fn sample(mut self, key: impl Into<String>, message: CreateMessage) -> Self {
        self.push(key, Question::Sample(Box::new(message)));
        self
    }

    /// Adds a request for the client's roots.
    pub fn roots(mut self, key: impl Into<String>) -> Self {
        self.push(key, Question::Roots);
        self
    }

    /// How many questions there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no questions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Question)> {
        self.0.iter().map(|(key, question)| (key.as_str(), question))
    }

    /// A question with an existing key replaces the earlier one.
    pub(crate) fn push(&mut self, key: impl Into<String>, question: Question) {
        let key = key.into();
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = question,
            None => self.0.push((key, question)),
        }
    }
}

impl Question {
    /// Why a client cannot be asked this question, if so.
    pub(crate) fn refusal(
        &self,
        client: &ClientCapabilities,
        version: ProtocolVersion,
    ) -> Option<ErrorObject> {
        use ProtocolVersion as Version;
        let (can, since, needed) = match self {
            Self::Form(_) => (
                client.can_elicit_forms(),
                Version::V2025_06_18,
                json!({ "elicitation": { "form": {} } }),
            ),
            Self::Url(_) => (
                client.can_elicit_urls(),
                Version::V2025_11_25,
                json!({ "elicitation": { "url": {} } }),
            ),
            Self::Sample(message) if message.needs_tools() => (
                client.can_sample_with_tools(),
                Version::V2025_11_25,
                json!({ "sampling": { "tools": {} } }),
            ),
            Self::Sample(_) => {
                let needed = json!({ "sampling": {} });
                (client.can_sample(), Version::V2024_11_05, needed)
            }
            Self::Roots => {
                let needed = json!({ "roots": {} });
                (client.has_roots(), Version::V2024_11_05, needed)
            }
        };
        if !can {
            return Some(missing_capability(version.era(), &needed));
        }
        if version < since {
            return Some(ErrorObject::invalid_params(format!(
                "this needs {needed}, which clients have since {since}; this client speaks {version}"
            )));
        }
        let newer = ProtocolVersion::V2025_11_25;
        match self {
            Self::Form(form) if form.has_several_choices() && version < newer => {
                Some(ErrorObject::invalid_params(format!(
                    "this needs a form with several choices in one field, which clients show since {newer}; \
                     this client speaks {version}"
                )))
            }
            _ => None,
        }
    }

    /// What is wrong with the question itself, if anything: its author's mistake.
    pub(crate) fn problem(&self) -> Option<String> {
        match self {
            Self::Form(form) => form.problem(),
            Self::Url(url) => url.problem(),
            Self::Sample(message) => balance::check(message).err(),
            Self::Roots => None,
        }
    }

    /// The request as a revision defines it.
    pub(crate) fn to_request(&self, version: ProtocolVersion) -> SentRequest {
        let (method, params) = match self {
            Self::Form(form) => ("elicitation/create", form.to_params(version)),
            Self::Url(url) => ("elicitation/create", url.to_params(version)),
            Self::Sample(message) => ("sampling/createMessage", message.to_params(version)),
            Self::Roots => ("roots/list", Map::new()),
        };
        SentRequest { method, params }
    }

    /// Reads an answer to it, or returns what is wrong with the answer.
    pub(crate) fn read(&self, answer: &Value) -> Result<Answer, String> {
        match self {
            Self::Form(form) => form.read(answer).map(Answer::Elicited),
            Self::Url(_) => ElicitUrl::read(answer).map(Answer::Elicited),
            Self::Sample(message) => message.read(answer).map(Box::new).map(Answer::Sampled),
            Self::Roots => read_roots(answer).map(Answer::Roots),
        }
    }
}

fn read_roots(answer: &Value) -> Result<Vec<Root>, String> {
    let roots = answer.get("roots").and_then(Value::as_array);
    let roots = roots.ok_or("an object with the array roots is wanted")?;
    let read = |root: &Value| {
        let root = Root::deserialize(root).map_err(|problem| format!("a root: {problem}"))?;
        if root.uri.starts_with("file://") {
            return Ok(root);
        }
        Err("the uri of a root must begin with file://".to_owned())
    };
    roots.iter().map(read).collect()
}
