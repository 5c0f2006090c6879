//! Why a tool has no result.

use std::error::Error;
use std::fmt;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::CallToolResult;
use crate::cause::Cause;
use crate::content::ContentBlock;
use crate::interrupt::{Interrupt, RequestError};
use crate::jsonrpc::{ErrorObject, RequestId};
use crate::schema::Finding;

/// The code of a failure whose details go only to the log.
const INTERNAL: &str = "INTERNAL_ERROR";
/// What its caller reads instead.
const UNSAID: &str = "the tool failed; the server's log has the details";
/// The code of a [`RequestError::NotFound`].
const NOT_FOUND: &str = "NOT_FOUND";
/// The codes of calls that did nothing wrong.
pub(crate) const RATE_LIMIT: &str = "RATE_LIMIT";
pub(crate) const TIME_LIMIT: &str = "TIME_LIMIT";

/// Why a tool has no result.
///
/// `?` makes one of any [`Error`]: an internal failure. Its cause goes to the log, with the name of the tool and the id
/// of the request, and never to the caller. Boxed errors and `anyhow::Error` are not [`Error`]s: use
/// [`ToolError::internal`].
///
/// An error that the model can act on has a code and a sentence instead: [`ToolError::new`]. A type of your own that is
/// an [`Error`] cannot have a `From` as well: give it a method.
///
/// It is not an [`Error`] itself. Its text becomes one, and an error type of your own may have a `From` for it. Any
/// caller may read that text, also over REST: that of an internal failure does not have the cause, which the variant
/// has.
///
/// ```
/// use std::error::Error;
///
/// use mcp_proto::ToolError;
///
/// fn parsed(text: &str) -> Result<u32, Box<dyn Error + Send + Sync>> {
///     Ok(text.parse()?)
/// }
///
/// fn tool(text: &str) -> Result<u32, ToolError> {
///     parsed(text).map_err(ToolError::internal)
/// }
///
/// fn elsewhere(text: &str) -> Result<u32, Box<dyn Error>> {
///     Ok(tool(text).map_err(|error| error.to_string())?)
/// }
/// assert_eq!(elsewhere("7").unwrap(), 7);
/// let shown = elsewhere("x").unwrap_err().to_string();
/// assert_eq!(shown, "INTERNAL_ERROR: the tool failed; the server's log has the details");
/// let error = tool("x").unwrap_err();
/// assert_eq!(error.code(), Some("INTERNAL_ERROR"));
/// let ToolError::Internal(cause) = error else { panic!() };
/// assert_eq!(cause.to_string(), "invalid digit found in string");
/// ```
///
/// It becomes a [`RequestError`] and is made from one, so that tools, resources and prompts can share functions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolError {
    /// The tool failed. This reaches the model as `isError: true`, never as a protocol error.
    Failed {
        /// A stable name in `UPPER_SNAKE`, such as `UNIVERSE_NOT_FOUND`.
        code: String,
        /// What was wrong and what would be right, for a model to act on.
        message: String,
        /// Details for programs.
        data: Option<Value>,
    },
    /// The tool failed inside. The model gets `INTERNAL_ERROR` without details.
    Internal(Cause),
    /// The client is asked something first, or the answer is a protocol error, made from an
    /// [`ErrorObject`](crate::jsonrpc::ErrorObject): for what the model cannot fix.
    Interrupt(Interrupt),
}

impl ToolError {
    /// A failure with a code in `UPPER_SNAKE` and a sentence.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed { code: code.into(), message: message.into(), data: None }
    }

    /// The same failure with details. Does not change another error.
    #[must_use]
    pub fn with_data(mut self, details: Value) -> Self {
        if let Self::Failed { data, .. } = &mut self {
            *data = Some(details);
        }
        self
    }

    /// A failure whose cause, an error or a sentence, goes only to the log.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(Cause::new(cause))
    }

    /// The code that the caller reads; none for a protocol error and for a question to the client.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Failed { code, .. } => Some(code),
            Self::Internal(_) => Some(INTERNAL),
            Self::Interrupt(_) => None,
        }
    }

    /// The sentence that the caller reads, without the cause of an internal failure.
    pub fn message(&self) -> &str {
        match self {
            Self::Failed { message, .. } => message,
            Self::Internal(_) => UNSAID,
            Self::Interrupt(interrupt) => interrupt.describe(),
        }
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

    /// Writes the cause of an internal failure to the log.
    pub(crate) fn log(&self, tool: &str, request_id: &RequestId) {
        if let Self::Internal(cause) = self {
            tracing::error!(tool, %request_id, %cause, "a tool failed");
        }
    }

    /// The failure as a result, or else the interrupt.
    pub(crate) fn into_result(self) -> Result<CallToolResult, Interrupt> {
        let (code, message, data) = match self {
            Self::Failed { code, message, data } => (code, message, data),
            Self::Internal(_) => (INTERNAL.to_owned(), UNSAID.to_owned(), None),
            Self::Interrupt(interrupt) => return Err(interrupt),
        };
        // The one body of every failure: `{"error":{"code","message","data"?}}`.
        let mut error = json!({ "code": code, "message": message });
        if let (Some(data), Some(members)) = (data, error.as_object_mut()) {
            members.insert("data".to_owned(), data);
        }
        let body = json!({ "error": error });
        Ok(CallToolResult {
            content: vec![ContentBlock::text(body.to_string())],
            structured_content: to_raw_value(&body).ok(),
            is_error: true,
            ..CallToolResult::default()
        })
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = self.code() {
            write!(formatter, "{code}: ")?;
        }
        formatter.write_str(self.message())
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::internal(error)
    }
}

impl From<Interrupt> for ToolError {
    fn from(interrupt: Interrupt) -> Self {
        Self::Interrupt(interrupt)
    }
}

impl From<ErrorObject> for ToolError {
    fn from(error: ErrorObject) -> Self {
        Self::Interrupt(error.into())
    }
}

impl From<RequestError> for ToolError {
    /// What does not exist becomes a failure of code `NOT_FOUND`. A protocol error stays one.
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::NotFound { message, data } => {
                let error = Self::new(NOT_FOUND, message);
                if data.is_empty() { error } else { error.with_data(data.into()) }
            }
            RequestError::Internal(cause) => Self::Internal(cause),
            RequestError::Interrupt(interrupt) => Self::Interrupt(interrupt),
        }
    }
}

impl From<ToolError> for RequestError {
    /// A failure of code `NOT_FOUND` is what does not exist. Any other that has a code tells its caller what would be
    /// right: it becomes −32602 with its sentence, and with its code among the members of `data`. An internal failure
    /// becomes −32603, and so do `RATE_LIMIT` and `TIME_LIMIT`, since nothing is wrong with the params.
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Failed { code, message, data } => {
                let error = if code == NOT_FOUND {
                    Self::not_found(message)
                } else {
                    let fault = match code.as_str() {
                        RATE_LIMIT | TIME_LIMIT => ErrorObject::INTERNAL,
                        _ => ErrorObject::INVALID_PARAMS,
                    };
                    Self::from(ErrorObject::new(fault, message)).with_data("code", code)
                };
                match data {
                    Some(Value::Object(data)) => data
                        .into_iter()
                        .fold(error, |error, (name, value)| error.with_data(name, value)),
                    Some(data) => error.with_data("data", data),
                    None => error,
                }
            }
            ToolError::Internal(cause) => Self::Internal(cause),
            ToolError::Interrupt(interrupt) => Self::Interrupt(interrupt),
        }
    }
}
