//! Tools: how they are listed and called, and what they return.

mod call;
mod error;
mod execution;
mod lenient;
mod new;
mod registry;
mod result;
mod returns;

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::Icon;
pub use crate::handler::Json;
use crate::task::TaskSupport;
use crate::version::{Era, ProtocolVersion};

pub(crate) use call::{Callable, Room, Started};
pub use error::ToolError;
pub(crate) use error::{RATE_LIMIT, TIME_LIMIT};
pub(crate) use lenient::take_habits;
pub(crate) use new::NewTool;
pub(crate) use registry::{ToolRegistry, unknown};
pub(crate) use result::Shape;
pub use result::{CallToolResult, PreparedJson};
pub use returns::IntoToolResult;

/// A tool as it is listed (schema: `Tool`).
///
/// Registered with [`ServerBuilder::tool`](crate::ServerBuilder::tool) its schemas are derived from the handler; with
/// [`ServerBuilder::raw_tool`](crate::ServerBuilder::raw_tool) they are set here, in JSON Schema 2020-12, or in
/// draft-07 if `$schema` names it. References stay within the schema; nothing is fetched.
///
/// Clients repeat a parameter with `x-mcp-header` in a header, and the two must agree; the [guide](crate::guide::tools)
/// shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct Tool {
    /// Its name for programs: 1–128 of `A-Z a-z 0-9 _ . -`, unique in the server.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description, written for a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the arguments; an object at its root.
    pub input_schema: Value,
    /// JSON Schema of `structuredContent`, which may be any JSON value; clients before 2026-07-28 only see schemas of
    /// objects. A result built by the handler that does not match is an internal failure of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints about its effects; the client must not trust them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Its icons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// Whether a call of it may become a task. Listed as `execution` in 2025-11-25; other revisions have no such
    /// member.
    #[serde(
        rename = "execution",
        default,
        with = "execution",
        skip_serializing_if = "TaskSupport::is_forbidden"
    )]
    pub task_support: TaskSupport,
    /// Whether its handler may ask the client something; see [`Tool::asking`].
    #[serde(skip)]
    pub asks: bool,
    /// How long a call may take before it becomes a [`ToolError`] of code `TIMEOUT`; no limit by default.
    #[serde(skip)]
    pub timeout: Option<Duration>,
    /// Whether release builds send structured results without a check against `output_schema`; see
    /// [`Tool::with_trusted_output`].
    #[serde(skip)]
    pub trusted_output: bool,
    /// The arguments that its handler checks itself; see [`Tool::with_handler_checked`].
    #[serde(skip)]
    pub handler_checked: Vec<String>,
    /// How to ask for a shorter result, if results are sent whole or not at all; see [`Tool::with_whole_results`].
    #[serde(skip)]
    pub whole_results: Option<String>,
}

/// Hints about what a tool does (schema: `ToolAnnotations`, since 2025-03-26).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct ToolAnnotations {
    /// Its name for people, if [`Tool::title`] is absent (revisions before 2025-06-18 have only this title).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It interacts with an open world of external entities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Tool {
    /// A tool that has no schemas yet. The description should explain to a model when to use it.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            input_schema: Value::Null,
            output_schema: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
            task_support: TaskSupport::Forbidden,
            asks: false,
            timeout: None,
            trusted_output: false,
            handler_checked: Vec::new(),
            whole_results: None,
        }
    }

    /// The same with a name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same with one more icon.
    pub fn with_icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// The same with one more member of its `_meta`.
    pub fn with_meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let meta = self.meta.get_or_insert_default();
        meta.insert(name.into(), value.into());
        self
    }

    /// The same with hints.
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// The same with a hand-written schema of its arguments, for
    /// [`ServerBuilder::raw_tool`](crate::ServerBuilder::raw_tool) alone.
    pub fn with_input_schema(mut self, schema: Value) -> Self {
        self.input_schema = schema;
        self
    }

    /// The same with a hand-written schema of its structured results, for handlers that build them.
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// The same with results that are trusted to match the output schema.
    ///
    /// A structured result that the handler builds is parsed and checked before it is sent, which takes time
    /// proportional to its size. For a tool with large results that its tests verify, this skips the check in release
    /// builds. Only debug builds then check, as for typed tools, whose schemas come from the type that is sent. A build
    /// without the feature `validate` checks no results against a schema of which it does not enforce every keyword.
    pub fn with_trusted_output(mut self) -> Self {
        self.trusted_output = true;
        self
    }

    /// The same with an argument that the handler checks itself: its schema is listed, but not enforced.
    ///
    /// For a value whose reader knows more than a schema can say, and explains it better. Such a value is then judged
    /// once instead of twice. Also for keywords that a build without the feature `validate` does not enforce. An
    /// argument that is required must still be there. It must be one of the properties at the root of the schema, and
    /// references from elsewhere must not lead into it.
    pub fn with_handler_checked(mut self, argument: impl Into<String>) -> Self {
        self.handler_checked.push(argument.into());
        self
    }

    /// The same with results that always have both their forms, the text and the structured content.
    ///
    /// Over stdio, a result that is longer than clients take
    /// ([`StdioConfig::max_answer_bytes`](crate::stdio::StdioConfig::max_answer_bytes)) is otherwise sent in one form
    /// if that is short enough: as text, or as structured content where there is an output schema. In any case the rest
    /// is a failure of code `ANSWER_TOO_LARGE`, whose sentence ends with `less`: how to ask for a shorter one.
    pub fn with_whole_results(mut self, less: impl Into<String>) -> Self {
        self.whole_results = Some(less.into());
        self
    }

    /// The same, able to ask the client ([`Context::elicit`](crate::Context::elicit) and similar methods): its handler
    /// is called again with the answers, so its arguments are kept until then. A tool that asks without this fails
    /// (−32603).
    pub fn asking(mut self) -> Self {
        self.asks = true;
        self
    }

    /// The same, able to run as a task: its handler starts the task with
    /// [`Context::start_task`](crate::Context::start_task). The server must have tasks turned on
    /// ([`ServerBuilder::tasks`](crate::ServerBuilder::tasks)).
    pub fn with_task_support(mut self, support: TaskSupport) -> Self {
        self.task_support = support;
        self
    }

    /// The same with a time limit for a call. For a task the limit applies to each run of its handler.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Whether it declares that it only reads.
    pub(crate) fn only_reads(&self) -> bool {
        let hint = self.annotations.as_ref().and_then(|it| it.read_only_hint);
        hint == Some(true)
    }

    /// The tool in the form that a revision supports: structured output is an object up to 2025-11-25, and task support
    /// is listed only in that revision.
    pub(crate) fn listed(&self, version: ProtocolVersion) -> Cow<'_, Self> {
        let is_object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
        let other_output = version.era() == Era::Legacy
            && self.output_schema.as_ref().is_some_and(|schema| !is_object(schema));
        let tells_tasks =
            version == ProtocolVersion::V2025_11_25 || self.task_support.is_forbidden();
        if !other_output && tells_tasks {
            return Cow::Borrowed(self);
        }
        let mut tool = self.clone();
        if other_output {
            tool.output_schema = None;
        }
        if !tells_tasks {
            tool.task_support = TaskSupport::Forbidden;
        }
        Cow::Owned(tool)
    }
}

impl ToolAnnotations {
    /// Hints of a tool that only reads, from a closed world.
    pub fn read_only() -> Self {
        Self {
            title: None,
            read_only_hint: Some(true),
            destructive_hint: Some(false),
            idempotent_hint: Some(true),
            open_world_hint: Some(false),
        }
    }

    /// Hints of a tool that may overwrite or delete, in a closed world.
    pub fn destructive() -> Self {
        Self {
            title: None,
            read_only_hint: Some(false),
            destructive_hint: Some(true),
            idempotent_hint: Some(false),
            open_world_hint: Some(false),
        }
    }

    /// The same with a name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}
