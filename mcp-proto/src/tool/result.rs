//! What a call of a tool gives back: a result, or the tool's own failure.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::content::ContentBlock;
use crate::schema::Finding;

/// The result of `tools/call` (schema: `CallToolResult`).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CallToolResult {
    /// For the model to read.
    pub content: Vec<ContentBlock>,
    /// The same for programs, as JSON text. The legacy era knows objects alone: anything else is left out there.
    pub structured_content: Option<Box<RawValue>>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Metadata.
    pub meta: Option<Map<String, Value>>,
}

/// The tool could not do it. It reaches the model as `isError: true`, never as a protocol error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
#[non_exhaustive]
pub struct ToolError {
    /// A stable name in `UPPER_SNAKE`, such as `UNIVERSE_NOT_FOUND`.
    pub code: String,
    /// What was wrong and what would be right, for a model to act on.
    pub message: String,
    /// Details for programs.
    pub data: Option<Value>,
}

impl CallToolResult {
    /// One block of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            ..Self::default()
        }
    }

    /// A typed result: `structuredContent`, mirrored as one block of text. It is serialised once.
    ///
    /// # Errors
    /// [`ToolError`] of code `INTERNAL_ERROR` when the value cannot be written as JSON.
    pub fn structured(value: &impl Serialize) -> Result<Self, ToolError> {
        let json = to_raw_value(value).map_err(|error| {
            tracing::error!(%error, "a tool's result could not be serialised");
            ToolError::internal()
        })?;
        Ok(Self::from_json(json))
    }

    /// [`CallToolResult::structured`] for JSON text that exists already.
    #[must_use]
    pub fn from_json(json: Box<RawValue>) -> Self {
        Self {
            content: vec![ContentBlock::text(json.get())],
            structured_content: Some(json),
            ..Self::default()
        }
    }
}

impl ToolError {
    /// A failure with a code in `UPPER_SNAKE` and a sentence.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            data: None,
        }
    }

    /// The same with details.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// A failure whose details are for the log alone.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(
            "INTERNAL_ERROR",
            "the tool failed; the server's log has the details",
        )
    }

    /// Arguments that the tool's schema does not allow.
    pub(crate) fn invalid_arguments(tool: &str, findings: &[Finding]) -> Self {
        let mut message = format!("invalid arguments for {tool}: ");
        for (index, finding) in findings.iter().enumerate() {
            if index > 0 {
                message.push_str("; ");
            }
            if !finding.path.is_empty() {
                message.push_str(&finding.path);
                message.push_str(": ");
            }
            message.push_str(&finding.message);
        }
        Self::new("INVALID_ARGUMENTS", message).with_data(json!({ "findings": findings }))
    }

    /// The one body of every failure: `{"error":{"code","message","data"?}}`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(data), Some(members)) = (&self.data, error.as_object_mut()) {
            members.insert("data".to_owned(), data.clone());
        }
        json!({ "error": error })
    }
}

impl From<ToolError> for CallToolResult {
    fn from(error: ToolError) -> Self {
        let body = error.to_value();
        Self {
            content: vec![ContentBlock::text(body.to_string())],
            structured_content: to_raw_value(&body).ok(),
            is_error: true,
            meta: None,
        }
    }
}
