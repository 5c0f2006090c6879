//! Elicitation: a form for the user to fill in, or a URL to open (MCP "Elicitation").

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Field;
use crate::schema;
use crate::version::{Era, ProtocolVersion};

/// A form of named fields (schema: `ElicitRequestFormParams`). Never ask for secrets in it.
///
/// The fields of a JSON object have no order: they are sent, and mostly shown, by name.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct ElicitForm {
    pub(super) message: String,
    pub(super) fields: Vec<(String, Field)>,
}

/// A URL for the user to open (schema: `ElicitRequestURLParams`, since 2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ElicitUrl {
    pub(super) message: String,
    pub(super) url: String,
    /// Identifies it for clients of 2025-11-25.
    pub(super) id: String,
}

/// The user's action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Filled in and sent; or agreed to open the URL.
    Accept,
    /// Declined.
    Decline,
    /// Dismissed it without a choice.
    Cancel,
}

/// The user's answer (schema: `ElicitResult`).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// The entered values, checked against the form: only its fields, without those that were left empty. Empty unless
    /// a form was accepted.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub content: Map<String, Value>,
}

impl ElicitResult {
    /// Filled in and sent with this content, or agreed to open the URL (without content). For a client's callback.
    pub fn accept(content: Map<String, Value>) -> Self {
        Self { action: ElicitAction::Accept, content }
    }

    /// Declined.
    pub fn decline() -> Self {
        Self { action: ElicitAction::Decline, content: Map::new() }
    }

    /// Dismissed it without a choice.
    pub fn cancel() -> Self {
        Self { action: ElicitAction::Cancel, content: Map::new() }
    }

    /// The entered values, if the form was accepted.
    pub fn accepted(&self) -> Option<&Map<String, Value>> {
        (self.action == ElicitAction::Accept).then_some(&self.content)
    }

    /// An entered text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.accepted()?.get(field)?.as_str()
    }
}

impl ElicitForm {
    /// A form without fields yet; `message` explains to the user what it is for.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), fields: Vec::new() }
    }

    /// The same with one more field; one of the same name is replaced.
    pub fn field(mut self, name: impl Into<String>, field: Field) -> Self {
        let name = name.into();
        match self.fields.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = field,
            None => self.fields.push((name, field)),
        }
        self
    }

    /// The form as JSON Schema (`requestedSchema`).
    fn schema(&self, version: ProtocolVersion) -> Value {
        let required: Vec<_> = self
            .fields
            .iter()
            .filter(|(_, field)| field.is_required())
            .map(|(name, _)| name.as_str())
            .collect();
        let properties: Map<_, _> = self
            .fields
            .iter()
            .map(|(name, field)| (name.clone(), field.to_schema(version)))
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
        // Modes came with 2025-11-25, where the mode of a form is optional.
        if version >= ProtocolVersion::V2025_11_25 {
            params.insert("mode".to_owned(), json!("form"));
        }
        params.insert("message".to_owned(), json!(self.message));
        params.insert("requestedSchema".to_owned(), self.schema(version));
        params
    }

    /// Whether it has a field that clients before 2025-11-25 cannot show.
    pub(super) fn has_several_choices(&self) -> bool {
        self.fields.iter().any(|(_, field)| field.has_several_choices())
    }

    /// What is wrong with the form itself, if anything.
    pub(super) fn problem(&self) -> Option<String> {
        self.fields.iter().find_map(|(name, field)| {
            let problem = field.problem()?;
            Some(format!("the field {name:?}: {problem}"))
        })
    }

    /// Reads an answer, keeping only the fields of this form, or returns what is wrong with it.
    pub(crate) fn read(&self, answer: &Value) -> Result<ElicitResult, String> {
        let action = read_action(answer)?;
        let mut content = Map::new();
        if action == ElicitAction::Accept {
            let none = Map::new();
            let given = match answer.get("content") {
                None | Some(Value::Null) => &none,
                Some(Value::Object(given)) => given,
                Some(_) => return Err("content must be an object".to_owned()),
            };
            for (name, field) in &self.fields {
                match given.get(name) {
                    None | Some(Value::Null) if !field.is_required() => {}
                    None | Some(Value::Null) => return Err(format!("content.{name} is missing")),
                    Some(value) => {
                        let value = field.read(value);
                        let value = value.map_err(|problem| format!("content.{name}: {problem}"));
                        content.insert(name.clone(), value?);
                    }
                }
            }
        }
        Ok(ElicitResult { action, content })
    }
}

impl ElicitUrl {
    /// A URL to open, and why.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), url: url.into(), id: uuid::Uuid::new_v4().to_string() }
    }

    /// The same with an id chosen by the server (`elicitationId`), which must be unguessable.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// What is wrong with the URL itself, if anything.
    pub(super) fn problem(&self) -> Option<String> {
        let unfit = schema::check_field(&json!({ "format": "uri" }), &json!(self.url)).is_err();
        unfit.then(|| format!("{:?} is not an absolute URL", self.url))
    }

    /// Reads an answer. For a URL it has no content.
    pub(crate) fn read(answer: &Value) -> Result<ElicitResult, String> {
        Ok(ElicitResult { action: read_action(answer)?, content: Map::new() })
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

fn read_action(answer: &Value) -> Result<ElicitAction, String> {
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => Ok(ElicitAction::Accept),
        Some("decline") => Ok(ElicitAction::Decline),
        Some("cancel") => Ok(ElicitAction::Cancel),
        _ => Err("an object whose action is accept, decline or cancel is wanted".to_owned()),
    }
}
