//! Prompts: how they are listed, and how they are filled in.

mod registry;
mod returns;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::{ContentBlock, Icon, Role};

pub(crate) use registry::{NewPrompt, PromptRegistry, unknown};
pub use returns::IntoPrompt;

/// A prompt as it is listed (schema: `Prompt`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct Prompt {
    /// Its name for programs, unique in the server.
    pub name: String,
    /// Its name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description of its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its arguments. Derived if the handler's arguments have a type; an enumeration in that type is a closed set of
    /// values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Its icons (since 2025-11-25).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

/// An argument of a prompt: always a string (schema: `PromptArgument`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Its name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is required.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// The values that it can have; any text if this is empty. Enforced, and offered for completion; not listed.
    #[serde(skip)]
    pub values: Vec<String>,
}

/// One message of a prompt (schema: `PromptMessage`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct PromptMessage {
    /// The author of the message.
    pub role: Role,
    /// The content, of any kind.
    pub content: ContentBlock,
}

/// The result of `prompts/get` (schema: `GetPromptResult`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// A description of the filled-in prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages for the model, in this order.
    pub messages: Vec<PromptMessage>,
    /// Metadata.
    #[serde(skip)]
    pub meta: Option<Map<String, Value>>,
}

impl Prompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            arguments: Vec::new(),
            icons: Vec::new(),
            meta: None,
        }
    }

    /// The same with a name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same with one more argument.
    pub fn with_argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

impl PromptArgument {
    /// An optional argument.
    pub fn optional(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            required: false,
            values: Vec::new(),
        }
    }

    /// A required argument.
    pub fn required(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { required: true, ..Self::optional(name, description) }
    }

    /// The same with the only values that it may have. They are enforced, and offered for completion unless
    /// [`ServerBuilder::complete_prompt`](crate::ServerBuilder::complete_prompt) sets a completer.
    pub fn with_values<T: Into<String>>(mut self, values: impl IntoIterator<Item = T>) -> Self {
        self.values = values.into_iter().map(Into::into).collect();
        self
    }
}

impl PromptMessage {
    /// A message from the user.
    pub fn user(content: ContentBlock) -> Self {
        Self { role: Role::User, content }
    }

    /// A message from the model.
    pub fn assistant(content: ContentBlock) -> Self {
        Self { role: Role::Assistant, content }
    }
}

impl GetPromptResult {
    /// A filled-in prompt with these messages.
    pub fn new(messages: impl Into<Vec<PromptMessage>>) -> Self {
        Self { description: None, messages: messages.into(), meta: None }
    }

    /// A filled-in prompt with one text message from the user.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([PromptMessage::user(ContentBlock::text(text))])
    }

    /// The same with a description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// About how many bytes it has.
    pub(crate) fn size(&self) -> usize {
        let messages = self.messages.iter();
        messages.map(|message| message.content.size()).sum()
    }
}
