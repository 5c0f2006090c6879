//! What the handler of a tool may return.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{CallToolResult, ToolError};
use crate::content::ContentBlock;
use crate::handler::Json;
use crate::schema::{self, SchemaError};

/// What a tool may return.
///
/// | type | result |
/// |---|---|
/// | `String`, `&'static str`, `Cow<'static, str>` | a block of text |
/// | [`Json<T>`](Json) | structured content with a published schema |
/// | [`ContentBlock`], and a `Vec` or an array of them | these blocks: text, pictures, links |
/// | `()` | no content |
/// | `Option` of any of these | for `None` no content; no schema is published |
/// | `Result` of any of these with [`ToolError`] | that, or the failure |
/// | [`CallToolResult`] | the whole result, made by the handler |
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "its handler returns `{Self}`",
    note = "to return it as structured content, return `Json<{Self}>`: that needs `serde::Serialize` and `schemars::JsonSchema`",
    note = "a tool returns `String`, `&'static str`, `Json<T>`, `ContentBlock`, a list of blocks, `()`, `CallToolResult`, or an `Option` or a `Result<_, ToolError>` of these"
)]
pub trait IntoToolResult: Sized {
    /// The JSON Schema of its structured content, which is published; `None` if it promises none.
    ///
    /// # Errors
    /// The type has no schema that clients accept.
    fn output_schema() -> Result<Option<Value>, SchemaError> {
        Ok(None)
    }

    /// The result.
    ///
    /// # Errors
    /// The failure of the tool.
    fn into_tool_result(self) -> Result<CallToolResult, ToolError>;
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::default())
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for Cow<'static, str> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::content([self]))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::content(self))
    }
}

impl<const N: usize> IntoToolResult for [ContentBlock; N] {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::content(self))
    }
}

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn output_schema() -> Result<Option<Value>, SchemaError> {
        schema::output_schema_of::<T>().map(Some)
    }

    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        CallToolResult::typed(&self.0)
    }
}

impl<T: IntoToolResult> IntoToolResult for Option<T> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        self.map_or_else(|| Ok(CallToolResult::default()), T::into_tool_result)
    }
}

// For one type of errors alone, so that a closure need not name it.
impl<T: IntoToolResult> IntoToolResult for Result<T, ToolError> {
    fn output_schema() -> Result<Option<Value>, SchemaError> {
        T::output_schema()
    }

    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        self?.into_tool_result()
    }
}
