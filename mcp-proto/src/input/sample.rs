//! Sampling: a message from the client's model (MCP "Sampling"; with tools since 2025-11-25).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::balance;
use crate::content::{ContentBlock, Role};
use crate::version::ProtocolVersion;

/// A request to the client's model (schema: `CreateMessageRequestParams`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct CreateMessage {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The most tokens of the answer.
    pub max_tokens: u64,
    /// The system prompt; the client may change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// What matters in the choice of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// From 0 (least random) upward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts at which the answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// Metadata for the model's provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Tools that the model may use. The client must have declared `sampling.tools`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<SamplingTool>,
    /// Whether the model uses tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
}

/// One message of the conversation (schema: `SamplingMessage`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct SamplingMessage {
    /// The author of the message.
    pub role: Role,
    /// The content. A single piece is written as such, several as a list (since 2025-11-25).
    #[serde(with = "one_or_many")]
    pub content: Vec<SamplingContent>,
}

/// A piece of a message (schema: `SamplingMessageContentBlock`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SamplingContent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The bytes in Base64.
        data: String,
        /// Media type.
        mime_type: String,
    },
    /// A sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// The bytes in Base64.
        data: String,
        /// Media type.
        mime_type: String,
    },
    /// A call of a tool by the model.
    ToolUse {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments.
        input: Map<String, Value>,
    },
    /// The result of a tool.
    #[serde(rename_all = "camelCase")]
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// The result.
        content: Vec<ContentBlock>,
        /// Whether the tool failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// What matters in the choice of a model (schema: `ModelPreferences`); each from 0 to 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names or parts of names, in order of preference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ModelHint>,
    /// The priority of low cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    /// The priority of speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    /// The priority of intelligence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
}

/// A name or a part of a name of a model (schema: `ModelHint`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelHint {
    /// Such as `sonnet`.
    pub name: String,
}

/// A tool that the model may use while it is sampled (schema: `Tool`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// Whether the model uses tools (schema: `ToolChoice`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// At least one.
    Required,
    /// None.
    None,
}

/// The message that the client's model wrote (schema: `CreateMessageResult`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// The author of the message: the model.
    pub role: Role,
    /// Its content.
    #[serde(with = "one_or_many")]
    pub content: Vec<SamplingContent>,
    /// The model.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or another word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

impl CreateMessage {
    /// One message of the user, and the most tokens of the answer.
    pub fn text(text: impl Into<String>, max_tokens: u64) -> Self {
        Self::new([SamplingMessage::user(text)], max_tokens)
    }

    /// A conversation, and the most tokens of the answer. The rest are public fields.
    pub fn new(messages: impl Into<Vec<SamplingMessage>>, max_tokens: u64) -> Self {
        Self {
            messages: messages.into(),
            max_tokens,
            system_prompt: None,
            model_preferences: None,
            temperature: None,
            stop_sequences: Vec::new(),
            metadata: None,
            tools: Vec::new(),
            tool_choice: None,
        }
    }

    /// The same with a system prompt.
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// The same with a tool for the model.
    pub fn with_tool(mut self, tool: SamplingTool) -> Self {
        self.tools.push(tool);
        self
    }

    pub(super) fn needs_tools(&self) -> bool {
        !self.tools.is_empty() || self.tool_choice.is_some() || balance::has_tools(&self.messages)
    }

    pub(super) fn to_params(&self, version: ProtocolVersion) -> Map<String, Value> {
        // Before 2025-11-25 a message is one piece: several pieces become several messages.
        let split = self.messages.iter().any(|message| message.content.len() > 1)
            && version < ProtocolVersion::V2025_11_25;
        let message =
            if split { serde_json::to_value(self.split()) } else { serde_json::to_value(self) };
        match message {
            Ok(Value::Object(params)) => params,
            _ => Map::new(),
        }
    }

    fn split(&self) -> Self {
        let messages = self.messages.iter().flat_map(|message| {
            let pieces = message.content.iter().cloned();
            pieces.map(|piece| SamplingMessage::new(message.role, [piece]))
        });
        Self { messages: messages.collect(), ..self.clone() }
    }

    pub(super) fn read(&self, answer: &Value) -> Result<CreateMessageResult, String> {
        let said = CreateMessageResult::deserialize(answer)
            .map_err(|problem| format!("a CreateMessageResult is wanted: {problem}"))?;
        let uses_tools =
            said.content.iter().any(|content| matches!(content, SamplingContent::ToolUse { .. }));
        if uses_tools && self.tools.is_empty() {
            return Err("the model uses tools, although it was given none".to_owned());
        }
        Ok(said)
    }
}

impl SamplingMessage {
    /// A text from the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, [SamplingContent::text(text)])
    }

    /// A text from the model.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, [SamplingContent::text(text)])
    }

    /// A message of these pieces.
    pub fn new(role: Role, content: impl Into<Vec<SamplingContent>>) -> Self {
        Self { role, content: content.into() }
    }
}

impl SamplingContent {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl SamplingTool {
    /// A tool by its name, what it does, and the JSON Schema of its arguments.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        Self { name: name.into(), description: description.into(), input_schema }
    }
}

impl CreateMessageResult {
    /// What this model wrote, as one text. The rest are public fields.
    pub fn new(model: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![SamplingContent::Text { text: text.into() }],
            model: model.into(),
            stop_reason: None,
        }
    }

    /// All its text.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            SamplingContent::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Content of one piece or a list of pieces: clients before 2025-11-25 support only one piece.
mod one_or_many {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    use super::SamplingContent;

    pub(super) fn serialize<S: Serializer>(
        content: &[SamplingContent],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match content {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<SamplingContent>, D::Error> {
        let pieces = match Value::deserialize(deserializer)? {
            Value::Array(pieces) => pieces,
            one => vec![one],
        };
        let pieces = pieces.into_iter().map(serde_json::from_value);
        pieces.collect::<Result<_, _>>().map_err(serde::de::Error::custom)
    }
}
