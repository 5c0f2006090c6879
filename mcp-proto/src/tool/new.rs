//! Tools with handlers of any types, before they are added to a server.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::call::Handler;
use super::{CallToolResult, Tool, ToolError};
use crate::context::Context;
use crate::json;
use crate::schema::{self, Finding, Nulls, SchemaError};
use crate::service::with_state;

/// A tool with its handler, or what is wrong with its types.
pub(crate) struct NewTool {
    pub(crate) tool: Tool,
    pub(super) handler: Result<(Nulls, Handler), SchemaError>,
}

impl NewTool {
    /// A tool whose schemas are derived from its handler's types.
    pub(crate) fn typed<S, A, O, F, R>(mut tool: Tool, state: S, handler: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        if tool.output_schema.is_some() {
            return Self { tool, handler: Err(derived("output")) };
        }
        match schema::output_schema_of::<O>() {
            Ok(schema) => tool.output_schema = Some(schema),
            Err(problem) => return Self { tool, handler: Err(problem) },
        }
        // What is sent fits the schema of its type.
        tool.trusted_output = true;
        let handler = Arc::new(handler);
        Self::content(tool, state, move |state, arguments, context| {
            let handler = handler.clone();
            async move { CallToolResult::typed(&handler(state, arguments, context).await?) }
        })
    }

    /// A tool with typed arguments whose handler builds the result.
    pub(crate) fn content<S, A, F, R>(mut tool: Tool, state: S, handler: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        if !tool.input_schema.is_null() {
            return Self { tool, handler: Err(derived("input")) };
        }
        match schema::input_schema_of::<A>() {
            Ok(schema) => tool.input_schema = schema,
            Err(problem) => return Self { tool, handler: Err(problem) },
        }
        let name: Arc<str> = tool.name.as_str().into();
        let handler = Arc::new(handler);
        let handler = with_state(state, move |state, arguments, context| {
            let (handler, name) = (handler.clone(), name.clone());
            async move {
                let arguments = read(arguments).map_err(|(path, problem)| {
                    let finding = Finding::new(&path, &problem);
                    ToolError::invalid_arguments(&name, &[finding])
                })?;
                handler(state, arguments, context).await
            }
        });
        Self { tool, handler: Ok((Nulls::TakeOut, Box::new(handler))) }
    }

    /// A tool whose schemas are written by hand.
    pub(crate) fn raw<S, F, R>(tool: Tool, state: S, handler: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        let handler = with_state(state, move |state, arguments, context| {
            // The caller made it an object.
            let arguments = match arguments {
                Value::Object(arguments) => arguments,
                _ => Map::new(),
            };
            handler(state, arguments, context)
        });
        Self { tool, handler: Ok((Nulls::Keep, Box::new(handler))) }
    }
}

/// The error for a hand-written schema that would be ignored.
fn derived(which: &str) -> SchemaError {
    SchemaError(format!(
        "its {which} schema is derived from the handler's type: leave out the one written by hand, or use raw_tool"
    ))
}

/// Arguments as the handler's type.
fn read<A: DeserializeOwned>(arguments: Value) -> Result<A, (String, String)> {
    let whole = json::with_whole_numbers(&arguments);
    match (json::typed(arguments), whole) {
        (Err(_), Some(whole)) => json::typed(whole),
        (read, _) => read,
    }
}
