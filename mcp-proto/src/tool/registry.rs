//! The tools of a server: looked up, checked, called.

use std::collections::HashMap;
use std::fmt;
use std::future::{Future, ready};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{CallToolResult, Tool, ToolError};
use crate::content;
use crate::context::Context;
use crate::interrupt::Interrupt;
use crate::json;
use crate::jsonrpc::{ErrorObject, RequestId};
use crate::schema::{self, CompiledSchema, Finding, MirroredParam, Nulls, SchemaError};
use crate::task::TaskSupport;

/// The longest name of a tool (MCP 2025-11-25, "Tool names").
const MAX_NAME: usize = 128;

/// A handler whose types are erased: arguments and context in, a result out.
type Handler = Box<
    dyn Fn(Value, Context) -> BoxFuture<'static, Result<CallToolResult, ToolError>> + Send + Sync,
>;

/// Words the failure of a call whose arguments do not fit, by the name of the tool, the arguments and what is wrong.
pub(crate) type Refuse = Box<dyn Fn(&str, &Value, &[Finding]) -> ToolError + Send + Sync>;

/// Tools in the order of their registration, which is the order they are listed in.
#[derive(Default)]
pub(crate) struct ToolRegistry {
    tools: Vec<Registered>,
    by_name: HashMap<String, usize>,
    /// The parameters that headers repeat, of the tools that have any.
    mirrored: HashMap<String, Box<[MirroredParam]>>,
    /// The application's own words for arguments that do not fit.
    refuse: Option<Refuse>,
}

/// A tool that neither asks its client nor becomes a task.
#[derive(Clone, Copy)]
pub(crate) struct Plain<'r>(&'r Registered);

/// A call of a tool whose arguments were judged. Nothing of its handler has run yet.
pub(crate) struct Started<'r> {
    registered: &'r Registered,
    request_id: RequestId,
    call: Result<BoxFuture<'static, Result<CallToolResult, ToolError>>, Box<ToolError>>,
}

struct Registered {
    tool: Tool,
    input: CompiledSchema,
    output: Option<CompiledSchema>,
    /// Results are checked against `output`.
    checked: bool,
    nulls: Nulls,
    handler: Handler,
    /// Neither listed nor called.
    hidden: AtomicBool,
}

impl ToolRegistry {
    /// Adds a tool whose schemas are derived from its handler's types.
    pub(crate) fn add_typed<S, A, O, F, R>(
        &mut self,
        mut tool: Tool,
        state: S,
        handler: F,
    ) -> Result<(), SchemaError>
    where
        S: Clone + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        if tool.output_schema.is_some() {
            return Err(derived("output"));
        }
        tool.output_schema = Some(schema::output_schema_of::<O>()?);
        // What is sent fits the schema of its type.
        tool.trusted_output = true;
        let handler = Arc::new(handler);
        self.add_content(tool, state, move |state, arguments, context| {
            let handler = handler.clone();
            async move { CallToolResult::structured(&handler(state, arguments, context).await?) }
        })
    }

    /// Adds a tool whose arguments have a type and whose handler makes the result by hand.
    pub(crate) fn add_content<S, A, F, R>(
        &mut self,
        mut tool: Tool,
        state: S,
        handler: F,
    ) -> Result<(), SchemaError>
    where
        S: Clone + Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(S, A, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        if !tool.input_schema.is_null() {
            return Err(derived("input"));
        }
        tool.input_schema = schema::input_schema_of::<A>()?;
        let name: Arc<str> = tool.name.as_str().into();
        let handler = Arc::new(handler);
        self.add(
            tool,
            Nulls::TakeOut,
            Box::new(move |arguments, context| {
                let (state, handler, name) = (state.clone(), handler.clone(), name.clone());
                // Inside the future, so that a panic of the handler's synchronous part is caught too.
                Box::pin(async move {
                    let arguments = read(arguments).map_err(|problem| {
                        let finding = Finding::new("", &problem.to_string());
                        ToolError::invalid_arguments(&name, &[finding])
                    })?;
                    handler(state, arguments, context).await
                })
            }),
        )
    }

    /// Adds a tool whose schemas are written by hand.
    pub(crate) fn add_raw<S, F, R>(
        &mut self,
        tool: Tool,
        state: S,
        handler: F,
    ) -> Result<(), SchemaError>
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Map<String, Value>, Context) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, ToolError>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.add(
            tool,
            Nulls::Keep,
            Box::new(move |arguments, context| {
                let (state, handler) = (state.clone(), handler.clone());
                Box::pin(async move {
                    // The caller made it an object.
                    let arguments = match arguments {
                        Value::Object(arguments) => arguments,
                        _ => Map::new(),
                    };
                    handler(state, arguments, context).await
                })
            }),
        )
    }

    fn add(&mut self, tool: Tool, nulls: Nulls, handler: Handler) -> Result<(), SchemaError> {
        let name = &tool.name;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(allowed) {
            return Err(SchemaError(format!(
                "a tool's name has 1 to {MAX_NAME} of A-Z a-z 0-9 _ . -"
            )));
        }
        if self.by_name.contains_key(name) {
            return Err(SchemaError("another tool has the same name".to_owned()));
        }
        content::check_icons(&tool.icons).map_err(SchemaError)?;
        let input = CompiledSchema::of_arguments(tool.input_schema.clone())?;
        let mirrored = input.mirrored()?;
        let output = tool
            .output_schema
            .clone()
            .map(CompiledSchema::of_results)
            .transpose()?;
        // A result made by hand fits its schema as far as its author is right. Debug builds, and so the tests, check
        // whatever there is to check.
        let checked = cfg!(debug_assertions) || !tool.trusted_output;
        if !mirrored.is_empty() {
            self.mirrored.insert(name.clone(), mirrored.into());
        }
        self.by_name.insert(name.clone(), self.tools.len());
        self.tools.push(Registered {
            tool,
            input,
            output,
            checked,
            nulls,
            handler,
            hidden: AtomicBool::new(false),
        });
        Ok(())
    }

    pub(crate) fn refuse_with(&mut self, refuse: Refuse) {
        self.refuse = Some(refuse);
    }

    /// The tools as they are listed.
    pub(crate) fn list(&self) -> impl Iterator<Item = &Tool> {
        let shown = self.tools.iter().filter(|registered| registered.is_shown());
        shown.map(|registered| &registered.tool)
    }

    /// Hides or shows tools. Whether that changes anything; `None`, and nothing does, if there is no tool of one of these
    /// names.
    pub(crate) fn set_hidden(&self, names: &[&str], hidden: bool) -> Option<bool> {
        let tools: Option<Vec<&Registered>> = names.iter().map(|name| self.get(name)).collect();
        let changed = tools?
            .into_iter()
            .filter(|tool| tool.hidden.swap(hidden, Ordering::Relaxed) != hidden);
        Some(changed.count() > 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether there is a tool of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.shown(name).is_some()
    }

    /// Whether a tool says that it only reads.
    pub(crate) fn only_reads(&self, name: &str) -> bool {
        self.get(name).is_some_and(|it| it.tool.only_reads())
    }

    /// Hides the tools that do not say that they only read.
    pub(crate) fn hide_writing(&self) {
        for registered in self.tools.iter().filter(|it| !it.tool.only_reads()) {
            registered.hidden.store(true, Ordering::Relaxed);
        }
    }

    /// The parameters of a tool that headers repeat; none for a tool that is not known.
    pub(crate) fn mirrored(&self, name: &str) -> &[MirroredParam] {
        let mirrored = self
            .mirrored
            .get(name)
            .filter(|_| self.shown(name).is_some());
        mirrored.map(AsRef::as_ref).unwrap_or_default()
    }

    /// The tool of this name, if it neither asks its client nor becomes a task.
    pub(crate) fn plain(&self, name: &str) -> Option<Plain<'_>> {
        let registered = self.shown(name)?;
        let tool = &registered.tool;
        (!tool.asks && tool.task_support.is_forbidden()).then_some(Plain(registered))
    }

    /// Whether calls of a tool may become tasks, if there is such a tool.
    pub(crate) fn task_support(&self, name: &str) -> Option<TaskSupport> {
        Some(self.shown(name)?.tool.task_support)
    }

    /// `tools/call`: unknown tools and malformed params are protocol errors, everything else is a result.
    ///
    /// # Errors
    /// What interrupts the call.
    pub(crate) async fn call(
        &self,
        params: Map<String, Value>,
        context: Context,
    ) -> Result<CallToolResult, Interrupt> {
        self.start(params, context)?.finish().await
    }

    /// The first half of [`call`](Self::call), which takes everything in: a caller that waits for the second half alone
    /// has a small future.
    pub(crate) fn start(
        &self,
        params: Map<String, Value>,
        context: Context,
    ) -> Result<Started<'_>, ErrorObject> {
        let (name, arguments) = split(params)?;
        let registered = self.shown(&name).ok_or_else(|| self.unknown(&name))?;
        Ok(registered.start(arguments, context, self.refuse.as_ref()))
    }

    /// The same for a tool that was looked up.
    pub(crate) fn start_plain<'r>(
        &'r self,
        Plain(registered): Plain<'r>,
        params: Map<String, Value>,
        context: Context,
    ) -> Result<Started<'r>, ErrorObject> {
        let (_, arguments) = split(params)?;
        Ok(registered.start(arguments, context, self.refuse.as_ref()))
    }

    /// A failure of a tool as its result, or what interrupts the call instead.
    pub(crate) fn failed(&self, name: &str, error: ToolError) -> Result<CallToolResult, Interrupt> {
        match self.get(name) {
            Some(registered) => registered.failed(error),
            None => error.into_result(),
        }
    }

    fn shown(&self, name: &str) -> Option<&Registered> {
        self.get(name).filter(|registered| registered.is_shown())
    }

    fn get(&self, name: &str) -> Option<&Registered> {
        self.by_name
            .get(name)
            .and_then(|&index| self.tools.get(index))
    }

    fn unknown(&self, name: &str) -> ErrorObject {
        let names = self.list().take(50).map(|tool| tool.name.as_str());
        let names: Vec<_> = names.collect();
        let shown: String = name.chars().take(MAX_NAME).collect();
        ErrorObject::invalid_params(format!("unknown tool {shown:?}"))
            .with_data(serde_json::json!({ "tools": names }))
    }
}

impl Registered {
    fn is_shown(&self) -> bool {
        !self.hidden.load(Ordering::Relaxed)
    }

    fn start(&self, arguments: Value, context: Context, refuse: Option<&Refuse>) -> Started<'_> {
        let request_id = context.request_id.clone();
        let call = match self.input.accept(arguments, self.nulls) {
            Ok(arguments) => Ok((self.handler)(arguments, context)),
            Err((arguments, findings)) => Err(Box::new(match refuse {
                Some(refuse) => refuse(&self.tool.name, &arguments, &findings),
                None => ToolError::invalid_arguments(&self.tool.name, &findings),
            })),
        };
        Started {
            registered: self,
            request_id,
            call,
        }
    }

    /// A failure as a result.
    fn failed(&self, error: ToolError) -> Result<CallToolResult, Interrupt> {
        Ok(self.told(error.into_result()?))
    }

    /// A result as clients can take it. Structured content keeps to the output schema (MCP "Output Schema"), that of a
    /// failure too: widely used clients check it alike, and throw. A failure that does not is told as text alone.
    fn told(&self, mut result: CallToolResult) -> CallToolResult {
        if let (true, Some(schema)) = (result.is_error, &self.output) {
            let fits = |json: &RawValue| {
                serde_json::from_str(json.get()).is_ok_and(|content| schema.check(&content).is_ok())
            };
            result.structured_content = result.structured_content.filter(|json| fits(json));
        }
        result
    }

    fn timed_out(&self) -> ToolError {
        let limit = self.tool.timeout.unwrap_or_default();
        ToolError::new(
            "TIMEOUT",
            format!(
                "{} did not finish within {} s",
                self.tool.name,
                limit.as_secs_f64()
            ),
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
        let content = result
            .structured_content
            .as_ref()
            .map(|json| serde_json::from_str(json.get()));
        let Some(Ok(content)) = content else {
            tracing::error!(
                tool = self.tool.name,
                "an output schema is published, but no structured content came"
            );
            return Err(ToolError::internal());
        };
        schema.check(&content).map_err(|findings| {
            tracing::error!(
                tool = self.tool.name,
                ?findings,
                "the result is not what the output schema says"
            );
            ToolError::internal()
        })
    }
}

impl<'r> Started<'r> {
    /// Runs the handler; its result, or what interrupts the call.
    // Not an `async fn`, whose future would keep the call twice.
    pub(crate) fn finish(
        self,
    ) -> impl Future<Output = Result<CallToolResult, Interrupt>> + Send + use<'r> {
        let Self {
            registered,
            request_id,
            call,
        } = self;
        let call = match call {
            Ok(call) => call,
            Err(refused) => return Either::Left(ready(registered.failed(*refused))),
        };
        let call = AssertUnwindSafe(call).catch_unwind();
        Either::Right(async move {
            let outcome = match registered.tool.timeout {
                None => call.await,
                Some(limit) => Box::pin(tokio::time::timeout(limit, call))
                    .await
                    .unwrap_or_else(|_| Ok(Err(registered.timed_out()))),
            };
            let outcome = outcome.unwrap_or_else(|_panic| {
                tracing::error!(tool = registered.tool.name, %request_id, "a tool panicked");
                Err(ToolError::internal())
            });
            let checked = outcome.and_then(|result| {
                registered.check_output(&result)?;
                Ok(registered.told(result))
            });
            checked.or_else(|error| registered.failed(error))
        })
    }
}

/// The name and the arguments of a call.
fn split(params: Map<String, Value>) -> Result<(String, Value), ErrorObject> {
    let (mut name, mut arguments) = (None, None);
    for (member, value) in params {
        match member.as_str() {
            "name" => name = Some(value),
            "arguments" => arguments = Some(value),
            _ => {}
        }
    }
    let wrong = |problem| Err(ErrorObject::invalid_params(problem));
    let Some(Value::String(name)) = name else {
        return wrong("tools/call needs params.name, a string");
    };
    match arguments {
        None | Some(Value::Null) => Ok((name, Value::Object(Map::new()))),
        Some(arguments @ Value::Object(_)) => Ok((name, arguments)),
        Some(_) => wrong("params.arguments must be an object"),
    }
}

/// A schema was written by hand that would be lost.
fn derived(which: &str) -> SchemaError {
    SchemaError(format!(
        "its {which} schema is derived from the handler's type: leave out the one written by hand, or use raw_tool"
    ))
}

/// Arguments as the handler's type.
fn read<A: DeserializeOwned>(arguments: Value) -> Result<A, serde_json::Error> {
    let whole = json::with_whole_numbers(&arguments);
    match (serde_json::from_value(arguments), whole) {
        (Err(_), Some(whole)) => serde_json::from_value(whole),
        (read, _) => read,
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.tools).finish()
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Registered")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}
