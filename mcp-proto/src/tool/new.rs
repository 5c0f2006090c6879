//! Tools with handlers of any types, before they are added to a server.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::call;
use super::{IntoToolResult, Tool, ToolError};
use crate::context::Context;
use crate::handler::{Handler, Taken};
use crate::json;
use crate::schema::{self, Finding, Nulls, SchemaError};
use crate::service::with_state;

/// A tool with its handler, or what is wrong with its types.
pub(crate) struct NewTool {
    pub(crate) tool: Tool,
    pub(super) handler: Result<(Nulls, call::Handler), SchemaError>,
}

impl NewTool {
    /// A tool whose schemas are derived from its handler's types.
    pub(crate) fn typed<S, T, H>(mut tool: Tool, state: S, handler: H) -> Self
    where
        S: Clone + Send + Sync + 'static,
        T: Taken<Arguments: DeserializeOwned + JsonSchema + Send + 'static>,
        H: Handler<S, T> + Send + Sync + 'static,
        H::Future: Future<Output: IntoToolResult> + Send + 'static,
    {
        let derived = derive_input::<T::Arguments>(&mut tool)
            .and_then(|()| derive_output::<<H::Future as Future>::Output>(&mut tool));
        if let Err(problem) = derived {
            return Self { tool, handler: Err(problem) };
        }
        let shared = Arc::new((handler, tool.name.clone()));
        let handler: call::Handler = Box::new(move |arguments, context| {
            let (state, shared) = (state.clone(), Arc::clone(&shared));
            Box::pin(async move {
                let (handler, name) = &*shared;
                let arguments = read(arguments).map_err(|(path, problem)| {
                    let finding = Finding::new(&path, &problem);
                    ToolError::invalid_arguments(name, &[finding])
                })?;
                handler.call(state, arguments, context).await.into_tool_result()
            })
        });
        Self { tool, handler: Ok((Nulls::TakeOut, handler)) }
    }

    /// A tool whose input schema is written by hand.
    pub(crate) fn raw<S, F, R>(mut tool: Tool, state: S, handler: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output: IntoToolResult> + Send + 'static,
    {
        if let Err(problem) = derive_output::<R::Output>(&mut tool) {
            return Self { tool, handler: Err(problem) };
        }
        let handler = with_state(state, move |state, arguments, context| {
            // The caller made it an object.
            let arguments = match arguments {
                Value::Object(arguments) => arguments,
                _ => Map::new(),
            };
            let made = handler(state, arguments, context);
            async move { made.await.into_tool_result() }
        });
        Self { tool, handler: Ok((Nulls::Keep, Box::new(handler))) }
    }
}

fn derive_input<A: JsonSchema>(tool: &mut Tool) -> Result<(), SchemaError> {
    if !tool.input_schema.is_null() {
        return Err(SchemaError(
            "its input schema is derived from the handler's type: leave out the one written by hand, or use raw_tool"
                .to_owned(),
        ));
    }
    tool.input_schema = schema::input_schema_of::<A>()?;
    Ok(())
}

fn derive_output<O: IntoToolResult>(tool: &mut Tool) -> Result<(), SchemaError> {
    let Some(schema) = O::output_schema()? else {
        return Ok(());
    };
    if tool.output_schema.is_some() {
        return Err(SchemaError(
            "its output schema is derived from the handler's type: leave out the one written by hand, or return a \
             CallToolResult"
                .to_owned(),
        ));
    }
    tool.output_schema = Some(schema);
    // What is sent fits the schema of its type.
    tool.trusted_output = true;
    Ok(())
}

/// Arguments as the handler's type.
fn read<A: DeserializeOwned>(arguments: Value) -> Result<A, (String, String)> {
    let whole = json::with_whole_numbers(&arguments);
    match (json::typed(arguments), whole) {
        (Err(_), Some(whole)) => json::typed(whole),
        (read, _) => read,
    }
}
