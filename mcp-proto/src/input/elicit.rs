//! Elicitation: a form for the user to fill in, or a URL to open (MCP "Elicitation").

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Field;
use crate::version::{Era, ProtocolVersion};

/// A form of named fields (schema: `ElicitRequestFormParams`). Never ask for secrets in it.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct ElicitForm {
    message: String,
    fields: Vec<(String, Field)>,
}

/// A URL for the user to open (schema: `ElicitRequestURLParams`, since 2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ElicitUrl {
    message: String,
    url: String,
    /// Names it towards clients of 2025-11-25.
    id: String,
}

/// What the user made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Filled in and sent; or agreed to open the URL.
    Accept,
    /// Said no.
    Decline,
    /// Went away without saying.
    Cancel,
}

/// The user's answer (schema: `ElicitResult`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// What was filled in, checked against the form; empty unless a form was accepted.
    #[serde(default)]
    pub content: Map<String, Value>,
}

impl ElicitForm {
    /// A form without fields yet; `message` tells the user what it is for.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            fields: Vec::new(),
        }
    }

    /// The same with one more field.
    pub fn field(mut self, name: impl Into<String>, field: Field) -> Self {
        self.fields.push((name.into(), field));
        self
    }

    /// The form as JSON Schema (`requestedSchema`).
    fn schema(&self) -> Value {
        let required: Vec<_> = self
            .fields
            .iter()
            .filter(|(_, field)| field.is_required())
            .map(|(name, _)| name.as_str())
            .collect();
        let properties: Map<_, _> = self
            .fields
            .iter()
            .map(|(name, field)| (name.clone(), field.to_schema()))
            .collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty()
            && let Some(members) = schema.as_object_mut()
        {
            members.insert("required".to_owned(), json!(required));
        }
        schema
    }

    pub(super) fn to_params(&self, version: ProtocolVersion) -> Map<String, Value> {
        let mut params = Map::new();
        // Modes came with 2025-11-25, where a form need not say that it is one.
        if version >= ProtocolVersion::V2025_11_25 {
            params.insert("mode".to_owned(), json!("form"));
        }
        params.insert("message".to_owned(), json!(self.message));
        params.insert("requestedSchema".to_owned(), self.schema());
        params
    }

    pub(super) fn check(&self, answer: &Value) -> Result<(), String> {
        let answer = ElicitResult::read(answer)?;
        if answer.action != ElicitAction::Accept {
            return Ok(());
        }
        for (name, field) in &self.fields {
            match answer.content.get(name) {
                Some(value) => field
                    .check(value)
                    .map_err(|problem| format!("content.{name}: {problem}"))?,
                None if field.is_required() => return Err(format!("content.{name} is missing")),
                None => {}
            }
        }
        Ok(())
    }
}

impl ElicitUrl {
    /// A URL to open, and why.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            url: url.into(),
            id: uuid::Uuid::new_v4().to_string(),
        }
    }

    /// The same under a name of the server's own, by which [`Context::elicitation_complete`](crate::Context::elicitation_complete)
    /// tells a client of 2025-11-25 that what was to happen at the URL has happened. It must be unguessable.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    pub(crate) fn to_params(&self, version: ProtocolVersion) -> Map<String, Value> {
        let mut params = Map::new();
        params.insert("mode".to_owned(), json!("url"));
        params.insert("message".to_owned(), json!(self.message));
        params.insert("url".to_owned(), json!(self.url));
        if version.era() == Era::Legacy {
            params.insert("elicitationId".to_owned(), json!(self.id));
        }
        params
    }
}

impl ElicitResult {
    /// What was filled in, if the form was accepted.
    #[must_use]
    pub fn accepted(&self) -> Option<&Map<String, Value>> {
        (self.action == ElicitAction::Accept).then_some(&self.content)
    }

    /// A text that was filled in.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.accepted()?.get(field)?.as_str()
    }

    pub(super) fn read(answer: &Value) -> Result<Self, String> {
        let action = answer.get("action").and_then(Value::as_str);
        let action = match action {
            Some("accept") => ElicitAction::Accept,
            Some("decline") => ElicitAction::Decline,
            Some("cancel") => ElicitAction::Cancel,
            _ => {
                return Err(
                    "an object whose action is accept, decline or cancel is wanted".to_owned(),
                );
            }
        };
        let content = match answer.get("content") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(content)) => content.clone(),
            Some(_) => return Err("content must be an object".to_owned()),
        };
        Ok(Self { action, content })
    }
}
