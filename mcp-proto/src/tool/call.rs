//! One tool and its calls: checks arguments, runs the handler, and adapts results to clients.
//!
//! A failure keeps its structured content only if the output schema allows it. Two official clients validate failures
//! against that schema, too, and throw: the model would never see the error.

use std::future::{Future, ready};
use std::iter;
use std::ops::Deref;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{CallToolResult, PreparedJson, Shape, Tool, ToolError, lenient};
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::json;
use crate::jsonrpc::{ErrorObject, RequestId, Result};
use crate::schema::{self, CompiledSchema, Finding, MirroredParam, Nulls, SchemaError};
use crate::service::{Call, Warned};
use crate::version::Era;

/// A handler whose types are erased: arguments and context in, a result out.
pub(super) type Handler = Box<
    dyn Fn(Value, Context) -> BoxFuture<'static, Result<CallToolResult, ToolError>> + Send + Sync,
>;

/// Makes the error of a call with invalid arguments, from the tool's name, the arguments and the findings.
pub(crate) type Refuse = Arc<dyn Fn(&str, &Value, &[Finding]) -> ToolError + Send + Sync>;

/// A tool that was looked up.
pub(crate) struct Callable(pub(super) Arc<Registered>);

/// A call of a tool whose arguments were judged. Nothing of its handler has run yet. It continues if the tool is
/// removed meanwhile.
pub(crate) struct Started {
    registered: Arc<Registered>,
    request_id: RequestId,
    call: Result<BoxFuture<'static, Result<CallToolResult, ToolError>>, Box<ToolError>>,
    /// What was taken although it is odd.
    warned: Option<Arc<Warned>>,
}

/// How much of a tool's result its client takes.
pub(crate) struct Room {
    registered: Arc<Registered>,
    /// The most bytes of the result.
    pub(crate) max: usize,
}

/// A tool as it was registered, which never changes.
pub(super) struct Registered {
    pub(super) tool: Tool,
    input: CompiledSchema,
    /// `None` also if results are trusted to fit a schema that this build cannot judge by.
    output: Option<CompiledSchema>,
    /// Results are checked against `output`.
    checked: bool,
    nulls: Nulls,
    handler: Handler,
    /// The parameters that headers repeat.
    pub(super) mirrored: Vec<MirroredParam>,
}

impl Callable {
    /// Whether it neither asks its client nor becomes a task.
    pub(crate) fn is_plain(&self) -> bool {
        let tool = &self.0.tool;
        !tool.asks && tool.task_support.is_forbidden()
    }

    /// The room that a result of it has, of which the client takes `max` bytes.
    pub(crate) fn room(self, max: usize) -> Room {
        Room { registered: self.0, max }
    }
}

impl Deref for Callable {
    type Target = Tool;

    fn deref(&self) -> &Tool {
        &self.0.tool
    }
}

impl Registered {
    /// Compiles the schemas of a tool.
    pub(super) fn new(tool: Tool, nulls: Nulls, handler: Handler) -> Result<Self, SchemaError> {
        let enforced = schema::enforced(&tool.input_schema, &tool.handler_checked)?;
        let input = CompiledSchema::of_arguments(enforced)?;
        let mirrored = schema::params_to_publish(&tool.input_schema)?;
        let output = match tool.output_schema.clone() {
            Some(schema) if tool.trusted_output => CompiledSchema::of_results_if_possible(schema)?,
            schema => schema.map(CompiledSchema::of_results).transpose()?,
        };
        // A result made by hand may not fit its schema. Debug builds, and so the tests, check every result.
        let checked = cfg!(debug_assertions) || !tool.trusted_output;
        Ok(Self { tool, input, output, checked, nulls, handler, mirrored })
    }

    /// Judges the arguments of a call.
    ///
    /// # Errors
    /// They are not an object.
    pub(super) fn start(self: Arc<Self>, call: Call, refuse: Option<&Refuse>) -> Result<Started> {
        let Call { arguments, context, warned, .. } = call;
        let request_id = context.request_id.clone();
        let call = match self.input.accept(as_arguments(arguments)?, self.nulls) {
            Ok(arguments) => Ok((self.handler)(arguments, context)),
            Err((arguments, mut findings)) => {
                lenient::name_nearest(&self.tool.input_schema, &arguments, &mut findings);
                Err(Box::new(match refuse {
                    Some(refuse) => refuse(&self.tool.name, &arguments, &findings),
                    None => ToolError::invalid_arguments(&self.tool.name, &findings),
                }))
            }
        };
        Ok(Started { registered: self, request_id, call, warned })
    }

    /// A failure as a result.
    pub(super) fn failed(&self, error: ToolError) -> Result<CallToolResult, Interrupt> {
        Ok(self.for_clients(error.into_result()?))
    }

    /// A result in the form that clients accept. Structured content must fit the output schema (MCP "Output Schema"),
    /// that of a failure too: widely used clients check both, and throw. A failure that does not fit is sent as text
    /// alone.
    fn for_clients(&self, mut result: CallToolResult) -> CallToolResult {
        // A failure is short, so that its parts are joined.
        if result.is_error
            && let Some(parts) = result.prepared.take()
            && let Ok(json) = RawValue::from_string(parts.joined())
        {
            let meta = result.meta;
            result = CallToolResult::from_json(json).with_error();
            result.meta = meta;
        }
        if result.is_error && self.tool.output_schema.is_some() {
            let fits = |json: &RawValue| {
                let schema = self.output.as_ref();
                let content = serde_json::from_str(json.get());
                schema.zip(content.ok()).is_some_and(|(schema, content)| schema.fits(&content))
            };
            result.structured_content = result.structured_content.filter(|json| fits(json));
        }
        result
    }

    fn timed_out(&self) -> ToolError {
        let limit = self.tool.timeout.unwrap_or_default();
        ToolError::new(
            "TIMEOUT",
            format!("{} did not finish within {} s", self.tool.name, limit.as_secs_f64()),
        )
    }

    /// A result that its own schema does not allow is a failure of the tool.
    fn check_output(&self, result: &CallToolResult) -> Result<(), ToolError> {
        if !self.checked || result.is_error {
            return Ok(());
        }
        let Some(schema) = &self.output else {
            return Ok(());
        };
        let joined = result.prepared.as_ref().map(PreparedJson::joined);
        let json = joined.as_deref().or(result.structured_json());
        let content = json.map(serde_json::from_str);
        let Some(Ok(content)) = content else {
            let problem = "an output schema is published, but no structured content came";
            return Err(ToolError::internal(problem));
        };
        schema.check(&content).map_err(|findings| {
            ToolError::internal(format!(
                "the result is not what the output schema says: {findings:?}"
            ))
        })
    }
}

impl Started {
    /// The room that a result has, of which the client takes `max` bytes.
    pub(crate) fn room(&self, max: usize) -> Room {
        Room { registered: Arc::clone(&self.registered), max }
    }

    /// Runs the handler; its result, or what interrupts the call.
    // Not an `async fn`, whose future would keep the call twice.
    pub(crate) fn finish(
        self,
    ) -> impl Future<Output = Result<CallToolResult, Interrupt>> + Send + use<> {
        let Self { registered, request_id, call, warned } = self;
        let call = match call {
            Ok(call) => call,
            Err(refused) => {
                let failed = registered.failed(*refused);
                return Either::Left(ready(failed.map(|result| result.with_warnings(warned))));
            }
        };
        let call = AssertUnwindSafe(call).catch_unwind();
        Either::Right(async move {
            let outcome = match registered.tool.timeout {
                None => call.await,
                Some(limit) => Box::pin(tokio::time::timeout(limit, call))
                    .await
                    .unwrap_or_else(|_| Ok(Err(registered.timed_out()))),
            };
            let outcome = outcome.unwrap_or_else(|_panic| Err(ToolError::internal("it panicked")));
            let checked = outcome.and_then(|result| {
                registered.check_output(&result)?;
                Ok(registered.for_clients(result))
            });
            let result = checked.or_else(|error| {
                error.log(&registered.tool.name, &request_id);
                registered.failed(error)
            });
            result.map(|result| result.with_warnings(warned))
        })
    }
}

impl Room {
    /// The shapes in which a result may be sent, the fullest first. Clients refuse a result without the structure that
    /// an output schema promises, except for a failure.
    pub(crate) fn shapes(
        &self,
        result: &CallToolResult,
        era: Era,
    ) -> impl Iterator<Item = Shape> + use<> {
        let tool = &self.registered.tool;
        let is_promised = tool.output_schema.is_some() && !result.is_error;
        let shorter = if tool.whole_results.is_some() {
            None
        } else if is_promised && result.has_structure(era) {
            result.is_mirrored().then_some(Shape::Structure)
        } else {
            Some(Shape::Text)
        };
        iter::once(Shape::SENT).chain(shorter)
    }

    /// The failure for a result that has this many bytes in its shortest shape.
    pub(crate) fn too_large(&self, bytes: usize) -> Result<CallToolResult, Interrupt> {
        let (tool, max) = (&self.registered.tool, self.max);
        let less = tool.whole_results.as_deref().unwrap_or("ask for less, or for a part of it");
        let message = format!(
            "the answer of {} has {bytes} bytes, and this connection takes at most {max}: {less}",
            tool.name
        );
        let error = ToolError::new("ANSWER_TOO_LARGE", message);
        self.registered.failed(error.with_data(json!({ "bytes": bytes, "limit": max })))
    }
}

/// The arguments of a call; none are an empty object.
fn as_arguments(arguments: Option<Value>) -> Result<Value> {
    let arguments = json::object_or_empty(arguments).map(Value::Object);
    arguments.ok_or_else(|| ErrorObject::invalid_params("params.arguments must be an object"))
}
